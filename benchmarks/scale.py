"""Training past one machine: streamed rows, rounds of replicas, and what they cost.

python benchmarks/scale.py stream --rows 2000000      one process: reading, computing, both at once
python benchmarks/scale.py page                       results/scale.md and the pictures from results/scale.json
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scale_data
from harness import update

import madaline as md

BUCKETS, WIDTH, BATCH = 1 << 18, 16, 4096


def net() -> md.Sequential:
    """Hashed embeddings of 2**18 x 16 for each of 26 columns, beside 13 numbers; 256-256-1."""
    table = md.Embedding(scale_data.N_CATEGORIES * BUCKETS, WIDTH, sparse=True, init=md.nn.initializers.Normal(0.05))
    inputs = md.Parallel(categories=table, numbers=md.nn.Identity())
    hidden = [md.Linear(256), "relu", md.Linear(256), "relu", md.Linear(1)]
    return md.Sequential(inputs, md.Concat(), *hidden)


def day(paths: list[Path]) -> md.Stream:
    """The rows of the synthetic day."""
    return md.Stream(
        [str(path) for path in paths], target=scale_data.TARGET, categories=scale_data.CATEGORIES, buckets=BUCKETS
    )


def in_memory(stream: md.Stream) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """All rows as arrays."""
    chunks = list(stream.blocks(batch_size=BATCH, seed=0, epoch=0, shuffle=False))
    x = {name: np.concatenate([chunk[0][name] for chunk in chunks]) for name in chunks[0][0]}
    return x, np.concatenate([chunk[1] for chunk in chunks])


class Epoch(md.Callback):
    """Wall and CPU seconds from the first to the last step."""

    def on_fit_start(self, trainer: Any) -> None:
        self._start = time.perf_counter(), time.process_time()

    def on_epoch_end(self, trainer: Any, row: dict[str, float]) -> None:
        self.seconds = time.perf_counter() - self._start[0], time.process_time() - self._start[1]


def read_all(stream: md.Stream) -> tuple[float, float]:
    """Wall and CPU seconds of reading and shuffling all rows."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in stream.blocks(batch_size=BATCH, seed=0, epoch=0, shuffle=True):
        pass
    return time.perf_counter() - wall, time.process_time() - cpu


def train(trainer: md.Trainer, *data: Any) -> tuple[float, float]:
    """Wall and CPU seconds of one epoch."""
    epoch = Epoch()
    trainer.partial_fit(*data, epochs=1, batch_size=BATCH, callbacks=epoch)
    return epoch.seconds


def stream_part(rows: int, compared: int, rounds: int, folder: Path) -> None:
    """Rows per second of reading alone, of training on the same rows in memory, and of training while reading.

    The three are measured in turn, with the first ``compared`` rows.
    """
    started = time.perf_counter()
    paths = scale_data.write(folder, rows)
    size = sum(path.stat().st_size for path in paths)
    print(f"{rows:,} rows, {size / 1e6:.0f} MB, written in {time.perf_counter() - started:.0f} s", flush=True)
    stream = day(paths[: -(-compared // (scale_data.GROUP_ROWS * scale_data.FILE_GROUPS))])
    compared = stream.n_rows or 0
    trainer = md.Trainer(net(), loss="binary_cross_entropy", optimizer=md.Adam(1e-3))
    X, click, _ = stream.first()
    trainer.fit(X, click, epochs=1, batch_size=BATCH)  # plans programs, takes memory
    vectors = len(np.unique(X["categories"][:BATCH]))
    x, y = in_memory(stream)
    calls: dict[str, Callable[[], tuple[float, float]]] = {
        "read": partial(read_all, stream),
        "compute": partial(train, trainer, x, y),
        "both": partial(train, trainer, stream),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            wall, cpu = call()
            found[name].append((wall, cpu))
            print(f"{number} {name:8} {compared / wall:10,.0f} rows/s {compared / cpu:10,.0f} rows/CPU s", flush=True)
    calls.clear()
    del x, y, X, click, stream
    speed = {name: [compared / wall for wall, _ in times] for name, times in found.items()}
    shares = [b / min(r, c) for r, c, b in zip(speed["read"], speed["compute"], speed["both"], strict=True)]
    data = {
        "rows": rows,
        "bytes": size,
        "files": len(paths),
        "batch": BATCH,
        "parameters": int(trainer.model.network.n_params),
        "compared_rows": compared,
        "vectors": vectors,
        "rows_per_second": {name: statistics.median(values) for name, values in speed.items()},
        "rows_per_cpu_second": {
            name: statistics.median(compared / cpu for _, cpu in times) for name, times in found.items()
        },
        "share": statistics.median(shares),
        "shares": shares,
    }
    update("scale", "stream", data)
    print(data)


def whole_part(rows: int, folder: Path) -> None:
    """One epoch from all rows, in a process that does nothing else: rows per second and the largest memory."""
    paths = scale_data.write(folder, rows)
    trainer, epoch = md.Trainer(net(), loss="binary_cross_entropy", optimizer=md.Adam(1e-3)), Epoch()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    held = day(paths[-1:]).first()
    trainer.fit(day(paths[:-1]), epochs=1, batch_size=BATCH, callbacks=epoch, validation=(held[0], held[1]))
    used, (wall, cpu) = sum(day([path]).n_rows or 0 for path in paths[:-1]), epoch.seconds
    data = {
        "rows": used,
        "bytes": sum(path.stat().st_size for path in paths[:-1]),
        "seconds": wall,
        "rows_per_second": used / wall,
        "rows_per_cpu_second": used / cpu,
        "loss": float(trainer.history["loss"][-1]),
        "val_loss": float(trainer.history["val_loss"][-1]),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "bytes_before": before * 1024,
        "parameter_bytes": int(trainer.model.params.flat.nbytes),
    }
    update("scale", "whole", data)
    print(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["stream", "whole", "curves", "rounds", "page"])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--compared", type=int, default=1_000_000, help="rows for the comparison in memory")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the synthetic table here")
    given = parser.parse_args()
    if given.part == "curves":
        import scale_curves

        for name in scale_curves.ROWS:
            update("scale", f"curves-{name}", scale_curves.measure(name))
        return
    if given.part == "rounds":
        import scale_rounds

        for part, measure in scale_rounds.PARTS.items():
            update("scale", part, measure())
        return
    if given.part == "page":
        import scale_page

        scale_page.write()
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if given.part == "whole":
            whole_part(given.rows, folder)
        else:
            stream_part(given.rows, given.compared, given.rounds, folder)


if __name__ == "__main__":
    main()
