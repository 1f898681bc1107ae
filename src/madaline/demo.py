"""``python -m madaline.demo``: learn to tell penguins apart, and write what was learned to a file.

The table comes with the package. Measurements go into the net as they are, categories as embeddings; a fifth of the
birds is kept for the test, and a part of the others tells when to stop.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import madaline as md
from madaline.data.datasets import DATASETS

FOLDER = Path("demo")
NUMBERS = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
CATEGORIES = ("island", "sex")


def read() -> tuple[dict[str, np.ndarray], np.ndarray, list[str]]:
    """Inputs by name, species as numbers, and the names of the species. Birds with gaps are left out."""
    table = DATASETS["penguins"].table().drop_nulls()
    species, y = np.unique(table["species"].to_numpy(), return_inverse=True)
    inputs = {"numbers": table.select(NUMBERS).to_numpy().astype(np.float32)}
    for name in CATEGORIES:
        inputs[name] = np.unique(table[name].to_numpy(), return_inverse=True)[1].astype(np.int64)
    return inputs, y, species.tolist()


def net() -> md.Sequential:
    """Numbers scaled, categories as vectors, side by side into a net with two hidden layers."""
    return md.Sequential(
        md.Parallel(numbers=md.Standardize(), island=md.Embedding(3, 2), sex=md.Embedding(2, 1)),
        md.Concat(),
        md.mlp(32, 32, 3, activation="mish", dropout=0.1),
    )


def confusion(console: Console, truth: Any, guess: Any, names: list[str]) -> None:
    """Which species were taken for which."""
    table = Table("species", *(f"taken for {name}" for name in names), title="Penguins the net had not seen")
    for k, name in enumerate(names):
        counts = [int(np.sum((truth == k) & (guess == j))) for j in range(len(names))]
        table.add_row(name, *(f"[bold]{count}[/bold]" if j == k else str(count) for j, count in enumerate(counts)))
    console.print(table)


def main() -> None:
    """Train, show how it goes and how good it is, write model and history."""
    console = Console()
    inputs, y, names = read()
    order = np.random.default_rng(0).permutation(len(y))
    held, seen = order[: len(y) // 5], order[len(y) // 5 :]
    train, test = ({name: column[rows] for name, column in inputs.items()} for rows in (seen, held))
    dataset = DATASETS["penguins"]
    console.print(f"[bold]{len(y)} penguins[/bold]: {dataset.task}. {dataset.source} ({dataset.licence}).")

    trainer = md.Trainer(net(), loss="cross_entropy", optimizer=md.AdamW(3e-3, weight_decay=1e-2), schedule="cosine")
    history = trainer.fit(
        train,
        y[seen],
        epochs=200,
        batch_size=16,
        validation=0.2,
        metrics="accuracy",
        early_stopping=md.EarlyStopping("val_loss", patience=30),
        progress=True,
    )
    console.print(str(trainer.model), highlight=False, soft_wrap=True)
    console.print(f"\n{history}\n", highlight=False, soft_wrap=True)
    guess = np.argmax(trainer.predict(test), axis=1)
    confusion(console, y[held], guess, names)
    right = int(np.sum(guess == y[held]))
    console.print(f"{right} of {len(held)} are right: {right / len(held):.1%}. Ended by {history.stopped}.")

    FOLDER.mkdir(exist_ok=True)
    md.save(trainer.model, FOLDER / "penguins.madaline")
    history.frame().write_csv(FOLDER / "penguins-history.csv")
    again = md.load(FOLDER / "penguins.madaline")
    same = np.array_equal(np.argmax(again(test), axis=1), guess)
    console.print(f"Written: {FOLDER / 'penguins.madaline'} (read back, same answers: {same}), penguins-history.csv")


if __name__ == "__main__":
    main()
