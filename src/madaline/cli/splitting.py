"""How ``madaline train`` splits the rows: training, validation and test set, and the folds of an ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np

from madaline.cli import source
from madaline.cli.config import RunConfig
from madaline.data.split import Split, split_rows
from madaline.data.times import times_of
from madaline.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl

    from madaline.data.target import TargetReader

FOLDS_IN_TIME = 5
"Number of folds of an ensemble if rows are split by time: each is predicted from earlier rows."


class Folds(TypedDict, total=False):
    """Arguments of ``fit`` that say how the folds of an ensemble are made."""

    groups: np.ndarray
    cv: list[tuple[np.ndarray, np.ndarray]]


def split_table(settings: RunConfig, frame: pl.DataFrame, y: np.ndarray, target: TargetReader) -> Split:
    """The rows of each part of a table."""
    chosen, by = settings.split, None
    way = chosen.way or ("stratified" if target.classes else "random")
    if way == "stratified":
        if not target.classes:
            raise ConfigError(f"--split stratified needs classes, and the task is {target.task}.")
        by = y
    elif way in ("group", "time"):
        name = split_column(settings, frame.columns)
        if way == "group":
            by = frame[name].rank("dense").fill_null(0).to_numpy()
        else:
            by = times_of(frame[name], name, order=date_order(settings))
    return split_rows(
        len(frame), way=way, by=by, test=chosen.test, validation=chosen.validation, seed=settings.training.seed
    )


def split_column(settings: RunConfig, names: list[str]) -> str:
    """The column that groups or orders the rows."""
    flag = "--group" if settings.split.way == "group" else "--when"
    return source.find_column(settings.split.by or "", names, flag)


def ensemble_folds(split: Split, rows: np.ndarray) -> Folds:
    """How the folds of an ensemble are made, so that they resemble the test set: by groups, or by time."""
    if split.by is None or split.way not in ("group", "time"):
        return {}
    if split.way == "group":
        return {"groups": split.by[rows]}
    from sklearn.model_selection import TimeSeriesSplit

    order = np.argsort(split.by[rows], kind="stable")
    splits = TimeSeriesSplit(min(FOLDS_IN_TIME, len(rows) - 1)).split(order)
    return {"cv": [(order[train], order[held]) for train, held in splits]}


def date_order(settings: RunConfig) -> str | None:
    """The order of day and month in dates, if it was given."""
    return None if settings.reading.dates == "none" else settings.reading.dates
