"""Why a step had no finite loss: find the layer where it began, and say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from madaline.errors import DivergenceError
from madaline.graph.tree import flatten, unflatten
from madaline.train.sampling import Batches

if TYPE_CHECKING:
    from madaline.train.run import Run


LARGE = 1e4
"A weight above it is taken for the cause."
ADVICE = "Lower the learning rate, scale the inputs (Standardize()), or bound the gradient (clip_norm=1.0)."


def divergence(run: Run, batch: Batches) -> DivergenceError:
    """The error that explains it. The step is run again, layer by layer, with the parameters it had."""
    step = run.progress.t + 1
    return explained(run, batch, step=step, rate=_rate(run, step))


def nothing_left(run: Run, batch: Batches) -> DivergenceError:
    """The error for an epoch of which every batch was left out; ``batch`` is the last of them."""
    step = run.progress.t
    layer, where, cause = _what(run, batch, step, _rate(run, step))
    return DivergenceError(
        f"No batch of epoch {run.progress.epoch + 1} had a finite loss; of the last one {where}. Likely cause: "
        f"{cause}. {ADVICE} All of them were left out, so the model holds the parameters from before.",
        step=step,
        layer=layer,
    )


def bad_parameters(run: Run) -> DivergenceError:
    """The error for parameters that the last step made infinite or NaN."""
    step, path = run.progress.t, _bad_paths(run)[0]
    return DivergenceError(
        f"After step {step} the parameter {path!r} is not finite any more. Likely cause: an update was too large"
        f"{_rate(run, step)}. {ADVICE}",
        step=step,
        layer=path.rpartition(".")[0],
    )


def explained(run: Run, batch: Batches, *, step: int, rate: str = "") -> DivergenceError:
    """The error for a batch, with the parameters the model has; ``rate`` is put behind the cause."""
    layer, where, cause = _what(run, batch, step, rate)
    return DivergenceError(
        f"The loss of step {step} (epoch {run.progress.epoch + 1}) is not finite: {where}. Likely cause: {cause}. "
        f"{ADVICE} The model holds the parameters of the last whole step; on_divergence='skip' would leave out such "
        "batches.",
        step=step,
        layer=layer,
    )


def _rate(run: Run, step: int) -> str:
    return f" (learning rate {float(run.rates(np.array([max(step, 1)]))[0]):.3g})"


def _bad_paths(run: Run) -> list[str]:
    entries = run.model.network.params.items()
    return [path for path, entry in entries if not np.isfinite(entry.of(run.model.params.flat)).all()]


def _what(run: Run, batch: Batches, step: int, rate: str) -> tuple[str, str, str]:
    """The layer, what is wrong there, and why."""
    network = run.model.network
    bad = _bad_paths(run)
    if bad:
        where = f"the parameter {bad[0]!r} is not finite any more"
        return bad[0].rpartition(".")[0], where, f"an update was too large{rate}"
    specs = flatten(network.inputs)[0]
    x = [source.take(batch.order, spec.dtype) for source, spec in zip(run.data.x, specs, strict=True)]
    layer, where = _first_bad_layer(run, x, step)
    largest = max(
        float(np.max(np.abs(entry.of(run.model.params.flat)), initial=0.0)) for entry in network.params.values()
    )
    if any(not np.isfinite(leaf).all() for leaf in x):
        return layer, where, "the inputs of this batch are not finite as the net takes them"
    if largest > LARGE:
        return layer, where, f"weights have grown to {largest:.3g}{rate}"
    return layer, where, f"numbers too large for {network.dtype}{rate}"


def _first_bad_layer(run: Run, x: list[np.ndarray], step: int) -> tuple[str, str]:
    structure = flatten(run.model.network.inputs)[1]
    outputs = run.model.activations(unflatten(structure, x), train=True, seed=run.settings.seed, step=step)
    for path, output in outputs.items():
        if path and any(not np.isfinite(leaf).all() for leaf in flatten(output)[0]):
            kind = next(row.layer for row in run.model.network.rows if row.path == path)
            return path, f"layer {path!r}, {kind!r}, is the first whose output is not"
    return "", "every layer's output is, but the loss of it is not"
