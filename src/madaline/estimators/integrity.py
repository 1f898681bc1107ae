"""Whether the parts of an estimator that was read from a file fit together."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from madaline.data.encode import TablePlan
from madaline.estimators.intervals import Intervals
from madaline.estimators.tables import encoded
from madaline.estimators.targets import Classes
from madaline.functional.model import Model
from madaline.losses.targets import Target
from madaline.nn.inputs import input_specs

KINDS: Mapping[str, type[Any]] = {
    "class_encoding_": Classes,
    "_intervals": Intervals,
    "target_spec_": Target,
    "n_features_in_": int,
    "table_plan_": TablePlan,
    "target_names_": tuple,
}
"Attributes that predictions depend on, and their types."


def check_kinds(learned: Mapping[str, Any]) -> None:
    """Raise an error if a learned attribute has a type that it cannot have."""
    for name, kind in KINDS.items():
        if name in learned and not isinstance(learned[name], kind):
            raise ValueError(f"{name} is {learned[name]!r:.40}, which is not a {kind.__name__}")
    if not all(isinstance(name, str) for name in learned.get("target_names_", ())):
        raise ValueError("the names of the targets are not texts")


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
        expected = encoded(plan, {column.column: [None] for column in plan.columns})
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
