"""Initial biases of nets with few inputs: 0, PyTorch's, and the default (``md.nn.initializers.auto_bias``).

    MADALINE_DATA=folder python benchmarks/biases.py

A function of one variable is fitted by one hidden layer, and nets of two hidden layers are trained on the UCI sets with
at most 30 columns, each with two random splits. Everything but the biases of the first layer is equal. The table is
results/biases.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import harness
import numpy as np

import madaline as md
from madaline.nn.initializers import FEW_INPUTS, Hinges, Initializer, Uniform

SEEDS = range(4)
WAYS: dict[str, Callable[[int], str | Initializer]] = {
    "zeros": lambda n_in: "zeros",
    "PyTorch": lambda n_in: Uniform(-1.0 / np.sqrt(n_in)),
    "default": lambda n_in: "auto",
    "uniform, 3/n_in": lambda n_in: Uniform(-3.0 / n_in),
    "hinges, 3/n_in": lambda n_in: Hinges(3.0 / n_in),
}


def curve(bias: str | Initializer, activation: str, seed: int) -> float:
    """The largest error of 64 units on sin(2x) exp(-x^2/4)."""
    x = np.linspace(-4.0, 4.0, 512, dtype="float32")[:, None]
    y = np.sin(2.0 * x) * np.exp(-(x**2) / 4.0)
    net = md.Sequential(md.Linear(64, bias_init=bias), activation, md.Linear(1))
    trainer = md.Trainer(net, loss="mse", optimizer=md.Adam(0.003), schedule="cosine", seed=seed)
    trainer.fit(x, y, epochs=500, batch_size=32)
    return float(np.abs(trainer.model(x) - y).max())


def tables(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Standardised inputs; integers as classes, other numbers standardised."""
    for pack in ("uci121.npz", "uci_regression.npz"):
        with np.load(folder / "packs" / pack) as file:
            for name in sorted({key.split("/")[0] for key in file}):
                X, y = file[f"{name}/X"].astype("float32"), file[f"{name}/y"].ravel()
                if X.shape[1] <= 30:
                    classes = np.unique(y, return_inverse=True)[1]
                    numbers = ((y - y.mean()) / y.std()).astype("float32")
                    X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
                    yield name, X, classes if pack == "uci121.npz" else numbers


def error(X: np.ndarray, y: np.ndarray, bias: str | Initializer, seed: int) -> float:
    """Log loss, or root mean squared error, on a quarter of the rows."""
    chosen = np.random.default_rng(seed).permutation(len(X))[:3000]
    train, test = np.split(chosen, [3 * len(chosen) // 4])
    classes = y.dtype.kind == "i"
    widths = md.Linear(64, bias_init=bias), "relu", md.Linear(64), "relu", md.Linear(int(y.max()) + 1 if classes else 1)
    loss = "cross_entropy" if classes else "mse"
    trainer = md.Trainer(md.Sequential(*widths), loss=loss, optimizer=md.Adam(3e-3), schedule="cosine", seed=seed)
    trainer.fit(X[train], y[train], epochs=40, batch_size=32)
    value = float(md.losses.as_loss(loss)(trainer.model(X[test]), y[test] if classes else y[test][:, None]))
    return value if classes else value**0.5


def main() -> None:
    lines = ["# Initial biases of nets with few inputs", "", "Written by `benchmarks/biases.py`.", ""]
    lines += ["Largest error of 64 units on sin(2x) exp(-x²/4) for x in [-4, 4], median and maximum of 4 seeds:", ""]
    lines += ["| biases | relu | tanh |", "| --- | --- | --- |"]
    for name, way in WAYS.items():
        found = [[curve(way(1), activation, seed) for seed in SEEDS] for activation in ("relu", "tanh")]
        lines.append(f"| {name} | " + " | ".join(f"{np.median(e):.3f}, {max(e):.3f}" for e in found) + " |")
    sets = list(tables(Path(os.environ["MADALINE_DATA"])))
    columns = np.array([X.shape[1] for _, X, _ in sets])
    errors = {
        name: np.array([np.mean([error(X, y, way(X.shape[1]), seed) for seed in range(2)]) for _, X, y in sets])
        for name, way in WAYS.items()
    }
    lines += ["", "Error on UCI sets relative to biases of 0 (mean of the log ratio; sets better, sets worse):", ""]
    groups = {"all": columns > 0, "up to 5 columns": columns <= 5}
    groups |= {"6 to 12": (columns > 5) & (columns <= FEW_INPUTS), "more": columns > FEW_INPUTS}
    lines += ["| biases | " + " | ".join(f"{name} ({sum(group)})" for name, group in groups.items()) + " |"]
    lines += ["| --- |" + " --- |" * len(groups)]
    for name in list(WAYS)[1:]:
        ratio = np.log(errors[name] / errors["zeros"])
        cells = [f"{ratio[g].mean():+.1%}; {sum(ratio[g] < 0)}, {sum(ratio[g] > 0)}" for g in groups.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    (harness.RESULTS / "biases.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
