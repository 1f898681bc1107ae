"""A loaded model that answers requests."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from madaline.cached import cached_property
from madaline.data.table import Table
from madaline.errors import ConfigError, MadalineError
from madaline.estimators.tables import EncodedTable
from madaline.estimators.tabular.saved_model import SavedModel, load_saved
from madaline.ship.fields import Field, fields_of
from madaline.ship.row_encoder import RowEncoder
from madaline.web.bodies import Body
from madaline.web.drift import UnseenValue, unseen_values
from madaline.web.errors import RequestError, about_rows

MOST_WARNINGS = 100
"Warnings of an answer; all are counted."


@dataclass(frozen=True)
class RequestOptions:
    """What a request asks for in addition to predictions."""

    proba: bool = False
    interval: float | None = None
    explain: bool | str = False
    "Whether to explain the predictions, or the target or class to explain."


@dataclass(frozen=True)
class Answer:
    """The answer to a request."""

    columns: Mapping[str, np.ndarray]
    "Columns of predictions, as ``madaline predict`` writes them."
    n_rows: int
    unseen_values: tuple[UnseenValue, ...] = ()
    explanations: list[Any] | None = None


@dataclass(frozen=True)
class ServedModel:
    """A model and what clients are told about it. It does not change: a changed file becomes another one.

    Parameters
    ----------
    name : str
        Its name in paths.
    saved : SavedModel
    digest : str
        Beginning of the SHA-256 of its file.
    loaded : float
        Unix time.
    """

    name: str
    saved: SavedModel
    digest: str
    loaded: float = field(default_factory=time.time)

    @classmethod
    def load(cls, name: str, file: Path) -> ServedModel:
        """Load a model file and answer once, so that the first request does not wait for the planning of the net."""
        digest, saved = _digest(file), load_saved(file)
        while (again := _digest(file)) != digest:  # the file was replaced in the meantime
            digest, saved = again, load_saved(file)
        found = cls(name, saved, digest)
        row: dict[str, Any] = {each.name: [each.default] for each in found.fields}
        row |= {each.name: ["1970-01-01"] for each in found.fields if each.kind == "date"}
        options = RequestOptions(proba=found.has_probabilities, interval=0.9 if found.has_intervals else None)
        given = Table.of(row if found.saved.has_names else [[value for (value,) in row.values()]])
        found.answer(Body(given=given), options)
        found.answer(Body(row={name: value for name, (value,) in row.items()}), RequestOptions())
        return found

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The inputs."""
        return fields_of(self.saved.estimator)

    @cached_property
    def columns(self) -> frozenset[str]:
        """Names of the inputs; none if they are found by position."""
        return frozenset(each.name for each in self.fields) if self.saved.has_names else frozenset()

    @cached_property
    def has_probabilities(self) -> bool:
        """Whether it gives the probabilities of classes."""
        return hasattr(self.saved.estimator, "predict_proba")

    @cached_property
    def has_intervals(self) -> bool:
        """Whether it gives prediction intervals."""
        return self.saved.has_intervals

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.saved.targets)

    def check(self, options: RequestOptions) -> None:
        """Raise an error if the model cannot give what is wished for."""
        try:
            if options.proba:
                self.saved.need_probabilities()
            if options.interval is not None:
                self.saved.check_interval(options.interval)
        except ConfigError as error:
            raise RequestError(422, str(error).replace("--", "")) from None
        if options.explain:
            self._output(options.explain)

    @cached_property
    def _explained_outputs(self) -> dict[str, Any]:
        """What can be explained, by its name: classes or targets."""
        if len(self.saved.targets) > 1:
            return {name: name for name in self.saved.targets}
        return {str(name): name for name in self.saved.classes}

    def _output(self, explain: bool | str) -> Any:
        """The class or target that a request wants to have explained; None for the predicted one."""
        known = self._explained_outputs
        if explain is True and (len(known) < 2 or len(self.saved.targets) == 1):
            return None
        if explain not in known:
            names = ", ".join(f"explain={name}" for name in list(known)[:20]) or "explain=1"
            raise RequestError(422, f"explain={str(explain)[:40]!r} does not say what to explain. Use {names}.")
        return known[str(explain)]

    @cached_property
    def _encoder(self) -> RowEncoder | None:
        plan = getattr(self.saved.estimator, "table_plan_", None)
        return RowEncoder(plan) if plan is not None and RowEncoder.takes(plan) else None

    def answer(self, body: Body, options: RequestOptions) -> Answer:
        """Predictions for the rows of a request; an error names the column that the model does not take."""
        try:
            if body.row is not None and not options.explain and self._encoder is not None:
                arrays = self._encoder.encode(body.row)
                if arrays is not None:
                    return Answer(self._predictions(EncodedTable(arrays), 1, options), 1)
            return self._closely_answered(body.table, options)
        except MadalineError as error:
            raise about_rows(error) from None

    def _closely_answered(self, table: Table, options: RequestOptions) -> Answer:
        plan = getattr(self.saved.estimator, "table_plan_", None)
        if plan is None:
            X = self.saved.rows(_frame(table))
            found: tuple[UnseenValue, ...] = ()
            columns = self._predictions(X, table.n_rows, options)
        else:
            X = table
            columns = self._predictions(EncodedTable(plan.encode(table)), table.n_rows, options)
            found = tuple(unseen_values(table, plan, self._known))
        explanations = self._explained(X, self._output(options.explain)) if options.explain else None
        return Answer(columns, table.n_rows, found, explanations)

    def _predictions(self, X: Any, n_rows: int, options: RequestOptions) -> dict[str, np.ndarray]:
        return self.saved.predictions(X, n_rows, proba=options.proba, interval=options.interval)

    def _explained(self, X: Any, output: Any) -> list[Any]:
        from madaline.estimators.explanations import explain

        found: list[Any] = explain(self.saved.estimator, X, output=output).to_plain()
        return found

    def to_plain(self, answer: Answer, options: RequestOptions) -> dict[str, Any]:
        """The answer as JSON has it, with the predictions where MLflow's scoring server has them."""
        targets = self.saved.targets
        found: dict[str, Any] = {"predictions": _by_target(answer.columns, targets, "predicted {}")}
        if options.proba:
            names = [str(name) for name in self.saved.classes]
            values = [_listed(answer.columns[f"probability {name}"]) for name in self.saved.classes]
            found["probabilities"] = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
        if options.interval is not None:
            ends = [_by_target(answer.columns, targets, f"predicted {{}} {end}") for end in ("low", "high")]
            found["intervals"] = [{"low": low, "high": high} for low, high in zip(*ends, strict=True)]
        if answer.explanations is not None:
            found["explanations"] = answer.explanations
        if answer.unseen_values:
            found["warnings"] = [each.to_plain() for each in answer.unseen_values[:MOST_WARNINGS]]
        return found


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def _by_target(columns: Mapping[str, np.ndarray], targets: tuple[str, ...], name: str) -> list[Any]:
    """The values of each row: one, or those of several targets by their names."""
    values = [_listed(columns[name.format(target)]) for target in targets]
    if len(values) == 1:
        return values[0]
    return [dict(zip(targets, row, strict=True)) for row in zip(*values, strict=True)]


def _listed(values: np.ndarray) -> list[Any]:
    """Values as JSON has them: None where a number is not finite."""
    found: list[Any] = values.tolist()
    if values.dtype.kind == "f":
        return [value if math.isfinite(value) else None for value in found]
    return found


def _frame(table: Table) -> Any:
    """A data frame, for estimators without a plan for tables."""
    import polars as pl

    columns = {column.name: column.values.to_list() if column.is_text else column.values.tolist() for column in table}
    return pl.DataFrame(columns, strict=False)
