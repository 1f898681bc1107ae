"""A run that tests kill: ``python long_run.py checkpoint threads how``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import madaline as md

NET = md.Sequential(md.Linear(32), md.BatchNorm(), "relu", md.Dropout(0.2), md.Linear(16), "relu", md.Linear(3))


def run(path, threads, how):
    """The bytes of the model and the numbers of the history, wherever the run began."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] * X[:, 2] > 0)
    trainer = md.Trainer(
        NET, loss="cross_entropy", schedule="cosine", average=md.optim.EMA(0.99), clip_norm=1.0, threads=threads
    )
    print("start", flush=True)
    history = trainer.fit(
        X,
        y,
        epochs=240,
        batch_size=16,
        validation=0.2,
        metrics=["accuracy", "auc"],
        early_stopping=240,
        checkpoint=path,
        resume=path,
        checkpoint_epochs=None if how == "seconds" else 1,
        checkpoint_seconds=0.03 if how == "seconds" else None,
    )
    md.save(trainer.model, f"{path}.model")
    numbers = [history[name].tolist() for name in ("loss", "accuracy", "val_loss", "val_auc")]
    return Path(f"{path}.model").read_bytes(), repr([*numbers, history.best_epoch])


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), sys.argv[3])
