"""Interleaved timing of several contestants, so that other load affects all of them equally; results are ratios."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAUSE = 0.25 if int(os.environ.get("OMP_NUM_THREADS", "1")) > 1 else 0.0
"Pause between contestants in seconds: idle threads of PyTorch and OpenBLAS spin and slow down the next contestant."


@dataclass
class Timing:
    """Seconds per call, one number per round."""

    rounds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.rounds)

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)


def interleave(
    contestants: dict[str, Callable[[], Any]],
    *,
    seconds: float = 1.0,
    rounds: int = 15,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Call A, B, C, A, B, C, ... in short bursts; each round yields one time for each contestant.

    Parameters
    ----------
    contestants : dict
        Functions without arguments. Each is called once in advance, to warm up.
    seconds : float
        Approximate measuring time per contestant.
    rounds : int
        Number of bursts per contestant.
    clock : callable
        ``time.process_time`` for CPU time.
    """
    counts = {}
    for name, call in contestants.items():
        call()
        start = clock()
        call()
        once = max(clock() - start, 1e-7)
        counts[name] = max(1, int(seconds / rounds / once))
    timings = {name: Timing() for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            count = counts[name]
            time.sleep(PAUSE)
            call()
            start = clock()
            for _ in range(count):
                call()
            timings[name].rounds.append((clock() - start) / count)
    return timings


def ratios(timings: dict[str, Timing], ours: str) -> dict[str, tuple[float, float, float]]:
    """Speedup of ``ours`` relative to each other contestant: median over the rounds, and interquartile range."""
    result = {}
    for name, timing in timings.items():
        if name == ours:
            continue
        each = sorted(theirs / mine for theirs, mine in zip(timing.rounds, timings[ours].rounds, strict=True))
        quarter = len(each) // 4
        result[name] = (statistics.median(each), each[quarter], each[-1 - quarter])
    return result


def machine() -> dict[str, Any]:
    """Description of the machine and the versions."""
    import madaline as md

    packages = {}
    for name in ("numpy", "scipy", "torch", "jax", "autograd", "scikit-learn", "keras", "onnxruntime"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "cpu": cpu(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "madaline": md.__version__,
        "isa": md.show_config(mode="dict")["isa"],
        "packages": packages,
        "date": time.strftime("%Y-%m-%d"),
    }


def cpu() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def save(name: str, data: dict[str, Any], markdown: str) -> None:
    """Save the numbers as JSON, and the page as Markdown."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (RESULTS / f"{name}.md").write_text(markdown, encoding="utf-8")


def update(name: str, part: str, data: Any) -> None:
    """Save one part of a result, keeping the parts that were measured earlier."""
    path = RESULTS / f"{name}.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    parts = {**known.get("parts", {}), part: {"date": time.strftime("%Y-%m-%d"), "load": os.getloadavg()[0], **data}}
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), "parts": parts}, indent=1) + "\n", encoding="utf-8")


def words(text: str) -> list[str]:
    """The comma-separated words of an option."""
    return [word for word in text.split(",") if word]


def numbers(text: str) -> list[int]:
    """The comma-separated numbers of an option."""
    return [int(word) for word in words(text)]


def table(title: str, header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [f"## {title}", "", "| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", ""])


def show_ratio(ratio: tuple[float, float, float]) -> str:
    """A ratio with its interquartile range: ``2.10 (1.95-2.24)``."""
    return f"{ratio[0]:.2f} ({ratio[1]:.2f}-{ratio[2]:.2f})"
