"""What ``madaline train`` does, step by step."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.cli import memory, searching, source
from madaline.cli.config import RunConfig, RunEnd
from madaline.cli.diagnose import show_diagnosis
from madaline.cli.diagnosing import diagnose
from madaline.cli.healing import CommandHealing, heal, show_healing
from madaline.cli.new_estimator import PARAMETERS, choose_probes, new_estimator, preset_for
from madaline.cli.options import assumed
from madaline.cli.results import advise, compare, show_history, show_members, show_plan, status
from madaline.cli.run_folder import CONFIG, MODEL, RunFolder, StoppedRun
from madaline.cli.sampling import SampledTable, sample, training_parts
from madaline.cli.screen import Screen, plain
from madaline.cli.splitting import Folds, date_order, ensemble_folds, split_column, split_table
from madaline.cli.versions import show_other_versions, versions
from madaline.data.panel import find_panel
from madaline.data.reading.assumption import counted
from madaline.data.split import Split
from madaline.errors import ConfigError, DataWarning
from madaline.estimators.tabular.saved_model import target_columns

if TYPE_CHECKING:
    from madaline.data.reading.table_file import TableFile
    from madaline.data.target import TargetReader


def run(
    settings: RunConfig,
    folder: RunFolder,
    screen: Screen,
    *,
    resume: bool,
    with_baselines: bool,
    with_report: bool,
    with_doctor: bool,
    with_healing: bool = False,
) -> None:
    """Train, test, compare, advise, write."""
    try:
        _run(
            settings,
            folder,
            screen,
            resume=resume,
            with_baselines=with_baselines,
            with_report=with_report,
            with_doctor=with_doctor,
            with_healing=with_healing,
        )
    except BaseException:  # also Ctrl-C: an empty folder is removed before the error is raised again
        has_begun = (folder.work / CONFIG).exists() or (folder.checkpoint.exists() and not settings.search.is_wanted)
        if not has_begun and not resume:
            folder.discard()
        raise


def _run(
    settings: RunConfig,
    folder: RunFolder,
    screen: Screen,
    *,
    resume: bool,
    with_baselines: bool,
    with_report: bool,
    with_doctor: bool,
    with_healing: bool,
) -> None:
    began = time.monotonic()
    with ExitStack() as stack:
        with status(screen, "reading the table"):
            file = folder.input_of(settings.data.source, resume=resume)
            table = stack.enter_context(source.opened(settings, file))
            targets = source.targets_of(settings, table.names)
            sampled = sample(table, settings, targets)
        source.without_gaps(sampled, targets, table.assumptions)
        if settings.data.drop_duplicates:
            source.without_duplicates(
                sampled, source.ignored_columns(settings, table.names, targets), table.assumptions
            )
        frame, assumptions, reading = sampled.frame, table.assumptions, table.format
        screen.title(f"{settings.data.source}: {counted(sampled.n_rows, 'row')}, {counted(frame.width, 'column')}")
        for assumption in assumptions:
            screen.say(f"  {assumption.text}  [{assumption.flag}]")

        show_other_versions(settings, screen)

        # scikit-learn takes a second to import; by now the user has seen what was read.
        from madaline.cli.watching import RunWatcher
        from madaline.data.table import Table
        from madaline.data.target import TargetReader
        from madaline.doctor.watch import Doctor
        from madaline.estimators.outliers import find_outlier

        target = TargetReader.fit(target_columns(sampled.target_values(), targets), task=settings.training.task)
        target = TargetReader(target.task, targets, target.classes, target.reason)
        y = target.values(target_columns(frame, targets))
        split = split_table(settings, frame, y, target)
        X = Table.of(frame.drop(targets))
        watcher = RunWatcher()
        is_search = settings.search.is_wanted
        if settings.training.preset is None:
            needs_one_net = is_search or with_healing or sampled.is_sample
            settings.training.preset = "auto" if needs_one_net else preset_for(settings.training, sampled.n_rows)
        is_best = settings.training.preset == "best" or is_search
        estimator = new_estimator(
            settings,
            target.task,
            frame.columns,
            targets,
            watcher,
            dates=reading.date_patterns(),
            progress=screen.is_watched,
        )
        doctor = Doctor()
        if with_doctor:
            estimator.set_params(callbacks=[watcher, doctor])
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        # Errors name the rows of a taken table by their numbers in the whole one.
        parts = {name: (X.take(rows), named(y[rows], targets)) for name, rows in split.parts().items()}
        choose_probes(watcher, estimator, len(split.train) if not sampled.is_sample else sampled.n_rows)

        def begin() -> None:
            estimator.table_plan_.encode(parts["test"][0])  # an error in a test row is raised before training
            counts = {name: len(rows) for name, rows in split.parts().items()} | {"train": estimator.n_samples_}
            if is_best:
                del counts["validation"]
            show_plan(screen, estimator, target, counts, split.way, data_warnings(caught))
            if split.way in ("random", "stratified") and (panel := find_panel(X)) is not None:
                screen.say(f"  Note: {panel.hint()}")
            numbers = {role.column for role in estimator.table_plan_.roles() if role.use == "number"}
            if (outlier := find_outlier(X, numbers)) is not None:
                screen.say(f"  Note: {outlier.sentence()}  [--ignore {quote(outlier.column)}]")
            if not resume:
                # What was chosen from the data is written down, so that a later version trains the same net.
                settings.data.target, settings.split.way = targets, split.way
                for name, parameter in {} if is_search else PARAMETERS.items():
                    setattr(settings.training, name, estimator.resolved_params_[parameter])
                settings.versions = versions()
                folder.write(CONFIG, settings.to_toml())

        watcher.begin = begin
        limit = settings.training.time
        is_repeated = settings.ended.by == "time" and not resume and limit is None and not is_best
        if is_repeated:
            watcher.stop_after(settings.ended.epoch, settings.ended.step)
        train_X: Any
        train_y: Any
        train_X, train_y = parts["train"]
        if with_healing and (is_best or sampled.is_sample):
            raise ConfigError(
                "--heal needs one net and a table in memory: leave out --preset best, or use --rows 100000."
            )
        if sampled.is_sample and is_best:
            raise ConfigError(
                f"{'A search' if is_search else '--preset best'} needs the table in memory, and this one is larger. "
                f"Use {'madaline train' if is_search else '--preset auto'}, a random sample (--rows 100000), or more "
                "memory (--memory 8GB)."
            )
        if sampled.is_sample:
            from madaline.estimators.table_stream import TableStream

            by = split_column(settings, frame.columns) if split.way in ("group", "time") else None
            train_X, train_y = (
                TableStream(
                    lambda: _streamed_parts(table, sampled, split, by, target, date_order(settings)),
                    sample=parts["train"],
                    n_rows=sampled.n_rows,
                    folder=folder.work,
                ),
                None,
            )
        validation: Any = parts["validation"]
        folds: Folds = {}
        if is_best:  # every row trains some members and validates others
            rows = np.sort(np.concatenate((split.train, split.validation)))
            folds, validation = ensemble_folds(split, rows), None
            train_X, train_y = parts["train"] = X.take(rows), named(y[rows], targets)
        fit_began = time.monotonic()
        if is_search:
            searching.run(
                settings, folder, estimator, train_X, train_y, began=began, resume=resume,
                progress=screen.is_watched, classes=target.classes or None, **folds,
            )  # fmt: skip
            if watcher.begin is not None:  # trial 0 was trained before the run was resumed
                begin()
        else:
            estimator.fit(
                train_X,
                train_y,
                validation=validation,
                checkpoint=folder.checkpoint,
                resume=resume,
                classes=target.classes or None,
                max_seconds=limit,
                cluster=settings.training.cluster,
                replicas=settings.training.replicas,
                **folds,
            )
    history = estimator.history_
    if history.stopped == "interrupted" and not is_search:
        raise StoppedRun(f"Stopped in epoch {history.epochs + 1}. Resume with: madaline train --resume {folder.typed}")
    with status(screen, "examining the training"):
        diagnosis = diagnose(estimator, settings.split.way) if with_doctor else None
    healing: CommandHealing | None = None
    if with_healing and diagnosis is not None:
        show_diagnosis(screen, diagnosis)

        def fit_again(changed: RunConfig) -> tuple[Any, Doctor]:
            new, listener = RunWatcher(), Doctor()
            other = new_estimator(
                changed, target.task, frame.columns, targets, new, dates=reading.date_patterns(), progress=False
            )
            other.set_params(callbacks=[new, listener])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                classes = target.classes or None
                other.fit(train_X, train_y, validation=validation, classes=classes, max_seconds=limit)
            return other, listener

        healing = heal(settings, diagnosis, doctor, fit_again, screen)
        show_healing(screen, healing)
        if healing.estimator is not None:
            vars(settings.training).update(vars(healing.settings.training))
            estimator, watcher = healing.estimator, healing.estimator.callbacks[0]
            history = estimator.history_
            with status(screen, "examining the training"):
                diagnosis = diagnose(estimator, settings.split.way)
    estimator.set_params(callbacks=None, progress=False)
    estimator.target_names_ = targets
    ended = "time" if is_repeated else history.stopped
    settings.ended = RunEnd(ended, history.epochs, watcher.steps)
    if is_search:
        searching.show(screen, estimator)
    if is_best:
        show_members(screen, estimator, ended, time.monotonic() - fit_began)
    else:
        show_history(screen, history, watcher, ended)
    for text in training_warnings(caught):
        screen.say(f"  Warning: {text}", style="yellow")
    if diagnosis is not None:
        show_diagnosis(screen, diagnosis)

    if hasattr(estimator, "calibrate") and len(split.test) > 3:
        estimator.calibrate(*parts["test"])
    scores, baselines = compare(
        screen, estimator, parts, seed=settings.training.seed, threads=settings.training.threads, wanted=with_baselines
    )
    advice = advise(
        screen, estimator, parts["train"][1], history, scores, baselines, folder,
        n_train=estimator.n_samples_, split=split.way,
        given=(*settings.training.given, *(searching.SEARCHED if is_search else ()), *(["--heal"] * with_healing)),
        has_finding=diagnosis is not None and not diagnosis.is_healthy,
    )  # fmt: skip
    document = {
        "source": settings.data.source,
        "rows": {
            "all": sampled.n_rows,
            "train": estimator.n_samples_,
            "validation": 0 if is_best else len(split.validation),
            "test": len(split.test),
        },
        "split": split.way,
        "test_rows": fingerprint(sampled.numbers[split.test], y[split.test]),
        "assumptions": assumed(assumptions),
        "warnings": data_warnings(caught) + training_warnings(caught),
        "task": target.task,
        "target": list(targets),
        "columns": [{"column": r.column, "role": r.role, "reason": r.reason} for r in estimator.table_plan_.roles()],
        "recipe": {name: estimator.resolved_params_[parameter] for name, parameter in PARAMETERS.items()},
        "ended": vars(settings.ended),
        "scores": {score.name: vars(score) for score in scores},
        "baselines": {name: {score.name: vars(score) for score in each} for name, each in baselines.items()},
        "advice": [vars(each) for each in advice],
        **({} if diagnosis is None else {"diagnosis": diagnosis.to_dict()}),
        **({} if healing is None else {"healing": healing.to_dict()}),
        **(searching.document(estimator) if is_search else {}),
        "seed": settings.training.seed,
        "versions": versions(),
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began, 1),
    }
    if with_report:
        with status(screen, "writing the report"):
            from madaline.cli import report

            numbers = sampled.numbers[split.test]
            report.write(
                folder, estimator, parts, scores, baselines, numbers, about=document, config=settings.to_toml()
            )
    # A healed run has no checkpoint that fits its settings.
    is_as_trained = healing is None or healing.estimator is None
    can_resume = settings.search.is_wanted or (settings.ended.by == "time" and is_as_trained)
    _write(folder, settings, estimator, reading, document, screen, can_resume=can_resume)
    files = [MODEL, *(["report.html"] if with_report else []), "history.parquet, config.toml, result.json, log.txt"]
    files += [searching.TRIALS] if is_search else []
    files[0] += f" ({memory.shown((folder.path / MODEL).stat().st_size)})"
    screen.title(f"Written to {folder.path}: {', '.join(files)}")
    screen.say(f"  madaline predict {quote(str(folder.path / MODEL))} NEW.csv -o scored.csv")
    screen.say(f"  madaline serve {folder.typed}")
    screen.result(document | {"folder": str(folder.path), "model": str(folder.path / MODEL)})


def _streamed_parts(
    table: TableFile, sampled: SampledTable, split: Split, by: str | None, target: TargetReader, order: str | None
) -> Iterator[tuple[Any, Any]]:
    """The training rows of a table that is not in memory."""
    for part in training_parts(table, sampled, split, by, target.names, order=order):
        yield part.drop(target.names), target.values(target_columns(part, target.names))


def fingerprint(rows: Any, y: Any) -> str:
    """A short text that is the same for test sets with the same rows of a table and the same targets."""
    return hashlib.sha256(json.dumps([rows.tolist(), y.tolist()], default=str).encode()).hexdigest()[:16]


def named(y: Any, targets: Sequence[str]) -> Any:
    """Targets under their names."""
    import polars as pl

    return pl.Series(targets[0], y) if y.ndim == 1 else pl.DataFrame(y, schema=list(targets))


def data_warnings(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Warnings about the data, without the remedy that is meant for Python."""
    return [str(w.message).partition(" To use it")[0] for w in caught if issubclass(w.category, DataWarning)]


def training_warnings(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Warnings about training."""
    from sklearn.exceptions import ConvergenceWarning

    return [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]


def _write(
    folder: RunFolder,
    settings: RunConfig,
    estimator: Any,
    reading: Any,
    document: dict[str, Any],
    screen: Screen,
    *,
    can_resume: bool,
) -> None:
    """Write all files of the run, then move the folder to its place."""
    from madaline.estimators.provenance import Provenance

    about = plain(document)
    estimator.provenance_ = Provenance(reading, about)
    estimator.save(folder.work / MODEL)
    estimator.history_.frame().write_parquet(folder.work / "history.parquet")
    folder.write(CONFIG, settings.to_toml())
    folder.write("result.json", json.dumps(about, indent=2, ensure_ascii=False))
    folder.write("log.txt", "\n".join(screen.log) + "\n")
    if settings.search.is_wanted:
        searching.write(folder, estimator)
    folder.finish(can_resume=can_resume)
