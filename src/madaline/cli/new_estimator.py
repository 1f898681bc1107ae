"""The estimator that ``madaline train`` fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from madaline.cli import source
from madaline.cli.config import RunConfig, TrainingSettings
from madaline.errors import ConfigError

if TYPE_CHECKING:
    from madaline.cli.watching import RunWatcher
    from madaline.estimators.base import NetEstimator

PARAMETERS = {
    "hidden": "hidden_layer_sizes",
    "activation": "activation",
    "norm": "norm",
    "dropout": "dropout",
    "learning_rate": "learning_rate_init",
    "weight_decay": "weight_decay",
    "batch_size": "batch_size",
    "epochs": "max_iter",
    "patience": "n_iter_no_change",
}
"Options of the command, and the parameters of estimators that they set."
SMALL = range(20, 1_001)
"""Numbers of rows of a table for which an ensemble takes a few seconds, so that it is the default. A single net has few
rows to choose its epoch on there, and is often no better than a linear model."""


def new_estimator(
    settings: RunConfig,
    task: str,
    columns: Sequence[str],
    targets: Sequence[str],
    watcher: RunWatcher,
    *,
    dates: Mapping[str, str],
    progress: bool,
) -> NetEstimator:
    """The estimator that a run fits: a preset with what the user chose; ``dates`` are formats of columns."""
    from madaline.estimators.classifier import MLPClassifier
    from madaline.estimators.regressor import MLPRegressor

    training, data = settings.training, settings.data
    chosen = {PARAMETERS[name]: getattr(training, name) for name in PARAMETERS}
    parameters: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    parameters |= {
        "preset": training.preset,
        "data": {
            "ignore": source.ignored_columns(settings, columns, targets),
            "categorical": [source.find_column(name, columns, "--categorical") for name in data.categorical],
            "numeric": [source.find_column(name, columns, "--numeric") for name in data.numeric],
            "dates": {name: pattern for name, pattern in dates.items() if name in columns and name not in targets},
        },
        "random_state": training.seed,
        "threads": training.threads,
        "callbacks": [watcher],
        "progress": progress,
        "early_stopping": True,
    }
    if task in ("regression", "count"):
        if training.class_weight is not None:
            raise ConfigError(f"--class-weight is for classes, and the task is {task}.")
        return MLPRegressor("poisson" if task == "count" else "squared_error", **parameters)
    metrics = None if task == "multilabel" else "accuracy"
    return MLPClassifier(class_weight=training.class_weight, metrics=metrics, **parameters)


def preset_for(training: TrainingSettings, n_rows: int) -> str:
    """The preset if none is given: an ensemble for a small table, unless an option describes one net."""
    describes_a_net = training.replicas > 1 or any(getattr(training, name) is not None for name in PARAMETERS)
    return "best" if n_rows in SMALL and not describes_a_net else "auto"


def choose_probes(watcher: RunWatcher, estimator: NetEstimator, n_rows: int) -> None:
    """Choose how often the watcher samples, by the size of the data."""
    from madaline.estimators import preset
    from madaline.estimators.parameters import resolved

    sized = preset.sized(estimator, resolved(estimator), n_rows, continues=False)
    watcher.sample(sized.max_iter, -(-n_rows // int(sized.batch_size)))
