"""The parameters of estimators: what they may be, which of them say the same thing, and what they are in one fit."""

from __future__ import annotations

from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions

from madaline.errors import ConfigError

_AT_LEAST_1 = Interval(Integral, 1, None, closed="left")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")
_SHARE = Interval(Real, 0, 1, closed="left")

CONSTRAINTS: dict[str, list[Any] | str] = {
    "hidden_layer_sizes": ["array-like", _AT_LEAST_1],
    "solver": [StrOptions({"lbfgs", "sgd", "adam"})],
    "alpha": [_NOT_NEGATIVE],
    "batch_size": [StrOptions({"auto"}), _AT_LEAST_1],
    "learning_rate": [StrOptions({"constant", "invscaling", "adaptive"})],
    "learning_rate_init": [_POSITIVE],
    "power_t": [_NOT_NEGATIVE],
    "max_iter": [_AT_LEAST_1],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "tol": [_NOT_NEGATIVE],
    "verbose": ["verbose"],
    "warm_start": ["boolean"],
    "momentum": [Interval(Real, 0, 1, closed="both")],
    "nesterovs_momentum": ["boolean"],
    "early_stopping": ["boolean"],
    "validation_fraction": [_SHARE],
    "beta_1": [_SHARE],
    "beta_2": [_SHARE],
    "epsilon": [_POSITIVE],
    "n_iter_no_change": [_AT_LEAST_1, Options(Real, {np.inf})],
    "max_fun": [_AT_LEAST_1],
    "dropout": [_SHARE, "array-like"],
    "input_dropout": [_SHARE],
    "residual": ["boolean"],
    "weight_decay": [_NOT_NEGATIVE, None],
    "clip_norm": [_POSITIVE, None],
    "monitor": [str, None],
    "progress": ["boolean", None],
    "threads": [_AT_LEAST_1, None],
    "preset": [StrOptions({"auto"}), None],
}
"""What scikit-learn checks before a fit, in its words. Parameters that are not here are checked by who takes them, as
names of activations, losses and optimizers are by their registries."""

SAME_THING = {
    "optimizer": ("solver", "momentum", "nesterovs_momentum", "beta_1", "beta_2", "epsilon", "max_fun"),
    "schedule": ("learning_rate", "power_t"),
    "weight_decay": ("alpha",),
    "regularizer": ("alpha",),
    "validation": ("validation_fraction",),
}
"Our wider parameters, each with those of scikit-learn's that it replaces."


class Settings(SimpleNamespace):
    """The parameters by which one fit goes: those of the estimator, and what a preset says of those not given."""

    def __getattr__(self, name: str) -> Any:  # for type checkers: any parameter
        raise AttributeError(name)


def is_given(estimator: Any, name: str) -> bool:
    """Whether a parameter is something else than it would be by itself."""
    value, default = getattr(estimator, name), getattr(type(estimator), name)
    return not (value is default or (type(value) is type(default) and bool(np.all(value == default))))


def settings_of(estimator: Any) -> Settings:
    """The parameters as they are given, with the defaults of those that an estimator does not have."""
    return Settings(**{name: getattr(estimator, name) for name in estimator.all_parameters()})


def check_not_said_twice(estimator: Any) -> None:
    """An error that names both if a wider parameter is given, and one of scikit-learn's that it replaces."""
    for wide, replaced in SAME_THING.items():
        value = getattr(estimator, wide)
        if value is None:
            continue
        given = [name for name in replaced if is_given(estimator, name)]
        if wide == "optimizer" and hasattr(value, "learning_rate") and not isinstance(value, type):
            given += ["learning_rate_init"] if is_given(estimator, "learning_rate_init") else []
        if given:
            name = given[0]
            raise ConfigError(
                f"{wide}={value!r} and {name}={getattr(estimator, name)!r} say the same thing. Give one of them: "
                f"{name} is scikit-learn's, {wide} takes all that madaline has."
            )
    if estimator.monitor is not None and not estimator.early_stopping and estimator.preset is None:
        raise ConfigError(f"monitor={estimator.monitor!r} is what early stopping watches: pass early_stopping=True.")
