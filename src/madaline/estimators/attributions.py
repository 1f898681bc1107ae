"""Attributions of predictions to inputs: gradient times input, and integrated gradients."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import ConfigError, MadalineWarning, ShapeError
from madaline.estimators.explained import ExplainedNet, explained
from madaline.functional.compile import CompiledFunction
from madaline.functional.gradient import grad
from madaline.graph.tree import flatten, tree_map

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.data.data_types import Inputs
    from madaline.estimators.base import NetEstimator
    from madaline.functional.model import Model

Array = np.ndarray[Any, Any]
LARGEST_GAP = 0.05
"Allowed difference between the sum of attributions and the change of a prediction, relative to the largest change."


@dataclass(frozen=True)
class Attributions:
    """Attributions of rows, and the predictions whose difference they add up to.

    Attributes
    ----------
    parts : array, or dict or tuple of arrays
        Attributions by column.
    sums : array of shape (n,)
        Their sums over columns.
    prediction, base : arrays of shape (n,)
        Predictions of the rows and of the baseline.
    outputs : array of int of shape (n,)
        The output that is explained in each row.
    n_outputs : int
        Number of outputs.
    """

    parts: Any
    sums: Array
    prediction: Array
    base: Array
    outputs: Array
    n_outputs: int


def gradient_x_input(
    model: Model | NetEstimator, X: Inputs, output: ArrayLike | None = None, *, raw: bool = False
) -> Any:
    r"""The gradient of each row's prediction with respect to its inputs, times the inputs,

    .. math:: a_j = x_j \,\frac{\partial f(x)}{\partial x_j}.

    It describes how the prediction would change if the inputs shrank a little. For a linear net it is the contribution
    of each input; for other nets use :func:`integrated_gradients`.

    Parameters
    ----------
    model : Model or estimator
        A net with its arrays, or a fitted estimator of madaline.
    X : array or table of shape (n_samples, n_features)
        Rows as in ``predict``.
    output : int, class, or array with one of them for each row, optional
        The output to explain: a class, or the index of an output. By default the only output, or the predicted class
        of each row. The outputs of density estimators are the means of the targets, or the quantiles of the first
        target, then of the next.
    raw : bool
        Explain raw outputs such as logits instead of probabilities and values in the units of the target. Where a net
        is certain, probabilities are flat and have almost no gradient; logits do.

    Returns
    -------
    array of shape (n_samples, n_features)
        For an estimator with ``data``, one attribution for each column of the table: those of all inputs that the
        column is encoded as are added, and those of unused columns are 0. For a net with several inputs, a dict or
        tuple of arrays.

    Notes
    -----
    Shrikumar et al. 2016, "Not just a black box", section 2. The net is in evaluation mode: there is no dropout.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> model = md.Linear(1).init(2)
    >>> model.params["W"], model.params["b"] = [[2.0], [-1.0]], [5.0]
    >>> md.report.gradient_x_input(model, np.array([[1.0, 1.0], [3.0, 2.0]]))
    array([[ 2., -1.],
           [ 6., -2.]], dtype=float32)
    """
    asked = explained(model, raw=raw)
    x = asked.inputs(X)
    slopes = _Slopes(asked, x, output)
    return asked.by_column(tree_map(np.multiply, x, slopes(x)))


def integrated_gradients(
    model: Model | NetEstimator,
    X: Inputs,
    baseline: Inputs | None = None,
    steps: int = 64,
    output: ArrayLike | None = None,
    *,
    raw: bool = False,
) -> Any:
    r"""Contribution of each input to a row's prediction, integrated along the straight line from a baseline,

    .. math:: a_j = (x_j - x'_j) \int_0^1 \frac{\partial f(x' + \alpha (x - x'))}{\partial x_j}\,d\alpha,
              \qquad \sum_j a_j = f(x) - f(x').

    :func:`explain` returns the same contributions with names, values and predictions.

    Parameters
    ----------
    model, X, output, raw
        As in :func:`gradient_x_input`.
    baseline : array or table of one row or as many as ``X``, optional
        A neutral row, for example a black image or the mean of the training rows. By default zeros; with ``data``,
        zeros are numbers at the centre of the training data and no category.
    steps : int
        Number of points on the line. For smooth nets the attributions of a row add up to the difference of the
        predictions up to rounding; for rectifiers, which have kinks, the error falls like ``1/steps``.

    Returns
    -------
    array of shape (n_samples, n_features)
        As in :func:`gradient_x_input`.

    Notes
    -----
    Sundararajan, Taly & Yan 2017, eq. 1 and proposition 1 (completeness). The integral is computed by Gauss-Legendre
    quadrature.

    Examples
    --------
    The sum of the attributions is the change of the output.

    >>> import numpy as np, madaline as md
    >>> model = md.Sequential(md.Linear(1), "sigmoid").init(2)
    >>> model.params["0.W"], model.params["0.b"] = [[2.0], [-1.0]], [0.0]
    >>> x = np.array([[1.0, 1.0]])
    >>> parts = md.report.integrated_gradients(model, x)
    >>> parts.round(4), (model(x) - model(0.0 * x)).round(4)
    (array([[ 0.4621, -0.2311]], dtype=float32), array([[0.2311]], dtype=float32))
    """
    found = attribute(model, X, baseline, steps, output, raw=raw)
    _check_complete(found, steps)
    return found.parts


def attribute(
    model: Model | NetEstimator,
    X: Inputs,
    baseline: Inputs | None = None,
    steps: int = 64,
    output: ArrayLike | None = None,
    *,
    raw: bool = False,
) -> Attributions:
    """Integrated gradients with the predictions they add up to; arguments as in :func:`integrated_gradients`."""
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ConfigError(f"steps={steps!r} must be a whole number of at least 1.")
    asked = explained(model, raw=raw)
    x = asked.inputs(X)
    start = tree_map(np.zeros_like, x) if baseline is None else _baseline(asked, baseline, x)
    slopes = _Slopes(asked, x, output)
    way = tree_map(np.subtract, x, start)
    total = tree_map(lambda leaf: np.zeros(leaf.shape), x)
    for place, weight in zip(*np.polynomial.legendre.leggauss(steps), strict=True):
        share = 0.5 * (1.0 + place)
        point = tree_map(lambda a, d, share=share: (a + share * d).astype(a.dtype), start, way)
        total = tree_map(lambda sum_, slope, weight=weight: sum_ + 0.5 * weight * slope, total, slopes(point))
    parts = tree_map(lambda d, sum_: (d * sum_).astype(d.dtype), way, total)
    leaves = flatten(parts)[0]
    sums = np.sum([leaf.reshape(len(leaf), -1).sum(axis=1, dtype=np.float64) for leaf in leaves], axis=0)
    prediction, base = slopes.values(x), slopes.values(start)
    return Attributions(asked.by_column(parts), sums, prediction, base, slopes.outputs, slopes.n_outputs)


def _check_complete(found: Attributions, steps: int) -> None:
    """Warn if the attributions do not add up to the change of the predictions."""
    change = found.prediction - found.base
    gaps = np.abs(found.sums - change)
    if len(gaps) and gaps.max() > LARGEST_GAP * np.abs(change).max():
        row = int(gaps.argmax())
        warnings.warn(
            f"steps={steps} are too few: the attributions of row {row} add up to {found.sums[row]:.3g}, and the "
            f"prediction changes by {change[row]:.3g}. Pass steps={4 * steps}, or raw=True, which explains a smoother "
            "function.",
            MadalineWarning,
            stacklevel=3,
        )


def _baseline(asked: ExplainedNet, baseline: Any, x: Any) -> Any:
    """The baseline as inputs of the net, one row for each row of ``x``."""
    if isinstance(baseline, (int, float, np.ndarray, list)) and isinstance(x, np.ndarray):
        row = np.asarray(baseline)
        baseline = np.broadcast_to(row, (1, *x.shape[1:])) if row.ndim < x.ndim else row
    found = asked.inputs(baseline)
    counts = len(flatten(found)[0][0]), len(flatten(x)[0][0])
    if counts[0] not in (1, counts[1]):
        raise ShapeError(f"baseline has {counts[0]} rows and X has {counts[1]}; give one row, or as many as X has.")
    return tree_map(lambda a, b: np.broadcast_to(a, b.shape), found, x)


class _Slopes:
    """The chosen output of each row as a function of the inputs, and its gradient."""

    def __init__(self, asked: ExplainedNet, x: Any, output: ArrayLike | None) -> None:
        network = asked.model.network
        self._arrays = asked.model.params.flat, asked.model.state.flat

        def answers(x: Any, w: Any, state: Any) -> Any:
            return asked.meaning(network.run(w, state, x).outputs[""])

        def chosen_sum(x: Any, w: Any, state: Any, chosen: Any) -> Any:
            return np.sum(answers(x, w, state) * chosen)  # rows are independent: each gets its own gradient

        self._answers = CompiledFunction(answers, [0])
        self._gradient = CompiledFunction(grad(chosen_sum), [0, 3])
        found = self._answers(x, *self._arrays)
        self._chosen = np.zeros_like(found)
        self.outputs, self.n_outputs = _places(asked, found, output), found.shape[1]
        self._chosen[np.arange(len(found)), self.outputs] = 1.0

    def values(self, x: Any) -> Array:
        found: Array = np.sum(self._answers(x, *self._arrays) * self._chosen, axis=1)
        return found

    def __call__(self, x: Any) -> Any:
        return self._gradient(x, *self._arrays, self._chosen)


def _places(asked: ExplainedNet, values: Array, output: ArrayLike | None) -> Array:
    """The index of the chosen output of each row."""
    n_rows, n_outputs = values.shape
    if output is None:
        if n_outputs > 1 and not asked.picks:
            raise ConfigError(
                f"output must say which of the {n_outputs} outputs is explained: a number from 0 to {n_outputs - 1}, "
                "or one for each row, for example model(X).argmax(axis=1)."
            )
        largest: Array = np.argmax(values, axis=1)
        return largest
    wanted = np.asarray(output)
    if wanted.shape not in ((), (1,), (n_rows,)):
        raise ShapeError(f"output has shape {wanted.shape}; give one, or one for each of the {n_rows} rows.")
    names = np.arange(n_outputs) if asked.names is None else asked.names
    known = wanted[..., None] == names
    if not known.any(axis=-1).all():
        wrong = np.atleast_1d(wanted)[~np.atleast_1d(known.any(axis=-1))][0]
        shown = ", ".join(map(repr, names.tolist())) if len(names) <= 20 else f"{names[0]!r} to {names[-1]!r}"
        raise ConfigError(f"output={wrong.item() if hasattr(wrong, 'item') else wrong!r} is not known. Known: {shown}.")
    return np.broadcast_to(known.argmax(axis=-1), (n_rows,))
