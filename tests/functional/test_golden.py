"""Files that earlier versions wrote are read, and predict what they predicted then."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from functional.golden_files import ESTIMATORS, GOLDEN
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


ALL = [(kind, path) for kind in ESTIMATORS for path in paths(kind)]


@pytest.mark.parametrize(("kind", "path"), ALL, ids=[path.stem for _, path in ALL])
def test_an_estimator_predicts_what_it_did(kind, path):
    _, answers = ESTIMATORS[kind]
    np.testing.assert_allclose(answers(md.load(path)), recorded(path.stem)["y"], rtol=1e-5, atol=1e-6)


def test_a_trained_file_says_how_it_was_trained():
    trained = md.load(GOLDEN / "trained_1.madaline")
    assert trained.provenance_.about == {"seed": 0}
    assert trained.provenance_.reading.decimal == ","
    assert trained.provenance_.reading.columns["size"].kind == "number"
    assert trained.target_names_ == ("answer",)
    assert trained.resolved_params_["hidden_layer_sizes"] == (4,)
    assert trained.resolved_params_["activation"] == "mish"


@pytest.mark.parametrize("kind", ["model", *ESTIMATORS])
def test_there_is_a_file_of_every_format(kind):
    assert [path.stem for path in paths(kind)] == [f"{kind}_{number}" for number in range(1, FORMAT + 1)]
