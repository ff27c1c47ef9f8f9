"""Model files: every estimator comes back as it was, and nothing else than a whole model file is accepted."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest

import discriminant
from discriminant import bases, datasets
from discriminant.errors import DataError, DiscriminantWarning
from discriminant.estimators.inferential import Remembered
from discriminant.io import load, save
from discriminant.io.container import ModelFileError, pack, unpack
from discriminant.io.encode import known_estimators
from discriminant.io.model_file import about

penguins = datasets.load("penguins")


@pytest.fixture(scope="module")
def lda():
    return discriminant.LinearDiscriminantAnalysis().fit(penguins.X, penguins.y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(known_estimators()))
def test_every_estimator_comes_back(name, tmp_path):
    model = known_estimators()[name]().fit(penguins.X[::3], penguins.y[::3])
    again = load(save(model, tmp_path / "model"))
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(again.predict(penguins.X), model.predict(penguins.X))
    for method in ("predict_proba", "decision_function", "transform"):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(again, method)(penguins.X), getattr(model, method)(penguins.X))
    assert set(vars(again)) == {key for key, item in vars(model).items() if not isinstance(item, Remembered)}


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "ü"],
        [b"x", b"y", b"z"],
        [True, False, True],
        [-5, 7, 9],
        [0.0, 1.0, 2.0],
        np.array(list("abc"), object),
    ],
    ids=str,
)
def test_labels_keep_their_type(labels, tmp_path):
    y = np.asarray(labels)[np.unique(penguins.y, return_inverse=True)[1]]
    model = discriminant.LinearDiscriminantAnalysis().fit(penguins.X, y)
    again = load(save(model, tmp_path / "model"))
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.predict(penguins.X), model.predict(penguins.X))


def test_names_weights_and_learning_survive(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(penguins.X, columns=list(penguins.feature_names))
    model = discriminant.LinearDiscriminantAnalysis(priors={"Adelie": 0.2, "Chinstrap": 0.3, "Gentoo": 0.5})
    model.fit(frame.iloc[::2], penguins.y[::2])
    again = load(save(model, tmp_path / "m", X=frame, notes={"who": "me"}))
    assert list(again.feature_names_in_) == list(frame.columns)
    assert about(tmp_path / "m")["notes"] == {"who": "me"}
    again.partial_fit(frame.iloc[1::2], penguins.y[1::2])
    whole = discriminant.LinearDiscriminantAnalysis(priors=model.priors).fit(frame, penguins.y)
    np.testing.assert_allclose(again.coef_, whole.coef_, rtol=1e-9)


def test_a_linear_discriminant_comes_back(lda, tmp_path):
    assert load(save(lda.discriminant_, tmp_path / "line")) == lda.discriminant_


@pytest.mark.parametrize("basis", [bases.Log(), bases.Log().on(0) + bases.Polynomial(2), bases.Log(offset=-1.0)])
def test_a_basis_that_refuses_some_numbers_is_saved_without_rows(basis, tmp_path):
    X = 1.5 + np.random.default_rng(0).exponential(size=(80, 2))
    model = discriminant.LogisticRegression(basis=basis).fit(X, X[:, 0] > X[:, 1] ** 1.2)
    restored = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))


def test_what_is_not_ours_is_not_saved(lda, tmp_path):
    from sklearn.linear_model import LogisticRegression

    for model, sentence in [
        (LogisticRegression(), "Only this package's models"),
        (discriminant.LinearDiscriminantAnalysis(), "not fitted"),
        (discriminant.MinimumRiskClassifier(LogisticRegression()).fit(penguins.X[:, :2], penguins.y), "cannot hold"),
    ]:
        with pytest.raises(DataError, match=sentence):
            save(model, tmp_path / "no")
    assert not list(tmp_path.iterdir())


def test_every_truncation_and_a_flip_of_every_byte_are_refused(lda, tmp_path):
    path = save(lda, tmp_path / "model")
    data = path.read_bytes()
    bad = tmp_path / "bad"
    rng = np.random.default_rng(0)
    cuts = [0, 1, 7, 8, 9, *rng.integers(0, len(data), 40).tolist(), len(data) - 1]
    for cut in cuts:
        bad.write_bytes(data[:cut])
        with pytest.raises(ModelFileError):
            load(bad)
    for place in rng.choice(len(data), 400, replace=False):
        changed = bytearray(data)
        changed[place] ^= 1 << int(rng.integers(8))
        if changed[:] == data or data[place : place + 1] == b" ":
            continue  # a space of the padding
        bad.write_bytes(bytes(changed))
        with pytest.raises(ModelFileError):
            load(bad)
    bad.write_bytes(data + b"more")
    with pytest.raises(ModelFileError, match="belong to no array"):
        load(bad)
    assert load(path).predict(penguins.X[:1])[0] == lda.predict(penguins.X[:1])[0]


def test_foreign_and_forged_files_are_refused(lda, tmp_path):
    bad = tmp_path / "bad"
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * 10_000_000)
    header = json.dumps({"__metadata__": {"format": "discriminant-model", "version": "999", "document": "{}"}}).encode()
    for data in (
        pickle.dumps(lda),
        zipped.getvalue(),
        b"{}",
        (10**18).to_bytes(8, "little") + b"{}",
        len(header).to_bytes(8, "little") + header,
        b"\x02\0\0\0\0\0\0\0[]",
    ):
        bad.write_bytes(data)
        with pytest.raises(ModelFileError):
            load(bad)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load(tmp_path / "absent")


def test_documents_with_a_right_checksum_and_wrong_content_are_refused(tmp_path):
    bad = tmp_path / "bad"
    for document in (
        "[]",
        '{"model":1}',
        '{"model":{"$":"estimator","class":"os.system","parameters":{},"state":{}},"probe":{}}',
        '{"model":{"$":"object","class":"io.encode.Decoder","fields":{}},"probe":{}}',
        '{"model":{"$":"estimator","class":"LinearDiscriminantAnalysis","parameters":{"x":1},"state":{}},"probe":{}}',
        '{"model":{"$":"estimator","class":"LinearDiscriminantAnalysis","parameters":{},"state":{"fit":1}},"probe":{}}',
        '{"model":{"$":"array","name":"none"},"probe":{}}',
        '{"model":' + '{"$":"tuple","items":[' * 500 + "]}" * 500 + ',"probe":{}}',
    ):
        bad.write_bytes(pack(document, {}))
        with pytest.raises(ModelFileError):
            load(bad)


def test_a_model_that_answers_otherwise_is_refused(lda, tmp_path):
    path = save(lda, tmp_path / "model")
    document, arrays = unpack(path)
    name = next(key for key, array in arrays.items() if array.shape == lda.discriminant_.weights.shape)
    arrays[name] = arrays[name] + 1e-3 * np.arange(arrays[name].size).reshape(arrays[name].shape)
    path.write_bytes(pack(document, arrays))
    with pytest.raises(ModelFileError, match="does not give the answers"):
        load(path)


def test_a_failed_write_leaves_the_old_file(lda, tmp_path, monkeypatch):
    path = save(lda, tmp_path / "model")
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="No space left"):
        save(lda, path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    with pytest.raises(DataError, match="cannot be written"):
        save(lda, tmp_path / "no" / "folder")


def test_warnings_are_not_in_the_way(tmp_path):
    with pytest.warns(DiscriminantWarning):
        model = discriminant.LinearDiscriminantAnalysis().fit(np.c_[penguins.X, penguins.X], penguins.y)
    load(save(model, tmp_path / "collinear"))
