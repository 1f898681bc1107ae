"""Errors for a loss that is not finite: the layer where it began, the likely cause, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from madaline.errors import DivergenceError
from madaline.graph.tree import flatten, unflatten
from madaline.train.sampling import Batches

if TYPE_CHECKING:
    from madaline.train.session import Session


LARGE = 1e4
"A weight above this is reported as the cause."
ADVICE = "Lower the learning rate, scale the inputs (Standardize()), or clip the gradient (clip_norm=1.0)."


def divergence(session: Session, batch: Batches) -> DivergenceError:
    """The error for a batch. The step is run again, layer by layer, with the parameters that it had."""
    step = session.progress.t + 1
    return explained(session, batch, step=step, rate=_rate(session, step))


def nothing_left(session: Session, batch: Batches) -> DivergenceError:
    """The error for an epoch of which every batch was left out; ``batch`` is the last one."""
    step = session.progress.t
    layer, where, cause = _what(session, batch, step, _rate(session, step))
    return DivergenceError(
        f"No batch of epoch {session.progress.epoch + 1} had a finite loss; in the last one {where}. Likely cause: "
        f"{cause}. {ADVICE} All batches were left out, so the parameters did not change.",
        step=step,
        layer=layer,
    )


def bad_parameters(session: Session) -> DivergenceError:
    """The error for parameters that the last step made infinite or NaN."""
    step, path = session.progress.t, _bad_paths(session)[0]
    return DivergenceError(
        f"After step {step} the parameter {path!r} is no longer finite. Likely cause: an update was too large"
        f"{_rate(session, step)}. {ADVICE}",
        step=step,
        layer=path.rpartition(".")[0],
    )


def explained(session: Session, batch: Batches, *, step: int, rate: str = "") -> DivergenceError:
    """The error for a batch, with the current parameters; ``rate`` is appended to the cause."""
    layer, where, cause = _what(session, batch, step, rate)
    return DivergenceError(
        f"The loss of step {step} (epoch {session.progress.epoch + 1}) is not finite: {where}. Likely cause: {cause}. "
        f"{ADVICE} The model holds the parameters of the last completed step; on_divergence='skip' leaves out such "
        "batches.",
        step=step,
        layer=layer,
    )


def _rate(session: Session, step: int) -> str:
    return f" (learning rate {float(session.rates(np.array([max(step, 1)]))[0]):.3g})"


def _bad_paths(session: Session) -> list[str]:
    entries = session.model.network.params.items()
    return [path for path, entry in entries if not np.isfinite(entry.of(session.model.params.flat)).all()]


def _what(session: Session, batch: Batches, step: int, rate: str) -> tuple[str, str, str]:
    """The layer, what is wrong there, and the likely cause."""
    network = session.model.network
    bad = _bad_paths(session)
    if bad:
        where = f"the parameter {bad[0]!r} is no longer finite"
        return bad[0].rpartition(".")[0], where, f"an update was too large{rate}"
    specs = flatten(network.inputs)[0]
    data, batch, _ = session.data.for_batches(batch, session.model, session.recipe.loss)
    x = [source.take(batch.order, spec.dtype) for source, spec in zip(data.x, specs, strict=True)]
    layer, where = _first_bad_layer(session, x, step)
    largest = max(
        float(np.max(np.abs(entry.of(session.model.params.flat)), initial=0.0)) for entry in network.params.values()
    )
    if any(not np.isfinite(leaf).all() for leaf in x):
        return layer, where, "the inputs of this batch are not finite after conversion to the type of the net"
    if largest > LARGE:
        return layer, where, f"weights have grown to {largest:.3g}{rate}"
    return layer, where, f"numbers too large for {network.dtype}{rate}"


def _first_bad_layer(session: Session, x: list[np.ndarray], step: int) -> tuple[str, str]:
    structure = flatten(session.model.network.inputs)[1]
    outputs = session.model.activations(unflatten(structure, x), train=True, seed=session.seed, step=step)
    for path, output in outputs.items():
        if path and any(not np.isfinite(leaf).all() for leaf in flatten(output)[0]):
            kind = next(row.layer for row in session.model.network.rows if row.path == path)
            return path, f"layer {path!r}, {kind!r}, is the first whose output is not finite"
    return "", "the output of every layer is finite, but the loss is not"
