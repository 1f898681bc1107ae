"""One set of samples for every loss, and what PyTorch says the loss of each row is."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.losses.cross_entropy import BinaryCrossEntropy, CrossEntropy, KLDivergence
from madaline.losses.density import Gaussian, HeteroscedasticGaussian
from madaline.losses.focal import BinaryFocal, Focal
from madaline.losses.log_link import Gamma, Poisson, Tweedie
from madaline.losses.loss import LOSSES, Loss
from madaline.losses.margin import Hinge, SquaredHinge
from madaline.losses.mixture import MixtureDensity
from madaline.losses.ordinal import Ordinal
from madaline.losses.quantile import Quantile
from madaline.losses.robust import MAE, Huber, LogCosh
from madaline.losses.squared import MSE, HalfMSE

N_ROWS = 6
Oracle = Callable[[Any, Any, Any], Any]


def numbers(width):
    return lambda rng: rng.normal(size=(N_ROWS, width))


def classes(count):
    return lambda rng: rng.permutation(np.arange(N_ROWS) % count)


def labels(width):
    return lambda rng: rng.integers(0, 2, size=(N_ROWS, width))


def shares(count):
    return lambda rng: rng.dirichlet(np.ones(count), size=N_ROWS)


def counts(width):
    return lambda rng: rng.poisson(1.5, size=(N_ROWS, width))


def positives(width):
    return lambda rng: rng.gamma(2.0, size=(N_ROWS, width))


@dataclass(frozen=True)
class Case:
    """A loss, how many outputs, how to draw targets, and ``torch_rows(z, y, torch)``."""

    name: str
    loss: Loss
    n_outputs: int
    draw: Callable[[np.random.Generator], np.ndarray]
    torch_rows: Oracle | None = None
    float32_rtol: float = 1e-6

    def arguments(self, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
        """A prediction and a target; their values are the same in float32 and float64."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        prediction = (1.5 * rng.normal(size=(N_ROWS, self.n_outputs))).astype(np.float32)
        target = self.draw(rng)
        if target.dtype.kind == "f":
            target = target.astype(np.float32)
            if self.draw.__qualname__.startswith("shares"):  # multiples of 1/256 add up to 1 in both types
                target = np.round(target * 256) / 256
                target[:, -1] = 1.0 - target[:, :-1].sum(axis=1)
            target = target.astype(dtype)
        return prediction.astype(dtype), target


def by_output(name: str, **options: Any) -> Oracle:
    """A loss of ``torch.nn.functional`` that gives one number an output."""

    def rows(z: Any, y: Any, torch: Any) -> Any:
        loss = getattr(torch.nn.functional, name)
        return loss(z, y.to(z.dtype).reshape(z.shape), reduction="none", **options).mean(1)

    return rows


def cross_entropy(z, y, torch, **options):
    return torch.nn.functional.cross_entropy(z, y, reduction="none", **options)


def kl(z, y, torch):
    return torch.nn.functional.kl_div(torch.log_softmax(z, 1), y, reduction="none").sum(1)


def focal(z, y, torch):
    p = torch.softmax(z, 1).gather(1, y[:, None])[:, 0]
    return -((1 - p) ** 2) * torch.log(p)


def binary_focal(z, y, torch):
    p = torch.sigmoid(z)
    return -(y * (1 - p) ** 3 * torch.log(p) + (1 - y) * p**3 * torch.log(1 - p)).mean(1)


def hinge(power):
    def rows(z, y, torch):
        sign = 2.0 * y.reshape(z.shape).to(z.dtype) - 1.0
        return (torch.clamp(1 - sign * z, min=0) ** power).mean(1)

    return rows


def crammer_singer(power):
    def rows(z, y, torch):
        own = z.gather(1, y[:, None])[:, 0]
        best_other = torch.stack([torch.cat([row[:k], row[k + 1 :]]).max() for row, k in zip(z, y, strict=True)])
        return torch.clamp(1 + best_other - own, min=0) ** power

    return rows


def gaussian(z, y, torch):
    return -torch.distributions.Normal(z, 2.5**0.5).log_prob(y).mean(1)


def heteroscedastic(scale):
    def rows(z, y, torch):
        D = y.shape[1]
        s = z[:, D:]
        variance = 1e-3 + (torch.exp(s) if scale == "log_variance" else torch.nn.functional.softplus(s) ** 2)
        loss = torch.nn.functional.gaussian_nll_loss
        return loss(z[:, :D], y, variance, full=True, reduction="none").mean(1)

    return rows


def mixture(K, covariance):
    def rows(z, y, torch):
        n, D = y.shape
        M = 1 if covariance == "tied" else K
        means = z[:, K : K + K * D].reshape(n, K, D)
        s = z[:, K + K * D : K + (K + M) * D].reshape(n, M, D)
        diagonal = (1e-3 + torch.exp(s)) ** -0.5
        normal = torch.distributions.MultivariateNormal
        if covariance == "diagonal":
            parts = torch.distributions.Independent(torch.distributions.Normal(means, 1 / diagonal), 1)
        else:
            A = torch.diag_embed(diagonal)
            i, j = np.triu_indices(D, 1)
            A[:, :, i, j] = z[:, K + (K + M) * D :].reshape(n, M, -1)
            parts = normal(means, precision_matrix=(A.mT @ A).expand(n, K, D, D), validate_args=False)
        weights = torch.distributions.Categorical(logits=z[:, :K])
        return -torch.distributions.MixtureSameFamily(weights, parts, validate_args=False).log_prob(y)

    return rows


def pinball(levels):
    def rows(z, y, torch):
        q = torch.tensor(levels, dtype=z.dtype)
        r = y[:, :, None] - z.reshape(*y.shape, len(levels))
        return torch.maximum(q * r, (q - 1) * r).mean((1, 2))

    return rows


def poisson(z, y, torch):
    return torch.nn.functional.poisson_nll_loss(z, y.to(z.dtype), full=False, reduction="none").mean(1)


def gamma(z, y, torch):
    return -torch.distributions.Gamma(torch.ones_like(z), torch.exp(-z)).log_prob(y).mean(1)


def tweedie(z, y, torch):
    mean = torch.exp(z)
    return (mean**0.7 / 0.7 + y * mean**-0.3 / 0.3).mean(1)


def ordinal(z, y, torch):
    steps = torch.cat([z[:, :1], torch.nn.functional.softplus(z[:, 1:])], 1)
    at_most = torch.sigmoid(torch.cumsum(steps, 1))
    edge = torch.zeros_like(z[:, :1])
    p = torch.diff(torch.cat([edge, at_most, edge + 1], 1), dim=1)
    return -torch.log(p.gather(1, y[:, None])[:, 0])


CASES = [
    Case("mse", MSE(), 3, numbers(3), by_output("mse_loss")),
    Case("mse of one column", MSE(), 1, lambda rng: rng.normal(size=N_ROWS), by_output("mse_loss")),
    Case("half_mse", HalfMSE(), 3, numbers(3), lambda *args: by_output("mse_loss")(*args) / 2),
    Case("mae", MAE(), 3, numbers(3), by_output("l1_loss")),
    Case("huber", Huber(), 3, numbers(3), by_output("huber_loss")),
    Case("huber, delta 0.3", Huber(delta=0.3), 3, numbers(3), by_output("huber_loss", delta=0.3)),
    Case("log_cosh", LogCosh(), 3, numbers(3), lambda z, y, t: t.log(t.cosh(z - y)).mean(1)),
    Case("binary_cross_entropy", BinaryCrossEntropy(), 1, classes(2),
         by_output("binary_cross_entropy_with_logits")),
    Case("binary_cross_entropy, labels", BinaryCrossEntropy(), 4, labels(4),
         by_output("binary_cross_entropy_with_logits")),
    Case("binary_cross_entropy, probabilities", BinaryCrossEntropy(), 2, lambda rng: rng.random((N_ROWS, 2)),
         by_output("binary_cross_entropy_with_logits")),
    Case("binary_cross_entropy, smoothed", BinaryCrossEntropy(label_smoothing=0.25), 3, labels(3),
         lambda z, y, t: by_output("binary_cross_entropy_with_logits")(z, 0.75 * y + 0.125, t)),
    Case("cross_entropy", CrossEntropy(), 4, classes(4), cross_entropy),
    Case("cross_entropy, probabilities", CrossEntropy(), 4, shares(4), cross_entropy),
    Case("cross_entropy, smoothed", CrossEntropy(label_smoothing=0.125), 4, classes(4),
         lambda z, y, t: cross_entropy(z, y, t, label_smoothing=0.125)),
    Case("kl_divergence", KLDivergence(), 4, shares(4), kl),
    Case("focal", Focal(), 4, classes(4), focal),
    Case("focal, gamma 0", Focal(gamma=0.0), 4, classes(4), cross_entropy),
    Case("binary_focal", BinaryFocal(gamma=3.0), 3, labels(3), binary_focal),
    Case("hinge", Hinge(), 1, classes(2), hinge(1)),
    Case("hinge, labels", Hinge(), 3, labels(3), hinge(1)),
    Case("hinge, classes", Hinge(), 4, classes(4), crammer_singer(1)),
    Case("squared_hinge", SquaredHinge(), 1, classes(2), hinge(2)),
    Case("squared_hinge, classes", SquaredHinge(), 4, classes(4), crammer_singer(2)),
    Case("ordinal", Ordinal(), 3, classes(4), ordinal),
    Case("ordinal, two classes", Ordinal(), 1, classes(2), ordinal),
    Case("quantile", Quantile(), 3, numbers(1), pinball((0.1, 0.5, 0.9))),
    Case("quantile, two columns", Quantile(q=(0.25, 0.75)), 4, numbers(2), pinball((0.25, 0.75))),
    Case("poisson", Poisson(), 2, counts(2), poisson),
    Case("gamma", Gamma(), 2, positives(2), gamma),
    Case("tweedie", Tweedie(power=1.3), 2, counts(2), tweedie),
    Case("gaussian", Gaussian(variance=2.5), 2, numbers(2), gaussian),
    Case("heteroscedastic_gaussian", HeteroscedasticGaussian(floor=1e-3), 4, numbers(2),
         heteroscedastic("log_variance")),
    Case("heteroscedastic_gaussian, softplus", HeteroscedasticGaussian(scale="softplus", floor=1e-3), 4, numbers(2),
         heteroscedastic("softplus")),
    Case("mixture_density, 1-d", MixtureDensity(components=3, floor=1e-3), 9, numbers(1), mixture(3, "full")),
    Case("mixture_density", MixtureDensity(components=2, floor=1e-3), 20, numbers(3), mixture(2, "full"),
         float32_rtol=1e-5),  # a component's share is the exponential of log densities, as large as 60
    Case("mixture_density, diagonal", MixtureDensity(components=3, covariance="diagonal", floor=1e-3), 15, numbers(2),
         mixture(3, "diagonal")),
    Case("mixture_density, tied", MixtureDensity(components=3, covariance="tied", floor=1e-3), 12, numbers(2),
         mixture(3, "tied")),
]  # fmt: skip

# A loss that is not listed is asked on numbers, by every sweep but the comparison with PyTorch.
CASES += [
    Case(kind.name, kind(), 3, numbers(3))
    for kind in LOSSES
    if kind.__module__.startswith("madaline.") and kind not in {type(case.loss) for case in CASES}
]
