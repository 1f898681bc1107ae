"""The settings of a run as Python code and as a command that give the same numbers."""

from __future__ import annotations

import shlex
from typing import Any

from madaline.losses.loss import Loss
from madaline.web.play.exercise import Exercise
from madaline.web.play.problem import PlayProblem
from madaline.web.play.settings import Settings, names_in
from madaline.web.play.tables import MOST_CATEGORIES, MOST_ROWS


def python_code(exercise: Exercise) -> str:
    """A script that trains the same net on the same rows."""
    settings, problem = exercise.settings, exercise.problem
    head = ["import numpy as np", "import madaline as md"]
    if settings.kind == "shapes":
        head.append("from madaline.data import shapes")
    elif settings.kind == "curves":
        head.append("from madaline.data.curves import CURVES")
    data = _table_code(settings, problem) if settings.kind == "table" else _points_code(settings, problem)
    net = [*(str(units) for units, _ in settings.hidden), str(exercise.n_outputs)]
    net += [f"{name}={value!r}" for name, value in exercise.net_options().items()]
    optimizer = ", ".join(f"{name}={_shown(value)}" for name, value in exercise.optimizer_options().items())
    optimizer = optimizer.removeprefix("learning_rate=")
    rule = type(exercise.optimizer()).__name__
    trainer = [f"loss={exercise.loss.name!r}", f"optimizer=md.optim.{rule}({optimizer})"]
    trainer += [f"{name}={_argument(value)}" for name, value in exercise.trainer_options().items()]
    fit = ["validation=(X_test, y_test)", *(f"{name}={value!r}" for name, value in exercise.fit_options().items())]
    lines = [
        *head,
        "",
        *data,
        "",
        *_call("net = md.mlp", net),
        *_call("trainer = md.Trainer", ["net", *trainer]),
        *_call("history = trainer.fit", ["X", "y", *fit]),
        "print(history)",
    ]
    return "\n".join(lines) + "\n"


def command_line(settings: Settings) -> str:
    """The command that trains the same net and prints its history."""
    table = f" {shlex.quote(settings.table)}" if settings.kind == "table" else ""
    return f"madaline play{table} --settings {shlex.quote(settings.link())} --train"


def _points_code(settings: Settings, problem: PlayProblem) -> list[str]:
    assert problem.features is not None
    lines = [f"rng = np.random.default_rng({settings.draw})"]
    if settings.kind == "points":
        lines += [
            "from madaline.web.play.points import read_points",
            f"X, y = read_points({settings.points!r})",
            "order = rng.permutation(len(X))",
            "X, y = X[order], y[order]",
        ]
    elif settings.kind == "shapes":
        lines.append(f"X, y = shapes.{settings.data}({settings.n}, rng)")
        lines += [f"X = X + {_shown(settings.noise)} * rng.normal(size=X.shape)"] if settings.noise else []
    else:
        lines.append(f"X, y = CURVES[{settings.data!r}]({settings.n}, rng)")
        lines += [f"y = y + {_shown(settings.noise)} * rng.normal(size=y.shape)"] if settings.noise else []
    n = len(problem.X)
    if settings.kind != "curves" and settings.flip:
        lines += [
            f"rng = np.random.default_rng(({settings.draw}, 1))",
            f"wrong = np.flatnonzero(rng.random({n}) < {_shown(settings.flip)})",
            f"y[wrong] = rng.integers(0, {len(problem.classes)}, len(wrong))",
        ]
    features = ", ".join(feature.python for feature in problem.features)
    is_plain = [feature.name for feature in problem.features] == ["x1", "x2"][: problem.n_coordinates]
    lines += [] if is_plain else [f"X = np.column_stack([{features}])"]
    return [*lines, f"X, X_test, y, y_test = X[:{n}], X[{n}:], y[:{n}], y[{n}:]"]


def _table_code(settings: Settings, problem: PlayProblem) -> list[str]:
    target = problem.target
    wanted = names_in(settings.columns)
    chosen = repr(wanted) if wanted else f"[name for name in table.columns if name != {target!r}]"
    lines = [
        f"table, _ = md.data.read_table({settings.table!r})",
        f"table = table.drop_nulls({target!r})",
        f"order = np.random.default_rng({settings.draw}).permutation(table.height)[:{MOST_ROWS}]",
        "table = table[order.tolist()]",
        f"n = {len(problem.X)}",
        f"columns = {chosen}",
        f"options = dict(one_hot={MOST_CATEGORIES}, scaling={settings.scaling!r})",
        "plan = md.data.TablePlan.fit(table[:n].select(columns), **options)",
        "X = plan.encode(table.select(columns))['numbers']",
    ]
    if problem.classes:
        lines.append(f"classes, y = np.unique(table[{target!r}].to_numpy(), return_inverse=True)")
    else:
        lines.append(f"y = table[{target!r}].to_numpy().astype(float)")
        lines.append("y = (y - y[:n].mean()) / y[:n].std()")
    return [*lines, "X, X_test, y, y_test = X[:n], X[n:], y[:n], y[n:]"]


def _call(function: str, arguments: list[str]) -> list[str]:
    """A call, in one line if it is short."""
    line = f"{function}({', '.join(arguments)})"
    return [line] if len(line) <= 88 else [f"{function}(", f"    {', '.join(arguments)},", ")"]


def _shown(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else repr(value)


def _argument(value: Any) -> str:
    if isinstance(value, (str, int, float, Loss)):
        return repr(value)
    return f"md.optim.{type(value).__name__}({_shown(value.strength)})"
