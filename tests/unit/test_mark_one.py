"""The Mark I example: its alphabet, its retina, and that it learns."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from discriminant.errors import DiscriminantWarning

QUICK = ["--copies", "40", "--units", "256"]


@pytest.fixture(scope="module")
def mark_one(repository: Path):
    """The example as a module; its folder is on the path, as it is when it is run."""
    folder = repository / "examples"
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("mark_one", folder / "mark_one.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["mark_one"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(folder))
    del sys.modules["mark_one"]


def test_the_alphabet_has_26_letters_that_look_different(mark_one):
    assert "".join(mark_one.ALPHABET) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    drawn = np.array([mark_one.draw(letter) for letter in mark_one.ALPHABET])
    assert set(np.unique(drawn)) == {0.0, 1.0}
    differences = np.abs(drawn[:, None] - drawn[None]).sum(axis=-1)
    assert differences[~np.eye(26, dtype=bool)].min() >= 8  # Q differs from O by its tail


def test_a_shift_moves_the_drawing_and_stays_on_the_retina(mark_one):
    for letter in mark_one.ALPHABET:
        here = mark_one.draw(letter).reshape(20, 20)
        for right, up in ((2, 0), (-2, 0), (0, 2), (0, -2), (2, 2)):
            there = mark_one.draw(letter, right, up).reshape(20, 20)
            np.testing.assert_array_equal(there, np.roll(here, (-up, right), axis=(0, 1)))
            assert there.sum() == here.sum()


def test_noise_flips_its_share_of_the_cells(mark_one):
    clean, letters = mark_one.show_letters(20, 0.0, 2, np.random.default_rng(0))
    noisy, same = mark_one.show_letters(20, 0.1, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(letters, same)
    assert np.mean(clean != noisy) == pytest.approx(0.1, abs=0.01)
    assert clean.shape == (520, 400)


def test_confusions_are_counted(mark_one):
    told = mark_one.confusions(np.array(list("FFEOA")), np.array(list("EEEQA")))
    assert told == "E as F (2), Q as O (1)"
    assert mark_one.confusions(np.array(["A"]), np.array(["A"])) == "none"


def test_it_learns_the_alphabet_and_draws_its_picture(mark_one, tmp_path, capsys):
    """1040 letters shown at 25 places with 2 % of cells flipped: far above chance (1/26) on letters not shown."""
    from matplotlib.image import imread

    path = tmp_path / "picture.png"
    assert mark_one.main([*QUICK, "--picture", str(path)]) > 0.7
    printed = capsys.readouterr().out
    assert "1040 letters shown, 260 new ones asked" in printed
    assert "then no response was wrong; the theorem allows" in printed
    assert "told right: 100.0% of those shown" in printed
    assert str(path) in printed
    pixels = imread(path)
    assert pixels.shape[0] > 800
    assert pixels.shape[1] > 1000
    assert (
        len(np.unique((pixels[..., :3] * 15).round().reshape(-1, 3), axis=0)) > 50
    )  # retina, wires and weights in colour


def test_it_runs_without_a_picture_is_reproducible_and_says_when_it_is_not_done(mark_one, capsys):
    short = ["--copies", "8", "--units", "64", "--passes", "2", "--picture", ""]
    with pytest.warns(DiscriminantWarning, match="Not converged"):
        first = mark_one.main(short)
    printed = capsys.readouterr().out
    with pytest.warns(DiscriminantWarning, match="Not converged"):
        assert mark_one.main(short) == first
    assert "in 2 passes; some response is still wrong" in printed
    assert "picture:" not in printed
