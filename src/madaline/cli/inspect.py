"""``madaline inspect``: what is in a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from madaline.cli import options as o
from madaline.cli.model import ModelPath, load_any

SHOWN_COLUMNS = 60


def inspect(
    model: ModelPath,
    show_all: Annotated[bool, typer.Option("--all", help="Show all columns of a wide table.")] = False,
    as_json: o.Json = False,
) -> None:
    """Show what is in a model: columns, layers, parameters, scores, and how it was trained.

    \b
    Examples:
      madaline inspect run/model.madaline
      madaline inspect run --json
    """
    from madaline.cli.screen import Screen
    from madaline.data.task import TASK_NAMES
    from madaline.estimators.tabular.saved_model import SavedModel
    from madaline.functional.model import Model

    estimator = load_any(model)
    if isinstance(estimator, Model):
        _show_net(Screen(as_json=as_json), model, estimator)
        return
    saved = SavedModel(estimator, model)
    about = saved.about
    plan = getattr(estimator, "table_plan_", None)
    roles = [] if plan is None else plan.roles()
    screen = Screen(as_json=as_json)
    names = ", ".join(repr(name) for name in saved.targets)
    several = saved.has_several_class_columns
    task = "multioutput classification" if several else TASK_NAMES[saved.task]
    screen.title(f"{model}: {task} of {names} ({type(estimator).__name__})")
    classes = [each.tolist() for each in estimator.classes_] if several else saved.classes
    if several:
        for name, each in zip(saved.targets, classes, strict=True):
            screen.say(f"  Classes of {name}: {_some(each)}")
    elif classes:
        screen.say(f"  Classes: {_some(classes)}")
    if roles:
        shown = roles if show_all else roles[:SHOWN_COLUMNS]
        screen.title("Columns")
        screen.table(["column", "used as", "reason"], [(r.column, r.use, r.reason) for r in shown])
        if len(roles) > len(shown):
            screen.say(f"  and {len(roles) - len(shown):,} more columns  [--all]")
    net = getattr(estimator, "model_", None)
    if net is not None:
        screen.title("Net")
        screen.say(str(net))
    scores = _table_of(about, "scores")
    if scores:
        screen.title("Scores on the test set")
        rows = [(name, *(_number(each.get(key)) for key in ("value", "low", "high"))) for name, each in scores.items()]
        screen.table(["score", "value", "low", "high"], rows, right=(1, 2, 3))
    screen.title("Training")
    for name, value in _facts(about):
        screen.say(f"  {name}: {value}")
    used = getattr(estimator, "resolved_params_", {})
    screen.say(f"  parameters: {', '.join(f'{name}={value!r}' for name, value in used.items() if value is not None)}")
    screen.result(
        {
            "model": model,
            "class": type(estimator).__name__,
            "task": "multioutput" if several else saved.task,
            "target": saved.targets,
            "classes": classes,
            "columns": [{"column": r.column, "role": r.role, "reason": r.reason} for r in roles],
            "n_weights": 0 if net is None else len(net.params.flat),
            "parameters": used,
            "about": about,
        }
    )


def _show_net(screen: Any, path: ModelPath, net: Any) -> None:
    """A net that was saved without an estimator."""
    screen.title(f"{path}: a net without columns and targets (Model)")
    screen.say(str(net))
    screen.result({"model": path, "class": "Model", "n_weights": len(net.params.flat), "net": str(net.net)})


def _some(classes: Sequence[Any]) -> str:
    more = f" and {len(classes) - 20:,} more" if len(classes) > 20 else ""
    return f"{', '.join(map(str, classes[:20]))}{more}"


def _table_of(about: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Any]]:
    """A table in the information about training, or an empty dict if it is not one."""
    found = about.get(name)
    rows = found.items() if isinstance(found, Mapping) else ()
    return {str(key): value for key, value in rows if isinstance(value, Mapping)}


def _number(value: Any) -> str:
    from madaline.report.value_text import shown

    return shown(value) if isinstance(value, (int, float)) else ""


def _facts(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [(name, about[name]) for name in ("source", "trained", "seconds", "seed", "split") if name in about]
    found += [
        (name, ", ".join(f"{key} {value}" for key, value in about[name].items()))
        for name in ("rows", "ended", "versions")
        if isinstance(about.get(name), Mapping)
    ]
    return [(str(name), str(value)) for name, value in found]
