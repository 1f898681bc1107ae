"""The test whether a net can memorize a few rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.doctor.baselines import constant_rows
from madaline.doctor.intercept import planned
from madaline.doctor.overfit import few_rows, trained_on
from madaline.doctor.patients import Patient
from madaline.doctor.tools.axes import OTHER, VALUE, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from madaline.data.data_types import Inputs, Targets

PASSED = 0.05
"Fraction of the loss of a constant prediction."


@dataclass(frozen=True)
class OverfitTest:
    """The result of :func:`overfit_test`.

    Attributes
    ----------
    losses : array
        The loss of each step, without penalties.
    last : float
        The loss after the last step, in evaluation mode.
    constant : float
        The loss of the best constant prediction on these rows.
    n_rows : int
    passed : bool
        Whether the last loss is below 5 % of that of a constant.
    """

    losses: np.ndarray
    last: float
    constant: float
    n_rows: int

    @property
    def passed(self) -> bool:
        """Whether the rows were learned."""
        return bool(self.last < PASSED * abs(self.constant))

    def __str__(self) -> str:
        numbers = f"a loss of {self.last:.3g}, that of a constant prediction is {self.constant:.3g}"
        if self.passed:
            return f"Passed: {self.n_rows} rows are memorized, with {numbers}."
        return (
            f"Failed: {self.n_rows} rows are not learned, with {numbers}. Check loss, output, learning rate and width."
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        numbers = {"last": self.last, "constant": self.constant, "n_rows": self.n_rows, "passed": self.passed}
        return {"losses": self.losses.tolist(), **numbers}

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw the loss over the steps; dashed: the loss of a constant prediction."""
        ax = axes(ax)
        ax.plot(np.arange(1, len(self.losses) + 1), self.losses, color=VALUE, label=f"loss of {self.n_rows} rows")
        ax.axhline(self.constant, color=OTHER, linestyle="--", label="constant prediction")
        ax.set(xlabel="step", ylabel="loss", title="Overfit test: " + ("passed" if self.passed else "failed"))
        if (self.losses > 0).all() and self.constant > 0:
            ax.set_yscale("log")
        ax.legend()
        return ax


def overfit_test(
    thing: Patient,
    X: Inputs | None,
    y: Targets | None = None,
    *,
    rows: int = 32,
    steps: int = 1000,
    **fit_arguments: Any,
) -> OverfitTest:
    """Train a copy on a few rows, which it should memorize.

    A net that cannot has a mistake: in the loss, the output layer, the learning rate or the width. Dropout and early
    stopping are switched off. Neither ``thing`` nor the data change.

    Parameters
    ----------
    thing : Trainer or estimator
    X, y
        Data, as for ``fit``.
    rows : int, default 32
        Number of rows.
    steps : int, default 1000
        Number of steps.
    **fit_arguments
        Further arguments of ``fit``.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(300, 3)); y = X[:, 0] * X[:, 1]
    >>> md.doctor.overfit_test(md.Trainer(md.mlp(64, 64, 1), optimizer=md.Adam(3e-3)), X, y).passed
    True
    >>> md.doctor.overfit_test(md.Trainer(md.mlp(64, 64, 1), optimizer=md.Adam(1e-7)), X, y).passed
    False
    """
    record = planned(thing, X, y, **fit_arguments)
    few = few_rows(record.problem.train, rows)
    outcome = trained_on(record.setup, record.problem, few, steps)
    loss = record.setup.recipe.loss
    losses = outcome.history["loss"] if "loss" in outcome.history else np.zeros(0)
    after = outcome.row_losses(few)
    n_outputs = int(np.prod(record.model.network.out_shape[1:]))
    constant = float(constant_rows(loss, few.y, few.y, n_outputs).mean())
    return OverfitTest(losses, float("inf") if after is None else float(after.mean()), constant, len(few))
