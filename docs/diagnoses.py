"""Write docs/guides/diagnoses.md: twelve runs with a fault, and what the doctor says about each.

Run it as ``python docs/diagnoses.py``. It takes about a minute. ``--html FOLDER`` writes each diagnosis as a page, too.
"""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import madaline as md

PAGE = Path(__file__).parent / "guides" / "diagnoses.md"
INTRODUCTION = """# Twelve diagnoses
Runs in which something is wrong, and what [the doctor](doctor.md) prints about them. Most of them learn from the same
800 rows: `X` has five columns, `y` is a number to predict, and `labels` are three classes. The arguments `fit` are
`dict(epochs=60, batch_size=32, validation=0.25, doctor=True)`. `python docs/diagnoses.py` makes this page.
"""
STYLE = "font:15px/1.45 system-ui,sans-serif;max-width:840px;margin:16px;color:#222;background:#fff"

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 5)).astype("float32")
y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=800)).astype("float32")
labels = np.digitize(y, [-0.6, 0.6])
fit = {"epochs": 60, "batch_size": 32, "validation": 0.25, "doctor": True}


def softmax_twice() -> Any:
    """A softmax before a loss that applies its own"""
    net = md.Sequential(md.Linear(32), "relu", md.Linear(32), "relu", md.Linear(3), "softmax")
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(3e-3))
    trainer.fit(X, labels, **fit)
    return md.diagnose(trainer)


def high_rate() -> Any:
    """A learning rate that is too high"""
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(1.0))
    trainer.fit(X, y, **fit)
    return md.diagnose(trainer)


def years() -> Any:
    """Years as inputs, and a learning rate that is too low"""
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(2e-5))
    trainer.fit(1990 + 10 * X, y, **fit)
    return md.diagnose(trainer)


def prices() -> Any:
    """Prices that are not scaled, with an estimator"""
    model = md.MLPRegressor(hidden_layer_sizes=(32, 32), random_state=0, callbacks=md.Doctor())
    model.fit(X, 250_000 + 80_000 * y)
    return md.diagnose(model)


def impatience() -> Any:
    """Early stopping after the first bad epoch, with an estimator"""
    model = md.MLPClassifier(early_stopping=True, n_iter_no_change=1, random_state=0, callbacks=md.Doctor())
    model.fit(X, labels)
    return md.diagnose(model)


def deep_sigmoid() -> Any:
    """Seven layers of sigmoids"""
    net = md.mlp(*[24] * 7, 3, activation="sigmoid")
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.SGD(0.1))
    trainer.fit(X, labels, **fit)
    return md.diagnose(trainer)


def leak() -> Any:
    """A column that is known only after the target"""
    table = pl.DataFrame(X, schema=["area", "rooms", "age", "floor", "noise"])
    table = table.with_columns(tax=pl.Series(np.round(0.19 * y, 2)))
    model = md.MLPRegressor(preset="auto", random_state=0, callbacks=md.Doctor())
    model.fit(table, y)
    return md.diagnose(model)


def shuffled() -> Any:
    """Labels that belong to other rows"""
    trainer = md.Trainer(md.mlp(32, 32, 3), loss="cross_entropy", optimizer=md.Adam(3e-3))
    trainer.fit(X, np.roll(labels, 1), **fit)
    return md.diagnose(trainer)


def by_heart() -> Any:
    """A large net, few rows and many epochs"""
    trainer = md.Trainer(md.mlp(256, 256, 1), optimizer=md.Adam(3e-3))
    trainer.fit(X[:200], y[:200] + rng.normal(size=200), **{**fit, "epochs": 300})
    return md.diagnose(trainer)


def divergence() -> Any:
    """A loss that is no longer a number"""
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.SGD(5.0))
    try:
        trainer.fit(X, y, **fit)
    except md.errors.DivergenceError:
        return md.diagnose(trainer)


def holes() -> Any:
    """Missing values, before training"""
    incomplete = X.copy()
    incomplete[::50, 2] = np.nan
    return md.checkup(md.Trainer(md.mlp(32, 1)), incomplete, y)


COMMANDS = """madaline train houses.csv --target price --learning-rate 0.00001 --out run
madaline diagnose run"""
RUNS: tuple[Callable[[], Any], ...] = (
    softmax_twice, high_rate, years, prices, impatience, deep_sigmoid, leak, shuffled, by_heart, divergence, holes,
)  # fmt: skip


def code_of(run: Callable[[], Any]) -> str:
    """The body of a function, without its title."""
    lines = inspect.getsource(run).split("\n")[2:]
    return textwrap.dedent("\n".join(lines)).replace("return ", "").strip()


def on_the_command_line() -> str:
    """What the commands print about a table, the last one in full."""
    madaline = [sys.executable, "-m", "madaline"]
    with tempfile.TemporaryDirectory() as folder:
        table = pl.DataFrame(X, schema=["area", "rooms", "age", "floor", "noise"])
        table.with_columns(price=pl.Series(250_000 + 80_000 * y)).write_csv(Path(folder) / "houses.csv")
        shown = ""
        for command in COMMANDS.split("\n"):
            arguments = [*madaline, *command.split()[1:]]
            done = subprocess.run(  # noqa: S603 - the commands are written above
                arguments, cwd=folder, check=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": "110"}
            )
            shown = done.stdout
    return shown.strip()


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--html", type=Path, help="a folder for the diagnoses as pages")
    folder = parser.parse_args().html
    sections = [INTRODUCTION]
    for number, run in enumerate(RUNS, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = run()
        title = (run.__doc__ or "").strip()
        sections.append(f"## {number}. {title}\n```py\n{code_of(run)}\n```\n```text\n{found}\n```\n")
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            page = f'<meta charset="utf-8"><body style="{STYLE}"><h3>{title}</h3>{found.to_html()}'
            (folder / f"{number:02}.html").write_text(page, encoding="utf-8")
    sections.append(
        f"## 12. A low learning rate on the command line\n```console\n$ {COMMANDS.replace(chr(10), chr(10) + '$ ')}\n"
        f"```\n```text\n{on_the_command_line()}\n```\n"
    )
    PAGE.write_text("\n".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
