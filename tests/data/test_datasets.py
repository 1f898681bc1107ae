"""Data sets are whole, named, and have the target they say."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.data.datasets import DATASETS, shape_table
from madaline.errors import UnknownNameError

SHAPES = ["circles", "disc", "moons", "spirals", "xor"]
each_set = pytest.mark.parametrize("dataset", list(DATASETS), ids=lambda dataset: dataset.name)


@each_set
def test_a_data_set_has_its_target_source_and_licence(dataset):
    table = dataset.table()
    assert dataset.target in table.columns
    assert table[dataset.target].null_count() == 0
    assert dataset.task
    assert dataset.source
    assert dataset.licence
    assert table.height >= 150


def test_the_real_ones_have_the_rows_their_authors_counted():
    sizes = {name: DATASETS[name].table().shape for name in DATASETS.names() if name not in SHAPES}
    assert sizes == {
        "auto_mpg": (398, 9),
        "breast_cancer": (569, 31),
        "diabetes": (442, 11),
        "digits": (1797, 65),
        "iris": (150, 5),
        "penguins": (344, 7),
        "wine": (178, 14),
    }


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_the_same_for_a_seed_and_another_for_another(name):
    assert shape_table(name, 200, seed=3).equals(shape_table(name, 200, seed=3))
    assert not shape_table(name, 200, seed=3).equals(shape_table(name, 200, seed=4))


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_cannot_be_parted_by_a_line_but_by_its_neighbours(name):
    """Nearest neighbours find the class of nearly all points, a straight line of few."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    table = shape_table(name, 2000)
    X, y = table.select("x", "y").to_numpy(), table["class"].to_numpy()
    assert np.bincount(y).min() > 0.8 * 2000 / (y.max() + 1)
    near = KNeighborsClassifier(15).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    line = LogisticRegression().fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    assert near > 0.9
    assert line < near - 0.08


def test_the_disc_holds_half_of_the_points():
    assert shape_table("disc", 100_000)["class"].mean() == pytest.approx(0.5, abs=0.01)


def test_an_unknown_data_set_is_told_from_a_typing_mistake():
    with pytest.raises(UnknownNameError, match="Did you mean 'penguins'"):
        DATASETS["pinguins"]
