"""Whether the parts of an estimator that was read from a file fit together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import prod
from typing import Any, get_type_hints

import numpy as np

from madaline.annotations import fits, shown_hint
from madaline.data.encode import TablePlan
from madaline.estimators.tables import encoded
from madaline.functional.model import Model
from madaline.nn.inputs import input_specs

MOST_COLUMNS = 2**20
"Number of feature columns that an estimator may have in addition to those that it has numbers for, such as pixels."

N_TRIED = 2
"Number of rows on which an estimator is tried."


def check_learned(cls: type[Any], learned: Mapping[str, Any]) -> None:
    """Raise an error if a learned attribute is not annotated by its class, or has another type."""
    hints = get_type_hints(cls)
    for name, value in learned.items():
        if name not in hints:
            raise ValueError(f"{name} is not an attribute of a {cls.__name__}")
        if not fits(value, hints[name]):
            raise ValueError(f"{name} is {value!r:.40}, which is not a {shown_hint(hints[name])}")


def check_answer(estimator: Any, *, n_numbers: int) -> None:
    """Raise an error if an estimator cannot be used: it is tried on a few rows.

    Parameters
    ----------
    estimator : estimator
        As it was read from a file.
    n_numbers : int
        Number of numbers in the file.
    """
    n_columns = getattr(estimator, "n_features_in_", None)
    if n_columns is None:
        raise ValueError("the number of columns is missing")
    if not 0 <= n_columns <= max(n_numbers, MOST_COLUMNS):
        raise ValueError(f"n_features_in_={n_columns} is impossible with {n_numbers} numbers in the file")
    rows = estimator.rows_to_try(N_TRIED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = [getattr(estimator, name)(rows) for name in ("predict", "transform") if hasattr(estimator, name)]
        if "_intervals" in vars(estimator):
            answers += estimator.predict_interval(rows, 0.5)
    if any(np.shape(answer)[:1] != (N_TRIED,) for answer in answers):
        raise ValueError("it does not have one answer for each row")


def check_finite(model: Model) -> None:
    """Raise an error if a number of a net is not finite: every prediction would silently be NaN."""
    for values in (model.params, model.state):
        for name in values:
            if not np.isfinite(values[name]).all():
                raise ValueError(f"{name} has numbers that are not finite")


def check_inputs(model: Model, plan: TablePlan | None, n_features: int) -> None:
    """Raise an error if a net does not take the columns of its table."""
    expected: Any = n_features
    if plan is not None:
        one_row: dict[str, Any] = {column.column: [None] for column in plan.columns}
        expected = encoded(plan, one_row)
    if input_specs(model.net, expected, model.network.dtype) != model.network.inputs:
        raise ValueError("the net does not take the columns of the table")


def check_outputs(model: Model, n_outputs: int, n_targets: int, names: tuple[str, ...]) -> None:
    """Raise an error if a net does not have the outputs that its targets need."""
    found = prod(model.network.out_shape[1:])
    if found != n_outputs:
        raise ValueError(f"the net has {found} outputs, and the targets need {n_outputs}")
    if len(names) != n_targets:
        raise ValueError(f"there are {len(names)} names for {n_targets} targets")


def check_pair(pair: Any, width: int, name: str) -> None:
    """Raise an error unless ``pair`` is None or holds two finite numbers, or two for each target."""
    if pair is None:
        return
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"the {name} of the target are not two numbers")
    for part in map(np.asarray, pair):
        if part.dtype.kind not in "fiu" or part.shape not in ((), (width,)):
            raise ValueError(f"the {name} of the target are not numbers")
        if not np.isfinite(part).all():
            raise ValueError(f"the {name} of the target are not finite")
