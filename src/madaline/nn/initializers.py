"""Initializers of parameters. Each is a frozen description; ``draw`` returns float64 values for a shape.

Weights are (n_in, n_out), so a unit's incoming weights are a column. Lecture rows B9, D3, D4.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np

from madaline.description import Description, description
from madaline.errors import ShapeError
from madaline.nn.activation_function import ActivationFunction, as_activation
from madaline.registry import Registry

Array = np.ndarray[Any, np.dtype[np.float64]]
Shape = tuple[int, ...]


def stream(seed: int, path: str, purpose: str) -> np.random.Generator:
    """A random number generator that depends on these three arguments only, not on the order of layers or the process.

    Parameters
    ----------
    seed : int
        Random seed, not negative.
    path : str
        Path in the net, such as ``"3.W"``.
    purpose : str
        Purpose, such as ``"init"``, so that one parameter can have several streams.

    Examples
    --------
    >>> first = stream(0, "0.W", "init").normal()
    >>> first == stream(0, "0.W", "init").normal(), first == stream(0, "1.W", "init").normal()
    (True, False)
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed={seed!r} must be a non-negative integer, such as 0.")
    # Not Python's hash, which differs between processes; JSON, so that different triples give different texts.
    key = hashlib.blake2b(json.dumps([int(seed), path, purpose]).encode(), digest_size=16).digest()
    words = np.frombuffer(key, "<u4").astype(np.uint32, copy=False)  # words seed quicker than one integer
    # PCG64 by name: what default_rng means may change.
    return np.random.Generator(np.random.PCG64(words))


INITIALIZERS: Registry[Initializer] = Registry("initializer")
"Every initializer by name, with its default parameters."


@description
class Initializer(Description, ABC):
    """Base class of initializers.

    The registry holds objects, since one class has several names: ``he_normal`` and ``lecun_uniform`` differ in their
    parameters. A custom class has a ``name`` and is registered with ``INITIALIZERS.add(name, Custom())``.
    """

    registry: ClassVar[Registry[Any]] = INITIALIZERS

    @classmethod
    def _register(cls) -> None:
        pass  # objects are registered, not classes

    @abstractmethod
    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        """Draw values of this shape with a generator from :func:`stream`."""


def fans(shape: Shape) -> tuple[int, int]:
    """Number of inputs of a unit (all axes but the last) and number of units (the last axis)."""
    if len(shape) < 2:
        raise ShapeError(f"shape={shape} has no inputs to scale by; weights are (n_in, n_out). Use 'zeros' for a bias.")
    return max(math.prod(shape[:-1]), 1), max(shape[-1], 1)


@description
class Constant(Initializer):
    r"""Constant values, :math:`w = c`. All units of a hidden layer stay equal (symmetry problem, lecture row D3)."""

    name: ClassVar[str] = "constant"
    value: float = 0.1

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        return np.full(shape, float(self.value))


@description
class Normal(Initializer):
    r"""Gaussian, :math:`w \sim N(0, s^2)`. The lecture's "small random numbers" have s = 0.01 (row B9)."""

    name: ClassVar[str] = "normal"
    ranges: ClassVar[Mapping[str, str]] = {"std": "[0, inf)"}
    std: float = 0.01

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        return self.std * rng.standard_normal(shape)


@description
class Uniform(Initializer):
    r"""Uniform, :math:`w \sim U(l, h)`; with one number, between minus and plus this number."""

    name: ClassVar[str] = "uniform"
    low: float = -0.05
    high: float | None = None

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        low, high = (self.low, self.high) if self.high is not None else (-abs(self.low), abs(self.low))
        return rng.uniform(low, high, shape)


_TRUNCATED_STD = 0.8796256610342398
"Standard deviation of N(0, 1) cut off at -2 and 2."


def _truncated(rng: np.random.Generator, shape: Shape) -> Array:
    from scipy.special import ndtr, ndtri  # SciPy takes long to import, and few nets need it

    values: Array = ndtri(rng.uniform(ndtr(-2.0), ndtr(2.0), shape)) / _TRUNCATED_STD
    return values


@description
class FanScaled(Initializer):
    r"""Zero mean and variance :math:`\sigma^2 = g^2 s/n`; ``n`` is the number of inputs, of outputs, or their mean.

    Parameters
    ----------
    scale : float
        ``s``: 1 for LeCun (``fan="in"``; LeCun et al. 1998, eq. 16; lecture B calls it Xavier) and for Xavier
        (``fan="mean"``: :math:`2/(n_{in}+n_{out})`; Glorot & Bengio 2010, eq. 12 and 16), 2 for He (``fan="in"``; He et
        al. 2015, eq. 10).
    fan : {"in", "out", "mean"}
        ``n``.
    form : {"normal", "uniform", "truncated"}
        Normal; uniform between :math:`\pm\sqrt{3}\sigma` (for He :math:`\pm\sqrt{6/n_{in}}`, which lecture D misprints
        as :math:`\pm 2/n_{in}`); or normal without values beyond two standard deviations, widened to keep the variance.
    gain : float
        ``g``, for example the ``gain`` of an activation.
    """

    name: ClassVar[str] = "fan_scaled"
    ranges: ClassVar[Mapping[str, str]] = {"scale": "[0, inf)"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "fan": ("in", "out", "mean"),
        "form": ("normal", "uniform", "truncated"),
    }
    scale: float = 1.0
    fan: Literal["in", "out", "mean"] = "in"
    form: Literal["normal", "uniform", "truncated"] = "normal"
    _: KW_ONLY
    gain: float = 1.0

    def std(self, shape: Shape) -> float:
        """The standard deviation of weights of this shape."""
        n_in, n_out = fans(shape)
        n = {"in": n_in, "out": n_out, "mean": (n_in + n_out) / 2}[self.fan]
        return self.gain * math.sqrt(self.scale / n)

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        std = self.std(shape)
        if self.form == "uniform":
            limit = math.sqrt(3.0) * std
            return rng.uniform(-limit, limit, shape)
        return std * (_truncated(rng, shape) if self.form == "truncated" else rng.standard_normal(shape))


@description
class Hinges(Initializer):
    r"""Biases that spread the hinges of rectifiers: :math:`b = u\,\lVert w \rVert`, :math:`u \sim U(-s, s)`.

    The hinge of a unit is where :math:`w^T x + b = 0`, at distance :math:`|u|` from the origin. For a bias only: the
    model multiplies the drawn numbers by the norms of the units' weights. Lecture row A17.
    """

    name: ClassVar[str] = "hinges"
    ranges: ClassVar[Mapping[str, str]] = {"spread": "[0, inf)"}
    spread: float = 3.0

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        return rng.uniform(-self.spread, self.spread, shape)

    def place(self, drawn: Array, W: Array) -> Array:
        """The biases of units with these weights, (..., n_in, n_out)."""
        placed: Array = drawn * np.linalg.norm(W, axis=-2)
        return placed


@description
class Orthogonal(Initializer):
    r"""Orthonormal rows or columns, whichever are fewer, times a gain: :math:`W^T W = g^2 I` or :math:`W W^T = g^2 I`.

    Uniform over all such matrices (the signs of R's diagonal are put into Q). Saxe et al. 2014, section 3. Row D4.
    """

    name: ClassVar[str] = "orthogonal"
    gain: float = 1.0

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        n_in, n_out = fans(shape)
        Q, R = np.linalg.qr(rng.standard_normal((max(n_in, n_out), min(n_in, n_out))))
        Q = Q * np.where(np.diagonal(R) < 0.0, -1.0, 1.0)
        return self.gain * np.ascontiguousarray(Q if n_in >= n_out else Q.T).reshape(shape)


@description
class Sparse(Initializer):
    r"""A few nonzero weights for each unit, :math:`w \sim N(0, s^2)`; the others are 0. Martens 2010, section 5."""

    name: ClassVar[str] = "sparse"
    ranges: ClassVar[Mapping[str, str]] = {"n_connections": "[1, inf)", "std": "[0, inf)"}
    n_connections: int = 15
    std: float = 1.0

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        n_in, n_out = fans(shape)
        count = min(self.n_connections, n_in)
        W = np.zeros((n_in, n_out))
        chosen = rng.permuted(np.tile(np.arange(n_in)[:, None], n_out), axis=0)[:count]
        np.put_along_axis(W, chosen, self.std * rng.standard_normal((count, n_out)), axis=0)
        return W.reshape(shape)


@description
class IdentityMatrix(Initializer):
    r"""Identity matrix, :math:`W = g I`; additional rows or columns are 0. Le et al. 2015."""

    name: ClassVar[str] = "identity"
    gain: float = 1.0

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        n_in, n_out = fans(shape)
        return (self.gain * np.eye(n_in, n_out)).reshape(shape)


@description
class RandomWalk(Initializer):
    r"""Gaussian, :math:`w \sim N(0, g^2/n)`, with ``g`` such that the logarithm of the gradient norm has no drift.

    ``g`` is :math:`e^{1/(2n)}` for linear units and :math:`\sqrt2\,e^{1.2/(\max(n,6)-2.4)}` for relu; ``n`` is the
    number of inputs. Sussillo & Abbott 2015, section 3. Lecture row D4. There ``g`` for tanh is found by simulation; it
    has no formula and is not available here.

    Parameters
    ----------
    units : {"relu", "linear"}
        The activation that follows.
    """

    name: ClassVar[str] = "random_walk"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"units": ("relu", "linear")}
    units: Literal["relu", "linear"] = "relu"

    def gain(self, n: int) -> float:
        """``g`` for layers of ``n`` units."""
        if self.units == "linear":
            return math.exp(0.5 / n)
        return math.sqrt(2.0) * math.exp(1.2 / (max(n, 6) - 2.4))

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        n_in, _ = fans(shape)
        return self.gain(n_in) / math.sqrt(n_in) * rng.standard_normal(shape)


Outputs = Callable[[Array, Array], Array]
"The output of a layer for a batch, (n_rows, n_out), as a function of its weights and biases."


@description
class DataDependent(Initializer):
    """Base class of data-dependent initializers: weights are drawn, then adjusted layer by layer.

    ``net.init(X)`` calls ``adjust`` for each layer, first layer first, with the drawn weights, the biases, and a
    function that runs a batch through this layer and the layers before it, which are adjusted already.
    """

    @abstractmethod
    def adjust(self, W: Array, b: Array, outputs: Outputs) -> tuple[Array, Array]:
        """The initial weights and biases.

        Parameters
        ----------
        W, b : array
            Drawn values, (n_in, n_out) and (n_out,); they are not modified. Zeros for a layer without biases.
        outputs : callable
            ``outputs(W, b)``: the layer's output for the batch before its activation, (n_rows, n_out).
        """


@description
class LSUV(DataDependent):
    r"""Orthonormal weights, scaled until the layer's output has variance 1: :math:`W \leftarrow W/\sqrt{Var(y)}`.

    Mishkin & Matas 2016, Algorithm 1. Lecture row D4. A layer with constant output is not changed.

    Examples
    --------
    >>> X = stream(0, "data", "example").normal(size=(100, 5))
    >>> init = LSUV()
    >>> W = init.draw((5, 3), stream(0, "0.W", "init"))
    >>> W, b = init.adjust(W, np.zeros(3), lambda W, b: 7.0 * X @ W + b)
    >>> float(np.var(7.0 * X @ W).round(6))
    1.0
    """

    name: ClassVar[str] = "lsuv"
    ranges: ClassVar[Mapping[str, str]] = {"tolerance": "[0, inf)", "max_steps": "[0, inf)"}
    tolerance: float = 0.01
    max_steps: int = 10

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        return Orthogonal().draw(shape, rng)

    def adjust(self, W: Array, b: Array, outputs: Outputs) -> tuple[Array, Array]:
        for _ in range(self.max_steps):
            variance = float(np.var(outputs(W, b)))
            if variance == 0.0 or not math.isfinite(variance) or abs(variance - 1.0) < self.tolerance:
                break
            W = W / math.sqrt(variance)
        return W, b


@description
class Kraehenbuehl(DataDependent):
    r"""Gaussian weights, scaled and shifted so that each unit has mean ``beta`` and variance 1 on the batch:

    .. math:: w_i \leftarrow w_i/\sigma_i, \qquad b_i \leftarrow \beta + (b_i - \mu_i)/\sigma_i

    Kraehenbuehl et al. 2016, Algorithm 1 (within layers; there b starts at 0). Lecture row D4. A unit with
    constant output keeps its weights and is only shifted.
    """

    name: ClassVar[str] = "kraehenbuehl"
    beta: float = 0.0

    def draw(self, shape: Shape, rng: np.random.Generator) -> Array:
        n_in, _ = fans(shape)
        return rng.standard_normal(shape) / math.sqrt(n_in)

    def adjust(self, W: Array, b: Array, outputs: Outputs) -> tuple[Array, Array]:
        y = outputs(W, b)
        y = y.reshape(-1, y.shape[-1])
        mean, std = y.mean(axis=0), y.std(axis=0)
        std = np.where(std > 0.0, std, 1.0)
        return W / std, self.beta + (b - mean) / std


for _kind in (
    Constant,
    Normal,
    Uniform,
    FanScaled,
    Hinges,
    Orthogonal,
    Sparse,
    IdentityMatrix,
    RandomWalk,
    LSUV,
    Kraehenbuehl,
):
    INITIALIZERS.add(_kind.name, _kind())
INITIALIZERS.add("zeros", Constant(0.0))
INITIALIZERS.add("ones", Constant(1.0))
for _form in ("normal", "uniform", "truncated"):
    INITIALIZERS.add(f"lecun_{_form}", FanScaled(1.0, "in", _form))
    INITIALIZERS.add(f"xavier_{_form}", FanScaled(1.0, "mean", _form), aliases=(f"glorot_{_form}",))
    INITIALIZERS.add(f"he_{_form}", FanScaled(2.0, "in", _form))


def auto(activation: str | ActivationFunction | Callable[[Any], Any]) -> str:
    """The name of the recommended initializer for weights before this activation.

    He for rectifiers, Xavier for saturating and linear units (lecture row D4), LeCun for selu.

    Examples
    --------
    >>> auto("relu"), auto("tanh"), auto("selu")
    ('he_normal', 'xavier_normal', 'lecun_normal')
    """
    return as_activation(activation).init


FEW_INPUTS = 12
"Units with at most this many inputs get biases that differ."


def auto_bias(activation: str | ActivationFunction | Callable[[Any], Any], n_in: int) -> Initializer:
    r"""The recommended initializer for biases of units with ``n_in`` inputs.

    Units with at most 12 inputs get different biases, since with biases of 0 the hinges of all rectifiers of one input
    lie in the same point, and a function of one variable is approximated badly: :class:`Hinges` for rectifiers,
    :math:`U(-3/n_{in}, 3/n_{in})` for other units. Units with many inputs differ in their weights, and their biases are
    0, as the variance conditions assume (lecture row D4). So are biases without an activation of single units after
    them, such as those of an output layer.

    Examples
    --------
    >>> auto_bias("relu", 2), auto_bias("tanh", 2), auto_bias("relu", 100)
    (Hinges(spread=1.5), Uniform(low=-1.5, high=1.5), Constant(value=0.0))
    """
    following = as_activation(activation)
    if following.name == "identity" or not following.elementwise or n_in > FEW_INPUTS:
        return Constant(0.0)
    spread = 3.0 / max(n_in, 1)
    return Hinges(spread) if following.init.startswith("he_") else Uniform(-spread, spread)


InitializerLike = str | Initializer
"An initializer: its name or an object."


def as_initializer(
    thing: InitializerLike | Mapping[str, Any],
    *,
    activation: str | ActivationFunction = "identity",
    bias_inputs: int | None = None,
    argument: str = "init",
) -> Initializer:
    """Convert a name, an initializer or its plain data to an initializer.

    ``"auto"`` depends on the activation and, for biases, on the number of inputs of a unit.
    """
    if isinstance(thing, (Initializer, Mapping)):
        return Initializer.of(thing)
    if thing == "auto" and bias_inputs is not None:
        return auto_bias(activation, bias_inputs)
    return INITIALIZERS.find(auto(activation) if thing == "auto" else thing, argument=argument)


__all__ = ["INITIALIZERS", "Initializer", "as_initializer", "stream"]
__all__ += sorted({type(thing).__name__ for thing in INITIALIZERS})  # noqa: PLE0605 - computed, so that an initializer is named in one place
