"""Activations as layers: any formula of one argument, and rectifiers with learned parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from madaline.description import description
from madaline.graph.shapes import Shape
from madaline.nn import activation as formulas
from madaline.nn.activations import prelu, relu, shifted_rectifier
from madaline.nn.initializers import Constant
from madaline.nn.layer import Layer, Param, last_axis

if TYPE_CHECKING:
    from madaline.nn.context import Context


@description
class Activation(Layer):
    r"""A formula applied to its input, :math:`y = f(x)`: one of the registry by name, or any function of one array.

    Parameters
    ----------
    function : str, Activation formula or callable
        ``"relu"``, ``md.activations.leaky_relu.with_parameters(slope=0.1)``, ``lambda x: x * np.tanh(x)``.
    **parameters
        Those of the formula: ``md.LeakyReLU(slope=0.1)``.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.Activation("relu"), md.Activation("leaky_relu", slope=0.1)
    (ReLU(), LeakyReLU(slope=0.1))
    >>> md.Activation(lambda x: x * np.tanh(x)).init(2)(np.array([[0.0, 1.0]]))
    array([[0.       , 0.7615942]], dtype=float32)
    """

    name: ClassVar[str] = "activation"

    function: formulas.Activation

    def __init__(
        self,
        function: str | formulas.Activation | Callable[[Any], Any],
        *,
        trainable: bool = True,
        **parameters: float,
    ) -> None:
        formula = formulas.as_activation(function)
        self._set(function=formula.with_parameters(**parameters) if parameters else formula, trainable=trainable)

    def __call__(self, x: Any, p: Mapping[str, Any], context: Context) -> Any:
        return self.function(x)

    def first_activation(self) -> formulas.Activation | None:
        return self.function

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.function.parameters)
        for title, factory in NAMED.items():
            if factory.function.formula is self.function.formula:
                changed = dict(self.function.parameters).items() - dict(factory.function.parameters).items()
                return f"{title}({', '.join(f'{key}={value!r}' for key, value in sorted(changed))})"
        return f"Activation({self.function.name}{', ' if given else ''}{given})"


class Named:
    """Makes the activation layers of one name: ``ReLU()``, ``LeakyReLU(slope=0.1)``."""

    def __init__(self, title: str, name: str) -> None:
        self.__name__ = self.__qualname__ = title
        self.function = formulas.as_activation(name)
        self.__doc__ = self.function.__doc__

    def __call__(self, *, trainable: bool = True, **parameters: float) -> Activation:
        return Activation(self.function, trainable=trainable, **parameters)

    def __repr__(self) -> str:
        return self.__name__


NAMED: dict[str, Named] = {}
"Activation layers by their titles."


def _named(title: str, name: str) -> Named:
    NAMED[title] = Named(title, name)
    return NAMED[title]


CELU = _named("CELU", "celu")
ELU = _named("ELU", "elu")
GELU = _named("GELU", "gelu")
HardSigmoid = _named("HardSigmoid", "hard_sigmoid")
HardSwish = _named("HardSwish", "hard_swish")
HardTanh = _named("HardTanh", "hard_tanh")
Hardshrink = _named("Hardshrink", "hardshrink")
IdentityActivation = _named("IdentityActivation", "identity")
LeakyReLU = _named("LeakyReLU", "leaky_relu")
LogSigmoid = _named("LogSigmoid", "log_sigmoid")
LogSoftmax = _named("LogSoftmax", "log_softmax")
Mish = _named("Mish", "mish")
ReLU = _named("ReLU", "relu")
ReLU6 = _named("ReLU6", "relu6")
SELU = _named("SELU", "selu")
ShiftedReLU = _named("ShiftedReLU", "shifted_relu")
Sigmoid = _named("Sigmoid", "sigmoid")
Sinc = _named("Sinc", "sinc")
Softmax = _named("Softmax", "softmax")
Softplus = _named("Softplus", "softplus")
Softshrink = _named("Softshrink", "softshrink")
Softsign = _named("Softsign", "softsign")
Step = _named("Step", "step")
Swish = _named("Swish", "swish")
Tanh = _named("Tanh", "tanh")
TanhShrink = _named("TanhShrink", "tanh_shrink")
Threshold = _named("Threshold", "threshold")


@description
class PReLU(Layer):
    r"""Rectifier with a learned slope, :math:`y = \max(x, 0) + a \min(x, 0)`. He et al. 2015, eq. 1. Lecture row B5.

    Parameters
    ----------
    per : {"unit", "layer"}
        Whether each unit (index of the last axis) has its own slope: a diversity of rectifiers.
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

    def __call__(self, x: Any, p: Mapping[str, Any], context: Context) -> Any:
        return prelu(x, p["slope"])

    def first_activation(self) -> formulas.Activation | None:
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

    def __call__(self, x: Any, p: Mapping[str, Any], context: Context) -> Any:
        return shifted_rectifier(x, p["slope"], p["shift"])

    def first_activation(self) -> formulas.Activation | None:
        return relu


def units(layer: PReLU | LearnedHinge, in_shape: Shape) -> tuple[int, ...]:
    """One number a unit, or one in all."""
    return (last_axis(in_shape),) if layer.per == "unit" else (1,)
