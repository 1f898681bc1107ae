"""A folder of predictions: one file for each table, written atomically; files that are there already are kept."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from madaline import container
from madaline.cli.screen import Screen
from madaline.data.datasets import DATASETS
from madaline.data.reading.assumption import counted
from madaline.data.reading.table_file import folder_files
from madaline.errors import ConfigError, FileFormatError
from madaline.estimators.tabular.saved_model import SavedModel
from madaline.estimators.tabular.scored_table import PARQUET_SUFFIXES, ScoreOptions
from madaline.scale.prediction import FileToScore, score_files

if TYPE_CHECKING:
    from madaline.scale.cluster import Cluster

LIST = "_scored"
"File of the folder that says which tables were scored, by which model. It has no suffix, so that no reader takes it."
MOST_ERRORS = 3
"Maximum number of errors that are shown."
LOOK_SECONDS = 1.0
"Seconds between two looks at the number of nodes."


def score_folder(
    saved: SavedModel,
    data: Sequence[str],
    out: Path,
    options: ScoreOptions,
    screen: Screen,
    *,
    cluster: str | None,
    force: bool,
) -> None:
    """Write a file of predictions for each table; those of an earlier call with the same model are kept."""
    files = _files(data, out)
    out.mkdir(exist_ok=True)
    left = _left(saved, files, out, options, force=force)
    nodes: Cluster | None = None
    if cluster is not None and left:
        from madaline.scale.cluster import Cluster

        nodes = Cluster(cluster)
    began, n_rows, errors = time.monotonic(), 0, []
    with ExitStack() as stack:
        bar = stack.enter_context(_Bar(len(left), nodes)) if screen.is_watched else None
        for done, scored in enumerate(score_files(saved, left, options, cluster=nodes), 1):
            n_rows += scored.n_rows
            if scored.error:
                is_named = str(scored.file.source) in scored.error
                errors.append(scored.error if is_named else f"{scored.file.source}: {scored.error}")
            if bar is not None:
                bar.show(done, n_rows)
    seconds = time.monotonic() - began
    kept = len(files) - len(left)
    where = "" if nodes is None else f" on {nodes.describe()}"
    speed = f" {n_rows / seconds:,.0f} rows/s{where}." if n_rows else ""
    before = f" {counted(kept, 'file')} kept from before." if kept else ""
    screen.say(f"{n_rows:,} rows of {counted(len(left) - len(errors), 'file')} written to {out}.{speed}{before}")
    screen.result({"rows": n_rows, "out": out, "files": len(left) - len(errors), "kept": kept, "errors": errors})
    if errors:
        more = f"\n... and {len(errors) - MOST_ERRORS} more." if len(errors) > MOST_ERRORS else ""
        others = " Repeat the command to score only these." if len(errors) < len(files) else ""
        raise FileFormatError(
            f"{counted(len(errors), 'file')} of {len(files)} could not be scored.{others}\n"
            + "\n".join(errors[:MOST_ERRORS])
            + more
        )


def _files(data: Sequence[str], out: Path) -> list[FileToScore]:
    """The tables and the files of their predictions."""
    sources: list[Path] = []
    for name in data:
        path = Path(name)
        if name == "-" or (name in DATASETS and not path.exists()):
            raise ConfigError(f"{name!r} is not a file. With --cluster, and for several tables, give files or folders.")
        if not path.exists():
            raise FileNotFoundError(f"There is no file {name!r}.")
        sources += folder_files(path) if path.is_dir() else [path]
    if not out.is_dir() and (out.exists() or out.suffix.lower() in (".csv", *PARQUET_SUFFIXES)):
        raise ConfigError(f"--out {out} is a file. Several tables need a folder, for example -o scored/.")
    if not out.resolve().parent.is_dir():
        raise FileNotFoundError(f"The folder {str(out.parent)!r} for {out.name!r} does not exist.")
    found: dict[Path, FileToScore] = {}
    for source in map(Path.resolve, sources):
        is_parquet = source.suffix.lower() in PARQUET_SUFFIXES
        name = source.name if is_parquet else f"{source.name.partition('.')[0]}.csv"
        to = out.resolve() / name
        if to in found and found[to].source == source:
            raise ConfigError(f"The table {str(source)!r} is given twice. Leave out one of them.")
        if to in found:
            raise ConfigError(
                f"{str(found[to].source)!r} and {str(source)!r} would both be scored to {str(to)!r}. Score them to "
                "different folders."
            )
        if to == source:
            raise ConfigError(f"--out {out} is the folder of the tables. Choose another one.")
        found[to] = FileToScore(source, to)
    return list(found.values())


def _left(
    saved: SavedModel, files: Sequence[FileToScore], out: Path, options: ScoreOptions, *, force: bool
) -> list[FileToScore]:
    """The files that are still to be scored, after a note in the folder of what it will hold."""
    model = hashlib.sha256(saved.path.read_bytes()).hexdigest()
    wanted = {"model": model, "options": json.loads(json.dumps(asdict(options))), "tables": {}}
    tables = {str(file.source): list(_state(file.source)) for file in files}
    known = {} if force else _known(out)
    is_same = all(known.get(name) == wanted[name] for name in ("model", "options"))
    there = [file for file in files if file.out.exists()]
    if there and not force and not is_same:
        reason = "of another model or with other options" if known else "that are not known to be predictions"
        raise FileExistsError(
            f"{str(out)!r} has files {reason}, such as {there[0].out.name!r}. Choose another folder, or use --force to "
            "score all tables again."
        )
    before = known.get("tables", {}) if is_same else {}
    kept = [file for file in there if not force and before.get(str(file.source)) == tables[str(file.source)]]
    left = [file for file in files if file not in kept]
    for file in left:  # before the note, which would otherwise call them up to date
        file.out.unlink(missing_ok=True)
    wanted["tables"] = before | tables
    container.write_whole(out / LIST, json.dumps(wanted, indent=1).encode())
    return left


def _known(out: Path) -> dict[str, Any]:
    """What an earlier call noted; nothing if there is no note, or another file."""
    try:
        found = json.loads((out / LIST).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("tables"), dict) else {}


def _state(path: Path) -> tuple[int, int]:
    """Size and time of a file, by which a changed one is noticed."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


class _Bar:
    """Progress: files, rows, rows per second, nodes, time left."""

    def __init__(self, count: int, cluster: Cluster | None) -> None:
        from madaline.train.progress import new_bar

        self._count, self._cluster, self._began = count, cluster, time.monotonic()
        self._nodes, self._looked = "", 0.0
        self._bar = new_bar("{task.fields[done]} of {task.fields[count]} files")
        self._task = self._bar.add_task("scoring", total=count, done=0, count=count, values="")

    def __enter__(self) -> Self:
        self._bar.start()
        self.show(0, 0)
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def show(self, done: int, n_rows: int) -> None:
        """Show how far it is."""
        now = time.monotonic()
        if self._cluster is not None and now - self._looked > LOOK_SECONDS:
            self._nodes, self._looked = f"  {self._cluster.describe()}", now
        values = f"{n_rows:,} rows  {n_rows / max(now - self._began, 1e-9):,.0f} rows/s{self._nodes}"
        self._bar.update(self._task, completed=done, done=done, values=values, refresh=True)
