"""Checks of the settings of a run that need no table, made before it is read."""

from __future__ import annotations

from madaline.cli.config import RunConfig, SearchSettings, TrainingSettings
from madaline.data.split import check_options
from madaline.description import inside
from madaline.errors import ConfigError


def check_settings(settings: RunConfig) -> None:
    """Raise an error that names the first option with a value that is not allowed."""
    training, search = settings.training, settings.search
    whole = [
        ("--seed", training.seed, 0, 2**32 - 1),
        ("--threads", training.threads, 1, 1024),
        ("--replicas", training.replicas, 1, 4096),
        ("--rows", settings.data.rows, 1, 2**63),
        ("--trials", search.trials, 1, 10**9),
        ("--batch-size", training.batch_size, 1, 2**31),
        ("--epochs", training.epochs, 1, 2**31),
        ("--patience", training.patience, 1, 2**31),
    ]
    for flag, number, low, high in whole:
        if number is not None and not low <= number <= high:
            raise ConfigError(f"{flag} {number} must be a number from {low} to {high}.")
    real = [
        ("--learning-rate", training.learning_rate, "(0, inf)"),
        ("--weight-decay", training.weight_decay, "[0, inf)"),
        ("--dropout", training.dropout, "[0, 1)"),
    ]
    for flag, value, interval in real:
        if value is not None and not inside(value, interval):
            raise ConfigError(f"{flag} {value} must be a number in {interval}.")
    if training.hidden is not None and any(width < 1 for width in training.hidden):
        raise ConfigError(f"--hidden {','.join(map(str, training.hidden))}: every layer needs at least one unit.")
    check_options(settings.split.way or "random", settings.split.test, settings.split.validation)
    _check_names(training)
    if search.sampler != SearchSettings.sampler:
        from madaline.tune.study import SAMPLERS

        if search.sampler not in SAMPLERS:
            raise ConfigError(f"--sampler {search.sampler} is not known. Choose one of {', '.join(SAMPLERS)}.")
    if search.asynchronous and training.cluster is None:
        raise ConfigError("--asynchronous needs a cluster, for example --cluster auto.")


def _check_names(training: TrainingSettings) -> None:
    if training.preset not in (None, "auto", "best"):
        raise ConfigError(f"--preset {training.preset} is not known. Choose auto or best.")
    if training.class_weight not in (None, "balanced"):
        raise ConfigError(f"--class-weight {training.class_weight} is not known. Choose balanced.")
    if training.task is not None:
        from madaline.data.task import TASKS

        if training.task not in TASKS:
            raise ConfigError(f"--task {training.task} is not known. Choose one of {', '.join(TASKS)}.")
    if training.activation is not None:
        from madaline.nn.activations import ACTIVATIONS

        ACTIVATIONS.find(training.activation, argument="--activation")
    if training.norm is not None:
        from madaline.nn.layers.norm import NORMS

        NORMS.find(training.norm, argument="--norm")
