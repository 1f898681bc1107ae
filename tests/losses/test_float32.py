"""Losses, slopes and predictions in float32 against float64, at extreme outputs and targets.

Every case uses numbers that float32 holds exactly, so that both types answer the same question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import madaline as md
from losses.cases import CASES
from madaline.losses.classes import ClassLoss
from madaline.losses.loss import Loss
from madaline.losses.mixture import COVARIANCES, MixtureDensity

LOG_LINK = {"poisson", "gamma", "tweedie"}
OF_NUMBERS = {"mse", "half_mse", "mae", "huber", "log_cosh", "quantile", "gaussian", "heteroscedastic_gaussian"}
SIZES = (1e2, 1e3, 1e4, 1e6)


@dataclass(frozen=True)
class Question:
    """A loss with outputs and targets that float32 holds exactly."""

    name: str
    loss: Loss
    z: np.ndarray
    y: np.ndarray


def exact(x: np.ndarray) -> np.ndarray:
    """Floats as float32 holds them; integers stay."""
    return x.astype(np.float32) if x.dtype.kind == "f" else x


def near_ties(size: float, loss: MixtureDensity, D: int) -> tuple[np.ndarray, np.ndarray]:
    """Components so close together that a target far away belongs to all of them in part.

    The log densities, about -size**2 / 2, differ by numbers of order 1.
    """
    rng = np.random.default_rng(0)
    n, K = 20, loss.components
    means = 1.0 + rng.normal(size=(n, K, D)) / size
    M = 1 if loss.covariance == "tied" else K
    scales = np.zeros((n, M * D))
    above = np.zeros((n, 0 if loss.covariance == "diagonal" else M * D * (D - 1) // 2)) + 0.25
    z = np.concatenate([rng.normal(size=(n, K)), means.reshape(n, -1), scales, above], axis=1)
    return z, size * rng.choice([-1.0, 1.0], size=(n, D))


def one_far_component(size: float, loss: MixtureDensity, D: int) -> tuple[np.ndarray, np.ndarray]:
    """One component on the target, the others far away."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(20, loss.n_outputs(md.losses.Target(width=D))))
    z[:, loss.components : loss.components + (loss.components - 1) * D] *= size
    return z, rng.normal(size=(20, D))


def questions() -> Iterator[Question]:
    for case in CASES:
        z, y = case.arguments()
        for size in SIZES:
            if case.loss.name not in LOG_LINK:
                yield Question(f"{case.name}: outputs times {size:.0e}", case.loss, size * z, y)
            if isinstance(case.loss, ClassLoss):
                yield Question(f"{case.name}: outputs plus {size:.0e}", case.loss, size + z, y)
            if case.loss.name in OF_NUMBERS:
                yield Question(f"{case.name}: targets times {size:.0e}", case.loss, z, size * y)
            if case.loss.name in LOG_LINK:
                yield Question(f"{case.name}: rates times {size:.0e}", case.loss, z + np.log(size), np.floor(size * y))
                yield Question(f"{case.name}: targets times {size:.0e}", case.loss, z, np.floor(size * y) + 1.0)
    for covariance in COVARIANCES:
        for size in SIZES:
            for D in (1, 3):
                loss = MixtureDensity(components=3, covariance=covariance)
                for make in (near_ties, one_far_component):
                    name = f"mixture_density, {covariance}, {D}-d: {make.__name__} {size:.0e}"
                    yield Question(name, loss, *make(size, loss, D))


@pytest.mark.parametrize("question", list(questions()), ids=lambda question: question.name)
def test_values_and_slopes_in_float32_are_those_of_float64(question):
    z, y = exact(question.z), exact(question.y)
    wide_y = y.astype(np.float64) if y.dtype.kind == "f" else y
    loss = question.loss
    both = md.compile(md.value_and_grad(lambda z, y: np.sum(loss.rows(z, y))), rows=[0, 1])
    slope = both(z, y)[1]
    wanted = both(z.astype(np.float64), wide_y)[1]
    assert slope.dtype == np.float32
    largest = np.abs(wanted).max(axis=1, keepdims=True)
    np.testing.assert_allclose(slope / (largest + 1e-20), wanted / (largest + 1e-20), rtol=1e-4, atol=1e-5)
    value = loss(z, y, reduction="none")
    np.testing.assert_allclose(value, loss(z.astype(np.float64), wide_y, reduction="none"), rtol=2e-5, atol=1e-6)
    predicted = loss.predict(z.astype(np.float64))
    np.testing.assert_allclose(loss.predict(z), predicted, rtol=1e-4, atol=1e-6 * np.abs(predicted).max())


@pytest.mark.parametrize("size", [*SIZES, 1e8])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_slopes_of_logsumexp_are_shares_that_add_up_to_one(size, sign):
    x = (sign * size + np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]]) * size / 1e2).astype(np.float32)
    slopes = md.jacobian(lambda x: md.functional.logsumexp(x, axis=1).sum())(x)
    shares = np.exp(x - x.max(axis=1, keepdims=True).astype(np.float64))
    np.testing.assert_allclose(slopes, shares / shares.sum(axis=1, keepdims=True), rtol=1e-6, atol=1e-30)
    curvature = md.jacobian(md.grad(md.functional.logsumexp))(x[0])
    np.testing.assert_allclose(curvature, np.eye(3) / 3 - 1 / 9, rtol=1e-5)


def test_logsumexp_of_infinities():
    assert md.functional.logsumexp(np.array([-np.inf, 0.0])) == 0.0
    np.testing.assert_array_equal(md.grad(md.functional.logsumexp)(np.array([-np.inf, 3.0])), [0.0, 1.0])
    for x in ([-np.inf, -np.inf], [np.inf, 0.0], [np.nan, 0.0]):
        np.testing.assert_array_equal(
            md.compile(md.functional.logsumexp)(np.array(x)), md.functional.logsumexp(np.array(x))
        )
