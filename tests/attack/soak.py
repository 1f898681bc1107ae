"""Random training runs, kills, interrupts, loads, forks, cut files and predictions from many threads, for an hour.

``make soak`` prints one line for each run with its seed and a digest of its result, and at the end whether memory, open
files and threads stayed flat. ``python -m attack.soak --seed S --only K`` repeats run K alone, with the same digest.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import madaline as md
from attack import campaign
from madaline.errors import FileFormatError

SETTINGS = 16
"Number of different settings of runs. Each is trained once before the first run, so that all programs are cached."
WARM_UP = 0.4
"Share of the runs that do not count: modules are imported, and caches fill."
GROWTH = 1.03
"Allowed memory of the last third of the other runs, over that of their first third."
EPOCHS = 6


class Setting:
    """A net, its training and its data, all from one number."""

    def __init__(self, number):
        self.number = number
        rng = np.random.default_rng([17, number])
        pick = lambda things: things[rng.integers(len(things))]  # noqa: E731 - a name for one line
        n_rows, n_in = int(rng.integers(60, 3000)), int(rng.integers(1, 20))
        self.X = rng.normal(size=(n_rows, n_in)).astype(pick(["float32", "float64"]))
        self.is_class = bool(rng.integers(2))
        self.y = rng.integers(0, 3, n_rows) if self.is_class else np.tanh(self.X[:, :1])
        layers = []
        for _ in range(rng.integers(1, 4)):
            layers += [md.Linear(int(rng.integers(1, 70))), pick(["relu", "tanh", "gelu", "mish"])]
            layers += pick([[], [], [md.BatchNorm()], [md.Dropout(0.2)], [md.LayerNorm()]])
        self.net = md.Sequential(*layers, md.Linear(3 if self.is_class else 1))
        self.optimizer = pick(["adam", "sgd", "rmsprop", "adamw"])
        self.batch_size = int(pick([8, 32, 100, 1000]))
        self.options = pick([{}, {"validation": 0.2}, {"validation": 0.2, "early_stopping": 3}])

    def fit(self, *, threads=2, X=None, **options):
        loss = "cross_entropy" if self.is_class else "mse"
        trainer = md.Trainer(self.net, loss=loss, optimizer=self.optimizer, threads=threads, seed=3)
        given = {"epochs": EPOCHS, "batch_size": self.batch_size, "progress": False} | self.options | options
        trainer.fit(self.X if X is None else X, self.y, **given)
        return trainer

    def model(self):
        return self.fit().model


def digest(model):
    """A checksum of the parameters and the state of a model."""
    return hashlib.sha256(model.params.flat.tobytes() + model.state.flat.tobytes()).hexdigest()[:12]


class Actions:
    """One method for each kind of run: it returns a digest that depends on its generator alone, or raises."""

    def __init__(self, folder):
        self.folder = folder

    def train(self, rng, setting):
        first, again = (digest(setting.fit(threads=threads).model) for threads in (1, int(rng.integers(1, 5))))
        assert first == again, "the number of threads changed the result"
        return first

    def interrupt(self, rng, setting):
        path, whole = self.folder / "run", digest(setting.model())
        path.unlink(missing_ok=True)
        timer = threading.Timer(float(rng.uniform(0, 0.3)), os.kill, (os.getpid(), signal.SIGINT))
        with contextlib.suppress(KeyboardInterrupt):  # the run may be over before the signal comes
            timer.start()
            try:
                setting.fit(checkpoint=path)
            finally:
                timer.cancel()
                timer.join()
        found = digest(setting.fit(resume=path if path.exists() else None).model)
        assert found == whole, "an interrupted run was resumed with another result"
        return whole

    def kill(self, rng, setting):
        path, whole = self.folder / "killed", digest(setting.model())
        path.unlink(missing_ok=True)
        for _ in range(2):
            command = [sys.executable, "-m", "attack.soak", "--child", str(setting.number), str(path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
                assert child.stdout is not None
                child.stdout.readline()  # it trains now
                time.sleep(float(rng.uniform(0, 0.2)))
                child.kill()
        found = digest(setting.fit(resume=path if path.exists() else None).model)
        assert found == whole, "a killed run was resumed with another result"
        return whole

    def load(self, rng, setting):
        model, path = setting.model(), self.folder / "model"
        md.save(model, path)
        again = md.load(path)
        assert again(setting.X).tobytes() == model(setting.X).tobytes(), "a loaded model predicts something else"
        content = bytearray(path.read_bytes())
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(content)
        with contextlib.suppress(FileFormatError):
            md.load(path)
            raise AssertionError("a flipped bit was not noticed")
        return digest(again)

    def predict(self, rng, setting):
        model, n = setting.model(), int(rng.integers(2, 9))
        expected, wrong = model(setting.X).tobytes(), []

        def work():
            wrong.extend(1 for _ in range(5) if model(setting.X).tobytes() != expected)

        threads = [threading.Thread(target=work) for _ in range(n)]
        for thread in threads:
            thread.start()
        trained = digest(setting.model())  # at the same time
        for thread in threads:
            thread.join()
        assert not wrong, "a prediction depends on other threads"
        return trained

    def fork(self, rng, setting):
        expected, is_over = digest(setting.model()), threading.Event()

        def work():
            while not is_over.is_set():
                setting.fit(epochs=1)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            time.sleep(float(rng.uniform(0, 0.05)))
            child = os.fork()
            if not child:
                signal.alarm(120)
                os._exit(0 if digest(setting.model()) == expected else 3)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        finally:
            is_over.set()
            thread.join()
        assert code == 0, f"a forked child ended with {code}"
        return expected

    def cut(self, rng, setting):
        path = self.folder / "rows"
        setting.X.tofile(path)
        X = np.memmap(path, setting.X.dtype, mode="r", shape=setting.X.shape)
        timer = threading.Timer(float(rng.uniform(0, 0.1)), os.truncate, (path, 10))
        timer.start()
        with contextlib.suppress(FileFormatError):
            setting.fit(X=X, epochs=100)
        timer.join()
        return "-"

    def table(self, rng, setting):
        import pandas as pd

        n = 200
        frame = pd.DataFrame(
            {"a": rng.normal(size=n), "b": rng.choice(["x", "y", None], n), "c": rng.integers(0, 9, n)}
        )
        y = frame["a"] > 0
        estimator = md.MLPClassifier(hidden_layer_sizes=(8,), max_iter=3, data="auto", random_state=1).fit(frame, y)
        path = self.folder / "estimator"
        estimator.save(path)
        found = md.load(path).predict_proba(frame)
        assert found.tobytes() == estimator.predict_proba(frame).tobytes(), "a loaded estimator predicts something else"
        return digest(estimator.model_)


ACTIONS = [name for name, value in vars(Actions).items() if callable(value) and not name.startswith("_")]
"Kinds of runs, chosen evenly."


def one(seed, k, folder):
    """Do run ``k``: its kind, setting and digest."""
    rng = np.random.default_rng([seed, k])
    kind, number = ACTIONS[rng.integers(len(ACTIONS))], int(rng.integers(SETTINGS))
    setting = Setting(number)
    return kind, number, getattr(Actions(folder), kind)(rng, setting)


def resources():
    """Memory in MiB, open files, and threads of this process."""
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) / 1024, len(list(Path("/proc/self/fd").iterdir())), int(status["Threads"])


def judged(samples):
    """What grew, as sentences; nothing if all stayed flat."""
    samples = samples[int(WARM_UP * len(samples)) :]
    third = max(1, len(samples) // 3)
    first, last = samples[:third], samples[-third:]
    found = []
    for name, values in (("open files", 1), ("threads", 2)):
        before, after = (max(sample[values] for sample in part) for part in (first, last))
        if after > before:
            found.append(f"{name} grew from {before} to {after}")
    before, after = (statistics.median(sample[0] for sample in part) for part in (first, last))
    if after > GROWTH * before + 5:
        found.append(f"memory grew from {before:.0f} to {after:.0f} MiB")
    return found


def soak(minutes, seed, folder):
    """Run after run until the time is over: the number of failures, and a summary."""
    for number in range(SETTINGS):
        Setting(number).fit(threads=4)
    counts, samples, failures = Counter(), [], []
    started = time.monotonic()
    for k in range(1_000_000_000):
        if time.monotonic() - started > 60 * minutes:
            break
        try:
            kind, number, found = one(seed, k, folder)
            counts[kind] += 1
        except Exception as error:  # noqa: BLE001 - the next run follows, whatever it was
            kind, number, found = "FAILED", "-", f"{type(error).__name__}: {error}"
            failures.append(f"run {k}: {found}")
        samples.append(resources())
        memory, files, threads = samples[-1]
        print(
            f"{k:6d} {kind:10s} setting {number!s:3s} {found}  {memory:.0f} MiB {files} files {threads} threads",
            flush=True,
        )
    grown = judged(samples)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    quarters = [samples[int(share * (len(samples) - 1))] for share in (0, 0.25, 0.5, 0.75, 1)]
    lines = [
        f"seed {seed}: {sum(counts.values())} runs in {minutes:g} minutes: {kinds}",
        "MiB, files, threads after 0, 25, 50, 75, 100 %: " + "; ".join(f"{m:.0f}, {f}, {t}" for m, f, t in quarters),
        f"{len(failures)} failures; " + ("nothing grew" if not grown else "grown: see below"),
        *failures,
        *grown,
    ]
    return len(failures) + len(grown), "\n".join(lines) + "\n"


def child(number, path):
    """Train with a checkpoint, until this process is killed."""
    setting = Setting(number)

    class Started(md.Callback):
        every = 1

        def on_steps(self, trainer, step, values):
            if step == 1:
                print("training", flush=True)

    setting.fit(checkpoint=path, resume=path if Path(path).exists() else None, callbacks=Started())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="repeat this run alone")
    parser.add_argument("--save", action="store_true", help="keep the summary in the folder of results")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
    warnings.simplefilter("ignore")
    if options.child is not None:
        return child(int(options.child[0]), options.child[1])
    with tempfile.TemporaryDirectory() as folder:
        if options.only is not None:
            return print(*one(options.seed, options.only, Path(folder)))
        n_failures, text = soak(options.minutes, options.seed, Path(folder))
    print(f"\n{text}")
    if options.save:
        campaign.save("soak", text)
    sys.exit(n_failures > 0)


if __name__ == "__main__":
    main()
