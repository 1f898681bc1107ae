"""Test errors of permutation-invariant MNIST for two nets of table 2 in the dropout paper.

``MADALINE_DATA=... python benchmarks/mnist.py [--nets plain,dropout] [--stages tune,train]`` takes hours. First, short
runs on some of the first 50,000 rows choose the optimizer by the errors on the last 10,000 training rows. Then the best
one is trained on all 60,000 rows. The test set is only evaluated, after each epoch, and not used for any choice. An
interrupted run is resumed.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import harness
import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Task:
    """A net, its target error, and the candidate optimizers."""

    title: str
    net: Mapping[str, Any]
    widths: tuple[int, ...]
    target: float
    batch: int
    tuning_rows: int
    tuning_epochs: int
    epochs: int
    candidates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


TASKS = {
    "plain": Task(
        "784-800-800-10, ReLU, no dropout",
        {},
        (800, 800, 10),
        target=0.0165,
        batch=100,
        tuning_rows=50_000,
        tuning_epochs=12,
        epochs=30,
        candidates={
            "SGD 0.1, Nesterov 0.9": {"optimizer": md.SGD(0.1, momentum=0.9, nesterov=True)},
            "SGD 0.1, Nesterov 0.9, L2 2e-5": {
                "optimizer": md.SGD(0.1, momentum=0.9, nesterov=True),
                "regularizer": md.optim.L2(2e-5),
            },
            "SGD 0.1, Nesterov 0.9, L2 1e-4": {
                "optimizer": md.SGD(0.1, momentum=0.9, nesterov=True),
                "regularizer": md.optim.L2(1e-4),
            },
            "Adam 0.001": {"optimizer": md.Adam(1e-3)},
        },
    ),
    "dropout": Task(
        "784-3x1024-10, ReLU, dropout 0.2 of inputs and 0.5 of units, max-norm",
        {"dropout": 0.5, "input_dropout": 0.2},
        (1024, 1024, 1024, 10),
        target=0.0110,
        batch=200,
        tuning_rows=20_000,
        tuning_epochs=5,
        epochs=100,
        candidates={
            "SGD 0.1, Nesterov 0.95, max-norm 3": {
                "optimizer": md.SGD(0.1, momentum=0.95, nesterov=True),
                "constraint": md.optim.MaxNorm(3.0),
            },
            "SGD 0.1, Nesterov 0.95, max-norm 2": {
                "optimizer": md.SGD(0.1, momentum=0.95, nesterov=True),
                "constraint": md.optim.MaxNorm(2.0),
            },
            "Adam 0.001, max-norm 2": {"optimizer": md.Adam(1e-3), "constraint": md.optim.MaxNorm(2.0)},
        },
    ),
}


def digits(folder: Path) -> tuple[Array, Array, Array, Array]:
    """Training and test rows with pixels from 0 to 1, and their classes."""
    with np.load(folder / "image" / "mnist.npz") as file:
        X, X_test = (file[name].reshape(-1, 784).astype(np.float32) / 255 for name in ("x_train", "x_test"))
        return X, file["y_train"].astype(np.int64), X_test, file["y_test"].astype(np.int64)


def run(task: Task, candidate: str, rows: tuple[Array, ...], *, epochs: int, checkpoint: Path) -> dict[str, Any]:
    """Train on the first pair of arrays; returns the errors on the second after each epoch, and the time."""
    X, y, X_held, y_held = rows
    trainer = md.Trainer(
        md.mlp(*task.widths, **task.net),
        loss="cross_entropy",
        schedule="cosine",
        threads=2,
        **task.candidates[candidate],
    )

    def tell(_: md.Trainer, row: dict[str, Any]) -> None:
        error = 1 - row["val_accuracy"]
        print(f"{candidate}, epoch {row['epoch']}: loss {row['loss']:.5f}, error {error:.2%}", flush=True)

    start = time.process_time()
    history = trainer.fit(
        X,
        y,
        epochs=epochs,
        batch_size=task.batch,
        validation=(X_held, y_held),
        metrics="accuracy",
        callbacks=tell,
        checkpoint=checkpoint,
        resume=checkpoint,
    )
    return {
        "candidate": candidate,
        "epochs": epochs,
        "loss": [round(float(value), 6) for value in history["loss"]],
        "error": [round(1 - float(value), 6) for value in history["val_accuracy"]],
        "wall_seconds": float(np.sum(history["seconds"])),
        "cpu_seconds_of_this_process": time.process_time() - start,
    }


def tune(name: str, task: Task, folder: Path, scratch: Path, epochs: int | None) -> None:
    """Train the candidates on a part of the training rows, and save their errors on the other training rows."""
    X, y, _, _ = digits(folder)
    n, held = task.tuning_rows, 50_000
    rows = X[:n], y[:n], X[held:], y[held:]
    found = []
    for place, candidate in enumerate(task.candidates):
        checkpoint = scratch / f"mnist-{name}-{place}.checkpoint"
        found.append(run(task, candidate, rows, epochs=epochs or task.tuning_epochs, checkpoint=checkpoint))
    harness.update("mnist", f"{name}, tuning", {"runs": found})


def train(name: str, task: Task, folder: Path, scratch: Path, epochs: int | None) -> None:
    """Train the best candidate on all rows."""
    parts = json.loads((harness.RESULTS / "mnist.json").read_text(encoding="utf-8"))["parts"]
    best = min(parts[f"{name}, tuning"]["runs"], key=lambda one: one["error"][-1])["candidate"]
    rows = digits(folder)
    found = run(task, best, rows, epochs=epochs or task.epochs, checkpoint=scratch / f"mnist-{name}.checkpoint")
    harness.update("mnist", name, {"target": task.target, **found})


def report() -> str:
    """The text of the page."""
    data = json.loads((harness.RESULTS / "mnist.json").read_text(encoding="utf-8"))
    parts, machine = data["parts"], data["machine"]
    rows, tuning, logs = [], [], []
    for name, task in TASKS.items():
        tuning += [
            [task.title, one["candidate"], f"{one['epochs']} of {task.tuning_rows:,} rows", f"{one['error'][-1]:.2%}"]
            for one in parts.get(f"{name}, tuning", {"runs": []})["runs"]
        ]
        if name not in parts:
            continue
        part = parts[name]
        error, minutes = part["error"][-1], part["wall_seconds"] / 60
        verdict = "met" if error <= task.target else "**missed**"
        rows.append(
            [
                task.title,
                part["candidate"],
                f"{part['epochs']} of batches of {task.batch}",
                f"{error:.2%}",
                f"{task.target:.2%} {verdict}",
                f"{minutes:.0f}",
            ]
        )
        every = max(1, part["epochs"] // 20)
        kept = [epoch for epoch in range(1, part["epochs"] + 1) if epoch % every == 0 or epoch == part["epochs"]]
        table = [[str(e), f"{part['loss'][e - 1]:.5f}", f"{part['error'][e - 1]:.2%}"] for e in kept]
        logs.append(harness.table(f"Log of {task.title}", ["epoch", "training loss", "test error"], table))
    head = (
        "# MNIST: test errors of the nets of the dropout paper\n\n"
        "Made by `benchmarks/mnist.py`: pixels from 0 to 1 without knowledge about images, all 60,000 training rows, "
        "a cosine schedule down to zero, the error on the 10,000 test rows after the last epoch (no epoch is "
        "selected). Srivastava et al. (2014), table 2, have 1.60% for the first net (of Simard et al., 2003, without "
        "dropout) and 1.06% for the second.\n\n"
        f"Machine: {machine['cpu']}, {machine['cpus']} CPUs, 2 threads at lowest priority and with other load: times "
        "are upper bounds.\n\n"
    )
    header = ["net", "descent", "epochs", "test error", "target", "minutes"]
    chosen = ["net", "optimizer", "epochs", "error on 10,000 validation rows"]
    return head + harness.table("Result", header, rows) + harness.table("Tuning", chosen, tuning) + "".join(logs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", type=harness.words, default=list(TASKS))
    parser.add_argument("--stages", type=harness.words, default=["tune", "train"])
    parser.add_argument("--epochs", type=int, help="number of epochs (default: that of the task)")
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()), help="folder for checkpoints")
    options = parser.parse_args()
    if not os.environ.get("MADALINE_DATA"):
        raise SystemExit("Set MADALINE_DATA to the folder that holds image/mnist.npz.")
    folder = Path(os.environ["MADALINE_DATA"])
    for name in options.nets:
        for stage in options.stages:
            {"tune": tune, "train": train}[stage](name, TASKS[name], folder, options.scratch, options.epochs)
            (harness.RESULTS / "mnist.md").write_text(report(), encoding="utf-8")


if __name__ == "__main__":
    main()
