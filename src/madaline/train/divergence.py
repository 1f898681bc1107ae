"""Why a step had no finite loss: find the layer where it began, and say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from madaline.errors import DivergenceError
from madaline.graph.tree import flatten, unflatten
from madaline.train.sampling import Batches

if TYPE_CHECKING:
    from madaline.train.run import Run


def divergence(run: Run, batch: Batches) -> DivergenceError:
    """The error that explains it. The step is run again, layer by layer, with the parameters it had."""
    step = run.progress.t + 1
    return explained(run, batch, step=step, rate=f" (learning rate {float(run.rates(np.array([step]))[0]):.3g})")


def explained(run: Run, batch: Batches, *, step: int, rate: str = "") -> DivergenceError:
    """The error for a batch, with the parameters the model has; ``rate`` is put behind the cause."""
    network = run.model.network
    where, layer, cause = "", "", ""
    bad = [path for path, entry in network.params.items() if not np.isfinite(entry.of(run.model.params.flat)).all()]
    if bad:
        layer = bad[0].rpartition(".")[0]
        where = f"the parameter {bad[0]!r} is not finite any more"
        cause = f"an update was too large{rate}"
    else:
        specs = flatten(network.inputs)[0]
        x = [source.take(batch.order, spec.dtype) for source, spec in zip(run.data.x, specs, strict=True)]
        layer, where = _first_bad_layer(run, x, step)
        largest = max(
            float(np.max(np.abs(entry.of(run.model.params.flat)), initial=0.0)) for entry in network.params.values()
        )
        if any(not np.isfinite(leaf).all() for leaf in x):
            cause = "the inputs of this batch are not finite as the net takes them"
        elif largest > 1e4:
            cause = f"weights have grown to {largest:.3g}{rate}"
        else:
            cause = f"numbers too large for {network.dtype}{rate}"
    return DivergenceError(
        f"The loss of step {step} (epoch {run.progress.epoch + 1}) is not finite: {where}. Likely cause: {cause}. "
        "Lower the learning rate, scale the inputs (Standardize()), or bound the gradient (clip_norm=1.0). The model "
        "holds the parameters of the last whole step; on_divergence='skip' would leave out such batches.",
        step=step,
        layer=layer,
    )


def _first_bad_layer(run: Run, x: list[np.ndarray], step: int) -> tuple[str, str]:
    structure = flatten(run.model.network.inputs)[1]
    outputs = run.model.activations(unflatten(structure, x), train=True, seed=run.settings.seed, step=step)
    for path, output in outputs.items():
        if path and any(not np.isfinite(leaf).all() for leaf in flatten(output)[0]):
            kind = next(row.layer for row in run.model.network.rows if row.path == path)
            return path, f"layer {path!r}, {kind!r}, is the first whose output is not"
    return "", "every layer's output is, but the loss of it is not"
