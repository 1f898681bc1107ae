"""The result of a gradient check, as data and as a printed table."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Literal

from madaline.graph.shapes import Shape, show

Kind = Literal["right", "wrong", "kink", "jump", "edge", "nan"]
"""Result of one comparison. ``kink``, ``jump``: the function has no derivative there. ``edge``: the function is not
finite next to the point. ``nan``: the gradient is not finite."""

SHOWN = 5
"Maximum number of kinks and failures to list."


@dataclass(frozen=True)
class Probe:
    """One derivative, by an element or along a direction, and its finite difference.

    ``slopes`` are the one-sided differences at a kink.
    """

    where: str
    analytic: float
    numeric: float
    error: float
    kind: Kind
    slopes: tuple[float, float] | None = None


@dataclass(frozen=True)
class ArgumentCheck:
    """The comparisons for one array of the arguments."""

    name: str
    shape: Shape
    n_elements: int
    n_directions: int
    size: int
    probes: tuple[Probe, ...]

    @property
    def compared(self) -> list[Probe]:
        """Comparisons at points where the function is differentiable."""
        return [probe for probe in self.probes if probe.kind not in ("kink", "jump")]

    @property
    def worst(self) -> Probe | None:
        """The comparison with the largest error, kinks excluded."""
        return max(self.compared, key=lambda probe: probe.error, default=None)

    @property
    def coverage(self) -> str:
        """Text that says how many elements were checked."""
        if self.n_elements == self.size:
            return f"all {self.size}" if self.size else "nothing"
        return f"{self.n_elements} of {self.size}, {self.n_directions} directions"


@dataclass(frozen=True)
class GradientCheck:
    """The result of :func:`madaline.check_gradient`: true if the check passed; print it to read it.

    Attributes
    ----------
    value : float
        The function at the point.
    tolerance : float
        Largest relative error that passes.
    arguments : tuple of ArgumentCheck
        One for each array among the arguments.
    problems : tuple of str
        Problems other than single wrong derivatives; any of them fails the check.
    remarks : tuple of str
        Remarks about the check.
    count_kinks : bool
        Whether kinks fail the check.
    """

    value: float
    tolerance: float
    arguments: tuple[ArgumentCheck, ...]
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    count_kinks: bool = False

    @property
    def probes(self) -> list[Probe]:
        """All comparisons."""
        return [probe for argument in self.arguments for probe in argument.probes]

    @property
    def failures(self) -> list[Probe]:
        """Comparisons that failed."""
        return [probe for probe in self.probes if probe.kind in ("wrong", "edge", "nan")]

    @property
    def kinks(self) -> list[Probe]:
        """The points at which the function has no derivative."""
        return [probe for probe in self.probes if probe.kind in ("kink", "jump")]

    @property
    def worst(self) -> Probe | None:
        """The comparison with the largest error of all arguments, kinks excluded."""
        found = [argument.worst for argument in self.arguments if argument.worst is not None]
        return max(found, key=lambda probe: probe.error, default=None)

    @property
    def error(self) -> float:
        """The largest relative error, kinks excluded; 0 if nothing was compared."""
        return self.worst.error if self.worst is not None else 0.0

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
        return not (self.problems or self.failures or (self.count_kinks and self.kinks))

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        lines = [f"Gradient check {verdict}: largest relative error {self.error:.1e}, tolerance {self.tolerance:.1e}."]
        lines += [f"Problem: {problem}" for problem in self.problems]
        lines += _table([_row(argument) for argument in self.arguments]) if self.arguments else []
        lines += _listing(self.failures, "wrong")
        lines += _listing(self.kinks, "at a kink" + ("" if self.count_kinks else ", not counted"))
        lines += [f"Remark: {remark}" for remark in self.remarks]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


HEADER = ("argument", "shape", "checked", "error", "worst at", "given", "differences")


def _row(argument: ArgumentCheck) -> tuple[str, ...]:
    first = (argument.name, show(argument.shape), argument.coverage)
    worst = argument.worst
    if worst is None:
        return (*first, "-", "-", "-", "-")
    return (*first, f"{worst.error:.1e}", worst.where, f"{worst.analytic:.6g}", f"{worst.numeric:.6g}")


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    table = [HEADER, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADER))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
    ]


def _listing(probes: list[Probe], title: str) -> list[str]:
    if not probes:
        return []
    lines = [f"{len(probes)} {title}:"]
    lines += [f"  {probe.where}: {_explained(probe)}" for probe in probes[:SHOWN]]
    return [*lines, f"  ... and {len(probes) - SHOWN} more"] if len(probes) > SHOWN else lines


def _explained(probe: Probe) -> str:
    if probe.kind == "nan":
        return f"the derivative given is {probe.analytic}."
    if probe.kind == "edge":
        return "the function is not finite beside this point; move away from the edge of its domain."
    if probe.kind == "jump":
        return f"the function seems to jump here; {probe.analytic:.6g} was given."
    if probe.kind == "kink" and probe.slopes is not None:
        left, right = probe.slopes
        return f"the slope is {left:.6g} on the left and {right:.6g} on the right; {probe.analytic:.6g} was given."
    return f"{probe.analytic:.6g} was given, differences say {probe.numeric:.6g}."
