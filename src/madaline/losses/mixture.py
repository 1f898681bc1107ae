"""Mixture density networks: the density of the target as a mixture of Gaussians that the net predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ShapeError
from madaline.graph.numpy_api.reduce import logsumexp
from madaline.graph.primitives.elementwise import stop_gradient
from madaline.graph.shapes import Shape, show
from madaline.losses.density import LOG_2_PI, SCALES, log_variance
from madaline.losses.loss import Loss, as_floats, softmax
from madaline.losses.mixture_density import GaussianMixture
from madaline.losses.targets import Target, check_numbers, check_rows, columns, n_columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array

COVARIANCES = ("full", "diagonal", "tied")


@description
class MixtureDensity(Loss):
    r"""Negative log-likelihood of a mixture of Gaussians whose weights, means and covariances the net predicts,

    .. math:: \ell = -\log \sum_k \pi_k\, N(y;\ \mu_k, \Sigma_k), \qquad
              \log N = \sum_i \log A_{ii} - \tfrac12 \|A (y - \mu)\|^2 - \tfrac D2 \log 2\pi.

    Parameters
    ----------
    components : int
        Number of Gaussians, ``K``.
    covariance : {"full", "diagonal", "tied"}
        One matrix for each component, a diagonal one, or one matrix that all components of a row share.
    scale : {"log_variance", "softplus"}
        How an output ``s`` is converted to :math:`A_{ii} = v^{-1/2}`; see ``heteroscedastic_gaussian``.
    floor : float
        Minimum variance, above 0. It keeps the density bounded if a component is centred on one target.

    Notes
    -----
    :math:`A` is upper triangular with a positive diagonal and :math:`\Sigma^{-1} = A^T A`, so :math:`A^T` is the
    Cholesky factor of the precision and :math:`A_{ii}^{-2}` the variance of :math:`y_i` given the :math:`y_j` after it.
    The outputs are ``K`` logits of the weights, ``K`` by ``D`` means, the values ``s`` of the diagonals, then the
    entries above the diagonals row by row (none for "diagonal"). A row's loss is that of the joint density, not a mean
    over its columns. Bishop 1994, eq. 22-29; full covariances: Williams 1996, eq. 4. Lecture row E5.

    Examples
    --------
    >>> loss = MixtureDensity(components=2, covariance="full")
    >>> loss.n_outputs(Target(width=3))
    20
    >>> loss.distribution(np.zeros((1, 20))).mean()
    array([[0., 0., 0.]])
    """

    name: ClassVar[str] = "mixture_density"
    ranges: ClassVar[Mapping[str, str]] = {"components": "[1, inf)", "floor": "(0, inf)"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"covariance": COVARIANCES, "scale": SCALES}
    out_activation: ClassVar[str] = "own"
    _: KW_ONLY
    components: int = 5
    covariance: str = "full"
    scale: str = "log_variance"
    floor: float = 1e-6

    def rows(self, prediction: Array, target: Array) -> Array:
        y = columns(target)
        self._check_shapes(prediction.shape, y.shape)
        D = n_columns(y)
        logits, means, log_diagonal, above = self.split(prediction, D)
        y = y.astype(means.dtype)[:, None, :]
        diagonal = np.exp(log_diagonal)
        u = _product(diagonal, above, y - means)
        log_normal = np.sum(log_diagonal, axis=2) - 0.5 * np.sum(u * u, axis=2)
        best = (np.arange(self.components) == np.argmax(logits + log_normal, axis=1)[:, None])[:, :, None]
        relative = stop_gradient(_relative(y, means, log_diagonal, diagonal, above, u, best))
        # The first difference is 0; it has the derivatives.
        relative = log_normal - stop_gradient(log_normal) + relative
        highest = stop_gradient(np.sum(np.where(best[:, :, 0], log_normal, 0.0), axis=1))
        return logsumexp(logits, axis=1) - logsumexp(logits + relative, axis=1) - highest + 0.5 * D * LOG_2_PI

    def split(self, raw: Array, D: int) -> tuple[Any, Any, Any, Any]:
        """Logits (n, K), means (n, K, D), log diagonals (n, K or 1, D), entries above them (n, K or 1, D(D-1)/2)."""
        K = self.components
        M = 1 if self.covariance == "tied" else K
        logits, rest = raw[:, :K], raw[:, K:]
        means = np.reshape(rest[:, : K * D], (raw.shape[0], K, D))
        s = np.reshape(rest[:, K * D : (K + M) * D], (raw.shape[0], M, D))
        log_diagonal = -0.5 * log_variance(s, self.scale, self.floor)
        if self.covariance == "diagonal" or D == 1:
            return logits, means, log_diagonal, None
        return logits, means, log_diagonal, np.reshape(rest[:, (K + M) * D :], (raw.shape[0], M, D * (D - 1) // 2))

    def _count(self, D: int) -> int:
        M = 1 if self.covariance == "tied" else self.components
        above = 0 if self.covariance == "diagonal" else D * (D - 1) // 2
        return self.components * (1 + D) + M * (D + above)

    def n_outputs(self, target: Target) -> int:
        return self._count(target.width)

    def distribution(self, raw: Array) -> GaussianMixture:
        """The predicted densities of all rows, in float64: to evaluate, to sample, for means, modes and quantiles."""
        raw = np.asarray(raw, dtype=np.float64)
        D = self._width(raw.shape)
        logits, means, log_diagonal, above = self.split(raw, D)
        factors = np.exp(log_diagonal)[..., None] * np.eye(D)
        if above is not None:
            factors[..., *np.triu_indices(D, 1)] = above
        return GaussianMixture(np.asarray(softmax(logits)), means, np.broadcast_to(factors, (*means.shape, D)))

    def _width(self, shape: Shape) -> int:
        """Number of target columns that outputs of this shape belong to."""
        D = 1
        while len(shape) == 2 and self._count(D) < shape[1]:
            D += 1
        if len(shape) != 2 or self._count(D) != shape[1]:
            raise ShapeError(f"raw has shape {show(shape)}, which is not a possible shape of the outputs of {self!r}.")
        return D

    def predict(self, raw: Array | ArrayLike) -> Array:
        """The means of the densities."""
        raw = as_floats(raw)
        logits, means, _, _ = self.split(raw, self._width(raw.shape))
        return np.sum(softmax(logits)[:, :, None] * means, axis=1)

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        target = np.asarray(target)
        check_rows(prediction_shape, target.shape)
        self._check_shapes(prediction_shape, columns(target).shape)
        check_numbers(target)

    def _check_shapes(self, prediction: Shape, target: Shape) -> None:
        wanted = self._count(int(target[1]))
        if len(prediction) != 2 or prediction[1] != wanted:
            raise ShapeError(
                f"prediction has shape {show(prediction)}; {self.components} components with {self.covariance} "
                f"covariance over {target[1]} target columns need {wanted} outputs."
            )


def _relative(y: Array, means: Any, log_diagonal: Any, diagonal: Any, above: Any, u: Array, best: Any) -> Array:
    r"""Log densities relative to that of the best component ``b`` of each row, without their difference.

    Far from all means, log densities are large and their differences, which decide the shares, are small. With
    :math:`u = A(y - \mu)`, :math:`|u|^2 - |u_b|^2 = (u - u_b)^T (u + u_b)` and
    :math:`u - u_b = A(\mu_b - \mu) + (A - A_b)(y - \mu_b)`, in which no large numbers cancel.
    """
    mean_b, u_b = _chosen(means, best), _chosen(u, best)
    apart = _product(diagonal, above, mean_b - means)
    if diagonal.shape[1] == 1:  # all components share one matrix
        return -0.5 * np.sum(apart * (u + u_b), axis=2)
    difference = None if above is None else above - _chosen(above, best)
    apart = apart + _product(diagonal - _chosen(diagonal, best), difference, y - mean_b)
    return np.sum(log_diagonal - _chosen(log_diagonal, best), axis=2) - 0.5 * np.sum(apart * (u + u_b), axis=2)


def _product(diagonal: Any, above: Any, r: Any) -> Array:
    """``A r`` for the upper triangular matrices with these diagonals and entries above them (None: they are 0)."""
    product = diagonal * r
    if above is None:
        return product
    D = int(r.shape[2])
    i, j = np.triu_indices(D, 1)
    # A_ij r_j is added to row i by a product with the 0-1 matrix of rows.
    return product + (above * r[:, :, j]) @ np.eye(D)[i].astype(product.dtype)


def _chosen(x: Array, is_chosen: Any) -> Array:
    """The part of one component of each row, (n, 1, width)."""
    return np.sum(np.where(is_chosen, x, 0.0), axis=1, keepdims=True)
