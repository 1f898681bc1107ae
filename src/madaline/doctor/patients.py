"""Types of what the doctor examines."""

from __future__ import annotations

from typing import Any, Protocol

from madaline.train.trainer import Trainer


class Estimator(Protocol):
    """An estimator with scikit-learn's interface."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """The parameters by name."""

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters by name."""


Patient = Trainer | Estimator
"What is trained: a trainer or an estimator."
