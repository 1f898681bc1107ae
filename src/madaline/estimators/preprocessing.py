"""Preprocessing of the lectures as scikit-learn transformers. Lecture row B10."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from madaline.data.data_types import TableLike
from madaline.data.scale import centre_and_scale, smooth_clip, smooth_unclip
from madaline.data.whiten import principal_axes, sizes_to_divide_by
from madaline.errors import ConfigError
from madaline.estimators.saved import SavableEstimator

FLOATS = (np.float64, np.float32)


class ColumnScaler(SavableEstimator, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Scaling of columns, :math:`y = (x - c)/s`, with optional smooth clipping.

    Parameters
    ----------
    how : {"standard", "centre", "minmax", "symmetric", "robust", "none"}
        ``standard``: mean 0, standard deviation 1. ``centre``: mean 0. ``minmax``: from 0 to 1. ``symmetric``: from -1
        to 1. ``robust``: median 0, interquartile range 1, which is robust to outliers.
    clip : bool
        Whether to limit scaled values to the range from -3 to 3, by :math:`y/\sqrt{1 + (y/3)^2}`.

    Attributes
    ----------
    centre_, scale_ : arrays of shape (n_features,)
        :math:`c` and :math:`s` of each column.

    Examples
    --------
    >>> ColumnScaler().fit_transform([[2.0], [4.0], [6.0]])[:, 0].round(3)
    array([-1.225,  0.   ,  1.225])
    """

    centre_: np.ndarray
    scale_: np.ndarray

    def __init__(self, how: str = "standard", *, clip: bool = False) -> None:
        self.how = how
        self.clip = clip

    def fit(self, X: TableLike, y: object = None) -> Self:
        """Compute centre and scale of the columns."""
        rows: np.ndarray = validate_data(self, X, dtype=FLOATS)
        self.centre_, self.scale_ = centre_and_scale(rows, self.how)
        return self

    def transform(self, X: TableLike) -> np.ndarray:
        """Scale the columns."""
        check_is_fitted(self)
        rows: np.ndarray = validate_data(self, X, dtype=FLOATS, reset=False)
        scaled = (rows - self.centre_) / self.scale_
        return (smooth_clip(scaled) if self.clip else scaled).astype(rows.dtype, copy=False)

    def inverse_transform(self, X: TableLike) -> np.ndarray:
        """Undo the scaling."""
        check_is_fitted(self)
        rows: np.ndarray = check_array(X, dtype=FLOATS)
        scaled = smooth_unclip(rows) if self.clip else rows
        return (scaled * self.scale_ + self.centre_).astype(rows.dtype, copy=False)


class PCA(SavableEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal component analysis, :math:`y = V(x - \mu)`: uncorrelated columns in order of variance.

    With ``whiten=True`` the columns have variance 1, :math:`y_i/\sqrt{\lambda_i + \varepsilon}`.

    Parameters
    ----------
    n_components : int or float, optional
        Number of components, or, between 0 and 1, the fraction of the variance to retain. All components by default.
    whiten : bool
        Whether to divide columns by their standard deviation.
    eps : float, default 0
        Added to the variances before the square root. The lecture uses 1e-5.

    Attributes
    ----------
    mean_, components_, explained_variance_, explained_variance_ratio_, n_components_
        As in scikit-learn's PCA; variances are divided by n - 1, and the largest entry of a component is positive.

    Examples
    --------
    >>> PCA(1).fit([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]).components_.round(3)
    array([[0.707, 0.707]])
    """

    mean_: np.ndarray
    components_: np.ndarray
    explained_variance_: np.ndarray
    explained_variance_ratio_: np.ndarray
    n_components_: int
    _n_features_out: int

    def __init__(self, n_components: float | None = None, *, whiten: bool = False, eps: float = 0.0) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.eps = eps

    def fit(self, X: TableLike, y: object = None) -> Self:
        """Compute the principal components."""
        rows: np.ndarray = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        _check_eps(self.eps)
        axes = principal_axes(rows, self.n_components)
        self.mean_, self.components_, self.explained_variance_ = axes.mean, axes.V, axes.variances
        self.explained_variance_ratio_ = axes.variances / (axes.total or 1.0)
        self.n_components_ = self._n_features_out = len(axes.V)
        return self

    def transform(self, X: TableLike) -> np.ndarray:
        """Project the data on the components."""
        check_is_fitted(self)
        rows: np.ndarray = validate_data(self, X, dtype=FLOATS, reset=False)
        return ((rows - self.mean_) @ self.components_.T / self._sizes()).astype(rows.dtype, copy=False)

    def inverse_transform(self, X: TableLike) -> np.ndarray:
        """Reconstruct the data from the retained components."""
        check_is_fitted(self)
        rows: np.ndarray = check_array(X, dtype=FLOATS)
        return ((rows * self._sizes()) @ self.components_ + self.mean_).astype(rows.dtype, copy=False)

    def _sizes(self) -> np.ndarray | float:
        return sizes_to_divide_by(self.explained_variance_, self.eps) if self.whiten else 1.0


class ZCA(SavableEstimator, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Whitening in the original axes, :math:`y = V^T \mathrm{diag}(\lambda + \varepsilon)^{-1/2} V(x - \mu)`.

    Among all transformations to uncorrelated columns with variance 1, it changes the data least; whitened images still
    look like images. Bell & Sejnowski (1997), "The independent components of natural scenes are edge filters".

    Parameters
    ----------
    eps : float, default 1e-5
        Added to the variances before the square root, so that directions of small variance are not amplified.

    Attributes
    ----------
    mean_, whitening_
        :math:`\mu` and the symmetric whitening matrix.

    Examples
    --------
    >>> ZCA(eps=0.0).fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]).whitening_.round(3)
    array([[1.225, 0.   ],
           [0.   , 0.612]])
    """

    mean_: np.ndarray
    whitening_: np.ndarray
    _unwhitening: np.ndarray

    def __init__(self, *, eps: float = 1e-5) -> None:
        self.eps = eps

    def fit(self, X: TableLike, y: object = None) -> Self:
        """Compute the whitening matrix."""
        rows: np.ndarray = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        _check_eps(self.eps)
        axes = principal_axes(rows)
        sizes = sizes_to_divide_by(axes.variances, self.eps)
        self.mean_ = axes.mean
        self.whitening_ = (axes.V.T / sizes) @ axes.V
        self._unwhitening = (axes.V.T * sizes) @ axes.V
        return self

    def transform(self, X: TableLike) -> np.ndarray:
        """Whiten the data."""
        check_is_fitted(self)
        rows: np.ndarray = validate_data(self, X, dtype=FLOATS, reset=False)
        return ((rows - self.mean_) @ self.whitening_).astype(rows.dtype, copy=False)

    def inverse_transform(self, X: TableLike) -> np.ndarray:
        """Undo the whitening."""
        check_is_fitted(self)
        rows: np.ndarray = check_array(X, dtype=FLOATS)
        return (rows @ self._unwhitening + self.mean_).astype(rows.dtype, copy=False)


class ImageScaler(SavableEstimator, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Centring and scaling of images: mean image (AlexNet), one mean per channel (VGGNet), or standard deviations too.

    Parameters
    ----------
    mean : {"channel", "image", None}
        Mean to subtract: one per channel, one per pixel and channel, or none.
    std : {"channel", "image", None}
        Standard deviation to divide by.
    channel_axis : int, default -1
        Axis of the channels; 1 for images of shape (n, channels, height, width). Images without channels, of shape
        (n, height, width), can be used with ``mean="image"``; for ``"channel"``, add an axis: ``X[..., None]``.

    Attributes
    ----------
    mean_, std_ : arrays
        Statistics in the shape of an image, with axes of length 1 that broadcast.

    Examples
    --------
    >>> X = np.arange(24.0).reshape(2, 2, 2, 3)
    >>> ImageScaler().fit(X).mean_.ravel()
    array([10.5, 11.5, 12.5])
    """

    mean_: np.ndarray
    std_: np.ndarray

    def __init__(self, mean: str | None = "channel", std: str | None = None, *, channel_axis: int = -1) -> None:
        self.mean = mean
        self.std = std
        self.channel_axis = channel_axis

    def fit(self, X: TableLike, y: object = None) -> Self:
        """Compute means and standard deviations."""
        rows: np.ndarray = validate_data(self, X, dtype=FLOATS, allow_nd=True)
        if not -rows.ndim < self.channel_axis < rows.ndim or self.channel_axis == 0:
            raise ConfigError(f"channel_axis={self.channel_axis} is not an axis of images of shape {rows.shape[1:]}.")
        self.mean_ = self._over(self.mean, "mean", rows)[0]
        self.std_ = self._over(self.std, "std", rows)[1]
        return self

    def _over(self, of: str | None, argument: str, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation, in a shape that broadcasts to the images."""
        if of not in ("channel", "image", None):
            raise ConfigError(f"{argument}={of!r} must be 'channel', 'image' or None.")
        if of == "channel":
            channels = np.moveaxis(X, self.channel_axis, -1)
            shape = [1] * X.ndim
            shape[self.channel_axis] = X.shape[self.channel_axis]
            rows = channels.reshape(-1, channels.shape[-1])
            centre, scale = centre_and_scale(rows, "standard")
            return centre.reshape(shape[1:]), scale.reshape(shape[1:])
        return centre_and_scale(X, "none" if of is None else "standard")

    def rows_to_try(self, n_rows: int) -> np.ndarray:
        """Black images."""
        size = np.broadcast_shapes(np.shape(self.mean_), np.shape(self.std_))
        return np.zeros((n_rows, self.n_features_in_, *size[1:]))

    def transform(self, X: TableLike) -> np.ndarray:
        """Centre and scale the images."""
        check_is_fitted(self)
        rows: np.ndarray = validate_data(self, X, dtype=FLOATS, allow_nd=True, reset=False)
        return ((rows - self.mean_) / self.std_).astype(rows.dtype, copy=False)

    def inverse_transform(self, X: TableLike) -> np.ndarray:
        """Undo centring and scaling."""
        check_is_fitted(self)
        rows: np.ndarray = check_array(X, dtype=FLOATS, allow_nd=True)
        return (rows * self.std_ + self.mean_).astype(rows.dtype, copy=False)


def _check_eps(eps: float) -> None:
    if not 0.0 <= eps < np.inf:
        raise ConfigError(f"eps={eps!r} must be a number of at least 0.")
