"""Categories as vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from madaline.description import description
from madaline.errors import InputError
from madaline.graph.shapes import Shape
from madaline.nn.initializers import Initializer, Normal
from madaline.nn.layer import Layer, Param

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Embedding(Layer):
    r"""A learned vector for each category, :math:`y = W_{x}`, which equals a linear map of the one-hot code.

    Inputs are integers from 0 to ``n_categories - 1``. Shape (n,) gives (n, width); shape (n, columns) gives
    (n, columns * width), and all columns share the table. Other numbers raise an error.

    Parameters
    ----------
    n_categories : int
        Number of rows of the table ``W``.
    width : int
        Length of a vector.
    init : str or Initializer, default Normal(1.0)
        Initializer of ``W``. The field is ``weight_init``.
    sparse : bool, default False
        Whether a training step changes only the rows of ``W`` that its mini-batch uses, and their optimizer state. For
        tables of many thousand rows, this is much faster. The result is the same for SGD without momentum and for
        AdaGrad; averages of Adam and similar optimizers change only when their row is used.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.Embedding(10, 3).init(np.array([[1, 2]]))(np.array([[4, 4]])).shape
    (1, 6)
    """

    name: ClassVar[str] = "embedding"
    takes: ClassVar[str] = "integers"
    counts: ClassVar[tuple[str, ...]] = ("n_categories", "width")

    n_categories: int
    width: int
    weight_init: str | Initializer = Normal(1.0)
    sparse: bool = False

    def __init__(
        self,
        n_categories: int,
        width: int,
        *,
        init: str | Initializer = Normal(1.0),  # noqa: B008 - frozen, so that sharing it is safe
        sparse: bool = False,
        trainable: bool = True,
    ) -> None:
        weight_init = self._initializer("init", init)
        self._set(n_categories=n_categories, width=width, weight_init=weight_init, sparse=sparse, trainable=trainable)

    def params(self, in_shape: Shape) -> dict[str, Param]:
        return {"W": Param((self.n_categories, self.width), self.weight_init, decays=True)}

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        # A negative index would count from the end; it is sent out of range instead.
        index = np.where(x < 0, self.n_categories, x).astype(np.int64)
        y = p["W"][index]
        return y.reshape((x.shape[0], int(np.prod(y.shape[1:], dtype=int))))

    def check(self, x: np.ndarray) -> None:
        outside = np.argwhere((x < 0) | (x >= self.n_categories))
        if len(outside):
            value, row = x[tuple(outside[0])], outside[0][0]
            raise InputError(
                f"category {value} in row {row} is not one of the {self.n_categories}, which are 0 to "
                f"{self.n_categories - 1}. Use a larger n_categories, or one category for all unknown values."
            )
