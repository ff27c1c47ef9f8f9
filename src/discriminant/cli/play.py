"""``discriminant play``: the playground in the browser, served from this machine to this machine."""

from __future__ import annotations

import sys
import threading
import webbrowser
from argparse import Namespace

from discriminant.errors import DiscriminantError
from discriminant.play.server import Playground


def run(given: Namespace) -> int:
    """The command: serve until it is interrupted."""
    if given.link and "#" not in given.link:
        raise DiscriminantError(f"--link is {given.link!r}; an address that was shared holds its drawing behind a #.")
    try:
        server = Playground(given.port, given.data)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DiscriminantError(f"Port {given.port} cannot be used: {reason}. Choose another, or 0 for any.") from None
    drawing = given.link.partition("#")[2]
    url = f"{server.url}#{drawing}" if drawing else server.url
    print(url, flush=True)
    if not given.quiet:
        print("The playground is open at this address, on this machine only. Ctrl-C ends it.", file=sys.stderr)
    if not given.no_browser:
        # A text browser would take the terminal and wait; the address is printed anyway.
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    server.warm_up()
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        if not given.quiet:
            print("\nThe playground is closed.", file=sys.stderr)
    finally:
        server.server_close()
    return 0
