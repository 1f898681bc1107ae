"""What a history alone shows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from madaline.doctor.curves import rises
from madaline.doctor.diagnosis import Diagnosis
from madaline.doctor.finding import Finding, Remedy
from madaline.doctor.picture import Picture
from madaline.doctor.sickness import SICKNESSES, all_sicknesses
from madaline.train.history import History, HistoryTable

RISE = 1.3
LITTLE = 0.9
"A run whose loss stays above this fraction of the first one has hardly learned; only then are layers suspected."
MOST = 0.9
"Fraction of the units of a layer."
LARGE_UPDATE, SMALL_UPDATE, FADED = 0.1, 1e-5, 1e-3
ADVICE = {
    "nonfinite_loss": "Try a learning rate that is ten times lower, scale the inputs, or clip the gradient.",
    "overfitting": "Stop early and keep the best epoch: early_stopping=10 with a validation set.",
    "rate_too_high": "Try a learning rate that is ten times lower.",
    "rate_too_low": "Try a learning rate that is ten times higher.",
    "frozen_parameters": "Check which parameters the optimizer gets, and which are frozen.",
    "dead_units": "Try another activation, such as 'leaky_relu', or a learning rate that is ten times lower.",
    "saturated_units": "Scale the inputs, and draw initial weights that fit the activation.",
    "vanishing_gradients": "Try 'relu' with initial weights that fit it, normalization layers or residual connections.",
}
"What to try; nothing was tried here."
LIMIT = "the net and its data; only the history was given. Train with doctor=True or callbacks=md.Doctor()"


def findings_of_history(history: History) -> Diagnosis:
    """Findings that need no data."""
    all_sicknesses()
    loss = history["loss"] if "loss" in history else np.zeros(0)
    found = [*_of_curves(history, loss)]
    if len(loss) and (found or not np.isfinite(loss).all() or loss[-1] > LITTLE * loss[0]) and history.probes.n_rows:
        found += _of_layers(history.probes, loss)
    reasons = [] if found or not len(loss) else ["the loss is finite and the validation loss does not rise"]
    return Diagnosis(tuple(found), tuple(reasons), (LIMIT,))


def _of_curves(history: History, loss: np.ndarray) -> Iterator[Finding]:
    if history.stopped == "diverged" or (len(loss) and not np.isfinite(loss[-1])):
        yield _finding("nonfinite_loss", {"epochs before that": float(np.isfinite(loss).sum())}, 1.0, loss)
    held = history.get("val_loss")
    if held is not None and len(held) >= 5 and np.isfinite(held).all() and history.best_epoch is None:
        low = int(np.argmin(held))
        last = float(np.mean(held[-max(len(held) // 10, 1) :]))
        if last > RISE * held[low] and low < 0.8 * len(held) and loss[-1] < loss[low]:
            evidence = {"last validation loss": last, "lowest validation loss": float(held[low])}
            yield _finding("overfitting", evidence, 0.7, held)


def _of_layers(probes: HistoryTable, loss: np.ndarray) -> Iterator[Finding]:
    """What the samples of the layers show about a run that hardly learned."""
    updates = _by_layer(probes, "update_ratio")
    middle = {path: float(np.nanmedian(values)) for path, values in updates.items()}
    still = [path for path, values in updates.items() if not np.nanmax(values)]
    if middle and (max(middle.values()) > LARGE_UPDATE or rises(loss)):
        evidence = {"change of the weights per step": max(middle.values())}
        yield _finding("rate_too_high", evidence, 0.6, loss, "learning rate")
    elif middle and not still and max(middle.values()) < SMALL_UPDATE:
        evidence = {"change of the weights per step": max(middle.values())}
        yield _finding("rate_too_low", evidence, 0.6, loss, "learning rate")
    if still:
        evidence = {"layers that did not change": len(still)}
        yield _finding("frozen_parameters", evidence, 0.6, loss, f"layers {', '.join(still[:4])}")
    for name, statistic in (("dead_units", "dead"), ("saturated_units", "saturated_units")):
        shares = {path: values[np.isfinite(values)] for path, values in _by_layer(probes, statistic).items()}
        last = {path: float(values[-1]) for path, values in shares.items() if len(values)}
        worst = max(last, key=lambda path: last[path]) if last else ""
        if last and last[worst] > MOST:
            yield _finding(name, {"fraction of the units": last[worst]}, 0.6, shares[worst], f"layer {worst!r}")
    norms = [float(np.nanmedian(values)) for values in _by_layer(probes, "gradient_norm").values()]
    first = next(iter(middle.values()), 1.0)
    if len(norms) > 2 and norms[-1] > 0 and norms[0] < FADED * norms[-1] and 0 < first < SMALL_UPDATE:
        evidence = {"gradient of the first layer, relative to the last": norms[0] / norms[-1]}
        yield _finding("vanishing_gradients", evidence, 0.6, np.array(norms), "first layers")


def _by_layer(probes: HistoryTable, statistic: str) -> dict[str, np.ndarray]:
    """The samples of a statistic of each layer that has it."""
    if statistic not in probes:
        return {}
    layers, values = probes["layer"], np.asarray(probes[statistic], dtype=float)
    found = {path: values[layers == path] for path in dict.fromkeys(layers.tolist())}
    return {path: each for path, each in found.items() if np.isfinite(each).any()}


def _finding(name: str, evidence: dict[str, float], confidence: float, curve: np.ndarray, where: str = "") -> Finding:
    sickness = SICKNESSES[name]
    picture = Picture("values in order", curve.tolist()) if len(curve) else None
    return Finding(
        name,
        sickness.title,
        sickness.severity,
        confidence,
        where,
        evidence,
        sickness.why,
        sickness.concept,
        (Remedy(ADVICE[name]),),
        picture=picture,
    )
