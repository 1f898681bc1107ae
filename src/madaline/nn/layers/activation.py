"""Activation layers: any function of one array, and rectifiers with learned parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from madaline.description import description
from madaline.graph.shapes import Shape
from madaline.nn import activation_function as formulas
from madaline.nn.activations import prelu, relu, shifted_rectifier
from madaline.nn.initializers import Constant
from madaline.nn.layer import Layer, Param, last_axis

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Activation(Layer):
    r"""Apply a function to the input, :math:`y = f(x)`: an activation by name, or any function of one array.

    Parameters
    ----------
    function : str, Activation formula or callable
        ``"relu"``, ``md.nn.activations.leaky_relu.with_parameters(slope=0.1)``, ``lambda x: x * np.tanh(x)``.
    **parameters
        Parameters of the function: ``md.nn.LeakyReLU(slope=0.1)``.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.nn.Activation("relu"), md.nn.Activation("leaky_relu", slope=0.1)
    (ReLU(), LeakyReLU(slope=0.1))
    >>> md.nn.Activation(lambda x: x * np.tanh(x)).init(2)(np.array([[0.0, 1.0]]))
    array([[0.       , 0.7615942]], dtype=float32)
    """

    name: ClassVar[str] = "activation"

    function: formulas.ActivationFunction

    def __init__(
        self,
        function: str | formulas.ActivationFunction | Callable[[Any], Any],
        *,
        trainable: bool = True,
        **parameters: float,
    ) -> None:
        formula = formulas.as_activation(function)
        if type(self) is Activation and formula.is_registered:
            object.__setattr__(self, "__class__", layer_class(formula.name))
        self._set(function=formula.with_parameters(**parameters) if parameters else formula, trainable=trainable)

    @classmethod
    def rebuilt(cls, **fields: Any) -> Self:
        made: Self = Activation(**fields)  # type: ignore[assignment]  # of the class of the function
        return made

    def parameters_to_save(self) -> tuple[str, dict[str, Any]]:
        return Activation.name, {"function": self.function, "trainable": self.trainable}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.function, self.trainable)

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        return self.function(x)

    def first_activation(self) -> formulas.ActivationFunction | None:
        return self.function

    def __repr__(self) -> str:
        default = self.default.parameters if isinstance(self, NamedActivation) else ()
        shown = [] if isinstance(self, NamedActivation) else [self.function.name]
        shown += [f"{key}={value!r}" for key, value in self.function.parameters if (key, value) not in default]
        shown += [] if self.trainable else ["trainable=False"]
        return f"{type(self).__name__}({', '.join(shown)})"


class NamedActivation(Activation):
    """An activation layer with a class of its own: ``ReLU()``, ``LeakyReLU(slope=0.1)``."""

    default: ClassVar[formulas.ActivationFunction]
    "The activation with its default parameters."

    def __init__(self, *, trainable: bool = True, **parameters: float) -> None:
        super().__init__(self.default, trainable=trainable, **parameters)


@functools.cache
def layer_class(name: str) -> type[NamedActivation]:
    """The class of the layers of a registered activation."""
    formula = formulas.ACTIVATIONS[name]
    keywords = {key: (value, type(value)) for key, value in formula.parameters} | {"trainable": (True, bool)}
    signature = inspect.Signature(
        [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for key, (default, kind) in keywords.items()
        ]
    )
    body = {"__doc__": formula.__doc__, "__module__": __name__, "__signature__": signature, "default": formula}
    return type(formula.title, (NamedActivation,), body)


def _restored(function: formulas.ActivationFunction, trainable: bool) -> Activation:
    return Activation(function, trainable=trainable)


globals().update({formula.title: layer_class(formula.name) for formula in formulas.ACTIVATIONS})


@description
class PReLU(Layer):
    r"""Rectifier with a learned slope, :math:`y = \max(x, 0) + a \min(x, 0)`. He et al. 2015, eq. 1. Lecture row B5.

    Parameters
    ----------
    per : {"unit", "layer"}
        Whether each unit (index of the last axis) has its own slope, or the whole layer has one.
    start_slope : float, default 0.25
        :math:`a` before training.
    """

    name: ClassVar[str] = "prelu"
    ranges: ClassVar[Mapping[str, str]] = {"start_slope": "(-inf, inf)"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"per": ("unit", "layer")}

    _: KW_ONLY
    per: Literal["unit", "layer"] = "unit"
    start_slope: float = 0.25

    def params(self, in_shape: Shape) -> dict[str, Param]:
        return {"slope": Param(units(self, in_shape), Constant(self.start_slope))}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        return prelu(x, p["slope"])

    def first_activation(self) -> formulas.ActivationFunction | None:
        return relu


@description
class LearnedHinge(Layer):
    r"""Rectifier whose slope and hinge are learned, :math:`y = c + \mathrm{prelu}(x - c, a)`.

    Lecture row B5 ("how about shifting the hinge, the slope").

    Parameters
    ----------
    per : {"unit", "layer"}
        Whether each unit has its own.
    start_slope, start_shift : float
        Before training.
    """

    name: ClassVar[str] = "learned_hinge"
    ranges: ClassVar[Mapping[str, str]] = {"start_slope": "(-inf, inf)", "start_shift": "(-inf, inf)"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"per": ("unit", "layer")}

    _: KW_ONLY
    per: Literal["unit", "layer"] = "unit"
    start_slope: float = 0.25
    start_shift: float = 0.0

    def params(self, in_shape: Shape) -> dict[str, Param]:
        shape = units(self, in_shape)
        return {"slope": Param(shape, Constant(self.start_slope)), "shift": Param(shape, Constant(self.start_shift))}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        return shifted_rectifier(x, p["slope"], p["shift"])

    def first_activation(self) -> formulas.ActivationFunction | None:
        return relu


def units(layer: PReLU | LearnedHinge, in_shape: Shape) -> tuple[int, ...]:
    """The shape of a parameter with one number per unit, or one for the layer."""
    return (last_axis(in_shape),) if layer.per == "unit" else (1,)
