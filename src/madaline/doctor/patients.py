"""Types of what the doctor examines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoSeries
    from numpy.typing import ArrayLike


class Estimator(Protocol):
    """An estimator with scikit-learn's interface."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """The parameters by name."""

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters by name."""


Patient = Trainer | Estimator
"What is trained: a trainer or an estimator."

if TYPE_CHECKING:
    Rows = ArrayLike | IntoDataFrame | None
    "Inputs, as an array or a data frame."
    Targets = ArrayLike | IntoDataFrame | IntoSeries | None
    "Targets, as an array, a data frame or a column of one."
