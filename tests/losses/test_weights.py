"""Weights of classes are weights of rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

import madaline as md
from losses.cases import CASES, N_ROWS
from madaline.errors import ConfigError, ShapeError, TraceError
from madaline.losses.classes import ClassLoss, LabelLoss
from madaline.losses.cross_entropy import BinaryCrossEntropy, CrossEntropy
from madaline.losses.focal import BinaryFocal
from madaline.losses.margin import Hinge
from madaline.losses.weights import balanced_class_weight

ONE_CLASS_A_ROW = [c for c in CASES if isinstance(c.loss, (ClassLoss, LabelLoss)) and c.arguments()[1].ndim == 1]
each_case = pytest.mark.parametrize("case", ONE_CLASS_A_ROW, ids=lambda case: case.name)


@each_case
def test_class_weights_equal_row_weights(case):
    z, y = case.arguments()
    by_class = np.array([0.5, 2.0, 0.0, 3.0])[: y.max() + 1]
    for reduction in ("mean", "sum", "none"):
        expected = case.loss(z, y, by_class[y], reduction=reduction)
        for given in (by_class, list(by_class), dict(enumerate(by_class))):
            found = case.loss(z, y, class_weight=given, reduction=reduction)
            np.testing.assert_allclose(found, expected, rtol=1e-14)


@each_case
def test_class_and_row_weights_multiply(case):
    z, y = case.arguments()
    by_class, by_row = np.array([0.5, 2.0, 1.0, 3.0])[: y.max() + 1], np.arange(N_ROWS) + 1.0
    found = case.loss(z, y, by_row, class_weight=by_class)
    assert found == pytest.approx(case.loss(z, y, by_row * by_class[y]), rel=1e-14)


@each_case
def test_class_weights_work_in_a_program_for_any_batch(case):
    z, y = case.arguments()
    by_class = np.array([0.5, 2.0, 1.0, 3.0])[: y.max() + 1]
    program = md.compile(lambda z, y: case.loss(z, y, class_weight=by_class), rows=[0, 1])
    assert program(z, y) == pytest.approx(case.loss(z, y, class_weight=by_class), rel=1e-13)


@each_case
def test_balanced_weights_give_every_class_the_same_say(case):
    z, _ = case.arguments()
    y = np.array([0, 0, 0, 1, 0, 1])
    rows = case.loss(z, y, reduction="none")
    expected = (rows[y == 0].mean() + rows[y == 1].mean()) / 2
    assert case.loss(z, y, class_weight="balanced") == pytest.approx(expected, rel=1e-13)


def test_a_mapping_may_leave_out_classes():
    z, y = np.eye(3), np.arange(3)
    assert CrossEntropy()(z, y, class_weight={1: 5.0}) == CrossEntropy()(z, y, class_weight=[1.0, 5.0, 1.0])


def test_probabilities_weigh_a_row_by_the_mean_weight_of_its_classes():
    z, p, by_class = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([1.0, 5.0])
    assert CrossEntropy()(z, p, class_weight=by_class) == pytest.approx(CrossEntropy()(z, p, [4.0, 1.0]))


def test_probabilities_and_booleans_are_weighed_in_a_program_for_any_batch(rng):
    z, p, by_class = rng.normal(size=(4, 3)), rng.dirichlet(np.ones(3), size=4), np.array([1.0, 5.0, 0.5])
    program = md.compile(lambda z, p: CrossEntropy()(z, p, class_weight=by_class), rows=[0, 1])
    assert program(z, p) == pytest.approx(CrossEntropy()(z, p, p @ by_class), rel=1e-13)
    z, y = rng.normal(size=(4, 2)), np.array([True, False, False, True])
    expected = CrossEntropy()(z, y.astype(int), np.where(y, 5.0, 1.0))
    assert CrossEntropy()(z, y, class_weight=[1.0, 5.0]) == pytest.approx(expected)
    program = md.compile(lambda z, y: CrossEntropy()(z, y, class_weight=[1.0, 5.0]), rows=[0, 1])
    assert program(z, y) == pytest.approx(expected)


def test_signs_are_the_classes_of_a_hinge():
    z, y = np.array([[0.5], [0.2], [-3.0]]), np.array([-1, 1, 1])
    assert Hinge()(z, y) == Hinge()(z, y > 0)
    assert Hinge()(z, y, class_weight=[3.0, 1.0]) == pytest.approx(Hinge()(z, y, [3.0, 1.0, 1.0]))


@pytest.mark.parametrize("loss", [BinaryCrossEntropy(), BinaryFocal(), Hinge()], ids=lambda loss: loss.name)
def test_the_weights_of_several_labels_multiply_as_in_scikit_learn(loss, rng):
    z, y = rng.normal(size=(6, 3)), rng.integers(0, 2, size=(6, 3))
    given = [{0: 0.5, 1: 2.0}, {}, [3.0, 1.0]]
    by_row = compute_sample_weight([{0: 0.5, 1: 2.0}, {0: 1.0, 1: 1.0}, {0: 3.0, 1: 1.0}], y)
    assert loss(z, y, class_weight=given) == pytest.approx(loss(z, y, by_row), rel=1e-13)
    assert loss(z, y, class_weight=np.array([[0.5, 2.0], [1.0, 1.0], [3.0, 1.0]])) == pytest.approx(loss(z, y, by_row))
    balanced = compute_sample_weight("balanced", y)
    assert loss(z, y, class_weight="balanced") == pytest.approx(loss(z, y, balanced), rel=1e-13)
    program = md.compile(lambda z, y: loss(z, y, class_weight=given), rows=[0, 1])
    assert program(z, y) == pytest.approx(loss(z, y, by_row), rel=1e-13)


def test_labels_that_are_probabilities_weigh_by_the_mean_weight(rng):
    z, p = rng.normal(size=(4, 2)), rng.random((4, 2))
    by_row = (1.0 + 4.0 * p[:, 0]) * (1.0 - 0.5 * p[:, 1])
    found = BinaryCrossEntropy()(z, p, class_weight=[{1: 5.0}, {1: 0.5}])
    assert found == pytest.approx(BinaryCrossEntropy()(z, p, by_row), rel=1e-13)


def test_balanced_weights_follow_the_formula():
    np.testing.assert_allclose(balanced_class_weight([0, 0, 0, 2], 4), [4 / 6, 0.0, 2.0, 0.0])
    np.testing.assert_allclose(balanced_class_weight([[0.75, 0.25]]), [2 / 3, 2.0])


def test_class_weights_that_have_no_meaning_are_refused():
    z, y = np.zeros((2, 3)), np.array([0, 1])
    with pytest.raises(ConfigError, match=r"class_weight='equal' is not known. Pass 'balanced', a dict"):
        CrossEntropy()(z, y, class_weight="equal")
    with pytest.raises(ConfigError, match="class_weight names the class 'a'; the classes are 0 to 2"):
        CrossEntropy()(z, y, class_weight={"a": 1.0})
    with pytest.raises(ShapeError, match=r"class_weight has shape \(2,\).*each of the 3 classes"):
        CrossEntropy()(z, y, class_weight=[1.0, 2.0])
    with pytest.raises(ConfigError, match=r"class_weight is -1.0 at position 0"):
        CrossEntropy()(z, y, class_weight=[-1.0, 2.0, 1.0])
    for unclear in ([1.0, 2.0, 3.0], {1: 2.0}, [{1: 2.0}]):
        with pytest.raises(ConfigError, match="does not say which of the 3 labels of binary_cross_entropy it is for"):
            BinaryCrossEntropy()(z, z, class_weight=unclear)
    with pytest.raises(ConfigError, match="class_weight names the class 2; the classes are 0 to 1"):
        Hinge()(z, z, class_weight=[{}, {2: 1.0}, {}])
    with pytest.raises(TraceError, match="class_weight='balanced' counts the targets"):
        md.compile(lambda z, y: CrossEntropy()(z, y, class_weight="balanced"), rows=[0, 1])(z, y)
