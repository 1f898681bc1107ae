"""Derivatives against finite differences: trust, but check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madaline.errors import DtypeError, GradientError, ShapeError, TraceError
from madaline.functional.compile import CompiledFunction
from madaline.functional.evaluate import check_differentiable, finished, names_of
from madaline.functional.gradient import ArgNums, checked_argnums, positions_of, value_and_grad
from madaline.functional.gradient_report import ArgumentCheck, GradientCheck, Probe
from madaline.graph.node import Node
from madaline.graph.trace import is_tracing, leaf_input
from madaline.graph.tree import flatten, unflatten

N_DIRECTIONS = 5
SHRINK = (2.0**-4, 2.0**-8, 2.0**-12)
"Smaller steps for a derivative that disagrees at the first one."


def check_gradient(
    f: Callable[..., Any],
    *args: Any,
    argnums: ArgNums = 0,
    tolerance: float | None = None,
    max_elements: int = 100,
    seed: int = 0,
    count_kinks: bool = False,
    raise_error: bool = False,
) -> GradientCheck:
    r"""Compare the gradient of ``f`` with centred differences, element by element (lecture row B7).

    .. math:: \frac{\partial f}{\partial x_i} \approx n = \frac{f(x + h e_i) - f(x - h e_i)}{2h},\quad
              h = \varepsilon^{1/3} \max(1, |x_i|),\quad \text{error} = \frac{|a - n|}{\max(|a|, |n|, \text{floor})}

    where :math:`a` is the derivative that :func:`madaline.grad` gives. All is computed in float64, whatever the types
    of the arguments; the differences call ``f`` on plain NumPy arrays, so they know nothing of graphs. The floor is
    where rounding of ``f`` would count as an error: it is measured by moving the point by its last digits.

    A derivative that disagrees is looked at again with smaller steps. If it agrees then, it is right. If the
    differences left and right of the point stay apart as the step shrinks, there is a kink (as of relu at 0): there is
    no derivative to compare with, so it is reported apart and does not fail the check.

    Parameters
    ----------
    f : callable
        Written with NumPy. Results that are not one number are contracted with fixed random weights.
    *args : arrays, numbers, or nested dicts, lists and tuples of them
        The point.
    argnums : int or tuple of int
        By which arguments to differentiate.
    tolerance : float, optional
        Largest relative error that passes; 1e-6, or 1e-2 if ``f`` itself turns its values into float32.
    max_elements : int
        Arrays with more elements are sampled: so many elements, and five random directions through all of them.
    seed : int
        Of the samples, directions and weights.
    count_kinks : bool
        Whether a kink fails the check.
    raise_error : bool
        Raise a GradientError that holds the report if the check fails.

    Returns
    -------
    GradientCheck
        True if the check passed; ``print`` it for a table, its attributes hold the numbers.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> bool(md.check_gradient(lambda w: np.sum(np.tanh(w) ** 2), np.array([0.5, -1.0])))
    True
    >>> [kink.where for kink in md.check_gradient(lambda w: np.sum(md.relu(w)), np.array([0.0, 1.0])).kinks]
    ['w[0]']
    """
    positions = positions_of(checked_argnums(argnums), args)
    leaves, structure = flatten([args[position] for position in positions])
    names = names_of(f, args, positions)
    if is_tracing() or any(isinstance(leaf, Node) for leaf in flatten(args)[0]):
        raise TraceError("check_gradient needs numbers, so it cannot be used inside a function that is being traced.")
    check_differentiable([leaf_input(i, leaf, name=names[i]) for i, leaf in enumerate(leaves)], names)
    if max_elements < 0:
        raise ShapeError(f"max_elements={max_elements} is negative. Use 0 for random directions only.")
    points = [np.array(leaf, dtype=np.float64) for leaf in leaves]

    def at(trees: Sequence[Any], function: Callable[..., Any] = f) -> Any:
        given = list(args)
        for position, tree in zip(positions, trees, strict=True):
            given[position] = tree
        return function(*given)

    rng = np.random.default_rng(seed)
    plain = f._function if isinstance(f, CompiledFunction) else f
    differences = _Differences(lambda arrays: at(unflatten(structure, arrays), plain), points, rng)
    problems = differences.problems()
    traced, gradients = value_and_grad(lambda trees: differences.contract(at(trees)))(
        unflatten(structure, [finished(point.copy()) for point in points])
    )
    if not problems and not abs(traced - differences.value) <= differences.slack:
        problems = [f"traced, the function gives {traced:.6g}; on plain arrays it gives {differences.value:.6g}."]
    if tolerance is None:
        tolerance = 1e-6 if differences.eps < 1e-10 else 1e-2
    checks = [
        _check_argument(differences, k, names[k], np.asarray(gradient), tolerance, max_elements, rng)
        for k, gradient in enumerate(flatten(gradients)[0] if np.isfinite(differences.value) else ())
    ]
    remarks = _remarks(differences, checks)
    report = GradientCheck(
        differences.value, tolerance, tuple(checks), tuple(problems), tuple(remarks), count_kinks=count_kinks
    )
    if raise_error and not report:
        raise GradientError(str(report))
    return report


class _Differences:
    """The function on plain arrays, as one number, along lines through the point."""

    def __init__(
        self, function: Callable[[Sequence[Any]], Any], points: list[np.ndarray], rng: np.random.Generator
    ) -> None:
        self._function = function
        self.points = points
        results = [np.asarray(leaf) for leaf in flatten(self._call(points))[0]]
        floats = [leaf for leaf in results if leaf.dtype.kind == "f"]
        if not floats:
            given = ", ".join(str(leaf.dtype) for leaf in results) or "nothing"
            raise DtypeError(f"The function gives a value of type {given}, which has no derivative. Return a float.")
        self.eps = max(float(np.finfo(leaf.dtype).eps) for leaf in floats)
        alone = len(results) == 1 and results[0].ndim == 0
        self._weights: list[Any] = [
            (1.0 if alone else rng.standard_normal(leaf.shape)) if leaf.dtype.kind == "f" else None for leaf in results
        ]
        with np.errstate(all="ignore"):
            size = sum(float(np.sum(np.abs(leaf))) for leaf in floats)
        self.value = self(points)
        self.again = self(points)
        self.noise = self._noise(size, rng)
        self.slack = 1e4 * self.noise

    def _call(self, points: Sequence[np.ndarray]) -> Any:
        with np.errstate(all="ignore"):
            return self._function([finished(point.copy()) for point in points])

    def contract(self, result: Any) -> Any:
        """The float results, weighted and summed, as arrays or as nodes."""
        pairs = zip(self._weights, flatten(result)[0], strict=True)
        products = [leaf if isinstance(w, float) else np.sum(w * leaf) for w, leaf in pairs if w is not None]
        return sum(products[1:], start=products[0])

    def __call__(self, points: Sequence[np.ndarray]) -> float:
        with np.errstate(all="ignore"):
            return float(self.contract(self._call(points)))

    def _noise(self, size: float, rng: np.random.Generator) -> float:
        """How far rounding moves the value: by its last digit, or by what the last digits of the arguments do to it."""
        found = self.eps * size
        # What moves the value further than that is a jump, not rounding.
        most = 1e6 * self.eps * max(1.0, size, *(float(np.max(np.abs(x), initial=0.0)) for x in self.points))
        for _ in range(4):
            moved = [
                x + self.eps * np.maximum(1.0, np.abs(x)) * rng.choice((-1.0, 1.0), size=x.shape) for x in self.points
            ]
            change = abs(self(moved) - self.value)
            found = max(found, change) if change <= most else found
        return max(found, float(np.finfo(np.float64).tiny))

    def problems(self) -> list[str]:
        """Why comparing makes no sense."""
        if not np.isfinite(self.value):
            return [f"the function gives {self.value} at this point."]
        if self.value != self.again:
            both = f"{self.value:.6g} and then {self.again:.6g}"
            remedy = "If it draws random numbers, draw them outside or from md.random with a fixed key."
            return [f"the function gives {both} at the same point. {remedy}"]
        return []

    def line(self, k: int, where: int | np.ndarray) -> Callable[[float], float]:
        """The value as array ``k`` moves by ``t``, in one element or along a direction."""

        def at(t: float) -> float:
            moved = self.points[k].copy()
            if isinstance(where, int):
                moved.reshape(-1)[where] += t
            else:
                moved += t * where
            return self([*self.points[:k], moved, *self.points[k + 1 :]])

        return at

    def step(self, size: float) -> float:
        """A power of two, so that moving by it is exact, near the best compromise of rounding and truncation."""
        return float(2.0 ** np.round(np.log2(self.eps ** (1 / 3) * max(1.0, size))))


def _check_argument(
    differences: _Differences,
    k: int,
    name: str,
    gradient: np.ndarray,
    tolerance: float,
    max_elements: int,
    rng: np.random.Generator,
) -> ArgumentCheck:
    x = differences.points[k]
    sampled = x.size > max_elements
    elements = np.sort(rng.choice(x.size, max_elements, replace=False)) if sampled else np.arange(x.size)
    probes = []
    for element in map(int, elements):
        index = ", ".join(map(str, np.unravel_index(element, x.shape)))
        where = f"{name}[{index}]" if x.ndim else name
        step = differences.step(abs(x.reshape(-1)[element]))
        line = differences.line(k, element)
        probes.append(_compare(differences, line, where, float(gradient.reshape(-1)[element]), step, tolerance))
    for number in range(N_DIRECTIONS if sampled else 0):
        v = rng.choice((-1.0, 1.0), size=x.shape) / np.sqrt(x.size)
        step = differences.step(float(np.max(np.abs(x))))
        with np.errstate(all="ignore"):
            slope = float(np.sum(gradient * v))
        where = f"{name} along direction {number + 1}"
        probes.append(_compare(differences, differences.line(k, v), where, slope, step, tolerance))
    return ArgumentCheck(name, x.shape, len(elements), N_DIRECTIONS if sampled else 0, x.size, tuple(probes))


def _compare(
    differences: _Differences, line: Callable[[float], float], where: str, a: float, h: float, tolerance: float
) -> Probe:
    """One derivative ``a`` against differences along a line."""
    floor = 4.0 * differences.noise / (h * tolerance)

    def error_of(n: float) -> float:
        return abs(a - n) / max(abs(a), abs(n), floor)

    n = (line(h) - line(-h)) / (2.0 * h)
    if not np.isfinite(a):
        return Probe(where, a, n, np.inf, "nan")
    if error_of(n) <= tolerance:
        return Probe(where, a, n, error_of(n), "right")
    f, best, gaps, slopes = differences.value, n, [], (np.nan, np.nan)
    for s in (shrink * h for shrink in SHRINK):
        left, right = (f - line(-s)) / s, (line(s) - f) / s
        n = 0.5 * (left + right)
        if error_of(n) <= tolerance:
            return Probe(where, a, n, error_of(n), "right")
        if np.isfinite(n):
            best = n if not np.isfinite(best) or error_of(n) < error_of(best) else best
            gaps.append((s, abs(right - left)))
            slopes = (left, right)
    if not np.isfinite(best):
        return Probe(where, a, best, np.inf, "edge")
    # At a smooth point the gap shrinks with the step. A gap that stays explains an error of about its own size.
    (first, wide), (last, narrow) = (gaps[0], gaps[-1]) if gaps else ((h, 0.0), (h, 0.0))
    stays = last < first and narrow > 0.5 * wide and narrow > 32.0 * differences.noise / last
    if stays and abs(a - 0.5 * sum(slopes)) <= 1.5 * narrow:
        jumps = narrow > 0.1 * wide * first / last
        return Probe(where, a, best, error_of(best), "jump" if jumps else "kink", slopes)
    return Probe(where, a, best, error_of(best), "wrong")


def _remarks(differences: _Differences, checks: Sequence[ArgumentCheck]) -> list[str]:
    remarks = []
    if differences.eps > 1e-10:
        remarks.append("the function computes in low precision by itself, so differences are coarse.")
    sampled = [check.name for check in checks if check.n_directions]
    if sampled:
        remarks.append(f"{', '.join(sampled)}: large, so elements and directions were drawn at random.")
    for check in checks:
        sizes = [max(abs(probe.analytic), abs(probe.numeric)) for probe in check.probes]
        resolved = 4.0 * differences.noise / differences.step(1.0)
        if sizes and 0.0 < max(sizes) <= resolved:
            remarks.append(f"{check.name}: derivatives below {resolved:.0e} cannot be told from 0 by differences here.")
    return remarks
