"""The command ``discriminant figures``: what it lists, writes and says."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from discriminant import figures
from discriminant.cli import main
from discriminant.errors import ParameterError


def test_list_names_every_figure_with_its_claim(capsys):
    assert main(["figures", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["figures"]
    assert [row["name"] for row in listed] == list(figures.REGISTRY)
    assert main(["figures", "--list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in figures.REGISTRY)


def test_list_is_light():
    """The names are told without matplotlib and without scikit-learn."""
    code = "from discriminant.cli import main; main(['figures', '--list'])\nimport sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"matplotlib", "sklearn", "scipy"} & set(run.stdout.split())


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_figures_are_written_whole_and_always_the_same(form, tmp_path, capsys):
    written = []
    for folder in ("one", "two"):
        arguments = [
            "figures",
            "sigmoid-curve",
            "4.9",
            "--out",
            str(tmp_path / folder),
            "--format",
            form,
            "--dpi",
            "40",
        ]
        assert main(arguments) == 0
        written.append({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()})
    assert sorted(written[0]) == [f"sigmoid_and_probit.{form}", f"sigmoid_curve.{form}"]
    assert written[0] == written[1]
    if form == "svg":
        ElementTree.fromstring(written[0]["sigmoid_curve.svg"])
    assert "2 figures written" in capsys.readouterr().out


def test_a_wrong_name_is_told_the_nearest(tmp_path, capsys):
    assert main(["figures", "perceptron_convergance", "--out", str(tmp_path / "new")]) == 2
    assert "did you mean 'perceptron_convergence'?" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    with pytest.raises(ParameterError, match="--list"):
        figures.entry("zzzz")
    with pytest.raises(AttributeError, match="no figure 'nothing'"):
        _ = figures.nothing


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "here").write_text("")
    assert main(["figures", "sigmoid_curve", "--out", str(tmp_path / "here")]) == 2
    assert "is a file; give a folder" in capsys.readouterr().err


def test_without_matplotlib_a_sentence_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["figures", "sigmoid_curve", "--out", str(tmp_path / "new")]) == 2
    assert "pip install 'discriminant[plots]'" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
