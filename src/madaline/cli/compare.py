"""``madaline compare``: several training runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from madaline.cli import options as o
from madaline.cli.model import load
from madaline.errors import ConfigError

if TYPE_CHECKING:
    from madaline.report.comparison import ComparedRun
    from madaline.report.findings import Score

NUMBERS = ("value", "low", "high")


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders or model files, two or more.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file, .html.", show_default="the screen only")
    ] = None,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Compare runs: task, table, scores with intervals, training time, and the parameters that differ.

    Warns if the runs were tested on different rows, so that their scores cannot be compared.

    \b
    Examples:
      madaline compare run run-2
      madaline compare run-* -o compare.html
      madaline compare run run-2 --json
    """
    from madaline.cli.screen import Screen
    from madaline.report.comparison import best, score_names, table_of, warnings_of

    if len(runs) < 2:
        raise ConfigError("Choose two or more runs to compare: madaline compare RUN1 RUN2.")
    if out is not None:
        if out.suffix.lower() not in (".html", ".htm"):
            raise ConfigError(f"-o {out}: the file must end in .html.")
        o.check_free(out, force=force)
    found = [_run(path) for path in runs]
    warnings = warnings_of(found)
    screen = Screen(as_json=as_json)
    screen.title(f"{len(found)} runs (in brackets: 95% bootstrap interval; parameters that are the same are left out)")
    screen.table(["", *(run.name for run in found)], table_of(found))
    for name in score_names(found):
        if first := [found[place].name for place in best(found, name)]:
            screen.say(f"  Best {name}: {', '.join(first)}")
    for text in warnings:
        screen.say(f"\n  Warning: {text}", style="yellow")
    if out is not None:
        from madaline import container
        from madaline.report.html.comparison_page import comparison_page

        container.write_whole(out, comparison_page(found, warnings).encode("utf-8", "replace"))
        screen.say(f"\nWritten: {out}")
    screen.result({"runs": [_plain(run) for run in found], "warnings": warnings, "out": out})


def _run(path: Path) -> ComparedRun:
    """The information in a run folder or model file."""
    from madaline.report.comparison import ComparedRun

    saved = load(path)
    estimator, about = saved.estimator, saved.about
    history = getattr(estimator, "history_", None)
    net = getattr(estimator, "model_", None)
    seed, way = about.get("seed"), about.get("split")
    rows = about.get("rows")
    seconds = about.get("seconds")
    return ComparedRun(
        name=str(path),
        task=saved.task,
        targets=saved.targets,
        source=str(about.get("source", "")),
        rows={str(key): value for key, value in rows.items() if isinstance(value, int)}
        if isinstance(rows, Mapping)
        else {},
        split=f"{way}, seed {seed}" if way is not None else "",
        test_rows=str(about.get("test_rows", "")),
        scores=_scores(about.get("scores")),
        epochs=0 if history is None else history.epochs,
        seconds=seconds if isinstance(seconds, (int, float)) else None,
        n_params=0 if net is None else net.network.n_params,
        parameters=getattr(estimator, "resolved_params_", {}),
        history=history,
    )


def _scores(given: Any) -> list[Score]:
    """The scores in a file; what is not a score is left out."""
    from madaline.report.findings import Score

    found = []
    for name, each in given.items() if isinstance(given, Mapping) else ():
        if isinstance(each, Mapping) and all(isinstance(each.get(key), (int, float)) for key in NUMBERS):
            value, low, high = (float(each[key]) for key in NUMBERS)
            larger, meaning = bool(each.get("larger_is_better", True)), str(each.get("meaning", ""))
            found.append(Score(str(name), value, low, high, larger, meaning))
    return found


def _plain(run: ComparedRun) -> dict[str, Any]:
    return {
        "run": run.name,
        "task": run.task,
        "target": run.targets,
        "source": run.source,
        "rows": run.rows,
        "split": run.split,
        "test_rows": run.test_rows,
        "scores": {score.name: vars(score) for score in run.scores},
        "epochs": run.epochs,
        "seconds": run.seconds,
        "n_params": run.n_params,
        "parameters": run.parameters,
    }
