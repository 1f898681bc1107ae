"""Training past one machine: streamed rows, rounds of replicas, and what they cost.

    python benchmarks/scale.py stream --rows 2000000      one process: reading, computing, both at once
    python benchmarks/scale.py page                       results/scale.md and the pictures from results/scale.json
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import scale_data
from harness import update

import madaline as md

BUCKETS, WIDTH, BATCH = 1 << 18, 16, 4096


def net() -> md.Sequential:
    """Hashed embeddings of 2**18 x 16 for each of 26 columns, beside 13 numbers; 256-256-1."""
    table = md.Embedding(
        scale_data.N_CATEGORIES * BUCKETS, WIDTH, sparse=True, init=md.nn.initializers.Normal(0.05)
    )
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


class Memory:
    """The largest memory of this process between two moments, in bytes."""

    def __enter__(self) -> Memory:
        self.start, self.most, self._is_over = _resident(), 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.02):
            self.most = max(self.most, _resident())


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def timed(call: Any) -> tuple[float, float]:
    """Wall and CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def stream_part(rows: int, rounds: int, folder: Path) -> None:
    """Rows per second of reading alone, of training on the same rows in memory, and of training while reading."""
    started = time.perf_counter()
    paths = scale_data.write(folder, rows)
    size = sum(path.stat().st_size for path in paths)
    print(f"{rows:,} rows, {size / 1e6:.0f} MB, written in {time.perf_counter() - started:.0f} s", flush=True)
    stream = day(paths)
    rows = stream.n_rows or 0

    def read() -> None:
        for _ in stream.blocks(batch_size=BATCH, seed=0, epoch=0, shuffle=True):
            pass

    trainer = md.Trainer(net(), loss="binary_cross_entropy", optimizer=md.Adam(1e-3))
    few = md.Stream(lambda: [next(iter(stream.blocks(batch_size=BATCH, seed=0, epoch=0, shuffle=True)))])
    trainer.fit(few, epochs=1, batch_size=BATCH)  # plans programs, touches memory
    with Memory() as reading_memory:
        read()
    x, y = in_memory(stream)
    calls = {
        "read": read,
        "compute": lambda: trainer.partial_fit(x, y, epochs=1, batch_size=BATCH),
        "both": lambda: trainer.partial_fit(stream, epochs=1, batch_size=BATCH),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            found[name].append(timed(call))
            wall, cpu = found[name][-1]
            print(f"round {number} {name:8} {rows / wall:10,.0f} rows/s {rows / cpu:10,.0f} rows/CPU s", flush=True)
    del x, y
    before = _resident()
    with Memory() as training_memory:
        trainer.partial_fit(stream, epochs=1, batch_size=BATCH)
    speed = {name: [rows / wall for wall, _ in times] for name, times in found.items()}
    shares = [b / min(r, c) for r, c, b in zip(speed["read"], speed["compute"], speed["both"], strict=True)]
    data = {
        "rows": rows,
        "bytes": size,
        "files": len(paths),
        "batch": BATCH,
        "parameters": int(trainer.model.network.n_params),
        "rows_per_second": {name: statistics.median(values) for name, values in speed.items()},
        "rows_per_cpu_second": {
            name: statistics.median(rows / cpu for _, cpu in times) for name, times in found.items()
        },
        "share": statistics.median(shares),
        "shares": shares,
        "reading_peak_bytes": reading_memory.most - reading_memory.start,
        "training_peak_bytes": training_memory.most - before,
        "peak_bytes": training_memory.most,
    }
    update("scale", "stream", data)
    for name, value in data.items():
        print(name, value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["stream"])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the synthetic table here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        stream_part(given.rows, given.rounds, folder)


if __name__ == "__main__":
    main()
