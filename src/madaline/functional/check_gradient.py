"""Derivatives compared with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madaline.errors import GradientError, ShapeError, TraceError
from madaline.functional.compile import CompiledFunction
from madaline.functional.differences import Comparison, Differences
from madaline.functional.evaluate import check_differentiable, finished, names_of
from madaline.functional.gradient import ArgNums, checked_argnums, positions_of, value_and_grad
from madaline.functional.gradient_report import ArgumentCheck, GradientCheck
from madaline.graph.node import Node
from madaline.graph.trace import is_tracing, leaf_input
from madaline.graph.tree import flatten, unflatten

N_DIRECTIONS = 5


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

    where :math:`a` is the derivative from :func:`madaline.grad`. Everything is computed in float64, independent of the
    types of the arguments. Finite differences call ``f`` on plain NumPy arrays, so they do not depend on tracing. The
    floor is the derivative that rounding errors of ``f`` alone can produce; these are measured at the point.

    A derivative that disagrees is checked again with smaller steps and passes if it agrees then. If the left and right
    differences do not approach each other as the step shrinks, the function has a kink there (such as relu at 0) and no
    derivative. A kink is reported separately and does not fail the check, provided that the derivatives on both sides
    of it are right.

    Parameters
    ----------
    f : callable
        Written with NumPy. Results that are not one number are contracted with fixed random weights.
    *args : arrays, numbers, or nested dicts, lists and tuples of them
        The point.
    argnums : int or tuple of int
        Arguments to differentiate with respect to.
    tolerance : float, optional
        Largest relative error that passes; 1e-6, or 1e-2 if ``f`` itself turns its values into float32.
    max_elements : int
        Larger arrays are sampled: this number of elements, and five random directions through all elements.
    seed : int
        Random seed of the samples, directions and weights.
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
    >>> [kink.where for kink in md.check_gradient(lambda w: np.sum(md.functional.relu(w)), np.array([0.0, 1.0])).kinks]
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
    plain = f.function if isinstance(f, CompiledFunction) else f
    differences = Differences(lambda arrays: at(unflatten(structure, arrays), plain), points, rng)
    problems = differences.problems()
    both = value_and_grad(lambda trees: differences.contract(at(trees)))

    def gradients_at(points: Sequence[np.ndarray]) -> tuple[Any, list[np.ndarray]]:
        value, trees = both(unflatten(structure, [finished(point.copy()) for point in points]))
        return value, [np.asarray(gradient) for gradient in flatten(trees)[0]]

    traced, gradients = gradients_at(points)
    if not problems and not abs(traced - differences.value) <= differences.slack:
        problems = [f"traced, the function gives {traced:.6g}; on plain arrays it gives {differences.value:.6g}."]
    if tolerance is None:
        tolerance = 1e-6 if differences.eps < 1e-10 else 1e-2
    compare = Comparison(differences, gradients, lambda points: gradients_at(points)[1], tolerance)
    checked = range(len(points)) if np.isfinite(differences.value) else ()
    checks = [_check_argument(compare, k, names[k], max_elements, rng) for k in checked]
    remarks = _remarks(differences, checks)
    report = GradientCheck(
        differences.value, tolerance, tuple(checks), tuple(problems), tuple(remarks), count_kinks=count_kinks
    )
    if raise_error and not report:
        raise GradientError(str(report))
    return report


def _check_argument(
    compare: Comparison, k: int, name: str, max_elements: int, rng: np.random.Generator
) -> ArgumentCheck:
    x = compare.differences.points[k]
    sampled = x.size > max_elements
    elements = np.sort(rng.choice(x.size, max_elements, replace=False)) if sampled else np.arange(x.size)
    probes = []
    for element in map(int, elements):
        index = ", ".join(map(str, np.unravel_index(element, x.shape)))
        size = abs(x.reshape(-1)[element])
        probes.append(compare(k, element, f"{name}[{index}]" if x.ndim else name, size))
    for number in range(N_DIRECTIONS if sampled else 0):
        v = rng.choice((-1.0, 1.0), size=x.shape) / np.sqrt(x.size)
        probes.append(compare(k, v, f"{name} along direction {number + 1}", float(np.max(np.abs(x)))))
    return ArgumentCheck(name, x.shape, len(elements), N_DIRECTIONS if sampled else 0, x.size, tuple(probes))


def _remarks(differences: Differences, checks: Sequence[ArgumentCheck]) -> list[str]:
    remarks = []
    if differences.eps > 1e-10:
        remarks.append("the function itself computes in low precision, so differences are coarse.")
    sampled = [check.name for check in checks if check.n_directions]
    if sampled:
        remarks.append(f"{', '.join(sampled)}: large, so elements and directions were drawn at random.")
    for check in checks:
        sizes = [max(abs(probe.analytic), abs(probe.numeric)) for probe in check.probes]
        resolved = 4.0 * differences.noise / differences.step(1.0)
        if sizes and 0.0 < max(sizes) <= resolved:
            remarks.append(f"{check.name}: differences cannot tell derivatives below {resolved:.0e} from 0.")
    return remarks
