"""What estimators of every kind have that can be written to a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs


class SavableEstimator:
    """An estimator that ``madaline.load`` gives back; only classes of this kind are made from files.

    A class annotates every attribute that it learns: a file with another attribute, or with a value of another type, is
    refused.
    """

    n_features_in_: int
    feature_names_in_: np.ndarray
    target_names_: tuple[str, ...]
    n_iter_: int

    def check_parameters(self) -> None:
        """Raise an error if a parameter is invalid."""
        if hasattr(self, "_parameter_constraints"):
            self._validate_params()  # type: ignore[attr-defined] # of scikit-learn's BaseEstimator

    def rows_to_try(self, n_rows: int) -> Inputs:
        """Rows of zeros or missing values, as a fitted estimator takes them."""
        plan = vars(self).get("table_plan_")
        if plan is not None:
            return {column.column: np.full(n_rows, None) for column in plan.columns}
        return np.zeros((n_rows, self.n_features_in_))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file; :func:`madaline.load` reads it."""
        from madaline.estimators.files import save

        save(self, path)
