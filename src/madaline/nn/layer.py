"""What a layer is: a frozen description that says which parameters it needs and how it builds graph."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from madaline.description import Description, description
from madaline.errors import ConfigError, MadalineError, ShapeError
from madaline.graph.shapes import Shape, show
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.initializers import Initializer, as_initializer
from madaline.registry import Registry

if TYPE_CHECKING:
    from madaline.functional.model import Model
    from madaline.nn.context import Context

LAYERS: Registry[type[Layer]] = Registry("layer")
"Every kind of layer by name."


@dataclass(frozen=True)
class Param:
    """An array a layer needs: its shape, how it starts, and whether weight decay and penalties are for it.

    Weights decay; biases, norm parameters and running statistics do not.
    """

    shape: tuple[int, ...]
    init: str | Initializer = "zeros"
    decays: bool = False


def last_axis(in_shape: Shape) -> int:
    """The number of columns that come in; an error if there is only the axis of the batch."""
    if len(in_shape) < 2 or not isinstance(in_shape[-1], int):
        raise ShapeError(
            f"The input {show(in_shape)} has rows and no columns. Give data of one column as X.reshape(-1, 1), or, if "
            "they are categories, to an Embedding."
        )
    return in_shape[-1]


@description
class Layer(Description):
    """A layer, or a whole net: a net is a layer made of layers.

    It holds no arrays. A subclass gives ``name``, its numbers, ``params`` (what it learns), ``state`` (what it keeps,
    as running statistics) and ``__call__``, the formula, which is traced. ``init`` gives a
    :class:`~madaline.functional.model.Model`, which has arrays and can be run.

    Using the *same object* twice in a net shares its parameters; two equal layers do not.

    Parameters
    ----------
    trainable : bool, default True
        False freezes the parameters of the layer and of all layers inside.
    """

    registry: ClassVar[Registry[Any]] = LAYERS
    has_identity: ClassVar[bool] = True
    learns_from_data: ClassVar[bool] = False
    "Whether ``state_of`` looks at the data a model is made for."
    takes: ClassVar[str] = "floats"
    "``floats``: integers become floats before the layer sees them; ``integers`` or ``anything``: they stay."

    takes_several: ClassVar[bool] = False
    "Whether it can be given a dict or tuple of arrays."
    counts: ClassVar[tuple[str, ...]] = ()
    "Fields that are whole numbers of at least 1."
    arguments: ClassVar[Mapping[str, str]] = {"weight_init": "init"}
    "Arguments that are called otherwise than the fields they become; ``init`` is the method that makes a model."

    trainable: bool = field(default=True, kw_only=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in inspect.get_annotations(cls):
            if callable(getattr(Layer, name, None)):
                raise ConfigError(f"{cls.__name__}: a field cannot be called {name!r}, as a method of layers is.")

    def __post_init__(self) -> None:
        super().__post_init__()
        wrong = []
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in self.counts:
                if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                    wrong.append(f"{item.name}={value!r} must be a whole number of at least 1")
                else:
                    object.__setattr__(self, item.name, int(value))
            elif item.type in ("bool", bool) and not isinstance(value, bool):
                wrong.append(f"{item.name}={value!r} must be True or False")
        if wrong:
            raise ConfigError(f"{type(self).__name__}: {'; '.join(wrong)}.")

    def _set(self, **values: Any) -> None:
        """Set the fields of a layer that has an ``__init__`` of its own."""
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self.__post_init__()

    @classmethod
    def _initializer(cls, argument: str, given: Any) -> str | Initializer:
        """A name or an initializer, for a field; what is none is refused now and not when a model is made."""
        found = as_initializer(given, argument=f"{cls.__name__}: {argument}")
        return given if isinstance(given, str) else found

    @classmethod
    def rebuilt(cls, **fields: Any) -> Self:
        return cls(**{cls.arguments.get(name, name): value for name, value in fields.items()})

    def params(self, in_shape: Shape) -> dict[str, Param]:
        """What the layer learns, by name, for inputs of this shape; the first axis is the batch."""
        return {}

    def state(self, in_shape: Shape) -> dict[str, Param]:
        """What the layer keeps besides, by name."""
        return {}

    def __call__(self, x: Any, p: Mapping[str, Any], context: Context) -> Any:
        """The output for ``x``, with the parameters ``p``; ``context`` knows the mode, the state, random numbers."""
        raise NotImplementedError

    def start(self, p: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The parameters as they start, from each as its initializer drew it."""
        return p

    def state_of(self, x: np.ndarray | None) -> dict[str, np.ndarray]:
        """State that is learned from the data the net is made for, before training; None if there is no data."""
        return {}

    def sums(self, x: np.ndarray, p: Mapping[str, np.ndarray]) -> np.ndarray:
        """What the weights make of ``x`` before anything else: for initializers that look at data."""
        raise ConfigError(f"{self!r} has no weighted sums, which an initializer that looks at data needs.")

    def check(self, x: np.ndarray) -> None:
        """An error if the layer has no meaning for some of the numbers in ``x``."""

    def parts(self) -> tuple[tuple[str, Layer], ...]:
        """The layers inside with their names, as they are listed."""
        return ()

    def first_activation(self) -> ActivationFunction | None:
        """The activation that what comes in meets first: ``init="auto"`` of the layer before is chosen by it.

        None for a layer that lets its input through to the next, as norms and dropout do.
        """
        return None

    def own_inputs(self) -> Any:
        """The inputs the net says it takes, as :meth:`init` is told them; None if it does not say."""
        return None

    def min_rows(self, in_shape: Shape) -> int:
        """The least number of rows a training batch must have."""
        return 1

    def init(self, inputs: Any = None, *, seed: int = 0, dtype: Any = "float32") -> Model:
        """A model: this net with parameters and state.

        Parameters
        ----------
        inputs : array, int, tuple, or dict of them
            Data to be used with it, or the number of columns, or the shape of one row; a dict for a net with named
            inputs. Initializers that look at data, and :class:`~madaline.nn.layers.Standardize`, need data. It can be
            left out if the net begins with :class:`~madaline.nn.layers.Input`.
        seed : int
            Of all random numbers. Each parameter has its own, by its path: a layer more does not change the others.
        dtype : {"float32", "float64"}
            Of parameters and results.
        """
        from madaline.functional.model import Model

        return Model.of(self, inputs, seed=seed, dtype=dtype)

    def table(self, inputs: Any = None) -> str:
        """Layers, output shapes, numbers of parameters and flops for one row, as text; ``inputs`` as for ``init``.

        ``print(net)`` gives it for a net that begins with :class:`~madaline.nn.layers.reshape.Input`.
        """
        from madaline.nn.network import build
        from madaline.nn.table import table

        return table(build(self, inputs))

    def __str__(self) -> str:
        from madaline.nn.table import listing

        if self.parts() and self.own_inputs() is not None:
            with suppress(MadalineError):  # a net that does not fit together can be listed all the same
                return self.table()
        return listing(self)

    def __repr__(self) -> str:
        shown = []
        for item in sorted(fields(self), key=lambda item: bool(item.kw_only)):
            value = getattr(self, item.name)
            default = item.default if item.default_factory is MISSING else item.default_factory()
            if default is MISSING:
                shown.append(repr(value))
            elif value != default:
                shown.append(f"{self.arguments.get(item.name, item.name)}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"
