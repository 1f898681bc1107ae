"""Published rules of other tools, on the same runs, to compare with.

AutoTrainer (Zhang et al. 2021), Amazon SageMaker Debugger's built-in rules, and UMLAUT (Schoop et al. 2021), with the
thresholds of their sources or documentation. Where a tool looks at every step, the sampled steps are used. What a rule
says is translated into the name of the finding that means the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madaline.doctor.net_edits import chain, is_linear, last_activation, most_dropout

Names = list[str]


def _column(history: Any, name: str) -> np.ndarray:
    return np.asarray(history[name], dtype=float) if name in history else np.zeros(0)


def _layers(history: Any, statistic: str) -> dict[str, np.ndarray]:
    """The samples of a statistic, by layer."""
    probes = history.probes
    if statistic not in probes:
        return {}
    found = {
        path: np.asarray(probes[statistic], float)[probes["layer"] == path]
        for path in dict.fromkeys(probes["layer"].tolist())
    }
    return {path: values for path, values in found.items() if not np.isnan(values).all()}


def autotrainer(run: Any) -> Names:
    """Problems are raised only if training fails: accuracy below 0.6, or no epoch gains 0.01."""
    history = run.trainer.history
    loss, accuracy = _column(history, "loss"), _column(history, "accuracy" if run.table.task != "regression" else "r2")
    held = _column(history, "val_accuracy" if run.table.task != "regression" else "val_r2")
    gradients = list(_layers(history, "gradient_norm").values())
    found: Names = []
    failed = (
        not len(accuracy) or np.nanmax(accuracy, initial=-9) < 0.6 or np.nanmax(np.diff(accuracy), initial=0) < 0.01
    )
    if len(gradients) > 1:
        with np.errstate(all="ignore"):
            ratio = gradients[0] / gradients[-1]
        if failed and np.any((ratio < 1e-3) & (gradients[0] < 1e-4)):
            found.append("vanishing_gradients")
        if failed and (np.any(ratio > 70) or not np.isfinite(loss).all() or np.any(loss >= 1e3) or not len(loss)):
            found.append("exploding_gradients")
    if failed and any(np.any(values >= 0.7) for values in _layers(history, "zero").values()):
        found.append("dead_units")
    if failed and _bad_output(run):
        found.append("loss_output_mismatch")
    if failed and any(np.any(np.abs(values) >= 10) for values in _layers(history, "mean").values()):
        found.append("unscaled_inputs")
    if len(accuracy) > 4:
        swings = np.abs(np.diff(accuracy))
        if np.mean(swings >= 0.03) >= 0.2:
            found.append("rate_too_high")
        if np.max(np.diff(accuracy[int(0.3 * len(accuracy)) :]), initial=0) < 0.01 and np.max(accuracy) < 0.6:
            found.append("rate_too_low")
    if len(held) and len(accuracy):
        gap = accuracy[-1] - held[-1]
        if gap >= (0.07 if accuracy[-1] > 0.9 else 0.1):
            found.append("overfitting")
    return found


def _bad_output(run: Any) -> bool:
    """Rows of outputs whose absolute sum is above 1.1, of a net that ends with an activation."""
    if last_activation(run.trainer.net) is None or run.table.task == "regression":
        return False
    with np.errstate(all="ignore"):
        z = np.asarray(run.trainer.model(run.table.X_test[:200])).reshape(min(200, len(run.table.X_test)), -1)
    return bool(np.mean(np.abs(z).sum(axis=1) > 1.1) > 0.5)


def sagemaker(run: Any) -> Names:
    history, table = run.trainer.history, run.table
    loss, held = _column(history, "loss"), _column(history, "val_loss")
    found: Names = []
    if history.stopped == "diverged" or not np.isfinite(loss).all():
        found.append("nonfinite_loss")
    sizes = {path: entry.size for path, entry in run.trainer.model.network.params.items() if len(entry.shape) == 2}
    for path, norms in _layers(history, "gradient_norm").items():
        n = sizes.get(f"{path}.W", 1)
        if np.any(norms / np.sqrt(n) < 1e-7):  # the mean of |g| is at most its root mean square
            found.append("vanishing_gradients")
            break
    if any(np.any(values > 0.5) for values in _layers(history, "dead").values()):
        found.append("dead_units")
    updates = list(_layers(history, "update_ratio").values())
    if any(np.any(values > 10) for values in updates):
        found.append("rate_too_high")
    if any(np.any(values < 1e-8) for values in updates):
        found.append("rate_too_low")
    if any(len(values) > 3 and np.all(values[:3] < 1e-8) for values in updates):
        found.append("frozen_parameters")
    stds = [values[0] for values in _layers(history, "std").values()]
    if len(stds) > 1 and max(stds) > 10 * max(min(stds), 1e-12):
        found.append("init_gain")
    if len(loss) > 10 and np.any(loss[10:] > 0.999 * loss[:-10]):
        found += ["rate_too_high", "rate_too_low"]
    if len(held) and len(loss) and np.any((held - loss) > 0.1 * np.abs(loss)):
        found.append("overfitting")
    if table.task in ("binary", "classes"):
        counts = np.bincount(table.y.astype(int))
        if counts.max() > 10 * max(counts.min(), 1):
            found.append("class_imbalance")
    if np.any(np.abs(table.X.mean(axis=0)) > 0.2):
        found.append("unscaled_inputs")
    return list(dict.fromkeys(found))


def umlaut(run: Any) -> Names:
    history, table, net = run.trainer.history, run.table, run.trainer.net
    loss, held = _column(history, "loss"), _column(history, "val_loss")
    accuracy, held_accuracy = _column(history, "accuracy"), _column(history, "val_accuracy")
    found: Names = []
    if history.stopped == "diverged" or not np.isfinite(loss).all():
        found.append("nonfinite_loss")
    if np.any(np.abs(table.X) > 1):
        found.append("unscaled_inputs")
    rate = run.plan.rate
    if rate > 0.01:
        found.append("rate_too_high")
    if rate < 1e-7:
        found.append("rate_too_low")
    if len(held) > 1 and np.any((np.diff(loss[: len(held)]) < 0) & (np.diff(held) > 0)):
        found.append("overfitting")
    if len(held_accuracy) > 3 and (np.any(held_accuracy[3:] > 0.95) or np.any(held_accuracy[3:] > accuracy[3:] + 0.05)):
        found += ["target_leak", "split_duplicates"]
    if most_dropout(net) > 0.5:
        found.append("underfitting")
    if is_linear(net) and len(chain(net)) > 1:
        found.append("missing_nonlinearity")
    if last_activation(net) is not None:
        found.append("loss_output_mismatch")
    return found


OTHERS: dict[str, Callable[[Any], Names]] = {"AutoTrainer": autotrainer, "SageMaker": sagemaker, "UMLAUT": umlaut}
