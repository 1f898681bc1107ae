"""Files that earlier versions wrote are read, and predict what they predicted then."""

from __future__ import annotations

import numpy as np
import pytest
from madaline.estimators.tabular.learned import Learned

import madaline as md
from functional.golden_files import COLUMNS, GOLDEN, rates_and_intervals
from madaline.functional.files import FORMAT


def recorded(name):
    with np.load(GOLDEN / f"{name}.npz") as found:
        return dict(found)


def paths(kind):
    return sorted(GOLDEN.glob(f"{kind}_*.madaline"))


@pytest.mark.parametrize("path", paths("model"), ids=lambda path: path.stem)
def test_a_model_predicts_what_it_did(path):
    inputs = recorded(path.stem)
    y = inputs.pop("y")
    np.testing.assert_allclose(md.load(path)(inputs), y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("path", [*paths("learned"), *paths("estimator")], ids=lambda path: path.stem)
def test_what_was_learned_from_a_table_predicts_what_it_did(path):
    thing = Learned.load(path) if path.stem.startswith("learned") else md.load(path)
    found = thing.predict_proba(COLUMNS)
    np.testing.assert_allclose(found, recorded(path.stem)["y"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("path", paths("counts"), ids=lambda path: path.stem)
def test_a_model_of_counts_gives_the_rates_and_intervals_it_did(path):
    found = rates_and_intervals(Learned.load(path))
    np.testing.assert_allclose(found, recorded(path.stem)["y"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["model", "learned", "estimator", "counts"])
def test_there_is_a_file_of_every_format(kind):
    assert [path.stem for path in paths(kind)] == [f"{kind}_{number}" for number in range(1, FORMAT + 1)]
