"""Explanations of single predictions by integrated gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from madaline.data.table import Table
from madaline.errors import ConfigError
from madaline.estimators.attributions import Attributions, attribute
from madaline.estimators.tabular.predictions import task_of
from madaline.functional.model import Model
from madaline.report.cells import cell_values
from madaline.report.explanations import Explanations
from madaline.train.data import is_sparse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.data.data_types import Inputs, TableLike
    from madaline.estimators.base import NetEstimator

STEPS, MOST_STEPS = 64, 1024
CLOSE = 0.002
"Rows whose contributions miss the change of the prediction by more than this fraction are computed with more steps."
SHARED = 0.01
"Largest remaining error, as a fraction of the sizes of all contributions, that is divided among the columns."


def explain(
    model: Model | NetEstimator,
    X: TableLike,
    *,
    output: ArrayLike | None = None,
    baseline: TableLike | None = None,
    raw: bool = False,
) -> Explanations:
    """Explain single predictions: what each column contributes, starting from the prediction of a baseline.

    Parameters
    ----------
    model : estimator or Model
        Fitted.
    X : array or table of shape (n_samples, n_features)
        Rows as in ``predict``.
    output : class, str or int, optional
        The class, label or target to explain, by its name or its index. By default the predicted class of each row, or
        the only target.
    baseline : array or table with one row, optional
        A neutral row. By default numbers at the centre of the training data and no category if the estimator reads
        tables (``data="auto"``), and zeros otherwise.
    raw : bool
        Explain raw outputs such as logits instead of probabilities and values in the units of the target.

    Returns
    -------
    Explanations
        ``contributions`` of each row add up to ``prediction - base``.

    Notes
    -----
    Contributions are :func:`integrated_gradients`. Rows whose contributions differ from the change of the prediction
    by more than 0.2% are computed with up to 1,024 steps. The error of the numerical integral that remains is divided
    among the columns in proportion to the sizes of their contributions if it is at most 1% of them.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = {"size": np.linspace(20.0, 200.0, 50), "rooms": np.arange(50) % 5}
    >>> reg = md.MLPRegressor(data="auto", solver="lbfgs", random_state=0).fit(X, X["size"] * (1.0 + 0.1 * X["rooms"]))
    >>> found = md.explain(reg, {"size": [150.0], "rooms": [4]})
    >>> found.columns, bool(abs(found.contributions.sum() + found.base[0] - found.prediction[0]) < 0.2)
    (('size', 'rooms'), True)
    """
    task = "" if isinstance(model, Model) else task_of(model)
    targets = [] if isinstance(model, Model) else list(getattr(model, "target_names_", ()))
    has_classes = task in ("binary", "multiclass")
    known = _known_outputs(model, targets)
    chosen = output if has_classes else _place(output, targets, known)
    found = attribute(model, X, baseline, STEPS, chosen, raw=raw)
    if not isinstance(found.parts, np.ndarray) or found.parts.ndim != 2:
        raise ConfigError(
            "explain needs rows with one number for each column. Use md.report.integrated_gradients for others."
        )
    names = np.asarray(vars(model)["classes_"]) if has_classes else np.arange(found.n_outputs)
    parts = _refined(model, X, baseline, names[found.outputs], found, raw=raw)
    columns = _columns(model, parts.shape[1])
    return Explanations(
        columns,
        _values(X, columns),
        parts,
        np.asarray(found.base, np.float64),
        np.asarray(found.prediction, np.float64),
        names[found.outputs].tolist() if has_classes else _output_names(found, known),
        _predicted(model, X, found, targets, task),
        _quantity(model, task, raw=raw),
        range(len(parts)),
    )


def _known_outputs(model: Any, targets: Sequence[str]) -> Sequence[str]:
    """Names of the outputs: the targets; of the quantiles of a target, the predicted one has its name."""
    from madaline.estimators.density.quantile import QuantileMLPRegressor

    if not isinstance(model, QuantileMLPRegressor):
        return targets
    return [
        target if place == model.median_place else f"{target}, quantile {level:g}"
        for target in targets
        for place, level in enumerate(model.levels)
    ]


def _place(output: Any, targets: Sequence[str], known: Sequence[str]) -> Any:
    """The index of a label, target or quantile that is given by its name; by default that of the only target."""
    if output is None and len(targets) > 1:
        raise ConfigError(f"Choose what to explain: output must be one of {', '.join(map(repr, targets[:20]))}.")
    if output is None and len(known) > 1:
        output = targets[0]
    return known.index(output) if isinstance(output, str) and output in known else output


def _refined(model: Any, X: Inputs, baseline: Any, outputs: Any, found: Attributions, *, raw: bool) -> np.ndarray:
    """The contributions, with more steps for rows in which they do not add up."""
    parts, sums, steps = np.array(found.parts, np.float64), found.sums.copy(), STEPS
    change = found.prediction - found.base
    allowed = CLOSE * np.maximum(np.abs(change), 0.1 * np.abs(change).max(initial=0.0))
    while steps < MOST_STEPS:
        rows = np.flatnonzero(np.abs(sums - change) > allowed)
        if not len(rows):
            break
        steps *= 4
        start = _taken(baseline, rows) if baseline is not None and _n_rows(baseline) == len(parts) > 1 else baseline
        again = attribute(model, _taken(X, rows), start, steps, outputs[rows], raw=raw)
        parts[rows], sums[rows] = again.parts, again.sums
    sizes = np.abs(parts)
    errors = (change - sums) / np.maximum(sizes.sum(axis=1), np.finfo(np.float64).tiny)
    return parts + np.where(np.abs(errors) <= SHARED, errors, 0.0)[:, None] * sizes


def _n_rows(X: Any) -> int:
    if isinstance(X, (int, float)):
        return 1
    array = np.asarray(X) if isinstance(X, list) else X
    if hasattr(array, "shape"):
        return int(array.shape[0]) if len(array.shape) > 1 else 1
    return Table.of(X).n_rows


def _taken(X: Any, rows: np.ndarray) -> Any:
    """Some of the rows."""
    if is_sparse(X):
        return X.tocsr()[rows]
    if isinstance(X, (np.ndarray, list, tuple)):
        return np.asarray(X)[rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else Table.of(X).take(rows)


def _output_names(found: Attributions, known: Sequence[str]) -> list[str]:
    names = known if len(known) == found.n_outputs else [f"output {k}" for k in range(found.n_outputs)]
    return [names[k] for k in found.outputs.tolist()]


def _predicted(model: Any, X: Inputs, found: Attributions, targets: Sequence[str], task: str) -> list[Any]:
    """What ``predict`` returns; for labels the names of those that are predicted."""
    prediction = found.prediction if isinstance(model, Model) else np.asarray(model.predict(X))
    if task == "multilabel":
        rows = prediction.reshape(-1, len(targets)) > 0.5
        return [", ".join(name for name, one in zip(targets, row, strict=True) if one) or "none" for row in rows]
    if prediction.ndim == 2:
        places = found.outputs * prediction.shape[1] // found.n_outputs
        prediction = prediction[np.arange(len(prediction)), places]
    values: list[Any] = prediction.tolist()
    return values


def _quantity(model: Any, task: str, *, raw: bool) -> str:
    if task in ("regression", "count"):
        return "raw output" if raw else "value"
    return "probability" if hasattr(model, "predict_proba") and not raw else "raw output"


def _columns(model: Any, count: int) -> tuple[str, ...]:
    plan = getattr(model, "table_plan_", None)
    if plan is not None:
        return tuple(column.column for column in plan.columns)
    names: Sequence[Any] = getattr(model, "feature_names_in_", ())
    return tuple(map(str, names)) if len(names) == count else tuple(f"x{k}" for k in range(count))


def _values(X: Any, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Values of the columns, found by name, or by place if the rows have no names."""
    table = Table.of(X.toarray() if is_sparse(X) else X)
    own = dict(zip(columns, columns if all(name in table for name in columns) else table.names, strict=False))
    found = cell_values(table, [name for name in own.values() if name in table])
    return {name: found[its] for name, its in own.items() if its in found}
