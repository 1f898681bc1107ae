"""The base class of layers: a frozen description of the parameters a layer needs and of how it computes its output."""

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
    from numpy.typing import DTypeLike

    from madaline.functional.model import Model
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context

LAYERS: Registry[type[Layer]] = Registry("layer")
"Every kind of layer by name."


@dataclass(frozen=True)
class Param:
    """An array that a layer needs: its shape, its initializer, and whether weight decay and penalties apply to it.

    Weights decay; biases, norm parameters and running statistics do not. ``n_in`` is the number of inputs of a unit,
    for biases whose initializer is ``"auto"``.
    """

    shape: tuple[int, ...]
    init: str | Initializer = "zeros"
    decays: bool = False
    n_in: int | None = None


def last_axis(in_shape: Shape) -> int:
    """The number of input columns; an error if the batch axis is the only one."""
    if len(in_shape) < 2 or not isinstance(in_shape[-1], int):
        raise ShapeError(
            f"The input {show(in_shape)} has rows but no columns. Pass one column as X.reshape(-1, 1), and categories "
            "to an Embedding."
        )
    return in_shape[-1]


@description
class Layer(Description):
    """A layer, or a whole net: a net is a layer made of layers.

    It holds no arrays. A subclass defines ``name``, its fields, ``params`` (learned arrays), ``state`` (other arrays,
    such as running statistics) and ``__call__``, the formula, which is traced. ``init`` returns a
    :class:`~madaline.functional.model.Model`, which holds the arrays and can be run.

    Using the *same object* twice in a net shares its parameters; two equal layers do not.

    Parameters
    ----------
    trainable : bool, default True
        False freezes the parameters of the layer and of all layers inside it.
    """

    registry: ClassVar[Registry[Any]] = LAYERS
    has_identity: ClassVar[bool] = True
    learns_from_data: ClassVar[bool] = False
    "Whether ``state_of`` needs the data that the model is made for."
    takes: ClassVar[str] = "floats"
    "``floats``: integers are converted to floats first; ``integers`` or ``anything``: inputs keep their type."

    takes_several: ClassVar[bool] = False
    "Whether its input may be a dict or tuple of arrays."
    counts: ClassVar[tuple[str, ...]] = ()
    "Fields that must be integers of at least 1."
    arguments: ClassVar[Mapping[str, str]] = {"weight_init": "init"}
    "Fields that are named differently from their arguments; ``init`` is the method that makes a model."

    trainable: bool = field(default=True, kw_only=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in inspect.get_annotations(cls):
            if callable(getattr(Layer, name, None)):
                raise ConfigError(f"{cls.__name__}: a field cannot be named {name!r}, which is a method of Layer.")

    def __post_init__(self) -> None:
        super().__post_init__()
        wrong = []
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in self.counts:
                if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                    wrong.append(f"{item.name}={value!r} must be an integer of at least 1")
                else:
                    object.__setattr__(self, item.name, int(value))
            elif item.type in ("bool", bool) and not isinstance(value, bool):
                wrong.append(f"{item.name}={value!r} must be True or False")
        if wrong:
            raise ConfigError(f"{type(self).__name__}: {'; '.join(wrong)}.")

    def _set(self, **values: Any) -> None:
        """Set the fields of a layer that defines ``__init__``."""
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self.__post_init__()

    @classmethod
    def _initializer(cls, argument: str, given: Any) -> str | Initializer:
        """Check a name or an initializer for a field, so that a wrong one is refused now, not when a model is made."""
        found = as_initializer(given, argument=f"{cls.__name__}: {argument}")
        return given if isinstance(given, str) else found

    @classmethod
    def rebuilt(cls, **fields: Any) -> Self:
        return cls(**{cls.arguments.get(name, name): value for name, value in fields.items()})

    def params(self, in_shape: Shape) -> dict[str, Param]:
        """The learned arrays by name, for inputs of this shape; the first axis is the batch."""
        return {}

    def state(self, in_shape: Shape) -> dict[str, Param]:
        """Other arrays by name, such as running statistics."""
        return {}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        """The output for ``x`` with the parameters ``p``; ``context`` has the mode, the state and random numbers."""
        raise NotImplementedError

    def start(self, p: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The initial parameters, computed from what the initializers drew."""
        return p

    def state_of(self, x: np.ndarray | None) -> dict[str, np.ndarray]:
        """State that is computed from data before training; ``x`` is None if there is no data."""
        return {}

    def sums(self, x: Array, p: Mapping[str, Array]) -> Array:
        """The weighted sums of ``x``, for data-dependent initializers."""
        raise ConfigError(f"{self!r} has no weighted sums, which a data-dependent initializer needs.")

    def check(self, x: np.ndarray) -> None:
        """Raise an error if some of the numbers in ``x`` are not valid inputs."""

    def parts(self) -> tuple[tuple[str, Layer], ...]:
        """The layers inside this one, with their names."""
        return ()

    def first_activation(self) -> ActivationFunction | None:
        """The first activation applied to the input; it determines ``init="auto"`` of the layer before.

        None for a layer that passes its input on to the next, such as norms and dropout.
        """
        return None

    def own_inputs(self) -> Any:
        """The inputs that the net declares, in the form that :meth:`init` takes; None if it declares none."""
        return None

    def min_rows(self, in_shape: Shape) -> int:
        """The minimum number of rows in a training batch."""
        return 1

    def init(self, inputs: Any = None, *, seed: int = 0, dtype: DTypeLike = "float32") -> Model:
        """Make a model: this net with parameters and state.

        Parameters
        ----------
        inputs : array, int, tuple, or dict of them
            Data, the number of columns, or the shape of one row; a dict for a net with named inputs. Data-dependent
            initializers and ``Standardize`` need data. Not needed if the net begins with ``Input``.
        seed : int
            Random seed. Each parameter has its own random numbers, by its path: a new layer does not change others.
        dtype : {"float32", "float64"}
            Type of parameters and results.
        """
        from madaline.functional.model import Model

        return Model.of(self, inputs, seed=seed, dtype=dtype)

    def table(self, inputs: Any = None) -> str:
        """A table of layers, output shapes, parameter counts and flops for one row; ``inputs`` as for ``init``.

        ``print(net)`` shows it if the net begins with :class:`~madaline.nn.layers.reshape.Input`.
        """
        from madaline.nn.network import build
        from madaline.nn.table import table

        return table(build(self, inputs))

    def __str__(self) -> str:
        from madaline.nn.table import listing

        if self.parts() and self.own_inputs() is not None:
            with suppress(MadalineError):  # a net whose shapes do not fit is listed without them
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
