"""Wrong targets: which row, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import DtypeError, ShapeError, TargetError
from madaline.losses.loss import LOSSES
from madaline.losses.targets import Target


@pytest.mark.parametrize(
    ("name", "prediction", "target", "error", "text"),
    [
        ("cross_entropy", (3, 4), [0, 4, 1], TargetError,
         "target is 4 at row 1; it must be a class from 0 to 3. Give the net one output per class"),
        ("cross_entropy", (3, 4), [0, -1, -2], TargetError, r"target is -1 at row 1 \(and 1 more\)"),
        ("cross_entropy", (3, 4), [0.0, 1.0, 2.0], DtypeError,
         "target has type float64; class indices must be integers from 0 to 3"),
        ("cross_entropy", (3, 4), ["a", "b", "a"], DtypeError, "Number the classes: np.unique"),
        ("cross_entropy", (2, 2), [[0.5, 0.5], [0.5, 0.6]], TargetError,
         r"The target probabilities of row 1 add up to 1.1 \(1 such rows\).*use binary_cross_entropy"),
        ("cross_entropy", (2, 2), [[1.5, -0.5], [0.5, 0.5]], TargetError, "1.5 at row 0, column 0 .*between 0 and 1"),
        ("cross_entropy", (3, 4), [[0], [1], [2]], ShapeError, r"target has shape \(3, 1\).*Use y\[:, 0\]"),
        ("cross_entropy", (3, 1), [0, 1, 0], ShapeError, "needs outputs for two classes or more"),
        ("cross_entropy", (3, 4), [0, 1], ShapeError, "prediction has 3 rows, target has 2; the numbers must be equal"),
        ("focal", (2, 3), [0, 3], TargetError, "must be a class from 0 to 2"),
        ("kl_divergence", (2, 3), [0, 3], TargetError, "must be a class from 0 to 2"),
        ("ordinal", (3, 2), [0, 3, 1], TargetError, "target is 3 at row 1; it must be a class from 0 to 2"),
        ("ordinal", (2, 2), [[0.0, 1.0], [1.0, 0.0]], ShapeError, "ordinal with 3 classes takes"),
        ("binary_cross_entropy", (2, 1), [0, 2], TargetError, "target is 2 at row 1; it must be between 0 and 1"),
        ("binary_cross_entropy", (2, 3), [[0, 1], [1, 0]], ShapeError, "Give the net 2 outputs"),
        ("hinge", (2, 1), [0, 3], TargetError, r"target is 3 at row 1; it must be 0 or 1 \(or -1 and 1\)"),
        ("hinge", (2, 3), [0, 3], TargetError, "must be a class from 0 to 2"),
        ("poisson", (2, 1), [3, -1], TargetError, "target is -1 at row 1; it must not be negative"),
        ("tweedie", (2, 1), [3.0, -1.0], TargetError, "it must not be negative"),
        ("gamma", (2, 1), [3.0, 0.0], TargetError, "must be positive. Use tweedie if some targets are 0"),
        ("mse", (3, 2), [[1.0, 2.0], [np.nan, 1.0], [1.0, np.inf]], TargetError,
         r"target is nan at row 1, column 0 \(and 1 more\); it must be finite. Drop those rows"),
        ("mse", (2, 1), ["a", "b"], DtypeError, "this loss needs numbers"),
        ("mse", (2, 3), [[1.0, 2.0], [1.0, 2.0]], ShapeError, "there must be one target for each output"),
        ("mse", (2, 1), 1.0, ShapeError, "without an axis for its rows"),
        ("quantile", (2, 2), [1.0, 2.0], ShapeError, "3 quantiles of 1 target columns need 3 outputs"),
        ("heteroscedastic_gaussian", (2, 3), [[1.0, 2.0], [1.0, 2.0]], ShapeError, "2 target columns need 4 outputs"),
        ("mixture_density", (2, 3), [[1.0], [2.0]], ShapeError,
         "5 components with full covariance over 1 target columns need 15 outputs"),
        ("mixture_density", (1, 15), [np.nan], TargetError, "target is nan at row 0"),
    ],
)  # fmt: skip
def test_a_wrong_target_is_refused_with_its_place_and_a_remedy(name, prediction, target, error, text):
    loss = LOSSES[name]()
    with pytest.raises(error, match=text):
        loss.check(prediction, np.asarray(target))
    with pytest.raises(error, match=text):
        loss(np.zeros(prediction), target)


@pytest.mark.parametrize("name", LOSSES.names())
@pytest.mark.parametrize("width", [1, 3])
def test_shapes_are_checked_by_the_formula_too(name, width):
    """Nothing is broadcast where the values of the targets are not known."""
    loss = LOSSES[name]()
    with pytest.raises(ShapeError):
        loss.rows(np.zeros((4, 7)), np.full((4, width), 1.0))
    with pytest.raises(ShapeError):
        md.compile(loss, rows=[0, 1])(np.zeros((4, 7)), np.full((4, width), 1.0))


def test_targets_describe_themselves():
    assert Target.of([0, 2, 1]) == Target(width=1, n_classes=3)
    assert Target.of([0.5, 2.0]) == Target(width=1)
    assert Target.of([[1, 2], [3, 4]]) == Target(width=2)
    assert Target.of(np.zeros((5, 2, 3))) == Target(width=6)
    with pytest.raises(TargetError, match="ordinal needs targets with two or more classes"):
        LOSSES["ordinal"]().n_outputs(Target(width=1))


def test_probabilities_in_float32_may_be_off_by_rounding(rng):
    p = rng.dirichlet(np.ones(1000), size=3).astype(np.float32)
    LOSSES["cross_entropy"]().check((3, 1000), p)
