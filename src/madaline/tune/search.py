"""``md.search``: an estimator whose hyperparameters are searched."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from sklearn.base import clone

from madaline.errors import ConfigError
from madaline.estimators.base import NetEstimator
from madaline.estimators.classifier import MLPClassifier
from madaline.estimators.parameters import SAME_THING, is_given
from madaline.estimators.recipe import is_lbfgs
from madaline.estimators.regressor import MLPRegressor
from madaline.estimators.table_stream import TableStream
from madaline.train.arguments import check_whole
from madaline.train.progress import shows_progress
from madaline.tune.defaults import default_space
from madaline.tune.optuna_package import optuna
from madaline.tune.outcome import describe
from madaline.tune.parameters import SHAPE
from madaline.tune.progress import SearchBar, SearchLimits, SearchProgress
from madaline.tune.rounds import RoundSearch
from madaline.tune.space import read_space
from madaline.tune.study import NAME, SearchStudy
from madaline.tune.without_rounds import SearchWithoutRounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from optuna.storages import BaseStorage

    from madaline.data.data_types import Folds, Inputs, Targets
    from madaline.tune.space import SpaceLike

E = TypeVar("E", bound=NetEstimator)

STORAGE = "study.db"
"File of the storage in the folder of a search."


def search(
    estimator: E,
    X: Inputs,
    y: Targets,
    *,
    space: SpaceLike | None = None,
    max_seconds: float | None = 600.0,
    trials: int | None = None,
    storage: str | BaseStorage | None = None,
    study_name: str = NAME,
    sampler: str = "tpe",
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    cv: Folds | None = None,
    progress: bool | None = None,
    cluster: str | None = None,
    asynchronous: bool = False,
) -> E:
    """Search hyperparameters, and return a fitted estimator: the ensemble of the best trials.

    Trial 0 is the estimator with its own parameters. The others are asked from a sampler of Optuna in rounds of eight,
    which are trained side by side on the same folds; those in the best third are trained longer. At the end, a greedy
    selection weights the finished trials on rows that their nets did not see; a single trial that is better than any
    mixture gets all the weight. Results do not depend on the number of threads.

    Parameters
    ----------
    estimator : MLPClassifier or MLPRegressor
        Its parameters are those of trial 0, and those of all trials for what is not in the space. It is not changed.
    X, y : array or data frame
        As for ``fit``.
    space : dict or path, optional
        Ranges and lists of values by name, or a TOML file with them:
        ``{"dropout": {"low": 0.0, "high": 0.5}, "activation": ["relu", "mish"]}``. A range may have ``"log": True``
        and a ``"step"``. ``layers`` and ``width`` stand for ``hidden_layer_sizes``. By default
        :func:`madaline.tune.default_space`.
    max_seconds : float or None, default 600
        Time limit. None for no limit, with ``trials``.
    trials : int, optional
        Maximum number of trials. With ``max_seconds=None``, equal seeds give equal results.
    storage : str or Optuna storage, optional
        Where trials are kept, for example ``"sqlite:///study.db"`` or the URL of a PostgreSQL server. Several processes
        may use the same storage: each learns from the trials of all. By default a file in the folder ``checkpoint``, or
        nowhere.
    study_name : str
        Name of the study in the storage.
    sampler : {"tpe", "random", "gp"}
        Sampler of Optuna. "gp" needs PyTorch.
    checkpoint : path, optional
        Folder where the trials and the nets of the best ones are written after every round.
    resume : bool, default False
        Continue the search in the folder ``checkpoint``, if there is one. With a limit of trials only, the result is
        that of a search that was never interrupted.
    sample_weight, classes, groups, cv
        As for ``fit``; ``groups`` and ``cv`` choose the folds. By default five folds for up to 2,000 rows, three for up
        to 20,000, and one validation set for more.
    progress : bool, optional
        Whether to show the progress; by default only in a terminal.
    cluster : str, optional
        Train the nets on a Ray cluster: ``"auto"`` for that of this computer, ``"host:port"`` for another one, or
        ``"local"`` to start one here. The same trials give the same results as on one computer. Needs
        ``pip install "madaline[ray]"``.
    asynchronous : bool, default False
        On a cluster, start a new trial as soon as there are CPUs for it, without waiting for the slowest trial of a
        round. All CPUs are then busy, but which trials there are depends on the speed of the nodes, so that the result
        cannot be repeated.

    Returns
    -------
    estimator
        A fitted copy. ``trials_`` is a table of all trials (a list of dicts), ``best_params_`` has the parameters of
        the best trial, ``members_`` the nets with their weights, and ``search_`` the space, importances of
        hyperparameters and values at the edge of the space.

    Examples
    --------
    >>> import madaline as md
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> estimator = md.MLPClassifier(preset="auto", max_iter=10, random_state=0)
    >>> best = md.search(estimator, X, y, space={"dropout": [0.0, 0.3]}, trials=3)
    >>> len(best.trials_), list(best.best_params_)
    (3, ['dropout'])
    """
    began = time.monotonic()
    optuna()
    if not isinstance(estimator, (MLPClassifier, MLPRegressor)):
        raise ConfigError(f"search needs an MLPClassifier or MLPRegressor of madaline. It was given {estimator!r:.60}.")
    found = _without_callbacks(estimator)
    found.set_params(callbacks=estimator.callbacks)
    return fit_search(
        cast(E, found),
        X,
        y,
        sample_weight,
        space=space,
        limits=SearchLimits(trials, began, max_seconds),
        storage=storage,
        study_name=study_name,
        sampler=sampler,
        checkpoint=checkpoint,
        resume=resume,
        progress=progress,
        cluster=cluster,
        asynchronous=asynchronous,
        classes=classes,
        groups=groups,
        cv=cv,
    )


def fit_search(
    estimator: E,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    space: Any,
    limits: SearchLimits,
    storage: str | BaseStorage | None = None,
    study_name: str = NAME,
    sampler: str = "tpe",
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | None = None,
    cluster: str | None = None,
    asynchronous: bool = False,
    **options: Any,
) -> E:
    """Fit an estimator by a search, as :func:`search` fits a copy of one. Returns it."""
    _check(estimator, X, limits)
    if resume and checkpoint is None:
        raise ConfigError("resume=True continues from a folder: pass checkpoint=PATH, too.")
    if asynchronous and cluster is None:
        raise ConfigError(
            "asynchronous=True is for the trials of a cluster, which need not wait for slow nodes: pass cluster=, too."
        )
    template = _without_callbacks(estimator)
    if template.preset == "best":  # its nets are those of "auto"
        template.set_params(preset="auto")
    folder = None if checkpoint is None else Path(checkpoint)
    n_rows = len(y)
    given = _default_space(template, n_rows) if space is None else space
    parts = read_space(given, template)
    study = SearchStudy(
        parts,
        _storage(storage, folder, resume=resume),
        is_shared=storage is not None,
        sampler=sampler,
        name=study_name,
    )
    estimator.set_params(progress=False)
    if not isinstance(estimator.random_state, (int, np.integer)):
        known = None if study.is_shared else study.known()
        state = np.random.default_rng().integers(2**31) if known is None else known["random_state"]
        estimator.set_params(random_state=int(state))
    bar = SearchBar(limits) if shows_progress(progress) else None
    run = (SearchWithoutRounds if asynchronous else RoundSearch)(
        template,
        parts,
        study,
        limits,
        folder=folder,
        about={
            "estimator": _text(template),
            "space": {name: part.to_plain() for name, part in parts.items()},
            "random_state": int(estimator.random_state),  # type: ignore[arg-type]  # a number by now
        },
        progress=SearchProgress(bar.show) if bar is not None else SearchProgress(),
        cluster=cluster,
    )
    try:
        estimator.fit_members(run, X, y, sample_weight, **options)
    finally:
        if bar is not None:
            bar.close()
    describe(estimator, run, seconds=time.monotonic() - limits.began)
    return estimator


def _check(estimator: NetEstimator, X: Inputs, limits: SearchLimits) -> None:
    max_seconds, trials = limits.seconds, limits.trials
    if isinstance(X, TableStream):
        raise ConfigError("A search needs the whole table in memory; X is a TableStream.")
    if max_seconds is None and trials is None:
        raise ConfigError("A search needs an end: pass max_seconds=, trials=, or both.")
    if max_seconds is not None and not max_seconds > 0:
        raise ConfigError(f"max_seconds={max_seconds!r} must be a number of seconds above 0.")
    if trials is not None:
        check_whole("trials", trials)
    if is_lbfgs(estimator):
        raise ConfigError("A search trains nets by epochs, and L-BFGS has none. Use another optimizer.")
    if estimator.validation is not None:
        raise ConfigError(
            "A search validates trials on folds. Leave validation out, or choose the folds by cv= or groups=."
        )


def _without_callbacks(estimator: NetEstimator) -> NetEstimator:
    """A copy without callbacks, which are not copied: they may be watched by others."""
    names = estimator.get_params(deep=False)
    return cast(NetEstimator, clone(type(estimator)(**{name: names[name] for name in names if name != "callbacks"})))


def _default_space(template: NetEstimator, n_rows: int) -> dict[str, Any]:
    """The default space without the parameters that the user chose."""
    chosen = {
        name
        for name in template.get_params(deep=False)
        if is_given(template, name) or any(is_given(template, theirs) for theirs in SAME_THING.get(name, ()))
    }
    chosen |= set(SHAPE) if "hidden_layer_sizes" in chosen else set()
    if "weight_decay" in chosen or "regularizer" in chosen:
        chosen |= {"alpha", "weight_decay"}
    space = default_space(n_rows, has_preset=template.preset is not None)
    return {name: part for name, part in space.items() if name not in chosen}


def _storage(storage: Any, folder: Path | None, *, resume: bool) -> Any:
    """The given storage, or a file in the folder, which is made new unless the search is resumed."""
    if folder is None:
        return storage
    if not folder.parent.is_dir():
        raise ConfigError(f"checkpoint={str(folder)!r}: the folder {str(folder.parent)!r} does not exist.")
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"checkpoint={str(folder)!r} is a file; it must be a folder.")
    folder.mkdir(exist_ok=True)
    if not resume:
        for old in (*folder.glob("trial-*.madaline"), *folder.glob(f"{STORAGE}*")):
            old.unlink()
    return f"sqlite:///{(folder / STORAGE).resolve().as_posix()}" if storage is None else storage


def _text(template: NetEstimator) -> str:
    """The parameters that were given, without those that do not change the result."""
    names = sorted(template.get_params(deep=False))
    shown = [name for name in names if is_given(template, name) and name not in ("threads", "random_state", "progress")]
    return f"{type(template).__name__}({', '.join(f'{name}={getattr(template, name)!r}' for name in shown)})"
