"""The base class of optimizers: an update rule over flat vectors, and what all of them share."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from madaline.description import CUSTOM, Description, description
from madaline.errors import ConfigError
from madaline.graph.as_formula import as_formula
from madaline.graph.formula import Formula
from madaline.graph.node import Node
from madaline.graph.primitive import Array
from madaline.graph.shapes import Shape
from madaline.registry import Registry

OPTIMIZERS: Registry[type[Optimizer]] = Registry("optimizer")

Coefficient = float | Callable[[Any], Any]
"A number, or a function of the step ``t``, written with NumPy."


@description
class Optimizer(Description):
    r"""An update rule: parameters, gradient and state in, parameters and state out.

    A subclass is its formula, written with NumPy, so that it runs on arrays and, traced once, as one native pass::

        class SignDescent(Optimizer):
            def update(self, w, g, *, t, lr):
                return w - lr * np.sign(g)

    ``update(w, g, *slots, t, lr)`` gives ``(w, *slots)``; without slots, ``w`` alone will do. All are vectors of one
    length; ``slots`` names the state, which starts at zero unless ``initial`` says otherwise (a slot may be one number,
    of shape ``()``). ``t`` counts steps from 1 and ``lr`` is the scheduled rate of step ``t``, a number or one for each
    parameter. With a ``name`` the subclass is registered, found by that name and saved under it.

    Weight decay and rates of parameter groups are none of the formula's business: :meth:`step` does them.

    Parameters
    ----------
    learning_rate : float
        The rate :math:`\eta`; a schedule multiplies it.
    weight_decay : float, default 0
        The :math:`\lambda` of :math:`\lambda w`, added to the gradient (coupled: the gradient of
        :math:`\frac{\lambda}{2} w^2`) or, if ``decoupled``, taken from ``w`` directly.
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
        """The same, with a formula in place of every coefficient that is a function."""
        functions = {field.name: value for field in fields(self) if callable(value := getattr(self, field.name))}
        formulas: dict[str, Any] = {key: formula_of_t(value) for key, value in functions.items()}
        return replace(self, **formulas)

    def initial(self, name: str, w: Array) -> Array:
        """The value with which the slot ``name`` starts: zeros like ``w``, unless a rule says otherwise."""
        return np.zeros_like(w)

    def state(self, w: Array) -> tuple[Array, ...]:
        """All slots as they start, in the order of ``slots``."""
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
        """One whole step: weight decay, rates of groups, and the rule.

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
            Factors of the rate: 0 freezes a parameter, which then keeps its very bits while its gradient is finite.

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
                f"{type(self).__name__}.update gave {len(rest)} slots and was given {len(slots)}. "
                f"It must give (w, *slots), the slots being {self.slots}."
            )
        return w, tuple(rest)


def plain_number(value: Any) -> Any:
    """A number of Python's for one of NumPy's, which would turn float32 vectors into float64; others are unchanged."""
    is_scalar = isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0
    return value.item() if is_scalar else value


def formula_of_t(function: Callable[[Any], Any]) -> Formula:
    """A function of the step as its traced graph, for integers and floats, single ones and arrays."""
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
    """A user's function as an optimizer; :func:`as_optimizer` makes it."""

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

    def update(self, w: Array, g: Array, *slots: Array, t: Any, lr: Any) -> Any:
        if isinstance(self.function, Formula):
            return self.function(w, g, *slots, t, lr)
        return self.function(w, g, *slots, t=t, lr=lr)


def as_optimizer(
    what: str | Mapping[str, Any] | Optimizer | type[Optimizer] | Callable[..., Any], **parameters: Any
) -> Optimizer:
    """The optimizer that is meant by a name, a description, its plain data or a rule of one's own.

    Parameters
    ----------
    what : str, Optimizer, class, dict or callable
        A name of ``OPTIMIZERS``, an optimizer or its class, what ``to_dict`` gave, or a function
        ``(w, g, *slots, t, lr) -> (w, *slots)`` whose slots are its positional arguments after ``w`` and ``g``.
    **parameters
        Those of the optimizer, as ``learning_rate``; not with a finished description.

    Examples
    --------
    >>> as_optimizer("adam", learning_rate=0.01).learning_rate
    0.01
    >>> rule = as_optimizer(lambda w, g, v, *, t, lr: (w - lr * v, 0.9 * v + g), learning_rate=0.1)
    >>> rule.slots
    ('v',)
    """
    return Optimizer.of(what, **parameters)
