"""Contestants in separate processes: each library with its own number of threads."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harness import Timing
from peers import FILES, CannotError
from workloads import Workload

USE_OPENMP = ("torch", "torch.compile", "sklearn")
TRIALS = 3
"Number of calls with which one of two wait policies is chosen."


class Worker:
    """A contestant: a library with a number of threads.

    Parameters
    ----------
    name : str
        One of :data:`peers.FILES`.
    threads : int
        Maximum number of threads. Libraries read such settings when they are imported, hence the separate process.
    wait : {"PASSIVE", "ACTIVE"}
        Whether idle OpenMP threads sleep or spin for a while.
    """

    def __init__(self, name: str, threads: int, wait: str = "PASSIVE") -> None:
        self.name, self.threads, self.wait = name, threads, wait
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        with _environment(_settings(threads, wait)):
            self._process = context.Process(target=_serve, args=(name, threads, theirs), daemon=True)
            self._process.start()

    def ask(self, question: str, *arguments: Any) -> Any:
        """Call a method of :class:`Session` in the process, which only runs during the call.

        Idle threads of some libraries spin, possibly for minutes, and would slow down the others.
        """
        self._signal(signal.SIGCONT)
        self._pipe.send((question, arguments))
        kind, answer = self._pipe.recv()
        self._signal(signal.SIGSTOP)
        if kind == "cannot":
            raise CannotError(answer)
        if kind == "error":
            raise RuntimeError(f"{self.name} with {self.threads} threads:\n{answer}")
        return answer

    def close(self) -> None:
        """End the process."""
        self._signal(signal.SIGCONT)
        self._pipe.send(None)
        self._process.join(timeout=5)
        self._process.kill()

    def _signal(self, number: signal.Signals) -> None:
        if self._process.pid is not None:
            os.kill(self._process.pid, number)


class Session:
    """The side of a contestant inside its process."""

    def __init__(self, name: str, threads: int) -> None:
        self.name, self.threads = name, threads
        self._module = importlib.import_module(f"peers.{FILES[name]}")
        self._call: Callable[..., Any]

    def losses(self, workload: Workload, count: int) -> list[float] | str:
        """The mean losses of the first epochs without shuffling, or the reason why they cannot be compared."""
        if hasattr(self._module, "differs") and (reason := self._module.differs(workload)):
            return str(reason)
        epochs = self._module.TRAINERS[self.name](workload, self.threads, shuffle=False)
        return [epochs(1) for _ in range(count)]

    def train(self, workload: Workload) -> dict[str, float]:
        """Prepare for training; returns the seconds for compilation and the first epoch, and its loss."""
        start = time.perf_counter()
        shuffle = workload.batch < workload.rows  # a full batch needs no shuffling
        self._call = self._module.TRAINERS[self.name](workload, self.threads, shuffle=shuffle)
        loss = self._call(1)
        return {"seconds": time.perf_counter() - start, "loss": loss}

    def predict(self, workload: Workload, n_rows: int) -> Any:
        """Prepare for prediction; returns the probabilities."""
        X = workload.data()[0][:n_rows]
        function = self._module.PREDICTORS[self.name](workload, self.threads)

        def repeat(count: int) -> None:
            for _ in range(count):
                function(X)

        self._call = repeat
        return function(X)

    def seconds(self, count: int) -> float:
        """Repeat the prepared operation."""
        start = time.perf_counter()
        self._call(count)
        return time.perf_counter() - start


@contextmanager
def workers(names: list[str], threads: list[int]) -> Iterator[list[Worker]]:
    """Every library with every number of threads; those with OpenMP also with both wait policies."""
    found: list[Worker] = []
    try:
        for count in threads:
            for name in names:
                ways = ("PASSIVE", "ACTIVE") if count > 1 and name in USE_OPENMP else ("PASSIVE",)
                found += [Worker(name, count, wait) for wait in ways]
        yield found
    finally:
        for worker in found:
            worker.close()


def faster_of_each(ready: list[Worker]) -> list[Worker]:
    """The faster wait policy of each library, by the best of several alternating calls. It depends on the net and on
    other load.
    """
    times = {id(worker): float("inf") for worker in ready}
    for _ in range(TRIALS):
        for worker in ready:
            if sum((worker.name, worker.threads) == (other.name, other.threads) for other in ready) > 1:
                times[id(worker)] = min(times[id(worker)], worker.ask("seconds", 1))
    found: dict[tuple[str, int], Worker] = {}
    for worker in ready:
        before = found.setdefault((worker.name, worker.threads), worker)
        if times[id(worker)] < times[id(before)]:
            found[worker.name, worker.threads] = worker
    return list(found.values())


def interleave(contestants: list[Worker], *, seconds: float, rounds: int) -> list[Timing]:
    """Run A, B, C, A, B, C, ... for about ``seconds`` each; returns seconds per call (an epoch or a prediction).

    A contestant whose call takes longer than its time in a round leaves early, but not before its second round.
    """
    counts, turns = [], []
    for worker in contestants:
        count = 1
        while (passed := worker.ask("seconds", count)) < seconds / rounds / 2 and count < 1 << 24:
            count *= 2 if passed > seconds / rounds / 8 else 4
        counts.append(max(1, round(count * seconds / rounds / passed)))
        turns.append(min(rounds, max(2, round(seconds * count / passed))) if count == 1 else rounds)
    timings = [Timing() for _ in contestants]
    for turn in range(rounds):
        for worker, count, last, timing in zip(contestants, counts, turns, timings, strict=True):
            if turn < last:
                timing.rounds.append(worker.ask("seconds", count) / count)
    return timings


def _serve(name: str, threads: int, pipe: Any) -> None:
    session = None
    while (message := pipe.recv()) is not None:
        question, arguments = message
        try:
            session = session or Session(name, threads)
            pipe.send(("answer", getattr(session, question)(*arguments)))
        except (CannotError, ImportError) as reason:
            pipe.send(("cannot", str(reason)))
        except Exception:  # noqa: BLE001 - the parent raises it
            pipe.send(("error", traceback.format_exc()))


def _settings(threads: int, wait: str) -> dict[str, str]:
    names = ("MADALINE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    several = "true" if threads > 1 else "false"
    flags = f"--xla_cpu_multi_thread_eigen={several} intra_op_parallelism_threads={threads}"
    return {name: str(threads) for name in names} | {
        # Spinning threads start sooner; with other load, they make PyTorch and scikit-learn ten times slower.
        "OMP_WAIT_POLICY": wait,
        "OPENBLAS_THREAD_TIMEOUT": "4",
        "XLA_FLAGS": flags,
        "JAX_PLATFORMS": "cpu",
        "KERAS_BACKEND": "jax",
        "NPROC": str(threads),  # the size of XLA's thread pool
    }


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
