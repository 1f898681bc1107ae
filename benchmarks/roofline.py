"""Roofline of a training step: its flops at the FMA peak, and its bytes at the bandwidth of the cache.

    python benchmarks/roofline.py

The limit is the slower of the two, assuming perfect overlap: no program can be faster, and most are far from it.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import harness
from workloads import WORKLOADS, Workload

FOLDER = Path(__file__).parent.parent / "build" / "benchmarks"
KEPT = harness.RESULTS / "roofline.json"


@dataclass(frozen=True)
class Peaks:
    """FMA peak in flops per second, and bandwidth in bytes per second by memory size, for a number of threads."""

    threads: int
    flops: float
    bandwidth: dict[int, float]

    def bandwidth_at(self, n_bytes: float) -> float:
        """Bandwidth of the smallest measured memory size that holds this many bytes, distributed over the threads."""
        share = n_bytes / self.threads
        return self.bandwidth[min((size for size in self.bandwidth if size >= share), default=max(self.bandwidth))]

    def seconds(self, *, flops: float, n_bytes: float, footprint: float) -> float:
        """Minimum time for a number of flops and bytes."""
        return max(flops / self.flops, n_bytes / self.bandwidth_at(footprint))

    def prediction(self, workload: Workload, n_rows: int) -> float:
        """Minimum time of a prediction: its products, and reading its weights once."""
        n_bytes = 4 * workload.n_weights
        return self.seconds(flops=2 * n_rows * workload.n_weights, n_bytes=n_bytes, footprint=n_bytes)

    def step(self, workload: Workload) -> float:
        """Minimum time of a training step."""
        return self.seconds(flops=workload.flops(), n_bytes=workload.bytes(), footprint=workload.footprint())


def peaks(threads: int) -> Peaks:
    """Measure for a second. The best values for each CPU are saved and used, since other load can only reduce them."""
    text = subprocess.run([_built(), str(threads)], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        kind, size, rate = line.split()
        found[f"{kind} {size}"] = 1e9 * float(rate)
    known = _kept()
    before = known.get(_place(threads), {})
    known[_place(threads)] = {key: max(rate, before.get(key, 0.0)) for key, rate in found.items()}
    KEPT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return kept_peaks(threads)


def kept_peaks(threads: int) -> Peaks:
    """The best saved values for this CPU, with this number of threads or fewer."""
    known = [_kept().get(_place(count), {}) for count in range(1, threads + 1)]
    best = {key: max(rates.get(key, 0.0) for rates in known) for key in known[-1]}
    bandwidth = {int(key.split()[1]): rate for key, rate in best.items() if key.startswith("triad")}
    return Peaks(threads, best["fma 0"], bandwidth)


def _kept() -> dict[str, dict[str, float]]:
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def _place(threads: int) -> str:
    return f"{harness.cpu()}, {threads} threads"


def _built() -> Path:
    source = Path(__file__).parent / "native_peaks.cpp"
    program = FOLDER / "native_peaks"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        FOLDER.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CXX", "g++")
        flags = ["-O3", "-march=native", "-ffast-math", "-std=c++20", "-pthread"]
        subprocess.run([compiler, *flags, str(source), "-o", str(program)], check=True)
    return program


def main() -> None:
    rows = []
    for threads in (1, 2):
        found = peaks(threads)
        print(f"{threads} threads: FMA {found.flops * 1e-9:.0f} GFLOP/s;", end=" ")
        print("; ".join(f"{size >> 10:,} KiB {rate * 1e-9:.0f} GB/s" for size, rate in found.bandwidth.items()))
        rows += [[workload.name, str(threads), f"{1 / found.step(workload):,.0f}"] for workload in WORKLOADS.values()]
    print(harness.table("Limits", ["workload", "threads", "maximum steps/s"], rows))


if __name__ == "__main__":
    main()
