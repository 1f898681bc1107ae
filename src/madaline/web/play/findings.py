"""The doctor beside a run: examines it while it trains, and turns remedies into settings."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from madaline.doctor.finding import Finding, Remedy
from madaline.errors import MadalineError
from madaline.functional.model import Model
from madaline.optim.optimizer import Optimizer
from madaline.web.examination import examine
from madaline.web.play.run import Run
from madaline.web.play.settings import Settings

MAX_SECONDS = 3.0
LEAST_EPOCHS, LEAST_SHARE = 20, 0.1
"Epochs before the first examination, and their share of all epochs: earlier, every net needs more of them."


class Examiner:
    """Examines a run when a page asks for it, one examination at a time.

    Attributes
    ----------
    state : dict
        The last examination: its epoch, and the findings with the settings that their remedies change.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._is_busy = self._is_closed = False
        self.state: dict[str, Any] = {"epoch": 0, "busy": False, "findings": [], "reasons": []}

    def ask(self) -> dict[str, Any]:
        """The last examination; a new one begins if the run has gone on."""
        with self._lock:
            epoch = self._run.trainer.history.epochs
            last, status = self.state["epoch"], self._run.status
            is_over = status in ("finished", "failed")
            planned = self._run.exercise.settings.epochs
            is_ripe = is_over or epoch >= max(LEAST_EPOCHS, LEAST_SHARE * planned)
            is_due = is_ripe and epoch > last and (is_over or status == "paused" or epoch >= 1.5 * last)
            if is_due and not self._is_busy and not self._is_closed:
                self._is_busy = True
                threading.Thread(target=self._examine, name="madaline-doctor", daemon=True).start()
            return {**self.state, "busy": self._is_busy}

    def close(self) -> None:
        """Begin no more examinations."""
        self._is_closed = True

    def _examine(self) -> None:
        try:
            found = self._findings()
        except (MadalineError, ArithmeticError, ValueError, RuntimeError) as error:
            # Another thread trains on: numbers may change while they are read. The next examination sees more.
            found = {"epoch": self._run.epoch, "findings": [], "reasons": [], "failure": str(error)}
        with self._lock:
            self.state, self._is_busy = found, False

    def _findings(self) -> dict[str, Any]:
        run = self._run
        latest = run.state().snapshots[-1]
        session = run.trainer.run
        model = Model(session.model.network, latest.params.copy(), latest.state.copy())
        diagnosis, epochs = examine(session, run.start, model, seconds=MAX_SECONDS)
        settings = run.exercise.settings
        listed = [_plain(each, settings) for each in diagnosis.findings]
        return {
            "epoch": epochs,
            "reasons": list(diagnosis.reasons),
            "findings": [each for each in listed if not _only_waits(each, settings, epochs)],
        }


def _plain(finding: Finding, settings: Settings) -> dict[str, Any]:
    """A finding as the page shows it."""
    remedies = [
        {"text": each.text, "tried": each.gain is not None, "changes": changes(each, settings)}
        for each in finding.remedies[:3]
    ]
    names = ("name", "title", "severity", "where", "why")
    return {name: getattr(finding, name) for name in names} | {"remedies": remedies}


def _only_waits(finding: dict[str, Any], settings: Settings, done: int) -> bool:
    """Whether the remedy is to train on, which a run that has not ended does anyway."""
    kinds = [set(remedy["changes"]) for remedy in finding["remedies"]]
    return done < settings.epochs and bool(kinds) and all(kind <= {"epochs"} for kind in kinds)


def changes(remedy: Remedy, settings: Settings) -> dict[str, Any]:
    """The settings that a remedy changes; none if the playground has no such setting."""
    found: dict[str, Any] = {}
    for name, value in remedy.parameters.items():
        change = _change(name, value, settings)
        if change is None:
            return {}
        found |= change
    try:
        settings.changed(**found)
    except MadalineError:
        return {}
    return {name: value for name, value in found.items() if value != getattr(settings, name)}


def _change(name: str, value: Any, settings: Settings) -> Mapping[str, Any] | None:
    """One argument of an estimator as settings."""
    plain = {"learning_rate_init": "rate", "max_iter": "epochs", "batch_size": "batch", "dropout": "dropout"}
    plain |= {"clip_norm": "clip", "n_iter_no_change": "patience"}
    if name in plain and isinstance(value, (int, float)) and not isinstance(value, bool):
        return {plain[name]: value}
    if name == "optimizer" and isinstance(value, Optimizer):
        return {"optimizer": value.name, "rate": value.learning_rate}
    if name == "activation" and isinstance(value, str):
        return {"layers": ",".join(f"{units}{value}" for units, _ in settings.hidden)}
    if name == "early_stopping" and isinstance(value, bool):
        return {} if value else {"patience": 0}
    if name == "class_weight" and value in (None, "balanced"):
        return {"balance": value is not None}
    if name == "init" and value in (None, "auto"):
        return {"init": "auto"}
    if name == "norm" and (value is None or isinstance(value, str)):
        return {"norm": value or "none"}
    if name == "data" and value == "auto":
        return {"standardize": True}
    if name == "residual" and isinstance(value, bool):
        return {"residual": value}
    if name == "hidden_layer_sizes" and isinstance(value, tuple):
        activation = settings.hidden[0][1] if settings.hidden else "tanh"
        return {"layers": ",".join(f"{units}{activation}" for units in value)}
    if name in ("alpha", "weight_decay") and value == 0:
        return {"regularizer": "none"}
    return None
