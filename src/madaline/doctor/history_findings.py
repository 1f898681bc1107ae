"""What a history alone shows."""

from __future__ import annotations

import numpy as np

from madaline.doctor.diagnosis import Diagnosis
from madaline.doctor.finding import Finding
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import SICKNESSES, all_sicknesses
from madaline.train.history import History

RISE = 1.3
LIMIT = "the net and its data; only the history was given. Train with doctor=True or callbacks=md.Doctor()"


def findings_of_history(history: History) -> Diagnosis:
    """Findings that need no data."""
    all_sicknesses()
    found = []
    loss = history["loss"] if "loss" in history else np.zeros(0)
    if history.stopped == "diverged" or (len(loss) and not np.isfinite(loss[-1])):
        found.append(_finding("nonfinite_loss", {"epochs before": float(len(loss))}, 1.0, loss))
    held = history.get("val_loss")
    if held is not None and len(held) >= 5 and np.isfinite(held).all() and history.best_epoch is None:
        low = int(np.argmin(held))
        last = float(np.mean(held[-max(len(held) // 10, 1) :]))
        if last > RISE * held[low] and low < 0.8 * len(held) and loss[-1] < loss[low]:
            evidence = {"last validation loss": last, "lowest validation loss": float(held[low])}
            found.append(_finding("overfitting", evidence, 0.7, held))
    reasons = [] if found or not len(loss) else ["the loss is finite and the validation loss does not rise"]
    return Diagnosis(tuple(found), tuple(reasons), (LIMIT,))


def _finding(name: str, evidence: dict[str, float], confidence: float, curve: np.ndarray) -> Finding:
    sickness = SICKNESSES[name]
    picture = Picture("loss", curve.tolist()) if len(curve) else None
    return Finding(
        name,
        sickness.title,
        sickness.severity,
        confidence,
        "",
        evidence,
        sickness.why,
        sickness.concept,
        (),
        0.0,
        picture,
    )
