"""Columns to numbers: what was decided at the fit is applied, said and refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant.data.files import read_csv, read_frame, read_table
from discriminant.data.preprocess import MOST_LEVELS, Preprocess
from discriminant.data.roles import role_of
from discriminant.data.tables import text_column
from discriminant.errors import DataError


def table_of(**columns):
    return read_frame({name: np.array(values) for name, values in columns.items()})


def role(values, name="x"):
    return role_of(read_frame({name: values}).columns[0])


def test_matrix_is_what_scikit_learn_makes():
    """Mean imputation and one-hot with a dropped reference, on penguins without missing categories."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    table = read_table("penguins", text_columns=["species"])
    rules = Preprocess.fit(table, "species", drop=["sex"])
    X, _ = rules.matrix(table)
    numbers = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"]
    raw = np.column_stack([table.column(name).values for name in numbers])
    found = X[:, [rules.feature_names.index(name) for name in numbers]]
    np.testing.assert_allclose(found, SimpleImputer().fit_transform(raw), rtol=1e-15)
    island = np.array(table.column("island").texts())[:, None]
    expected = OneHotEncoder(drop=["Biscoe"], sparse_output=False).fit_transform(island)
    places = [rules.feature_names.index(name) for name in ("island=Dream", "island=Torgersen")]
    np.testing.assert_array_equal(X[:, places], expected)


def test_columns_are_found_by_name_in_any_order():
    table = read_table("penguins")
    rules = Preprocess.fit(table, "species")
    turned = read_frame({name: table.column(name).texts() for name in reversed(table.names) if name != "species"})
    first, second = rules.matrix(table)[0], rules.matrix(turned)[0]
    np.testing.assert_allclose(first, second, rtol=1e-15)


def test_missing_column_is_named():
    rules = Preprocess.fit(read_table("iris"), "species")
    with pytest.raises(DataError, match="lacks the column 'petal_width', which the model needs"):
        rules.matrix(
            read_frame({"sepal_length": [1.0], "sepal_width": [1.0], "petal_length": [1.0], "petal_with": [1.0]})
        )


def test_unseen_level_counts_as_an_average_row():
    """Its indicators are the frequencies of the levels, so that no level is favoured."""
    table = table_of(c=["a"] * 6 + ["b"] * 3 + ["c"], y=list("uv" * 5))
    rules = Preprocess.fit(table, "y")
    assert rules.feature_names == ["c=b", "c=c"]
    X, notes = rules.matrix(table_of(c=["z", "b", "a"]))
    np.testing.assert_allclose(X, [[0.3, 0.1], [1, 0], [0, 0]])
    assert "'z' not seen at the fit (1 row)" in notes[0]


@pytest.mark.parametrize(("lost", "own"), [(2, False), (7, True)])
def test_missing_categories(lost, own):
    texts = ["a"] * 20 + ["b"] * 10 + [""] * lost
    rules = Preprocess.fit(table_of(c=texts, x=np.arange(len(texts)) ** 1.5))
    assert ("c=(missing)" in rules.feature_names) is own
    X, _ = rules.matrix(table_of(c=["", "b"], x=[1.0, 2.0]))
    if own:
        assert X[0, :2].tolist() == [0.0, 1.0]
    else:
        assert X[0, 0] == pytest.approx(10 / 30)


def test_missing_numbers_are_indicated_where_they_are_many_and_only_once():
    rng = np.random.default_rng(0)
    x, z, few = rng.normal(size=(3, 100))
    x[:20] = z[:20] = few[:2] = np.nan
    rules = Preprocess.fit(table_of(x=x, z=z, few=few))
    assert rules.feature_names == ["x", "x is missing", "z", "few"]
    X, _ = rules.matrix(table_of(x=x, z=z, few=few))
    np.testing.assert_allclose(X[0], [np.nanmean(x), 1.0, np.nanmean(z), np.nanmean(few)], rtol=1e-12)
    assert np.isfinite(X).all()


def test_rare_levels_share_a_column():
    texts = [f"l{i:03d}" for i in range(80) for _ in range(80 - i)]
    rules = Preprocess.fit(table_of(c=texts, x=np.arange(len(texts)) % 7.0))
    assert len(rules.feature_names) == MOST_LEVELS + 1
    assert rules.feature_names[-2] == "c=(other)"
    X, notes = rules.matrix(table_of(c=["l079", "l000"], x=[1.0, 2.0]))
    assert X[0, -2] == 1.0
    assert not X[1, :-1].any()
    assert notes == ()


def test_standardize_and_huge_values():
    x = np.array([1e300, -1e300, 5e299, 0.0, 1.0] * 5)
    rules = Preprocess.fit(table_of(x=x, u=np.arange(25.0) ** 2), standardize=True)
    X, _ = rules.matrix(table_of(x=x, u=np.arange(25.0) ** 2))
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("x", np.arange(50), "numbers the rows"),
        ("patient_id", np.arange(50)[::-1] * 3, "names the rows"),
        ("customerId", np.random.default_rng(0).permutation(500)[:50], "names the rows"),
        ("date", [20200100 + i for i in range(1, 29)], "dates"),
        ("day", [f"2020-01-{i:02d}" for i in range(1, 29)], "dates"),
        ("day", [f"{i}/03/2020 10:30" for i in range(1, 29)], "dates"),
        ("key", [f"a{i}x" for i in range(50)], "text of its own"),
        ("street", [f"{i} {'ABCDE'[i % 5]} Street" for i in range(50)], "text of its own"),
        ("north", [f"{40 + i / 9:.2f}N" for i in range(50)], "'40.00N', are not read as numbers"),
        ("review", [f"this is a long enough review of item {i}" for i in range(50)], "free text"),
        ("k", np.ones(50), "never changes"),
        ("k", ["same"] * 50, "never changes"),
        ("k", [np.nan] * 50, "missing"),
        ("split", ["train"] * 30 + ["test"] * 20, "training"),
    ],
)
def test_what_is_left_out_and_why(name, values, why):
    found, reason = role(values, name)
    assert found == "left out"
    assert why in reason


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("income", np.random.default_rng(0).permutation(5000)[:100]),  # whole numbers, all different: still a number
        ("year", [2007, 2008, 2009] * 10),
        ("x", np.arange(10)),  # too few rows to tell
        ("grid", np.linspace(0, 1, 40)),
        ("valid", [0, 1] * 20),
    ],
)
def test_what_is_kept_as_a_number(name, values):
    assert role(values, name)[0] == "number"


def test_numbers_with_slips_are_refused_by_row():
    texts = [str(i * 1.5) for i in range(100)]
    texts[41] = "1O.5"
    with pytest.raises(DataError, match=r"'x' holds numbers except for '1O.5' .first in row 42"):
        Preprocess.fit(table_of(x=texts, u=np.arange(100.0) ** 2))


def test_categorical_by_wish_reads_codes():
    table = read_csv(b"race,x,y\n1,0.5,a\n2,0.1,b\n3,0.7,a\n1,0.2,b\n", "t", text_columns=["race", "y"])
    rules = Preprocess.fit(table, "y", categorical=["race"])
    assert rules.feature_names == ["race=2", "race=3", "x"]
    typed = Preprocess.fit(table_of(race=[1, 2, 3, 1], x=[0.5, 0.1, 0.7, 0.2]), categorical=["race"])
    assert typed.feature_names == ["race=2", "race=3", "x"]


def test_nothing_to_learn_from_is_said():
    with pytest.raises(DataError, match="no column to learn from"):
        Preprocess.fit(table_of(k=np.ones(30), y=list("ab" * 15)), "y")


def test_levels_with_any_text():
    """Levels are compared exactly: case, accents, inner blanks and quotes matter; blanks around them do not."""
    levels = ["a", "A", "a a", "á", "a'b", 'a"b', "=1+1"]
    table = read_frame({"c": [level for level in levels for _ in range(4)], "x": np.arange(28) % 5.0})
    rules = Preprocess.fit(table)
    assert len(rules.rules[0].levels) == len(levels)
    X, _ = rules.matrix(table)
    assert len({tuple(row) for row in X[:, :-1].tolist()}) == len(levels)
    spaced = read_frame({"c": [f" {level}\t" for level in levels], "x": np.zeros(len(levels))})
    np.testing.assert_array_equal(rules.matrix(spaced)[0][:, :-1], X[::4, :-1])


def test_the_same_of_many_columns_is_one_note():
    never = {f"p{j}": np.ones(30) for j in range(67)}
    rules = Preprocess.fit(table_of(**never, x=np.arange(30) % 7.0, y=list("ab" * 15)), "y")
    assert rules.notes == (
        "67 columns are left out, since they never change: 'p0', 'p1', 'p2', 'p3', 'p4' and 62 more.",
    )
    gaps = {f"g{j}": np.where(np.arange(30) == j, np.nan, np.arange(30) % 7.0) for j in range(4)}
    table = table_of(**gaps, y=list("ab" * 15))
    rules = Preprocess.fit(table, "y")
    assert rules.notes == ("4 columns have missing values, filled with the mean of each: 'g0', 'g1', 'g2' and 'g3'.",)
    assert rules.matrix(table)[1] == (
        "4 columns have missing values, filled with the mean of each at the fit: 'g0', 'g1', 'g2' and 'g3'.",
    )


def test_text_column_codes():
    column = text_column("c", ["b", "", "a", "b", "  "])
    assert column.levels == ("a", "b")
    assert column.values.tolist() == [1, -1, 0, 1, -1]


@pytest.mark.parametrize("name", ["rowid", "CustomerNo", "patient_number", "x"])
def test_numbers_of_rows_in_any_order_are_left_out(name):
    """A permutation of consecutive whole numbers numbers the rows, whatever its name."""
    values = np.random.default_rng(0).permutation(50) + 1000
    assert role(values, name)[0] == "left out"
    assert role(np.r_[values[:-1], 5000], "x")[0] == "number"
    assert role(np.r_[values[:-1], 5000], "rowid")[0] == "left out"
