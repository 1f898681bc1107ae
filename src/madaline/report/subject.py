"""The history and the net of an estimator, trainer or model, for Display objects."""

from __future__ import annotations

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.train.history import History


def history_of(thing: object) -> History:
    """The history of a fitted estimator or trainer, or a history itself."""
    for found in (thing, getattr(thing, "history_", None), getattr(thing, "history", None)):
        if isinstance(found, History):
            return found
    raise ConfigError(f"{_shown(thing)} has no history. Pass a fitted estimator, a Trainer or a History.")


def model_of(thing: object) -> Model:
    """The model of a fitted estimator or trainer, or a model itself."""
    for found in (thing, getattr(thing, "model_", None), getattr(thing, "model", None)):
        if isinstance(found, Model):
            return found
    raise ConfigError(f"{_shown(thing)} has no net. Pass a fitted estimator, a Trainer or a Model.")


def _shown(thing: object) -> str:
    return f"{type(thing).__name__}, which is not fitted or not from madaline,"
