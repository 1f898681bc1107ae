"""The doctor beside a run: examines it while it trains."""

from __future__ import annotations

import threading
from typing import Any

from madaline.doctor.names import InputNames
from madaline.errors import MadalineError
from madaline.functional.model import Model
from madaline.web.examination import examine, only_trains_longer
from madaline.web.play.remedies import plain_finding
from madaline.web.play.run import Run

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
        settings, problem = run.exercise.settings, run.exercise.problem
        names = InputNames(problem.inputs, problem.sources, classes=problem.classes)
        diagnosis, epochs = examine(session, run.start, model, seconds=MAX_SECONDS, names=names)
        columns = tuple(dict.fromkeys(problem.sources))
        is_over = epochs >= settings.epochs
        shown = [each for each in diagnosis.findings if is_over or not only_trains_longer(each)]
        return {
            "epoch": epochs,
            "reasons": list(diagnosis.reasons),
            "findings": [plain_finding(each, settings, columns) for each in shown],
        }
