"""Every loss of the registry, asked the same questions."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import madaline as md
from agreement import assert_executors_agree, needs_core
from losses.cases import CASES, N_ROWS
from madaline.errors import ConfigError, ShapeError, UnknownNameError
from madaline.losses.density import Gaussian
from madaline.losses.loss import LOSSES, Loss
from madaline.losses.quantile import Quantile
from madaline.losses.robust import Huber
from madaline.losses.squared import MSE, HalfMSE
from madaline.losses.targets import Target

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def test_every_loss_has_a_case():
    shipped = {kind.name for kind in LOSSES if kind.__module__.startswith("madaline.")}
    assert {case.loss.name for case in CASES} == shipped


@each_case
def test_the_gradient_is_that_of_central_differences(case):
    z, y = case.arguments()
    found = md.grad(case.loss)(z, y)
    step = 1e-5
    for index in np.ndindex(z.shape):
        up, down = z.copy(), z.copy()
        up[index] += step
        down[index] -= step
        slope = (case.loss(up, y) - case.loss(down, y)) / (2 * step)
        assert found[index] == pytest.approx(slope, rel=2e-6, abs=2e-8), index


@each_case
def test_second_derivatives_are_those_of_central_differences(case, rng):
    z, y = case.arguments()
    direction = rng.normal(size=z.shape)
    step = 1e-6
    slope = md.grad(case.loss)
    expected = (slope(z + step * direction, y) - slope(z - step * direction, y)) / (2 * step)
    found = md.hvp(lambda z: case.loss(z, y), (z,), (direction,))
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-7)


@needs_core
@each_case
@each_dtype
def test_both_executors_agree_on_value_and_gradient(case, dtype):
    z, y = case.arguments(dtype)
    weight = np.linspace(0.5, 2.0, N_ROWS).astype(dtype)
    graph = md.trace(md.value_and_grad(case.loss), z, y, weight, rows=[0, 1, 2])
    assert_executors_agree(graph, [z, y, weight], N_ROWS)


@each_case
def test_a_program_for_any_batch_gives_what_arrays_give(case):
    z, y = case.arguments()
    step = md.compile(md.value_and_grad(case.loss), rows=[0, 1])
    for n in (N_ROWS, 3, 1):
        value, slope = step(z[:n], y[:n])
        assert value == pytest.approx(case.loss(z[:n], y[:n]), rel=1e-13)
        np.testing.assert_allclose(slope, md.grad(case.loss)(z[:n], y[:n]), rtol=1e-13, atol=1e-15)


@each_case
@each_dtype
def test_losses_keep_the_type_of_the_prediction(case, dtype):
    """Integer and float64 targets do not widen a float32 net."""
    z, _ = case.arguments(dtype)
    _, y = case.arguments(np.float64)
    weight = np.ones(N_ROWS)
    assert case.loss(z, y, weight, reduction="none").dtype == dtype
    assert md.compile(case.loss, rows=[0, 1, 2])(z, y, weight).dtype == dtype


@each_case
def test_the_mean_is_that_of_the_rows_and_the_sum_their_sum(case):
    z, y = case.arguments()
    rows = case.loss(z, y, reduction="none")
    assert rows.shape == (N_ROWS,)
    np.testing.assert_array_equal(rows, case.loss.rows(z, y))
    assert case.loss(z, y) == pytest.approx(rows.mean(), rel=1e-14)
    assert case.loss(z, y, reduction="sum") == pytest.approx(rows.sum(), rel=1e-14)


@each_case
def test_a_row_does_not_look_at_the_others(case):
    z, y = case.arguments()
    alone = [case.loss(z[i : i + 1], y[i : i + 1]) for i in range(N_ROWS)]
    np.testing.assert_allclose(case.loss(z, y, reduction="none"), alone, rtol=1e-14, atol=1e-15)


@each_case
def test_a_weight_of_zero_removes_a_row_and_whole_weights_repeat_it(case):
    z, y = case.arguments()
    weight = np.array([0, 2, 1, 3, 0, 1])
    repeated = np.repeat(np.arange(N_ROWS), weight)
    for reduction in ("mean", "sum"):
        expected = case.loss(z[repeated], y[repeated], reduction=reduction)
        assert case.loss(z, y, weight, reduction=reduction) == pytest.approx(expected, rel=1e-13)
    slope = md.grad(case.loss)(z, y, weight.astype(float))
    assert not slope[weight == 0].any()
    assert slope[weight > 0].any()


@each_case
def test_weights_scale_rows_that_are_not_reduced(case):
    z, y = case.arguments()
    weight = np.arange(N_ROWS) + 0.5
    np.testing.assert_allclose(
        case.loss(z, y, weight, reduction="none"), weight * case.loss.rows(z, y), rtol=1e-15, atol=0
    )


@each_case
def test_no_rows_have_a_sum_of_zero_and_no_mean(case):
    z, y = case.arguments()
    none = z[:0], y[:0]
    assert case.loss(*none, reduction="sum") == 0.0
    assert case.loss(*none, reduction="none").shape == (0,)
    assert np.isnan(case.loss(*none))
    assert np.isnan(case.loss(z, y, np.zeros(N_ROWS)))
    program = md.compile(lambda z, y: case.loss(z, y, reduction="sum"), rows=[0, 1])
    assert program(*none) == 0.0


@each_case
def test_a_loss_is_rebuilt_from_its_name_and_plain_parameters(case):
    data = case.loss.to_dict()
    assert Loss.from_dict(json.loads(json.dumps(data))) == case.loss
    assert data["name"] == case.loss.name


@each_case
def test_a_loss_knows_how_many_outputs_it_needs(case):
    _, y = case.arguments()
    assert case.loss.n_outputs(Target.of(y)) == case.n_outputs


@each_case
def test_predictions_can_be_traced_and_have_a_row_for_each_row(case):
    z, _ = case.arguments()
    predicted = case.loss.predict(z)
    assert predicted.shape[0] == N_ROWS
    assert np.isfinite(predicted).all()
    if case.loss.out_activation in ("sigmoid", "softmax", "exp"):
        np.testing.assert_allclose(md.compile(case.loss.predict, rows=[0])(z), predicted, rtol=1e-14)


@each_case
def test_losses_are_frozen_hashable_and_explain_themselves(case):
    assert hash(case.loss) == hash(type(case.loss)(**dataclasses.asdict(case.loss)))
    assert type(case.loss).__doc__
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.loss.name = "other"


@pytest.mark.parametrize("name", LOSSES.names())
def test_every_loss_can_be_had_by_its_name_alone(name):
    assert LOSSES[name]().name == name


def test_parameters_are_keywords():
    with pytest.raises(TypeError):
        Huber(1.0)


def test_half_mse_is_half_of_mse_and_its_gradient_the_residual():
    z, y = np.array([[1.0, 4.0]]), np.array([[0.0, 2.0]])
    assert MSE()(z, y) == 2.5
    assert HalfMSE()(z, y) == 1.25
    np.testing.assert_allclose(md.grad(HalfMSE())(z, y), (z - y) / 2)


def test_a_column_of_predictions_does_not_meet_a_row_of_targets():
    """The mean of an n by n matrix of differences is the classic mistake."""
    z, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
    assert MSE()(z, y) == 0.0
    assert MSE()(z[:, 0], y) == 0.0


def test_lists_and_integers_are_welcome():
    assert MSE()([[1], [3]], [0, 1]) == 2.5


def test_more_axes_count_as_outputs(rng):
    z, y = rng.normal(size=(2, 4, 3, 2))
    np.testing.assert_allclose(MSE().rows(z, y), np.mean((z - y) ** 2, axis=(1, 2)))
    assert md.compile(MSE(), rows=[0, 1])(z, y) == pytest.approx(np.mean((z - y) ** 2))


def test_a_constant_prediction_minimises_the_pinball_loss_at_the_quantile(rng):
    y = rng.normal(size=(1001, 1))
    loss = Quantile(q=0.9)
    grid = np.linspace(0.0, 3.0, 601)
    best = grid[np.argmin([loss(np.full((1001, 1), c), y) for c in grid])]
    assert best == pytest.approx(np.quantile(y, 0.9), abs=0.01)


def test_unknown_reductions_parameters_and_names_are_told():
    z = np.zeros((2, 1))
    with pytest.raises(ConfigError, match=r"reduction='average' is not known. Use 'mean', 'sum' or 'none'"):
        MSE()(z, z, reduction="average")
    with pytest.raises(ConfigError, match=r"Huber has no parameter alpha. It has: delta"):
        Loss.from_dict({"name": "huber", "alpha": 1.0})
    with pytest.raises(UnknownNameError, match=r"loss='hubr' is not a known loss. Did you mean 'huber'"):
        Loss.from_dict({"name": "hubr"})


@pytest.mark.parametrize(
    ("name", "parameters", "text"),
    [
        ("huber", {"delta": 0.0}, r"Huber: delta=0.0 must be a number in \(0, inf\)"),
        ("gaussian", {"variance": np.inf}, r"variance=inf must be a number in \(0, inf\)"),
        ("cross_entropy", {"label_smoothing": 1.0}, r"label_smoothing=1.0 must be a number in \[0, 1\)"),
        ("binary_cross_entropy", {"label_smoothing": -0.1}, r"label_smoothing=-0.1 must be a number in \[0, 1\)"),
        ("focal", {"gamma": -1.0}, r"gamma=-1.0 must be a number in \[0, inf\)"),
        ("binary_focal", {"gamma": np.nan}, r"gamma=nan must be a number in \[0, inf\)"),
        ("tweedie", {"power": 2.0}, r"power=2.0 must be a number in \(1, 2\)"),
        ("quantile", {"q": (0.5, 0.1)}, r"q=\(0.5, 0.1\) must hold increasing levels between 0 and 1"),
        ("quantile", {"q": ()}, r"q=\(\) must hold"),
        ("mixture_density", {"components": 0}, r"components=0 must be a number in \[1, inf\)"),
        ("mixture_density", {"covariance": "spherical"}, "covariance='spherical' must be 'full'"),
        ("heteroscedastic_gaussian", {"scale": "std"}, "scale='std' must be 'log_variance' or 'softplus'"),
        ("heteroscedastic_gaussian", {"floor": 0.0}, r"floor=0.0 must be a number in \(0, inf\)"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(name, parameters, text):
    with pytest.raises(ConfigError, match=text):
        LOSSES[name](**parameters)


@pytest.mark.parametrize("name", ["cross_entropy", "focal", "kl_divergence", "ordinal"])
def test_class_indices_mean_the_same_as_certain_probabilities(name):
    loss = LOSSES[name]()
    z, y = np.sin(np.arange(12.0)).reshape(4, 3), np.array([0, 2, 1, 2])
    certain = np.eye(4 if name == "ordinal" else 3)[y]
    for options in ({}, {"class_weight": "balanced"}, {"reduction": "none"}):
        np.testing.assert_allclose(loss(z, y, **options), loss(z, certain, **options), rtol=1e-12)
    by_index, by_share = (md.grad(lambda z, y=y: loss(z, y))(z) for y in (y, certain))
    np.testing.assert_allclose(by_index, by_share, atol=1e-14)


def test_weights_must_be_one_a_row_and_not_negative():
    z = np.zeros((3, 1))
    with pytest.raises(ShapeError, match="weight has 2 numbers for 3 rows"):
        MSE()(z, z, [1.0, 2.0])
    with pytest.raises(ShapeError, match=r"weight has shape \(3, 1\); it must have shape \(n,\), one number per row"):
        MSE()(z, z, z)
    with pytest.raises(ConfigError, match=r"weight is -1.0 at position 1; weights must be finite and not negative"):
        MSE()(z, z, [1.0, -1.0, 1.0])
    with pytest.raises(ConfigError, match="class_weight='balanced' cannot be used with gaussian"):
        Gaussian()(z, z, class_weight="balanced")
