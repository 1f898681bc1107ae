"""Central differences of a function of plain arrays, and their comparison with a gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madaline.errors import DtypeError
from madaline.functional.evaluate import finished
from madaline.functional.gradient_report import Probe
from madaline.graph.tree import flatten

SHRINK = (2.0**-4, 2.0**-8, 2.0**-12)
"Step reductions to try where a derivative disagrees at the first step size."


class Differences:
    """A function of plain arrays, contracted to one number, evaluated along lines through a point."""

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
        """The weighted sum of all float results; works on arrays and on traced values."""
        pairs = zip(self._weights, flatten(result)[0], strict=True)
        products = [leaf if isinstance(w, float) else np.sum(w * leaf) for w, leaf in pairs if w is not None]
        return sum(products[1:], start=products[0])

    def __call__(self, points: Sequence[np.ndarray]) -> float:
        with np.errstate(all="ignore"):
            return float(self.contract(self._call(points)))

    def _noise(self, size: float, rng: np.random.Generator) -> float:
        """An estimate of the rounding error of the value: one ulp of it, or the effect of one ulp of the arguments."""
        found = self.eps * size
        # A larger change is a jump, not rounding.
        most = 1e6 * self.eps * max(1.0, size, *(float(np.max(np.abs(x), initial=0.0)) for x in self.points))
        for attempt in range(4):
            # Also measured one step away: near a minimum the value may be close to 0, and so is its ulp.
            away = self.step(1.0) * (attempt % 2)
            here = [x + away * rng.choice((-1.0, 1.0), size=x.shape) for x in self.points]
            moved = [x + self.eps * np.maximum(1.0, np.abs(x)) * rng.choice((-1.0, 1.0), size=x.shape) for x in here]
            change = abs(self(moved) - self(here))
            found = max(found, change) if change <= most else found
        return max(found, float(np.finfo(np.float64).tiny))

    def problems(self) -> list[str]:
        """Reasons why a comparison is not possible."""
        if not np.isfinite(self.value):
            return [f"the function gives {self.value} at this point."]
        if self.value != self.again:
            both = f"{self.value:.6g} and then {self.again:.6g}"
            remedy = "If it draws random numbers, draw them outside or from md.random with a fixed key."
            return [f"the function gives {both} at the same point. {remedy}"]
        return []

    def moved(self, k: int, where: int | np.ndarray, t: float) -> list[np.ndarray]:
        """The point after moving one element of array ``k``, or the array along a direction, by ``t``."""
        x = self.points[k].copy()
        if isinstance(where, int):
            x.reshape(-1)[where] += t
        else:
            x += t * where
        return [*self.points[:k], x, *self.points[k + 1 :]]

    def step(self, size: float) -> float:
        """A step size that balances rounding and truncation error: a power of two, so that adding it is exact."""
        return float(2.0 ** np.round(np.log2(self.eps ** (1 / 3) * max(1.0, size))))


class Comparison:
    """Compares single derivatives with finite differences."""

    def __init__(
        self,
        differences: Differences,
        gradients: list[np.ndarray],
        gradients_at: Callable[[Sequence[np.ndarray]], list[np.ndarray]],
        tolerance: float,
    ) -> None:
        self.differences = differences
        self._gradients = gradients
        self._gradients_at = gradients_at
        self._tolerance = tolerance

    def __call__(self, k: int, where: int | np.ndarray, label: str, size: float) -> Probe:
        """Check the derivative by one element of array ``k`` or along a direction; ``size`` is that of ``x``."""
        f, noise = self.differences.value, self.differences.noise
        h = self.differences.step(size)
        a = _along(self._gradients[k], where)
        floor = 4.0 * noise / (h * self._tolerance)

        def line(t: float) -> float:
            return self.differences(self.differences.moved(k, where, t))

        def error_of(n: float) -> float:
            return abs(a - n) / max(abs(a), abs(n), floor)

        n = (line(h) - line(-h)) / (2.0 * h)
        if not np.isfinite(a):
            return Probe(label, a, n, np.inf, "nan")
        if error_of(n) <= self._tolerance:
            return Probe(label, a, n, error_of(n), "right")
        best, gaps, slopes = n, [], (np.nan, np.nan)
        for s in (shrink * h for shrink in SHRINK):
            left, right = (f - line(-s)) / s, (line(s) - f) / s
            n = 0.5 * (left + right)
            if error_of(n) <= self._tolerance:
                return Probe(label, a, n, error_of(n), "right")
            if np.isfinite(n):
                best = n if not np.isfinite(best) or error_of(n) < error_of(best) else best
                gaps.append((s, abs(right - left)))
                slopes = (left, right)
        if not np.isfinite(best):
            return Probe(label, a, best, np.inf, "edge")
        # At a smooth point the left and right differences approach each other as the step shrinks.
        (first, wide), (last, narrow) = (gaps[0], gaps[-1]) if gaps else ((h, 0.0), (h, 0.0))
        stays = last < first and narrow > 0.5 * wide and narrow > 32.0 * noise / last
        if stays and all(self._is_right_beside(k, where, t, line, floor) for t in (h, -h)):
            jumps = narrow > 0.1 * wide * first / last
            return Probe(label, a, best, error_of(best), "jump" if jumps else "kink", slopes)
        return Probe(label, a, best, error_of(best), "wrong")

    def _is_right_beside(
        self, k: int, where: int | np.ndarray, t: float, line: Callable[[float], float], floor: float
    ) -> bool:
        """Whether the derivative is right next to the kink; a coarse check, since the step is small."""
        s = abs(t) / 16.0
        n = (line(t + s) - line(t - s)) / (2.0 * s)
        a = _along(self._gradients_at(self.differences.moved(k, where, t))[k], where)
        return bool(abs(a - n) <= 100.0 * self._tolerance * max(abs(a), abs(n), floor))


def _along(gradient: np.ndarray, where: int | np.ndarray) -> float:
    with np.errstate(all="ignore"):
        return float(gradient.reshape(-1)[where] if isinstance(where, int) else np.sum(gradient * where))
