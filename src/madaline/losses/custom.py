"""Custom losses: any function of a prediction and a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.description import CUSTOM, description
from madaline.errors import ConfigError, DtypeError, MadalineError, ShapeError, TraceError
from madaline.graph.as_formula import as_formula, is_found_by_name
from madaline.graph.node import Node
from madaline.graph.shapes import Rows, Shape, show
from madaline.graph.trace import Graph, trace
from madaline.losses.loss import LOSSES, Loss, as_array, as_floats, reduced
from madaline.losses.targets import check_classes, check_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.graph.arrays import Array


@description
class CustomLoss(Loss):
    """A custom function as a loss.

    Parameters
    ----------
    function : callable
        ``function(prediction, target)``, written with NumPy. It returns one number per row, shape (n,), or one number
        for the whole batch; the latter does not support weights or other reductions. Class weights can be used if the
        targets are a single column of integers.

    Examples
    --------
    >>> fourth = CustomLoss(lambda z, y: np.mean((z - y) ** 4, axis=1))
    >>> float(fourth(np.array([[2.0], [0.0]]), np.zeros((2, 1)), np.array([1.0, 3.0])))
    4.0
    """

    name: ClassVar[str] = CUSTOM
    function: Callable[[Any, Any], Any]

    def rows(self, prediction: Array, target: Array) -> Array:
        loss = self.function(prediction, target)
        if np.ndim(loss) == 0:
            raise ShapeError(
                f"{self._title()} returns one number for the whole batch; weights and reductions need one per row. "
                "Leave out its mean or sum over the rows (axis 0)."
            )
        return self._one_a_row(loss, prediction)

    def __call__(
        self,
        prediction: Array | ArrayLike,
        target: Array | ArrayLike,
        weight: Array | ArrayLike | None = None,
        *,
        class_weight: Any = None,
        reduction: str = "mean",
    ) -> Array:
        """The loss of a batch; one number for the whole batch is returned as it is."""
        if weight is None and class_weight is None and reduction == "mean":
            prediction, target = as_floats(prediction), as_array(target)
            loss = self.function(prediction, target)
            return loss if np.ndim(loss) == 0 else reduced(self._one_a_row(loss, prediction), None, reduction)
        return super().__call__(prediction, target, weight, class_weight=class_weight, reduction=reduction)

    def check(self, prediction_shape: Shape, target: ArrayLike) -> None:
        """Raise an error unless the function can be traced for these shapes and returns one number, or one per row."""
        target = np.asarray(target)
        check_rows(prediction_shape, target.shape)
        prediction = np.zeros((target.shape[0], *prediction_shape[1:]))
        try:
            graph = trace(self.function, prediction, target, rows=[0, 1])
        except (MadalineError, AttributeError, TypeError) as error:
            raise TraceError(f"{self._title()} cannot be traced: {error}") from error
        if len(graph.outputs) != 1:
            raise ShapeError(
                f"{self._title()} returns {len(graph.outputs)} values; a loss is one number, or one per row."
            )
        self._refuse_pairs(graph)
        if graph.outputs[0].ndim:
            self._one_a_row(graph.outputs[0], graph.inputs[0])

    def _refuse_pairs(self, graph: Graph) -> None:
        """Raise an error if shapes (n,) and (n, 1) are broadcast to (n, n), which is a common mistake."""
        for node in graph.nodes:
            shapes = [item.shape for item in node.inputs]
            vectors = [shape for shape in shapes if len(shape) == 1 and isinstance(shape[0], Rows)]
            columns = [shape for shape in shapes if len(shape) == 2 and shape[1] == 1]
            if vectors and columns and node.ndim == 2 and isinstance(node.shape[1], Rows):
                raise ShapeError(
                    f"{self._title()} broadcasts {show(columns[0])} and {show(vectors[0])} to all pairs of rows. "
                    "Write x[:, None] for the vector to combine row by row, or x[None, :] if you want all pairs."
                )

    def classes(self, prediction_shape: Shape, target: Array) -> list[tuple[Any, int]]:
        if target.ndim != 1 or target.dtype.kind not in "iub":
            return []
        n_classes = max(int(prediction_shape[1]), 2) if len(prediction_shape) > 1 else 2
        if not isinstance(target, Node):
            check_classes(target, n_classes)
        return [(target, n_classes)]

    def traced(self, prediction: Any = None, target: Any = None) -> CustomLoss:
        """The same loss with the function replaced by its traced graph, which can be saved.

        Parameters
        ----------
        prediction, target : array, optional
            Examples with the numbers of columns that the loss will be used with. They are only needed if the function
            depends on these numbers other than through means and sums, for example by ``np.arange(z.shape[1])``.
        """
        if prediction is None:
            shapes = _SHAPES
        else:
            shapes = [[tuple((Rows(), *np.shape(x)[1:]) for x in (prediction, target))]]
        families = [[tuple(zip(both, types, strict=True)) for both in family] for family in shapes for types in _TYPES]
        try:
            return CustomLoss(as_formula(self.function, families))
        except ConfigError as error:
            raise ConfigError(f"{self._title()}: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return CustomLoss, (self.function if is_found_by_name(self.function) else self.traced().function,)

    def __deepcopy__(self, memo: Any) -> CustomLoss:
        return self  # nothing in it changes

    def _one_a_row(self, loss: Array, prediction: Array) -> Array:
        if loss.shape != prediction.shape[:1]:
            raise ShapeError(
                f"{self._title()} returns shape {show(loss.shape)} for a prediction of shape {show(prediction.shape)}; "
                f"it must return one number per row, {show(prediction.shape[:1])}. Take the mean over the other axes."
            )
        return loss

    def _title(self) -> str:
        return f"The loss {getattr(self.function, '__name__', self.function)!s}"


_WIDTHS = range(1, 6)
_SHAPES: list[list[tuple[Shape, ...]]] = [
    [((Rows(), width), (Rows(), width)) for width in _WIDTHS],
    [((Rows(), width), (Rows(),)) for width in _WIDTHS],
    [((Rows(),), (Rows(),))],
]
_TYPES = tuple((z, y) for z in (np.float32, np.float64) for y in (np.float32, np.float64, np.int64))
"Shapes of predictions and targets for which a function is traced when it is saved."


LossLike = str | Loss | type[Loss] | Mapping[str, Any] | Callable[[Any, Any], Any]
"A loss: its name, an object, its class, its plain data, or a function of prediction and target."


def as_loss(thing: LossLike) -> Loss:
    """Convert a name, a loss, its plain data or a function of prediction and target to a loss.

    Examples
    --------
    >>> as_loss("huber")
    Huber(delta=1.0)
    """
    if isinstance(thing, (str, Loss, Mapping)) or callable(thing):
        return Loss.of(thing)
    raise DtypeError(
        f"loss={thing!r} is neither the name of a loss, a loss, nor a function of (prediction, target). "
        f"Known names: {', '.join(LOSSES.names())}."
    )
