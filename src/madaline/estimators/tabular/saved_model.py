"""A model file as the commands and the server use it: its columns, targets, classes and predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from madaline.errors import ConfigError, FileFormatError, InputError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from madaline.data.data_types import Inputs
    from madaline.data.reading.format import TableFormat


@dataclass(frozen=True)
class SavedModel:
    """An estimator that was read from a file."""

    estimator: Any
    path: Path

    @property
    def task(self) -> str:
        """The task of the model."""
        from madaline.estimators.tabular.predictions import task_of

        return task_of(self.estimator)

    @property
    def targets(self) -> tuple[str, ...]:
        """The target columns."""
        return tuple(getattr(self.estimator, "target_names_", ("y",)))

    @property
    def classes(self) -> Sequence[Any]:
        """Classes or labels; none for numbers."""
        from madaline.estimators.tabular.predictions import classes_of

        return classes_of(self.estimator)

    @property
    def has_several_class_columns(self) -> bool:
        """Whether it has several targets of classes, which can be predicted but not scored."""
        return isinstance(getattr(self.estimator, "classes_", None), list)

    @property
    def reading(self) -> TableFormat:
        """How tables are to be read."""
        from madaline.data.reading.format import TableFormat

        provenance = getattr(self.estimator, "provenance_", None)
        return TableFormat() if provenance is None else provenance.reading

    @property
    def about(self) -> Mapping[str, Any]:
        """How it was trained and tested, if ``madaline train`` made it."""
        provenance = getattr(self.estimator, "provenance_", None)
        return {} if provenance is None else provenance.about

    @property
    def has_names(self) -> bool:
        """Whether columns are found by their names."""
        plan = getattr(self.estimator, "table_plan_", None)
        return bool(plan.has_names) if plan is not None else hasattr(self.estimator, "feature_names_in_")

    @property
    def has_intervals(self) -> bool:
        """Whether it gives prediction intervals."""
        if not hasattr(self.estimator, "predict_interval"):
            return False
        calibrated = getattr(self.estimator, "is_calibrated", None)
        return True if calibrated is None else bool(calibrated)

    def rows(self, batch: pl.DataFrame) -> Any:
        """The columns of a table that the estimator takes."""
        plan = getattr(self.estimator, "table_plan_", None)
        if plan is not None and plan.has_names:
            return batch
        names = getattr(self.estimator, "feature_names_in_", None)
        if names is None:
            X = batch.drop([name for name in self.targets if name in batch.columns])
            if X.width != self.estimator.n_features_in_:
                raise InputError(
                    f"The table has {X.width} feature columns, and the model was trained with an array of "
                    f"{self.estimator.n_features_in_}."
                )
            return X if plan is not None else _numbers(X).to_numpy()
        missing = [name for name in names if name not in batch.columns]
        if missing:
            raise InputError(f"The table has no column {missing[0]!r}, which the model was trained with.")
        return _numbers(batch.select(list(names)))

    def predictions(
        self, X: Inputs, n_rows: int, *, proba: bool = False, interval: float | None = None
    ) -> dict[str, np.ndarray]:
        """Columns of predictions by name, each of shape (n_rows,).

        Parameters
        ----------
        X
            Rows that the estimator takes; see :meth:`rows`.
        n_rows : int
        proba : bool
            Whether to add the probability of each class.
        interval : float, optional
            Coverage of prediction intervals to add.
        """
        import numpy as np

        estimator = self.estimator
        values = np.asarray(estimator.predict(X)).reshape(n_rows, -1)
        columns = {f"predicted {name}": values[:, k] for k, name in enumerate(self.targets)}
        if interval is not None:
            low, high = (end.reshape(n_rows, -1) for end in estimator.predict_interval(X, interval))
            for k, name in enumerate(self.targets):
                columns[f"predicted {name} low"] = low[:, k]
                columns[f"predicted {name} high"] = high[:, k]
        if proba:
            p = estimator.predict_proba(X)
            if self.has_several_class_columns:
                for target, classes, each in zip(self.targets, estimator.classes_, p, strict=True):
                    columns |= {f"probability {target} {name}": each[:, k] for k, name in enumerate(classes)}
            else:
                columns |= {f"probability {name}": p[:, k] for k, name in enumerate(self.classes)}
        return columns

    def truth(self, batch: pl.DataFrame) -> np.ndarray:
        """The targets of rows, converted for the estimator."""
        from madaline.data.target import CLASS_TASKS, TargetReader

        classes = tuple(self.classes) if self.task in CLASS_TASKS else ()
        return TargetReader(self.task, self.targets, classes).values(target_columns(batch, self.targets))

    def need_probabilities(self) -> None:
        """Raise an error if the model has no probabilities."""
        if hasattr(self.estimator, "predict_proba"):
            return
        if hasattr(self.estimator, "classes_"):
            raise ConfigError(f"{type(self.estimator).__name__} predicts classes without probabilities here.")
        raise ConfigError("The model predicts numbers: there are no classes, and no probabilities.")

    def check_interval(self, coverage: float) -> None:
        """Raise an error if the model has no such prediction intervals."""
        from madaline.estimators.intervals import LEVELS

        if not hasattr(self.estimator, "predict_interval"):
            raise ConfigError("The model predicts classes: intervals are for numbers. Use --proba instead.")
        if not 0.0 < coverage < LEVELS[-1]:
            raise ConfigError(f"--interval {coverage} must be between 0 and {LEVELS[-1]}, for example 0.9.")


def _numbers(X: pl.DataFrame) -> pl.DataFrame:
    """The columns as numbers, for estimators that do not take tables; an error that names a value that is not one."""
    import numpy as np
    import polars as pl

    from madaline.data.table import Table

    columns = {}
    for column in Table.of(X):
        values = np.asarray(column.numbers(), dtype=np.float64)
        gaps = np.flatnonzero(np.isnan(values))
        if len(gaps):
            raise InputError(
                f"Column {column.name!r} has no value in row {gaps[0]} ({len(gaps)} such rows), and the model was "
                'trained without data="auto", which allows missing values. Fill in the values.'
            )
        columns[column.name] = values
    return pl.DataFrame(columns)


def target_columns(frame: pl.DataFrame, targets: Sequence[str]) -> Any:
    """The target columns: a series for one, a data frame for several."""
    return frame[targets[0]] if len(targets) == 1 else frame.select(targets)


def load_predicting(file: Path) -> Any:
    """The estimator or net of a file."""
    from madaline.functional.files import load

    found = load(file)
    if hasattr(found, "get_params") and not hasattr(found, "predict"):
        raise FileFormatError(f"{str(file)!r} holds a {type(found).__name__}, which does not predict.")
    return found


def load_saved(file: Path) -> SavedModel:
    """The estimator of a file."""
    found = load_predicting(file)
    if not hasattr(found, "predict"):
        raise FileFormatError(
            f"{str(file)!r} holds a net without the columns and targets it was trained on. Use it in Python: "
            "md.load(path)."
        )
    return SavedModel(found, file)
