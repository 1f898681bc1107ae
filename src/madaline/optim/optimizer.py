"""The base class of optimizers: an update rule over flat vectors, with weight decay and parameter groups."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from madaline.description import CUSTOM, Description, description
from madaline.errors import ConfigError
from madaline.graph.arrays import Array
from madaline.graph.as_formula import as_formula
from madaline.graph.formula import Formula
from madaline.graph.node import Node
from madaline.graph.shapes import Shape
from madaline.registry import Registry

if TYPE_CHECKING:
    from madaline.graph.arrays import Operand

OPTIMIZERS: Registry[type[Optimizer]] = Registry("optimizer")

Coefficient = float | Callable[[Any], Any]
"A number, or a function of the step ``t``, written with NumPy."


@description
class Optimizer(Description):
    r"""Base class of update rules, which compute new parameters and state from parameters, gradient and state.

    A subclass defines the formula, written with NumPy. It can be applied to arrays; in training it is traced once and
    runs as one native pass::

        class SignDescent(Optimizer):
            def update(self, w, g, *, t, lr):
                return w - lr * np.sign(g)

    ``update(w, g, *slots, t, lr)`` returns ``(w, *slots)``, or only ``w`` if there are no slots. All of them are
    vectors of the same length. ``slots`` names the state, which starts at zero unless ``initial`` is overridden (a slot
    may also be a single number of shape ``()``). ``t`` counts steps from 1, and ``lr`` is the scheduled learning rate
    of step ``t``: a number, or one number per parameter. A subclass with a ``name`` is registered and saved under this
    name.

    The formula does not handle weight decay or the learning rates of parameter groups: :meth:`step` applies them.

    Parameters
    ----------
    learning_rate : float
        Learning rate :math:`\eta`; a schedule multiplies it.
    weight_decay : float, default 0
        Coefficient :math:`\lambda`. By default :math:`\lambda w`, the gradient of :math:`\frac{\lambda}{2} w^2`, is
        added to the gradient; if ``decoupled``, it is subtracted from ``w`` directly.
    decoupled : bool, default False
        Decoupled decay, :math:`w \leftarrow w - \eta\lambda w` before the rule. Loshchilov & Hutter (2019), eq. 12;
        as in PyTorch :math:`\lambda` is multiplied by the rate.
    """

    registry: ClassVar[Registry[Any]] = OPTIMIZERS
    slots: ClassVar[tuple[str, ...]] = ()
    ranges: ClassVar[Mapping[str, str]] = {"learning_rate": "[0, inf)", "weight_decay": "[0, inf)"}
    update: ClassVar[Callable[..., Any]]

    learning_rate: float = 1e-3
    _: KW_ONLY
    weight_decay: float = 0.0
    decoupled: bool = False

    def traced(self) -> Self:
        """The same optimizer, with every coefficient that is a function replaced by its traced formula."""
        functions = {field.name: value for field in fields(self) if callable(value := getattr(self, field.name))}
        formulas: dict[str, Any] = {key: formula_of_t(value) for key, value in functions.items()}
        return replace(self, **formulas)

    def initial(self, name: str, w: Array) -> Array:
        """Initial value of the slot ``name``: zeros like ``w`` by default."""
        if isinstance(w, np.ndarray):
            return np.zeros(w.shape, w.dtype)  # memory that is never used is never taken
        return np.zeros_like(w)

    def state(self, w: Array) -> tuple[Array, ...]:
        """Initial values of all slots, in the order of ``slots``."""
        return tuple(self.initial(name, w) for name in self.slots)

    def step(
        self,
        w: Array,
        g: Array,
        slots: Sequence[Array],
        *,
        t: Any,
        lr: Any = None,
        decay: Array | None = None,
        rate: Array | None = None,
    ) -> tuple[Array, tuple[Array, ...]]:
        """One complete step: weight decay, learning rates of parameter groups, and the update rule.

        Parameters
        ----------
        w, g : array of shape (n,)
            Parameters and gradient.
        slots : sequence of array
            The state from :meth:`state` or from the last step.
        t : int or scalar node
            The step, from 1.
        lr : float, optional
            The scheduled rate; ``learning_rate`` by default.
        decay : array of shape (n,), optional
            Factors of the weight decay: 0 for biases and norm parameters, 1 for weights. All 1 by default.
        rate : array of shape (n,), optional
            Factors of the learning rate. 0 freezes a parameter: its value does not change if its gradient is finite.

        Returns
        -------
        w : array of shape (n,)
        slots : tuple of array
        """
        lr = self.learning_rate if lr is None else plain_number(lr)
        lr = lr if rate is None else lr * rate
        if self.weight_decay:
            shrunk = self.weight_decay * w if decay is None else self.weight_decay * decay * w
            w, g = (w - lr * shrunk, g) if self.decoupled else (w, g + shrunk)
        result = self.update(w, g, *slots, t=plain_number(t), lr=lr)
        w, *rest = result if isinstance(result, tuple) else (result,)
        if len(rest) != len(slots):
            raise ConfigError(
                f"{type(self).__name__}.update returned {len(rest)} slots instead of {len(slots)}. "
                f"It must return (w, *slots) with the slots {self.slots}."
            )
        return w, tuple(rest)


def plain_number(value: Any) -> Any:
    """Convert a NumPy number, which would turn float32 vectors into float64, to a Python number; keep other values."""
    is_scalar = isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0
    return value.item() if is_scalar else value


def formula_of_t(function: Callable[[Any], Any]) -> Formula:
    """Trace a function of the step, for integers and floats, single numbers and arrays."""
    types = (np.int64, np.float32, np.float64)
    return as_formula(function, [[[(shape, dtype)] for shape in ((), (3,))] for dtype in types], any_size=True)


def coefficient(value: Coefficient, t: Any) -> Any:
    """A coefficient at step ``t``."""
    return plain_number(value(t)) if callable(value) else value


def bias_correction(beta: float, t: Any) -> Any:
    r"""The weight of a constant in an exponential average after ``t`` steps, :math:`1 - \beta^t`.

    It is computed as :math:`-\mathrm{expm1}(t \log\beta)`: in float32, ``1 - 0.999**t`` would lose four digits
    in the first steps. Kingma & Ba (2015), section 3. Lecture row A12; deck E lacks the power ``t``.
    """
    if beta == 0.0:
        return 1.0
    return -np.expm1(t * math.log(beta)) if isinstance(t, Node) else -math.expm1(t * math.log(beta))


@description
class CustomOptimizer(Optimizer):
    """A custom function as an optimizer; :func:`as_optimizer` makes it."""

    name: ClassVar[str] = CUSTOM
    _: KW_ONLY
    function: Callable[..., Any]

    def traced(self) -> CustomOptimizer:
        names = ("w", "g", *self.slots, "t", "lr")
        n_vectors = len(names) - 2

        def positional(*args: Any) -> Any:
            *vectors, t, lr = args
            return self.update(*vectors, t=t, lr=lr)

        def family(*shapes: tuple[Shape, Shape], dtype: Any) -> list[Any]:
            return [[(w, dtype)] * n_vectors + [((), dtype), (lr, dtype)] for w, lr in shapes]

        families = []
        for dtype in (np.float32, np.float64):
            families += [
                family(((), ()), ((3,), ()), ((3,), (3,)), dtype=dtype),  # elementwise rules, for any shape
                family(*(((n,), ()) for n in range(1, 6)), dtype=dtype),
                family(*(((n,), (n,)) for n in range(1, 6)), dtype=dtype),  # rates of parameter groups
            ]
        return replace(self, function=as_formula(positional, families, names=names, any_size=True))

    @property
    def slots(self) -> tuple[str, ...]:  # type: ignore[override]  # read from the function instead of the class
        """The function's positional arguments after ``w`` and ``g``."""
        if isinstance(self.function, Formula):
            return self.function.names[2:-2]
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return tuple(p.name for p in inspect.signature(self.function).parameters.values() if p.kind in kinds)[2:]

    def update(self, w: Array, g: Array, *slots: Array, t: Operand, lr: Operand) -> tuple[Array, ...]:
        if isinstance(self.function, Formula):
            return self.function(w, g, *slots, t, lr)
        return self.function(w, g, *slots, t=t, lr=lr)


OptimizerLike = str | Optimizer | type[Optimizer] | Mapping[str, Any] | Callable[..., Any]
"An optimizer: its name, an object, its class, its plain data, or an update rule."


def as_optimizer(what: OptimizerLike, **parameters: Any) -> Optimizer:
    """Convert a name, an optimizer, its plain data or a custom update rule to an optimizer.

    Parameters
    ----------
    what : str, Optimizer, class, dict or callable
        A name in ``OPTIMIZERS``, an optimizer or its class, the result of ``to_dict``, or a function
        ``(w, g, *slots, t, lr) -> (w, *slots)`` whose slots are its positional arguments after ``w`` and ``g``.
    **parameters
        Parameters of the optimizer, such as ``learning_rate``. Not allowed if ``what`` is an optimizer object.

    Examples
    --------
    >>> as_optimizer("adam", learning_rate=0.01).learning_rate
    0.01
    >>> rule = as_optimizer(lambda w, g, v, *, t, lr: (w - lr * v, 0.9 * v + g), learning_rate=0.1)
    >>> rule.slots
    ('v',)
    """
    return Optimizer.of(what, **parameters)
