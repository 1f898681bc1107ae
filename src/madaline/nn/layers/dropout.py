"""Layers that drop units at random while training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar, Literal

from madaline.description import description
from madaline.errors import ShapeError
from madaline.graph.shapes import Shape, show
from madaline.nn.layer import Layer

if TYPE_CHECKING:
    from madaline.graph.arrays import Array
    from madaline.nn.context import Context


@description
class Dropout(Layer):
    r"""Set units to 0 with probability ``p`` during training and scale the others up, :math:`y = x\,m/(1-p)`.

    The mask ``m`` of zeros and ones is new for every row and step, or for every step. ``p`` is the probability to
    *drop* a unit, as in PyTorch; the lectures also use it for the probability to keep one. Srivastava et al. 2014,
    section 4. Lecture rows A15, C8, D7, E15, N14.

    Parameters
    ----------
    p : float, default 0.5
        Drop probability, from 0 to 1.
    form : {"inverted", "original"}
        Scale by :math:`1/(1-p)` during training ("inverted"), or multiply by :math:`1-p` in evaluation mode
        ("original", as in the paper). The expected output is the same.
    mask : {"row", "batch"}
        A new mask for every row ("row", as in PyTorch), or one mask for all rows of a mini-batch ("batch"): then each
        step trains one thinned net.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> model = md.Dropout(0.75).init(8)
    >>> x = np.ones((1, 8))
    >>> model(x), model(x, train=True, seed=1)
    (array([[1., 1., 1., 1., 1., 1., 1., 1.]], dtype=float32), array([[4., 4., 0., 0., 0., 4., 0., 0.]], dtype=float32))
    """

    name: ClassVar[str] = "dropout"
    ranges: ClassVar[Mapping[str, str]] = {"p": "[0, 1]"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"form": ("inverted", "original"), "mask": ("row", "batch")}

    p: float = 0.5
    _: KW_ONLY
    form: Literal["inverted", "original"] = "inverted"
    mask: Literal["row", "batch"] = "row"

    def mask_shape(self, shape: Shape) -> Shape:
        """The shape of the mask: one number for each unit."""
        return shape

    def __call__(self, x: Array, p: Mapping[str, Array], context: Context) -> Array:
        mask_shape = self.mask_shape(x.shape)
        if self.p == 0.0:
            return x
        if not context.train:
            return x * (1.0 - self.p) if self.form == "original" else x
        if self.p == 1.0:
            return x * 0.0
        by_row = self.mask == "row"
        keep = (context.uniform(mask_shape if by_row else mask_shape[1:], rows=by_row) >= self.p).astype(context.dtype)
        # The same bits as keep / (1 - p), since keep is 0 or 1, and a multiplication is several times faster.
        return x * (keep * (1.0 / (1.0 - self.p)) if self.form == "inverted" else keep)


@description
class SpatialDropout(Dropout):
    r"""Set whole channels (axis 1) to 0 at all positions, :math:`y_{cp} = x_{cp}\,m_c/(1-p)`.

    PyTorch's ``Dropout2d`` for images. See :class:`Dropout` for the parameters.

    Tompson et al. 2015, section 3.2. Lecture row E16.
    """

    name: ClassVar[str] = "spatial_dropout"

    def mask_shape(self, shape: Shape) -> Shape:
        """One number for each channel of each row."""
        if len(shape) < 3:
            raise ShapeError(
                f"SpatialDropout needs inputs of shape (rows, channels, positions ...), not {show(shape)}. "
                "Use Dropout()."
            )
        return (*shape[:2], *(1,) * (len(shape) - 2))
