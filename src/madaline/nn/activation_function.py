"""Activations: a formula with a name and some properties, and the registry of all activations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import CUSTOM, Description, description
from madaline.errors import ConfigError, DtypeError, MadalineError, ShapeError, TraceError, UnknownNameError
from madaline.graph.as_formula import as_formula, is_found_by_name
from madaline.graph.formula import Formula
from madaline.graph.node import Node
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.shapes import Rows, Shape
from madaline.graph.trace import trace
from madaline.registry import Registry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from madaline.graph.arrays import Array

Range = tuple[float, float] | None

FLAT = 0.01
"A unit counts as saturated where the slope of its activation is below this in magnitude."


ACTIVATIONS: Registry[ActivationFunction] = Registry("activation")
"Every activation by name; some have aliases."


@description
class ActivationFunction(Description):
    """A function of one array, for arrays and traced values.

    Two activations are equal if their formulas and parameters are equal. They can be hashed, copied and pickled.

    Parameters
    ----------
    name : str
        Name in the registry, or the name of a custom function.
    formula : callable
        Function of ``x`` and of keyword-only parameters.
    parameters : tuple of (str, number)
        Names and values of the parameters.
    init : str
        Recommended initializer of the weights before it.

    Examples
    --------
    >>> from madaline.nn.activations import leaky_relu
    >>> leaky_relu(np.array([-2.0, 3.0]))
    array([-0.02,  3.  ])
    >>> steeper = leaky_relu.with_parameters(slope=0.1)
    >>> steeper, steeper(-2.0)
    (leaky_relu(slope=0.1), np.float64(-0.2))
    """

    registry: ClassVar[Registry[Any]] = ACTIVATIONS

    name: str  # type: ignore[misc]  # of an object here: there is one class, and the registry holds objects
    formula: Callable[..., Any] = field(repr=False)
    parameters: tuple[tuple[str, float], ...] = ()
    init: str = field(default="he_normal", compare=False, repr=False)
    elementwise: bool = field(default=True, compare=False, repr=False)
    "Whether each output depends on one input only; softmax is the exception."
    _saturation: Range | Callable[..., Range] = field(default=None, compare=False, repr=False)
    _positive: tuple[str, ...] = field(default=(), compare=False, repr=False)
    title: str = field(default="", compare=False, repr=False)
    "Name of the layer's class, such as ``LeakyReLU``."

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "__doc__", self.formula.__doc__)

    def __call__(self, x: Array, **parameters: float) -> Array:
        """Apply the activation to ``x``; integers are computed in float64."""
        if parameters:
            return self.with_parameters(**parameters)(x)
        if isinstance(x, Node):
            return self.formula(x, **dict(self.parameters))
        x = np.asarray(x)
        x = x if x.dtype.kind == "f" else x.astype(np.float64)
        with np.errstate(invalid="ignore"):  # NaN gives NaN; the operation that made it has already warned
            return np.asarray(self.formula(x, **dict(self.parameters)))[()]

    def with_parameters(self, **parameters: float) -> ActivationFunction:
        """The same activation with other parameters. Parameters that are not given keep their values."""
        known = dict(self.parameters)
        for name, value in parameters.items():
            if name not in known:
                raise UnknownNameError(
                    f"{name}={value!r} is not a parameter of the activation {self.name!r}.\n"
                    f"Known: {', '.join(known) or 'none'}"
                )
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
                raise DtypeError(
                    f"{name}={value!r} of the activation {self.name!r} must be a finite number, like {known[name]}."
                )
            if name in self._positive and value <= 0:
                raise ConfigError(
                    f"{name}={value!r} of the activation {self.name!r} must be above 0, like {known[name]}."
                )
            if isinstance(known[name], int) and int(value) != value:
                raise DtypeError(f"{name}={value!r} of the activation {self.name!r} must be an integer.")
            known[name] = type(known[name])(value)
        return replace(self, parameters=tuple(known.items()))

    @property
    def saturation(self) -> Range:
        """The range of inputs outside of which the slope is below ``FLAT``, or None."""
        return self._saturation(**dict(self.parameters)) if callable(self._saturation) else self._saturation

    @property
    def gain(self) -> float:
        r"""The factor by which weights of variance :math:`1/n_\text{in}` must be larger to keep the variance of layers.

        .. math:: g = 1/\sqrt{E[f(z)^2]}, \qquad z \sim N(0, 1)

        which is :math:`\sqrt2` for relu (He et al. 2015, eq. 10). It differs from PyTorch's ``calculate_gain`` for
        tanh (1.59; there 5/3, found by trial) and selu (1; there 3/4). 1 if the activation is not elementwise.
        """
        return _gain(self) if self.elementwise else 1.0

    def plot(self, *, low: float = -5.0, high: float = 5.0, ax: Axes | None = None) -> Axes:
        """Draw value (blue) and derivative (green): see :func:`madaline.report.curves.plot_activation`."""
        from madaline.report.curves import plot_activation  # an allowed import of a later package; see pyproject.toml

        return plot_activation(self, low=low, high=high, ax=ax)

    def parameters_to_save(self) -> tuple[str, dict[str, Any]]:
        if self.is_registered:
            return self.name, dict(self.parameters)
        formula = as_formula(functools.partial(self.formula, **dict(self.parameters)), _TRACED_FOR, any_size=True)
        return CUSTOM, {"called": self.name, "formula": formula, "init": self.init}

    @classmethod
    def from_parameters(cls, name: str, parameters: dict[str, Any]) -> ActivationFunction:
        import madaline.nn.activations  # noqa: F401 - which fills the registry

        if name != CUSTOM:
            return ACTIVATIONS.find(name).with_parameters(**parameters)
        called, formula, init = (parameters.get(key) for key in ("called", "formula", "init"))
        given = isinstance(called, str) and isinstance(formula, Formula) and isinstance(init, str)
        if not given or len(parameters) != 3 or not isinstance(formula, Formula):
            raise ConfigError("A custom activation must have the entries called, formula and init.")
        return replace(as_activation(formula, argument=str(called)), name=str(called), init=str(init))

    @property
    def is_registered(self) -> bool:
        """Whether it is an activation of the registry, perhaps with other parameters."""
        return self.name in ACTIVATIONS and ACTIVATIONS[self.name].formula is self.formula

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters)
        return f"{self.name}({given})" if given else self.name

    def __reduce__(self) -> tuple[Any, ...]:
        # In its module, the name of a registered formula is the activation, so pickle could not find the formula.
        if self.is_registered:
            return _restored, (self.name, self.parameters)
        if not is_found_by_name(self.formula):
            return ActivationFunction.from_parameters, self.parameters_to_save()
        return ActivationFunction, tuple(getattr(self, field.name) for field in fields(self))

    def __deepcopy__(self, memo: Any) -> ActivationFunction:
        return self  # nothing in it changes


def _restored(name: str, parameters: tuple[tuple[str, float], ...]) -> ActivationFunction:
    return ACTIVATIONS[name].with_parameters(**dict(parameters))


@functools.lru_cache(maxsize=256)
def _gain(activation: ActivationFunction) -> float:
    # The midpoint rule: kinks at 0 and at integers fall between two points.
    step = 1e-3
    z = np.arange(-12.0 + step / 2, 12.0, step)
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    with np.errstate(all="ignore"):
        second_moment = float(np.sum(activation(z) ** 2 * density) * step)
    return second_moment**-0.5 if 0.0 < second_moment < np.inf else 1.0


def activation(
    *,
    init: str,
    saturation: Range | Callable[..., Range] = None,
    aliases: tuple[str, ...] = (),
    elementwise: bool = True,
    positive: tuple[str, ...] = (),
    title: str = "",
) -> Callable[[Callable[..., Any]], ActivationFunction]:
    """Turn a formula into an :class:`ActivationFunction` and put it into the registry under the function's name.

    Parameters
    ----------
    init : str
        The recommended initializer.
    saturation : pair of float, callable or None
        Range of inputs outside of which the slope is below 1/100, or a function of the parameters that returns it.
    aliases : tuple of str
        Other names.
    elementwise : bool
        Whether each output depends on one input only.
    positive : tuple of str
        Parameters that must be above 0.
    title : str
        Name of the layer's class in :mod:`madaline.nn`. By default that of the function in CamelCase.

    Notes
    -----
    ::

        @activation(init="he_normal", saturation=(0.0, np.inf))
        def squared_relu(x, *, power=2.0):
            return np.maximum(x, 0.0) ** power
    """

    def put(formula: Callable[..., Any]) -> ActivationFunction:
        given = inspect.signature(formula).parameters.values()
        parameters = tuple((p.name, p.default) for p in given if p.kind is inspect.Parameter.KEYWORD_ONLY)
        name = formula.__name__
        camel_case = title or "".join(word.capitalize() for word in name.split("_"))
        made = ActivationFunction(name, formula, parameters, init, elementwise, saturation, positive, camel_case)
        ACTIVATIONS.add(made.name, made, aliases=aliases)
        return made

    return put


ActivationLike = str | ActivationFunction | Mapping[str, Any] | Callable[[Any], Any]
"An activation: its name, an object, its plain data, or a function of one array."


def as_activation(thing: ActivationLike, *, argument: str = "activation") -> ActivationFunction:
    """Convert a name, an activation, its plain data or any function of one array to an activation.

    Parameters
    ----------
    thing : str, ActivationFunction, dict or callable
        What the user passed. A function must be written with NumPy. It is traced once, so that a function that cannot
        be traced is refused here.
    argument : str
        Name of the argument, for error messages.

    Examples
    --------
    >>> as_activation("silu")
    swish(beta=1.0)
    >>> as_activation(lambda x: x * np.tanh(x))(np.array([-1.0, 1.0])).round(4)
    array([0.7616, 0.7616])
    """
    import madaline.nn.activations  # noqa: F401 - which fills the registry

    if isinstance(thing, (ActivationFunction, Mapping)):
        return ActivationFunction.of(thing)
    if isinstance(thing, str) or not callable(thing):
        return ACTIVATIONS.find(thing, argument=argument)
    name = getattr(thing, "__name__", type(thing).__name__)
    shape = (2, 3)
    try:
        graph = trace(thing, np.full(shape, 0.5))
        (result,) = graph.outputs
    except MadalineError as error:
        raise TraceError(f"{argument}={name} cannot be traced: {error}") from error
    except Exception as error:  # whatever the user's function raises
        raise TraceError(
            f"{argument}={name} cannot be traced: it failed on an array of shape {shape} with "
            f"{type(error).__name__}: {error}. Give a function of one array, written with NumPy and operators."
        ) from error
    if result.shape != shape or result.dtype.kind != "f":
        raise ShapeError(
            f"{argument}={name} gave {result.dtype} of shape {result.shape} for floats of shape {shape}. An activation "
            "must give a float for each element."
        )
    elementwise = all(isinstance(node.primitive, Elementwise) or node.primitive.name in _ASIDE for node in graph.nodes)
    return ActivationFunction(name, thing, elementwise=elementwise)


_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_ANY_RANK: tuple[Shape, ...] = ((), (3,), (Rows(), 2), (Rows(), 2, 3))
_ANY_WIDTH: tuple[Shape, ...] = tuple((Rows(), width) for width in range(1, 6))
_TRACED_FOR = [[[(shape, dtype)] for shape in shapes] for shapes in (_ANY_RANK, _ANY_WIDTH) for dtype in _FLOATS]
"Small shapes for which a custom function is traced when it is saved; the graph for all shapes follows from them."

_ASIDE = ("input", "constant", "reshape", "broadcast_to")
"Primitives that an elementwise function may use: they give constants their shape."
