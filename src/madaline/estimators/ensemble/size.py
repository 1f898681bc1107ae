"""What the prediction of an ensemble costs."""

from __future__ import annotations

from dataclasses import dataclass

from madaline.functional.model import Model


@dataclass(frozen=True)
class EnsembleSize:
    """The number of members that predictions use, the memory of their parameters, and their arithmetic.

    Attributes
    ----------
    n_members : int
    n_bytes : int
        Memory of all parameters.
    times_largest : float
        Arithmetic operations of a prediction, compared with those of the largest member alone.
    """

    n_members: int
    n_bytes: int
    times_largest: float


def ensemble_size(model: Model) -> EnsembleSize:
    """The size of an ensemble that was joined into one model."""
    flops = [row.flops for row in model.network.rows if row.path.isdigit()]
    return EnsembleSize(len(flops), model.params.flat.nbytes, sum(flops) / max([*flops, 1]))
