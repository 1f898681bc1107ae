"""Loss against rows seen: one process, local SGD and DiLoCo, on two real tables and on the synthetic day."""

from __future__ import annotations

from typing import Any

import numpy as np
import scale_data
import tabular

import madaline as md
from madaline.data import hash_categories

BATCH, POINTS, VALIDATION_ROWS = 64, 20, 10_000
ROWS = {"covertype": 240_000, "adult": 38_000, "synthetic": 160_000}
"Training rows of each table."
PASSES = {"covertype": 1, "adult": 3, "synthetic": 1}
RATES = (1e-3, 3e-3)
"Learning rates of Adam; each way of training uses the better one."
SETTINGS: list[tuple[str, int, int]] = [
    ("one process", 1, 1),
    *[("local SGD", replicas, steps) for replicas in (2, 4, 8) for steps in (1, 8, 64)],
    *[("DiLoCo", replicas, steps) for replicas in (2, 4, 8) for steps in (8, 64)],
]
BUCKETS, WIDTH = 1 << 10, 8


def real(name: str) -> tuple[Any, np.ndarray, Any, str]:
    """A table of MADALINE_DATA: encoded columns, classes, a net for them, and its loss."""
    import polars as pl

    table = tabular.load(name)
    chosen = np.random.default_rng(0).permutation(len(table.y))[: ROWS[name] + VALIDATION_ROWS]
    frame, y = table.X[chosen], np.unique(table.y, return_inverse=True)[1][chosen]
    kinds = [name for name in frame.columns if frame[name].dtype == pl.String or name in table.categorical]
    numbers = frame.drop(kinds).cast(pl.Float32).fill_null(strategy="mean").to_numpy()
    numbers = (numbers - numbers.mean(axis=0)) / (numbers.std(axis=0) + 1e-6)
    matrix = np.hstack([numbers, frame.select(kinds).cast(pl.String).to_dummies().to_numpy()]) if kinds else numbers
    return matrix.astype(np.float32), y, md.mlp(128, 128, int(y.max()) + 1), "cross_entropy"


def synthetic() -> tuple[Any, np.ndarray, Any, str]:
    """The synthetic day with smaller tables of embeddings."""
    rows = scale_data.rows(ROWS["synthetic"] + VALIDATION_ROWS, seed=0)
    x = {
        "categories": hash_categories({name: rows[name] for name in scale_data.CATEGORIES}, BUCKETS),
        "numbers": np.column_stack([rows[name] for name in scale_data.NUMBERS]),
    }
    table = md.Embedding(scale_data.N_CATEGORIES * BUCKETS, WIDTH, sparse=True, init=md.nn.initializers.Normal(0.05))
    inputs = md.Parallel(categories=table, numbers=md.nn.Identity())
    net = md.Sequential(inputs, md.Concat(), md.Linear(64), "relu", md.Linear(64), "relu", md.Linear(1))
    return x, rows[scale_data.TARGET], net, "binary_cross_entropy"


def curve(name: str, data: Any, way: str, replicas: int, steps: int, rate: float) -> list[float]:
    """The validation loss at some points of training, after equal numbers of rows."""
    x, y, net, loss = data
    n_rows = min(ROWS[name], len(y) - VALIDATION_ROWS)
    held, clicks = _rows(x, slice(n_rows, None)), y[n_rows:]
    trainer = md.Trainer(net, loss=loss, optimizer=md.Adam(rate), seed=1)
    outer = {"replicas": replicas, "local_steps": steps, "outer": "nesterov" if way == "DiLoCo" else "mean"}
    order = np.concatenate([np.random.default_rng(k).permutation(n_rows) for k in range(PASSES[name])])
    history = trainer.fit(
        md.Stream(Portions(x, y, order)),
        epochs=POINTS,
        batch_size=BATCH,
        validation=(held, clicks),
        progress=False,
        **(outer if replicas > 1 else {}),
    )
    return [float(value) for value in history["val_loss"]]


class Portions:
    """Rows that are read once: every epoch takes the next portion of them."""

    def __init__(self, x: Any, y: np.ndarray, order: np.ndarray) -> None:
        self.n_rows = len(order) // POINTS
        self._x, self._y, self._order, self._calls = x, y, order, 0

    def chunks(self, rng: np.random.Generator | None) -> list[Any]:
        """The next portion; the first call looks at an example."""
        number, self._calls = max(self._calls - 1, 0), self._calls + 1
        part = self._order[number * self.n_rows : (number + 1) * self.n_rows]
        return [(_rows(self._x, part), self._y[part])]


def _rows(x: Any, part: Any) -> Any:
    return {name: value[part] for name, value in x.items()} if isinstance(x, dict) else x[part]


def measure(name: str) -> dict[str, Any]:
    """Curves of all ways of training, each with its better learning rate."""
    data = synthetic() if name == "synthetic" else real(name)
    found: list[dict[str, Any]] = []
    for way, replicas, steps in SETTINGS:
        curves = {rate: curve(name, data, way, replicas, steps, rate) for rate in RATES}
        rate = min(curves, key=lambda rate: min(curves[rate]))
        found.append({"way": way, "replicas": replicas, "local_steps": steps, "rate": rate, "loss": curves[rate]})
        print(name, way, replicas, steps, rate, [round(value, 4) for value in curves[rate][4::5]], flush=True)
    rows = min(ROWS[name], len(data[1]) - VALIDATION_ROWS) * PASSES[name]
    parameters = data[2].init(data[0]).network.n_params
    return {"rows": rows, "batch": BATCH, "parameters": parameters, "curves": found}
