"""Which inputs a prediction comes from: the gradient times the input, and its integral along a straight line."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from madaline.errors import ConfigError, MadalineWarning, ShapeError
from madaline.estimators.explained import Explained, explained
from madaline.functional.compile import CompiledFunction
from madaline.functional.gradient import grad
from madaline.graph.tree import flatten, tree_map

Array = np.ndarray[Any, Any]
LARGEST_GAP = 0.05
"Of attributions and the change they are to add up to, relative to the largest change."


def gradient_x_input(model: Any, X: Any, output: Any = None, *, raw: bool = False) -> Any:
    r"""The gradient of each row's prediction by its inputs, times the inputs,

    .. math:: a_j = x_j \,\frac{\partial f(x)}{\partial x_j}.

    It says what would become of the prediction if the inputs shrank a little. For a linear net it is what each input
    adds; for others :func:`integrated_gradients` says more.

    Parameters
    ----------
    model : Model or estimator
        A net with its arrays, or a fitted estimator of madaline's.
    X : array or table of shape (n_samples, n_features)
        Rows as ``predict`` takes them.
    output : int, class, or array of one for each row, optional
        What is explained: a class by its name, or the place of an output. Unless told, the only output, or the class
        that is predicted for each row. Of estimators of densities it is the mean of each target, of quantiles those of
        the first target, then of the next.
    raw : bool
        Explain the net's outputs as they are, as logits, in place of probabilities and values in units of the target.
        Where a net is sure of itself probabilities are flat and have no gradient; logits do.

    Returns
    -------
    array of shape (n_samples, n_features)
        Of an estimator with ``data``, one column for each of the table's, those that are left out being 0: what
        a column becomes inside of the net is added up. Of a net with several inputs, a dict or tuple of arrays.

    Notes
    -----
    Shrikumar et al. 2016, "Not just a black box", section 2. The net is run as for predictions: dropout drops nothing.

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
    model: Any, X: Any, baseline: Any = None, steps: int = 64, output: Any = None, *, raw: bool = False
) -> Any:
    r"""What each input adds to a row's prediction on the straight way from a baseline,

    .. math:: a_j = (x_j - x'_j) \int_0^1 \frac{\partial f(x' + \alpha (x - x'))}{\partial x_j}\,d\alpha,
              \qquad \sum_j a_j = f(x) - f(x').

    Parameters
    ----------
    model, X, output, raw
        As of :func:`gradient_x_input`.
    baseline : array or table of one row or as many as ``X``, optional
        Where the way begins: a row that says nothing, as a black image or the mean of the training rows. Zeros unless
        told; with ``data``, zeros are numbers at the centre of the training data and no category.
    steps : int
        How many points of the way are looked at. The sum over a row comes to the difference of predictions to rounding
        if the net is smooth; rectifiers have kinks, and an error that falls like ``1/steps``.

    Returns
    -------
    array of shape (n_samples, n_features)
        As of :func:`gradient_x_input`.

    Notes
    -----
    Sundararajan, Taly & Yan 2017, eq. 1 and proposition 1 (completeness). The integral is taken by Gauss and Legendre's
    points.

    Examples
    --------
    The sum is what the output has changed by.

    >>> import numpy as np, madaline as md
    >>> model = md.Sequential(md.Linear(1), "sigmoid").init(2)
    >>> model.params["0.W"], model.params["0.b"] = [[2.0], [-1.0]], [0.0]
    >>> x = np.array([[1.0, 1.0]])
    >>> parts = md.report.integrated_gradients(model, x)
    >>> parts.round(4), (model(x) - model(0.0 * x)).round(4)
    (array([[ 0.4621, -0.2311]], dtype=float32), array([[0.2311]], dtype=float32))
    """
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
    _check_complete(parts, slopes.values(x) - slopes.values(start), steps)
    return asked.by_column(parts)


def _check_complete(parts: Any, change: Array, steps: int) -> None:
    """A warning if the parts do not add up to the change of the predictions."""
    sums = sum(leaf.reshape(len(change), -1).sum(axis=1, dtype=np.float64) for leaf in flatten(parts)[0])
    gaps = np.abs(sums - change)
    if len(gaps) and gaps.max() > LARGEST_GAP * np.abs(change).max():
        row = int(gaps.argmax())
        warnings.warn(
            f"steps={steps} are too few: the attributions of row {row} add up to {sums[row]:.3g}, and the prediction "
            f"changes by {change[row]:.3g}. Pass steps={4 * steps}, or raw=True, whose way is less steep.",
            MadalineWarning,
            stacklevel=3,
        )


def _baseline(asked: Explained, baseline: Any, x: Any) -> Any:
    """The baseline as the net takes it, a row for each row of ``x``."""
    if isinstance(baseline, (int, float, np.ndarray, list)) and isinstance(x, np.ndarray):
        row = np.asarray(baseline)
        baseline = np.broadcast_to(row, (1, *x.shape[1:])) if row.ndim < x.ndim else row
    found = asked.inputs(baseline)
    counts = len(flatten(found)[0][0]), len(flatten(x)[0][0])
    if counts[0] not in (1, counts[1]):
        raise ShapeError(f"baseline has {counts[0]} rows and X has {counts[1]}; give one row, or as many as X has.")
    return tree_map(lambda a, b: np.broadcast_to(a, b.shape), found, x)


class _Slopes:
    """From inputs to the chosen output of each row, and to its gradient."""

    def __init__(self, asked: Explained, x: Any, output: Any) -> None:
        network = asked.model.network
        self._arrays = asked.model.params.flat, asked.model.state.flat

        def answers(x: Any, w: Any, state: Any) -> Any:
            return asked.meaning(network.run(w, state, x).outputs[""])

        def chosen_sum(x: Any, w: Any, state: Any, chosen: Any) -> Any:
            return np.sum(answers(x, w, state) * chosen)  # rows do not see each other: each gets its own gradient

        self._answers = CompiledFunction(answers, [0])
        self._gradient = CompiledFunction(grad(chosen_sum), [0, 3])
        found = self._answers(x, *self._arrays)
        self._chosen = np.zeros_like(found)
        self._chosen[np.arange(len(found)), _places(asked, found, output)] = 1.0

    def values(self, x: Any) -> Array:
        found: Array = np.sum(self._answers(x, *self._arrays) * self._chosen, axis=1)
        return found

    def __call__(self, x: Any) -> Any:
        return self._gradient(x, *self._arrays, self._chosen)


def _places(asked: Explained, values: Array, output: Any) -> Array:
    """The column of the chosen output, for each row."""
    n_rows, n_outputs = values.shape
    if output is None:
        if n_outputs > 1 and not asked.picks:
            raise ConfigError(
                f"output must say which of the {n_outputs} outputs is explained: a number from 0 to {n_outputs - 1}, "
                "or one for each row, as model(X).argmax(axis=1)."
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
