"""Normalisation layers: mean 0 and variance 1 over the batch, the units, groups of channels or positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError, ShapeError
from madaline.graph.primitives.elementwise import stop_gradient
from madaline.graph.shapes import Shape, show
from madaline.nn.layer import Layer, Param
from madaline.registry import Registry

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context

NORMS: Registry[type[Layer]] = Registry("norm")
"Norms by the names that ``mlp(norm=...)`` accepts."


def as_norm(thing: str | Layer | None) -> Layer | None:
    """Convert a name, a layer or None to a norm."""
    if thing is None or isinstance(thing, Layer):
        return thing
    return NORMS.find(thing)()


def standardized(x: Array, axes: tuple[int, ...], eps: float, *, center: bool = True) -> Array:
    r""":math:`(x - \mu)/\sqrt{\sigma^2 + \varepsilon}` with mean and biased variance over the axes.

    Without ``center``, :math:`x/\sqrt{E[x^2] + \varepsilon}`.
    """
    if center:
        x = x - np.mean(x, axis=axes, keepdims=True)
    return x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + eps)


@NORMS.register("batch")
@description
class BatchNorm(Layer):
    r"""Normalise each unit to mean 0 and variance 1 over the batch, then apply a learned scale and shift,

    .. math:: y = \gamma\,\frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta.

    During training :math:`\mu` and :math:`\sigma^2` (biased) are those of the batch. Evaluation mode uses running
    averages, with the unbiased variance: ``new = (1 - momentum) * old + momentum * batch``. Channels are on axis 1; for
    inputs with more axes the statistics are taken over all other axes (BatchNorm2d). The layer may be placed before or
    after the activation. A frozen layer uses the running averages and does not update them.
    Ioffe & Szegedy 2015, Algorithms 1 and 2. Lecture rows A14, E12 (A and D print :math:`\gamma, \beta` per sample).

    Parameters
    ----------
    momentum : float, default 0.1
        Weight of the newest batch in the running averages.
    eps : float, default 1e-5
        :math:`\varepsilon`.
    affine : bool, default True
        Whether to learn :math:`\gamma` (``weight``) and :math:`\beta` (``bias``).
    """

    name: ClassVar[str] = "batch_norm"
    ranges: ClassVar[Mapping[str, str]] = {"momentum": "[0, 1]", "eps": "[0, inf)"}

    _: KW_ONLY
    momentum: float = 0.1
    eps: float = 1e-5
    affine: bool = True

    def params(self, in_shape: Shape) -> dict[str, Param]:
        return scale_and_shift(channels(self, in_shape)) if self.affine else {}

    def state(self, in_shape: Shape) -> dict[str, Param]:
        count = channels(self, in_shape)
        return {"mean": Param((count,), "zeros"), "variance": Param((count,), "ones")}

    def __call__(self, x: Any, p: Mapping[str, Array], context: Context) -> Any:
        along = (-1, *(1,) * (len(x.shape) - 2))
        mean, variance = context.state("mean"), context.state("variance")
        if context.train and not context.frozen:
            axes = (0, *range(2, len(x.shape)))
            n = x.shape[0] * int(np.prod(x.shape[2:], dtype=int))
            batch_mean = np.mean(x, axis=axes)
            # With d, the mean as a constant: Var = E[(x-d)^2] - (mean-d)^2 and x - mean = (x-d) - (mean-d). All
            # derivatives by the mean go through mean-d, which is 0, and need no additional pass over the rows.
            d = stop_gradient(batch_mean)
            centered, rest = x - d.reshape(along), batch_mean - d
            batch_variance = np.mean(centered * centered, axis=axes) - rest * rest
            unbiased = batch_variance * n / (n - 1)
            context.update("mean", (1.0 - self.momentum) * mean + self.momentum * batch_mean)
            context.update("variance", (1.0 - self.momentum) * variance + self.momentum * unbiased)
            scale = self._scale(batch_variance, p)
            shift = -rest * scale
        else:
            centered, scale, shift = x - mean.reshape(along), self._scale(variance, p), None
        if self.affine:
            shift = p["bias"] if shift is None else p["bias"] + shift
        y = centered * scale.reshape(along)
        return y if shift is None else y + shift.reshape(along)

    def _scale(self, variance: Any, p: Mapping[str, Array]) -> Array:
        scale = 1.0 / np.sqrt(variance + self.eps)
        return scale * p["weight"] if self.affine else scale

    def min_rows(self, in_shape: Shape) -> int:
        return 2 if all(size == 1 for size in in_shape[2:]) else 1


@NORMS.register("layer")
@description
class LayerNorm(Layer):
    r"""Normalise each row to mean 0 and variance 1 over its units, then apply a learned scale and shift,

    .. math:: y = \gamma\,\frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta.

    Training and evaluation mode are the same; a row does not depend on the others. Ba et al. 2016, eq. 4. Lecture rows
    C7, D5 (D swaps the indices).

    Parameters
    ----------
    n_axes : int, default 1
        Number of trailing axes over which statistics are taken; :math:`\gamma, \beta` have their shape.
    eps : float, default 1e-5
        :math:`\varepsilon`.
    affine : bool, default True
        Whether to learn :math:`\gamma` (``weight``) and :math:`\beta` (``bias``).
    """

    name: ClassVar[str] = "layer_norm"
    ranges: ClassVar[Mapping[str, str]] = {"eps": "[0, inf)"}
    counts: ClassVar[tuple[str, ...]] = ("n_axes",)

    _: KW_ONLY
    n_axes: int = 1
    eps: float = 1e-5
    affine: bool = True

    def params(self, in_shape: Shape) -> dict[str, Param]:
        return scale_and_shift(*trailing(self, in_shape, self.n_axes)) if self.affine else {}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        y = standardized(x, tuple(range(-self.n_axes, 0)), self.eps)
        return y * p["weight"] + p["bias"] if self.affine else y


@NORMS.register("rms")
@description
class RMSNorm(Layer):
    r"""Normalise each row to mean square 1, :math:`y = \gamma\,x/\sqrt{E[x^2]+\varepsilon}`, without centring.

    Zhang & Sennrich 2019, eq. 4. Lecture rows C7, D5. There is no shift.

    Parameters
    ----------
    n_axes : int, default 1
        Number of trailing axes over which the mean square is taken.
    eps : float, default 1e-5
        :math:`\varepsilon`; PyTorch's default is the rounding of the type.
    affine : bool, default True
        Whether to learn :math:`\gamma` (``weight``).
    """

    name: ClassVar[str] = "rms_norm"
    ranges: ClassVar[Mapping[str, str]] = {"eps": "[0, inf)"}
    counts: ClassVar[tuple[str, ...]] = ("n_axes",)

    _: KW_ONLY
    n_axes: int = 1
    eps: float = 1e-5
    affine: bool = True

    def params(self, in_shape: Shape) -> dict[str, Param]:
        shape = trailing(self, in_shape, self.n_axes)
        return {"weight": Param(shape, "ones")} if self.affine else {}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        y = standardized(x, tuple(range(-self.n_axes, 0)), self.eps, center=False)
        return y * p["weight"] if self.affine else y


@NORMS.register("group")
@description
class GroupNorm(Layer):
    r"""Normalise each group of channels of each row to mean 0 and variance 1, then apply a learned scale and shift,

    .. math:: y = \gamma\,\frac{x - \mu_G}{\sqrt{\sigma_G^2 + \varepsilon}} + \beta.

    Channels are on axis 1; statistics are taken over the channels of a group and all further axes. One group is layer
    norm over all axes. Wu & He 2018, eq. 1 and 7. Lecture rows C7, D5.

    Parameters
    ----------
    groups : int, default 1
        Number of groups; divides the number of channels.
    eps : float, default 1e-5
        Added to the variance.
    affine : bool, default True
        Whether to learn a scale and a shift for each channel.
    """

    name: ClassVar[str] = "group_norm"
    ranges: ClassVar[Mapping[str, str]] = {"eps": "[0, inf)"}
    counts: ClassVar[tuple[str, ...]] = ("groups",)

    groups: int = 1
    _: KW_ONLY
    eps: float = 1e-5
    affine: bool = True

    def params(self, in_shape: Shape) -> dict[str, Param]:
        count = channels(self, in_shape)
        if count % self.groups:
            raise ShapeError(f"groups={self.groups} do not divide {count} channels.")
        return scale_and_shift(count) if self.affine else {}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        grouped = x.reshape((x.shape[0], self.groups, -1))
        y = standardized(grouped, (2,), self.eps).reshape(x.shape)
        return per_channel(y, p) if self.affine else y


@NORMS.register("instance")
@description
class InstanceNorm(Layer):
    r"""Normalise each channel of each row to mean 0 and variance 1 over its positions (all further axes),

    .. math:: y = \frac{x - \mu_C}{\sqrt{\sigma_C^2 + \varepsilon}}.

    Inputs need at least three axes: with one number per channel the result would always be 0.
    Ulyanov et al. 2016, eq. 2. Lecture rows C7, D5.

    Parameters
    ----------
    eps : float, default 1e-5
        Added to the variance.
    affine : bool, default False
        Whether to learn a scale and a shift for each channel; off by default, as in PyTorch.
    """

    name: ClassVar[str] = "instance_norm"
    ranges: ClassVar[Mapping[str, str]] = {"eps": "[0, inf)"}

    _: KW_ONLY
    eps: float = 1e-5
    affine: bool = False

    def params(self, in_shape: Shape) -> dict[str, Param]:
        if len(in_shape) < 3:
            raise ShapeError(
                f"InstanceNorm needs inputs of shape (rows, channels, positions ...), not {show(in_shape)}. "
                "Use LayerNorm() for one number per unit."
            )
        return scale_and_shift(channels(self, in_shape)) if self.affine else {}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        y = standardized(x, tuple(range(2, len(x.shape))), self.eps)
        return per_channel(y, p) if self.affine else y


def scale_and_shift(*shape: int) -> dict[str, Param]:
    """The learned scale and shift of a norm: initially no change, and without weight decay."""
    return {"weight": Param(shape, "ones"), "bias": Param(shape, "zeros")}


def per_channel(y: Array, p: Mapping[str, Array]) -> Array:
    """Scale and shift of channels, which are on axis 1."""
    along = (-1, *(1,) * (len(y.shape) - 2))
    return y * p["weight"].reshape(along) + p["bias"].reshape(along)


def channels(layer: Layer, in_shape: Shape) -> int:
    """Number of channels: the size of axis 1."""
    if len(in_shape) < 2:
        raise ShapeError(f"{type(layer).__name__} needs inputs with rows and units, not {show(in_shape)}.")
    size = in_shape[1]
    assert isinstance(size, int)
    return size


def trailing(layer: Layer, in_shape: Shape, n_axes: int) -> tuple[int, ...]:
    """The shape of the last axes, none of which is the batch."""
    if n_axes >= len(in_shape):
        raise ConfigError(
            f"{type(layer).__name__}: n_axes={n_axes} must be less than the {len(in_shape)} axes of the input "
            f"{show(in_shape)}, the first of which is the batch."
        )
    return tuple(size for size in in_shape[-n_axes:] if isinstance(size, int))
