"""``discriminant completion SHELL``: a script for the shell, made from the options themselves."""

from __future__ import annotations

from argparse import Namespace

from discriminant.cli.arguments import METHODS, options


def run(given: Namespace) -> int:
    """Print the script."""
    if given.shell == "fish":
        print(f"complete -c discriminant -n __fish_use_subcommand -a '{' '.join(options())}'")
        for name, found in options().items():
            for option in found:
                print(f"complete -c discriminant -n '__fish_seen_subcommand_from {name}' -l {option[2:]}")
        return 0
    print("autoload -U +X bashcompinit && bashcompinit\n" * (given.shell == "zsh") + _bash())
    return 0


def _bash() -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(found)}" ;;' for name, found in options().items())
    return f"""_discriminant() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="{" ".join(options())}"
  elif [ "$before" = "--model" ] || [ "$before" = "-m" ]; then words="{" ".join(METHODS)}"
  else case "${{COMP_WORDS[1]}}" in
{cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ "$word" == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _discriminant discriminant"""
