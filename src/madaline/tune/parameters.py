"""Hyperparameters as a search sees them: which can be searched, and the settings of a net with given values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from sklearn.base import clone
from sklearn.utils._param_validation import validate_parameter_constraints

from madaline.errors import MadalineError
from madaline.estimators import preset
from madaline.estimators.checks import constraints
from madaline.estimators.network import hidden_widths, network
from madaline.estimators.parameters import NetParameters, check_not_given_twice, described, resolved
from madaline.estimators.recipe import is_lbfgs, solver
from madaline.optim.schedule import as_schedule

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator

SHAPE = {"layers": "Number of hidden layers.", "width": "Number of units in each hidden layer."}
"Hyperparameters that stand for ``hidden_layer_sizes``, and what they are."

_SAME = "all trials are compared by the same loss, on the same rows"
_RUN = "it does not change what a net learns"
NOT_SEARCHED = {
    **dict.fromkeys(("loss", "class_weight", "validation", "validation_fraction", "monitor", "metrics"), _SAME),
    **dict.fromkeys(("callbacks", "progress", "threads", "verbose", "warm_start", "max_fun"), _RUN),
    "data": "all trials share one encoding of the table",
    "dtype": "the nets of an ensemble have one type",
    "preset": "it is a recipe for the other parameters",
    "random_state": "it is not a hyperparameter; each trial has its own seed",
    "early_stopping": "the search decides how long a net is trained",
}
"Parameters that cannot be searched, and why."


def searchable(estimator: NetEstimator) -> list[str]:
    """Names of the hyperparameters that can be searched."""
    return [*SHAPE, *(name for name in described(cast(Any, type(estimator))) if name not in NOT_SEARCHED)]


def as_parameters(values: Mapping[str, Any], hidden: Any) -> dict[str, Any]:
    """Parameters of an estimator from values of a search, where ``hidden`` are the widths by default."""
    found = {name: value for name, value in values.items() if name not in SHAPE}
    if SHAPE.keys() & values.keys():
        widths = hidden_widths(hidden) or [1]
        count = int(values.get("layers", len(widths)))
        found["hidden_layer_sizes"] = (int(values.get("width", widths[0])),) * count
    return found


def as_values(settings: NetParameters) -> dict[str, Any]:
    """The values that a search would have for some settings."""
    widths = hidden_widths(settings.hidden_layer_sizes)
    found = vars(settings) | {"hidden_layer_sizes": tuple(widths), "layers": len(widths)}
    return found | ({"width": widths[0]} if len(set(widths)) == 1 else {})


def settings_of(estimator: NetEstimator, parameters: Mapping[str, Any], n_rows: int) -> NetParameters:
    """The settings of an estimator with other parameters, for a table with this many rows."""
    other = clone(estimator).set_params(**parameters)
    check_not_given_twice(other)
    settings = resolved(other)
    if settings.preset is not None:
        settings = preset.sized(other, preset.before_reading(other, settings), n_rows, continues=False)
    return settings


def problem(estimator: NetEstimator, name: str, value: Any) -> str:
    """What is wrong with a value of a hyperparameter; empty if nothing is."""
    if name in SHAPE and (not isinstance(value, int) or value < 1):
        return f"{name}={value!r} must be a whole number of at least 1."
    parameters = as_parameters({name: value}, estimator.hidden_layer_sizes)
    try:
        validate_parameter_constraints(
            {key: checks for key, checks in constraints(cast(Any, type(estimator))).items() if key in parameters},
            parameters,
            caller_name=type(estimator).__name__,
        )
        # Dropout and activations may have a value for each layer, of which there are as many as the trial has.
        settings = settings_of(estimator, parameters, 1000)
        network(settings, 1)
        solver(settings)
        as_schedule("constant" if settings.schedule is None else settings.schedule)
    except (MadalineError, ValueError, TypeError) as error:
        text = str(error).splitlines()[0]
        return text if name in text else f"{name}={value!r}: {text}"
    return "A search trains nets by epochs, and L-BFGS has none." if is_lbfgs(settings) else ""
