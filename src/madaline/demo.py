"""``python -m madaline.demo``: XOR, learned by gradient descent on the graph (lecture row A1).

A net of two tanh units solves what no straight line can. The loss is ten lines of NumPy; madaline differentiates it,
plans the whole descent step as one native program, runs it, and draws the graph it came from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import madaline as md

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array([-1.0, 1.0, 1.0, -1.0])
STEPS = 2000
RATE = 0.2
FOLDER = Path("demo")


def predict(params: dict[str, Any], x: Any) -> Any:
    """A net with one hidden layer: two inputs, two tanh units, one output."""
    hidden = np.tanh(x @ params["U"] + params["c"])
    return hidden @ params["w"] + params["b"]


def loss(params: dict[str, Any], x: Any, y: Any) -> Any:
    """Mean squared error."""
    return np.mean((predict(params, x) - y) ** 2)


def descend(params: dict[str, Any], x: Any, y: Any) -> Any:
    """One step of gradient descent: the loss, and the parameters a little further downhill."""
    value, slope = md.value_and_grad(loss)(params, x, y)
    return value, {name: params[name] - RATE * slope[name] for name in params}


def start(seed: int) -> dict[str, Any]:
    """Small random weights, zero biases."""
    rng = np.random.default_rng(seed)
    return {"U": rng.normal(size=(2, 2)), "c": np.zeros(2), "w": rng.normal(size=2), "b": np.array(0.0)}


def main() -> None:
    """Learn XOR, show how, and write the drawings."""
    console = Console()
    md.show_config()
    params = start(seed=3)
    graph = md.trace(loss, params, X, Y)
    console.print("\n[bold]The loss as a graph[/bold], numbered as in the lectures:")
    console.print(str(graph), highlight=False, markup=False)

    step = md.compile(descend)
    columns = (TextColumn("learning XOR"), BarColumn(), TextColumn("loss {task.fields[loss]:.6f}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=STEPS, loss=float("nan"))
        for count in range(1, STEPS + 1):
            value, params = step(params, X, Y)
            if count % 50 == 0:
                progress.update(task, completed=count, loss=float(value))

    table = Table("x1", "x2", "wanted", "learned", title="XOR")
    for row, wanted, learned in zip(X, Y, predict(params, X), strict=True):
        table.add_row(f"{row[0]:.0f}", f"{row[1]:.0f}", f"{wanted:+.0f}", f"{learned:+.4f}")
    console.print(table)
    console.print(_map(params), highlight=False)

    report = md.check_gradient(loss, params, X, Y)
    console.print(f"The gradient agrees with centred differences: {bool(report)}.")
    FOLDER.mkdir(exist_ok=True)
    slope_graph = md.trace(md.grad(loss), params, X, Y)
    for name, drawn in (("loss", graph), ("gradient", slope_graph)):
        path = FOLDER / f"xor-{name}.svg"
        path.write_text(drawn.svg(), encoding="utf-8")
        console.print(f"Drawn: {path} ({len(drawn.nodes)} nodes, {drawn.flops()} flops)")


def _map(params: dict[str, Any]) -> str:
    """The plane in characters: # where the net says +1, . where it says -1."""
    across, down = np.linspace(-0.5, 1.5, 49), np.linspace(1.5, -0.5, 17)
    points = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
    signs = predict(params, points).reshape(len(down), len(across)) > 0.0
    return "\n".join("".join("#" if sign else "." for sign in row) for row in signs)


if __name__ == "__main__":
    main()
