"""A gradient check of a net with its loss: derivatives by reverse mode beside finite differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.doctor.intercept import planned
from madaline.doctor.overfit import few_rows
from madaline.doctor.patients import Patient
from madaline.doctor.tools.axes import MARK, VALUE, axes
from madaline.errors import ConfigError
from madaline.functional.check_gradient import check_gradient
from madaline.functional.gradient_report import GradientCheck

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from madaline.data.data_types import Inputs, Targets


@dataclass(frozen=True)
class GradientTest:
    """The result of :func:`gradient_test`.

    Attributes
    ----------
    check : GradientCheck
        As in :func:`madaline.check_gradient`.
    parameters : tuple of str
        The parameters that were compared: ``"0.W[1, 2]"``.
    """

    check: GradientCheck
    parameters: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether all derivatives agree."""
        return bool(self.check)

    def __str__(self) -> str:
        return str(self.check)

    def to_dict(self) -> dict[str, Any]:
        """The comparisons as plain data."""
        found = [
            {
                "parameter": name,
                "analytic": probe.analytic,
                "numeric": probe.numeric,
                "error": probe.error,
                "kind": probe.kind,
            }
            for name, probe in zip(self.parameters, self.check.probes, strict=True)
        ]
        return {"passed": self.passed, "comparisons": found}

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw each derivative over its finite difference; they should be on the diagonal."""
        ax = axes(ax)
        probes = self.check.probes
        bad = {id(probe) for probe in self.check.failures}
        x, y = np.array([probe.numeric for probe in probes]), np.array([probe.analytic for probe in probes])
        colors = [MARK if id(probe) in bad else VALUE for probe in probes]
        ends = [float(np.nanmin([x, y])), float(np.nanmax([x, y]))] if len(probes) else [0.0, 1.0]
        ax.plot(ends, ends, color="#bbb", linewidth=1, zorder=0)
        ax.scatter(x, y, c=colors, s=12)
        ax.set(
            xlabel="finite difference",
            ylabel="derivative",
            title="Gradient check: " + ("passed" if self.passed else "failed"),
        )
        return ax


def gradient_test(
    thing: Patient,
    X: Inputs | None,
    y: Targets | None = None,
    *,
    rows: int = 16,
    max_elements: int = 60,
    seed: int = 0,
    **fit_arguments: Any,
) -> GradientTest:
    """Compare the gradient of a net and its loss with finite differences, for example of a custom layer or loss.

    Parameters
    ----------
    thing : Trainer or estimator
        Its net is checked with the initial parameters, in evaluation mode.
    X, y
        Data, as for ``fit``.
    rows : int, default 16
        Number of rows.
    max_elements : int, default 60
        Number of parameters that are compared.
    seed : int
        Random seed for the choice of parameters.
    **fit_arguments
        Further arguments of ``fit``.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(50, 3)); y = X[:, 0] * X[:, 1]
    >>> md.doctor.gradient_test(md.Trainer(md.mlp(8, 1, activation="tanh")), X, y).passed
    True
    """
    record = planned(thing, X, y, **fit_arguments)
    few, loss, model = few_rows(record.problem.train, rows), record.setup.recipe.loss, record.model

    if isinstance(loss, dict):
        raise ConfigError("gradient_test needs a net with one output; this one has several.")

    def mean_loss(w: Any) -> Any:
        return np.mean(loss.rows(model.with_parameters(w)(few.X), few.y))

    flat = np.asarray(model.params.flat, dtype=np.float64)
    check = check_gradient(mean_loss, flat, max_elements=max_elements, seed=seed)
    return GradientTest(check, tuple(_named(record, probe.where) for probe in check.probes))


def _named(record: Any, where: str) -> str:
    """The parameter at a place of the flat vector; other places, such as directions, as they are."""
    _, _, rest = where.partition("[")
    number = rest.rstrip("]").rstrip(",")
    if not number.isdigit():
        return where
    for path, entry in record.model.network.params.items():
        if entry.offset <= int(number) < entry.offset + entry.size:
            place = np.unravel_index(int(number) - entry.offset, entry.shape)
            return f"{path}[{', '.join(str(int(each)) for each in place)}]"
    return where
