"""A net with all that stands between a table and its answers, as one file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madaline import container
from madaline.data.encode import TablePlan
from madaline.data.reading.format import TableFormat
from madaline.data.target import ClassTarget, LabelTarget, NumberTarget, TargetPlan
from madaline.errors import ConfigError, FileFormatError, MadalineError
from madaline.estimators.tabular.intervals import SHARES, SPREADS, error_sizes, margins_of, spread_of
from madaline.functional import files
from madaline.functional.model import Model
from madaline.losses.loss import Loss
from madaline.train.data import input_sources
from madaline.train.inference import Inference

PARTS = ("table", "target", "targets", "loss", "reading", "errors", "about")
"What the file of a learned model says besides what the file of a net says."


@dataclass
class Learned:
    """What was learned from a table.

    Attributes
    ----------
    model : Model
        The net.
    table : TablePlan
        How columns go in.
    target : TargetPlan
        How answers come out.
    targets : tuple of str
        The columns that were learned.
    loss : Loss
        What outputs mean.
    reading : TableFormat
        How the texts of the training table were read.
    errors : array of shape (len(SHARES), n_outputs), optional
        Sizes of errors on rows that training did not see: of a share of ``SHARES[k]`` they were at most ``errors[k]``.
    spread : str
        How errors grow with answers, one of :data:`SPREADS`: their sizes are multiples of it.
    about : dict
        How it was trained, how good it is, who made it: plain data.
    """

    model: Model
    table: TablePlan
    target: TargetPlan
    targets: tuple[str, ...]
    loss: Loss
    reading: TableFormat = field(default_factory=TableFormat)
    errors: np.ndarray | None = None
    about: dict[str, Any] = field(default_factory=dict)
    spread: str = "same"

    def __post_init__(self) -> None:
        self._inference: Inference | None = None

    @property
    def classes(self) -> tuple[Any, ...]:
        """Classes or labels, none for numbers."""
        if isinstance(self.target, ClassTarget):
            return tuple(self.target.classes)
        return self.target.labels if isinstance(self.target, LabelTarget) else ()

    def outputs(self, table: Any) -> np.ndarray:
        """What the loss takes the net's outputs for: probabilities, or numbers as they were learned."""
        if self._inference is None:
            self._inference = Inference(self.model.network)
        sources = input_sources(self.model.network, self.table.encode(table))
        raw = self._inference(
            self.model.params.flat, self.model.state.flat, sources, np.arange(sources[0].n_rows), threads=1
        )
        return np.asarray(self.loss.predict(raw))

    def answers(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs in the target's own words or units."""
        if isinstance(self.target, NumberTarget):
            return np.asarray(self.target.bounded(self.target.decode(outputs)))
        if isinstance(self.target, LabelTarget):
            return self.target.decode(outputs > 0.5)
        return self.target.decode(np.argmax(outputs, axis=1))

    def predict(self, table: Any) -> np.ndarray:
        """The class, labels or number of each row."""
        return self.answers(self.outputs(table))

    def predict_proba(self, table: Any) -> np.ndarray:
        """Probabilities of the classes or labels, (n_rows, n_classes)."""
        self.need_classes()
        return self.outputs(table)

    def need_classes(self) -> None:
        """An error if the model predicts numbers."""
        if not self.classes:
            raise ConfigError("The model predicts numbers: there are no classes to give probabilities of.")

    def margins(self, share: float) -> np.ndarray:
        """How far from the prediction the truth is at most, in a ``share`` of cases, as multiples of the spread."""
        if not isinstance(self.target, NumberTarget) or self.errors is None:
            raise ConfigError("The model predicts classes: intervals are for numbers. Ask for probabilities instead.")
        if not 0.0 < share < SHARES[-1]:
            raise ConfigError(f"--interval {share} must be a share between 0 and {SHARES[-1]}, as 0.9.")
        return margins_of(self.errors, share)

    def interval(self, answers: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Where the truth is in a ``share`` of cases, below and above answers (n_rows, n_targets); counts from 0 on."""
        margins = self.margins(share) * SPREADS[self.spread](answers)
        low = answers - margins
        return np.maximum(low, 0.0) if self.target.task == "count" else low, answers + margins

    def learn_errors(self, truth: np.ndarray, prediction: np.ndarray) -> None:
        r"""Keep the sizes of errors on rows that training did not see.

        The interval of a share :math:`1-\alpha` is the prediction plus and minus the
        :math:`\lceil (n+1)(1-\alpha) \rceil`-th smallest error of :math:`n`, which holds the truth of a new row with
        that probability whatever the errors are distributed like. Vovk, Gammerman & Shafer 2005, split conformal.
        Errors of counts are measured by the spread of counts of that rate: Papadopoulos, Gammerman & Vovk 2008.
        """
        self.spread = spread_of(self.target)
        self.errors = error_sizes(truth, prediction, self.spread)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all; :func:`madaline.load` reads the net of it alone."""
        arrays = {f"params.{name}": self.model.params[name] for name in self.model.params}
        arrays |= {f"state.{name}": self.model.state[name] for name in self.model.state}
        document = {
            "kind": "model",
            **files.describe(self.model),
            "table": self.table.to_dict(),
            "target": self.target.to_dict(),
            "targets": list(self.targets),
            "loss": self.loss.to_dict(),
            "reading": self.reading.to_plain(),
            "errors": None if self.errors is None else self.errors.tolist(),
            "spread": self.spread,
            "about": self.about,
        }
        container.write(path, arrays, document)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Learned:
        """Read the file. No code of it is run; a damaged or foreign one is a FileFormatError."""
        arrays, document = container.read(path, kind="model")
        if missing := [part for part in PARTS if part not in document]:
            raise FileFormatError(
                f"{os.fspath(path)!r} holds a net alone, without {' and '.join(missing[:2])}: it was not made by "
                "`madaline train`. Use md.load in Python."
            )
        try:
            with np.errstate(all="ignore"):  # absurd numbers in a description are no reason to warn
                return cls(
                    _finite(files.restored(document, arrays)),
                    TablePlan.from_dict(document["table"]),
                    TargetPlan.from_dict(document["target"]),
                    tuple(map(_text, document["targets"])),
                    Loss.from_dict(document["loss"]),
                    TableFormat.from_plain(document["reading"]),
                    _errors(document["errors"]),
                    _about(document["about"]),
                    _spread(document.get("spread", "same")),
                )
        except (
            MadalineError,
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            raise FileFormatError(f"{os.fspath(path)!r} is no whole model file: {error}") from error


def _finite(model: Model) -> Model:
    """The model, if its numbers are: what is NaN in it would be NaN in every answer, without a word."""
    for values in (model.params, model.state):
        for name in values:
            if not np.isfinite(values[name]).all():
                raise ValueError(f"{name} has numbers that are not finite")
    return model


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no name of a column")
    return value


def _errors(data: Any) -> np.ndarray | None:
    if data is None:
        return None
    found = np.asarray(data, dtype=np.float64)
    if found.ndim != 2 or len(found) != len(SHARES) or not np.isfinite(found).all():
        raise ValueError("the sizes of errors are not whole")
    return found


def _spread(data: Any) -> str:
    if data not in SPREADS:
        raise ValueError(f"{data!r} is no way in which errors grow")
    return str(data)


def _about(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise TypeError("what the file says about training is no table")
    return data
