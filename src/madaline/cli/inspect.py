"""``madaline inspect``: what is in the file of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from madaline.cli import options as o
from madaline.cli.predict import Model, load

SHOWN_COLUMNS = 60


def inspect(model: Model, as_json: o.Json = False) -> None:
    """Show what is in a model: layers, columns, training, scores, where it is from.

    \b
    Examples:
      madaline inspect run/model.madaline
      madaline inspect run --json
    """
    from madaline.cli.screen import Screen

    learned = load(model)
    about = learned.about
    roles = learned.table.roles()
    screen = Screen(as_json=as_json)
    names = ", ".join(repr(name) for name in learned.targets)
    screen.title(f"{model}: {learned.target.task} of {names}")
    if learned.classes:
        screen.say(f"  Classes: {', '.join(map(str, learned.classes[:20]))}")
    screen.title("Columns")
    screen.table(["column", "used as", "because"], [(r.column, r.use, r.reason) for r in roles[:SHOWN_COLUMNS]])
    screen.title("Net")
    screen.say(str(learned.model))
    scores = _table_of(about, "scores")
    if scores:
        screen.title("On rows that training did not see")
        rows = [(name, *(_number(each.get(key)) for key in ("value", "low", "high"))) for name, each in scores.items()]
        screen.table(["score", "value", "low", "high"], rows, right=(1, 2, 3))
    screen.title("Training")
    for name, value in _facts(about):
        screen.say(f"  {name}: {value}")
    screen.result(
        {
            "model": model,
            "task": learned.target.task,
            "target": learned.targets,
            "classes": learned.classes,
            "columns": [{"column": r.column, "role": r.role, "reason": r.reason} for r in roles],
            "parameters": len(learned.model.params.flat),
            "about": about,
        }
    )


def _table_of(about: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Any]]:
    """A table of what a file says about itself, or nothing if it is none."""
    found = about.get(name)
    rows = found.items() if isinstance(found, Mapping) else ()
    return {str(key): value for key, value in rows if isinstance(value, Mapping)}


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (int, float)) else ""


def _facts(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [(name, about[name]) for name in ("source", "trained", "seconds", "seed", "split") if name in about]
    found += [
        (name, ", ".join(f"{key} {value}" for key, value in about[name].items()))
        for name in ("rows", "ended", "recipe", "versions")
        if isinstance(about.get(name), Mapping)
    ]
    return [(str(name), str(value)) for name, value in found]
