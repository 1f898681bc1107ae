"""A population that tests kill or interrupt: ``python population_run.py folder``."""

from __future__ import annotations

import signal
import sys
import time

import numpy as np

import madaline as md


def run(folder, *, stop_at=None, threads=2, callback=None, **options):
    """Train four folds; ``stop_at`` is an epoch after which everything is stopped."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    net = md.mlp(8, 2, norm="batch", dropout=0.2)
    trainers = [md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(0.02), seed=seed) for seed in range(4)]
    population = md.Population(trainers, threads=threads)

    def stop(trainer, row):
        if row["epoch"] == stop_at:
            population.stop()

    population.fit(
        X,
        y,
        rows=[np.arange(300) % 4 != number for number in range(4)],
        validation_rows=[np.arange(300) % 4 == number for number in range(4)],
        epochs=12,
        batch_size=16,
        early_stopping=3,
        checkpoint=folder,
        callbacks=callback or stop,
        **options,
    )
    return population


def slow(trainer, row):
    """Say how far it is, and leave time to be killed."""
    sys.stdout.write(f"{int(row['epoch'])}\n")  # at once, because two threads do it
    sys.stdout.flush()
    time.sleep(0.1)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    population = run(sys.argv[1], callback=slow, resume=sys.argv[1], checkpoint_epochs=1)
    print(population.stopped, [history.stopped for history in population.histories], len(population.usable))
    print(np.isfinite(population.predict(np.zeros((2, 4)))).all())
