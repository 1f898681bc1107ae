"""The losses of the lectures as their slides write them, against ours. Lecture rows A4, D2, E5, E6."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

N, D, K = 7, 3, 4


@pytest.fixture
def outputs(rng):
    """Raw outputs and targets of a regression."""
    return rng.normal(size=(N, D)), rng.normal(size=(N, D))


@pytest.fixture
def logits(rng):
    """Raw outputs for K classes, and classes."""
    return rng.normal(size=(N, K)), rng.integers(0, K, N)


def softmax(z):
    return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)


def huber(r, delta=1.0):
    return np.where(np.abs(r) <= delta, r**2 / 2, delta * (np.abs(r) - delta / 2))


REGRESSION = {
    "mse": lambda r: r**2,
    "half_mse": lambda r: r**2 / 2,  # the 1/2m of deck D
    "mae": np.abs,  # deck D prints 1/2m here too, by a slip
    "huber": huber,
    "log_cosh": lambda r: np.log(np.cosh(r)),  # deck D's "Tanh-Cos"
}


@pytest.mark.parametrize("name", REGRESSION)
def test_losses_of_regression_are_means_of_a_function_of_the_residual(name, outputs):  # A4, D2
    z, y = outputs
    assert md.losses.as_loss(name)(z, y) == pytest.approx(REGRESSION[name](z - y).mean(), rel=1e-12)


@pytest.mark.parametrize("delta", [0.3, 1.0, 2.5])
def test_hubers_loss_is_quadratic_up_to_delta_and_linear_beyond(delta):  # D2
    """Value and slope are continuous at delta; the slope never exceeds it."""
    r = np.array([-9.0, -delta, -0.1, 0.0, 0.2, delta, 5.0])[:, None]
    loss = md.Huber(delta=delta)
    for value in r:
        assert loss(value[None], np.zeros((1, 1))) == pytest.approx(huber(value[0], delta), rel=1e-12)
    slope = md.grad(lambda z: loss(z, np.zeros_like(z)))(r) * len(r)
    np.testing.assert_allclose(slope, np.clip(r, -delta, delta), rtol=1e-12)


def test_log_cosh_does_not_overflow():  # D2
    z = np.array([[800.0], [-800.0]])
    assert md.losses.LogCosh()(z, np.zeros((2, 1))) == pytest.approx(800.0 - np.log(2.0), rel=1e-12)


def test_cross_entropy_is_minus_the_log_of_the_softmax_at_the_class(logits):  # A4, D2
    z, y = logits
    assert md.CrossEntropy()(z, y) == pytest.approx(-np.log(softmax(z)[np.arange(N), y]).mean(), rel=1e-12)


def test_binary_cross_entropy_is_the_log_loss_of_a_sigmoid(outputs):  # A4, D2
    z, y = outputs[0], (outputs[1] > 0).astype(float)
    p = 1 / (1 + np.exp(-z))
    expected = -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()
    assert md.BinaryCrossEntropy()(z, y) == pytest.approx(expected, rel=1e-12)


def test_from_logits_no_prediction_is_too_wrong_to_be_told():  # D2
    """The slide's formula overflows at 1000; from logits the loss is what it must be, and so is its slope."""
    z = np.array([[0.0, 1000.0]])
    assert md.CrossEntropy()(z, np.array([0])) == 1000.0
    np.testing.assert_array_equal(md.grad(lambda z: md.CrossEntropy()(z, np.array([0])))(z), [[-1.0, 1.0]])
    assert md.BinaryCrossEntropy()(np.array([-1000.0]), np.array([1.0])) == 1000.0


def test_hinge_asks_for_a_margin_of_one(outputs):  # D2
    z, y = outputs[0][:, :1], np.where(outputs[1][:, 0] > 0, 1, -1)
    assert md.losses.Hinge()(z, y) == pytest.approx(np.maximum(0, 1 - y * z[:, 0]).mean(), rel=1e-12)


def normal(y, mean, variance):
    return np.exp(-((y - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def test_a_gaussian_of_fixed_variance_has_the_minimum_of_the_squared_loss(outputs):  # E5
    z, y = outputs
    expected = -np.log(normal(y, z, 0.3)).mean()
    assert md.losses.Gaussian(variance=0.3)(z, y) == pytest.approx(expected, rel=1e-12)
    slope, squared = (
        md.grad(lambda z, loss=loss: loss(z, y))(z) for loss in (md.losses.Gaussian(variance=0.3), md.MSE())
    )
    np.testing.assert_allclose(slope, squared / (2 * 0.3), rtol=1e-12)


def test_a_heteroscedastic_gaussian_predicts_mean_and_variance(outputs, rng):  # E5
    mean, y = outputs
    s = rng.normal(size=(N, D))
    raw = np.concatenate([mean, s], axis=1)
    loss = md.losses.HeteroscedasticGaussian(floor=1e-12)
    assert loss(raw, y) == pytest.approx(-np.log(normal(y, mean, np.exp(s))).mean(), rel=1e-9)
    np.testing.assert_allclose(loss.variance(raw), np.exp(s), rtol=1e-9)


def test_a_mixture_density_sums_gaussians_by_their_weights(rng):  # E5
    """One column, K components: weights by a softmax, means, and logarithms of variances."""
    logits, mean, s = rng.normal(size=(3, N, K))
    y = rng.normal(size=(N, 1))
    expected = -np.log((softmax(logits) * normal(y, mean, np.exp(s))).sum(axis=1)).mean()
    loss = md.losses.MixtureDensity(components=K, floor=1e-12)
    assert loss(np.concatenate([logits, mean, s], axis=1), y) == pytest.approx(expected, rel=1e-9)


def test_a_regulariser_is_added_with_its_strength_layer_by_layer(outputs, rng):  # E6
    """nll + sum of lambda_l Omega(W_l): the gradient of each layer gets its own pull, biases none."""
    X, y = outputs
    params = {"V": rng.normal(size=(D, 5)), "W": rng.normal(size=(5, D)), "b": rng.normal(size=D)}

    def nll(p):
        return md.losses.Gaussian()(np.tanh(X @ p["V"]) @ p["W"] + p["b"], y)

    def penalised(p):
        return nll(p) + md.optim.L2(0.1)(p["V"]) + md.optim.L1(0.2)(p["W"])

    plain, pulled = md.grad(nll)(params), md.grad(penalised)(params)
    np.testing.assert_allclose(pulled["V"] - plain["V"], 0.2 * params["V"], atol=1e-12)
    np.testing.assert_allclose(pulled["W"] - plain["W"], 0.2 * np.sign(params["W"]), atol=1e-12)
    np.testing.assert_allclose(pulled["b"], plain["b"], atol=1e-12)


def test_the_trainer_adds_the_penalty_of_each_layer_to_the_gradient(outputs):  # E6
    """One step of SGD moves each weight by the gradient of the loss and of its own penalty, and biases by the loss."""
    X, y = outputs
    net = md.Sequential(md.Linear(5), "tanh", md.Linear(D))
    before = net.init(X, seed=3, dtype="float64")
    moved = {}
    for name, regularizer in {"none": None, "penalised": {"0": md.optim.L2(0.1), "2": md.optim.L1(0.2)}}.items():
        trainer = md.Trainer(net, optimizer=md.SGD(0.5), regularizer=regularizer, dtype="float64", seed=3)
        trainer.fit(X, y, epochs=1, batch_size=None)
        moved[name] = trainer.model.params
    difference = {path: (moved["none"][path] - moved["penalised"][path]) / 0.5 for path in before.params}
    np.testing.assert_allclose(difference["0.W"], 2 * 0.1 * before.params["0.W"], atol=1e-10)
    np.testing.assert_allclose(difference["2.W"], 0.2 * np.sign(before.params["2.W"]), atol=1e-10)
    for path in ("0.b", "2.b"):
        np.testing.assert_allclose(difference[path], 0.0, atol=1e-10)
