"""Mutated model files and checkpoints: each is refused with a FileFormatError, or is a model that works."""

from __future__ import annotations

import collections
import shutil
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import madaline as md
from attack import mutations
from attack.campaign import GOOD, failure_of, no_longer_than
from functional import golden_files
from madaline import container
from madaline.errors import ConfigError, DivergenceError, FileFormatError, InputError, MadalineError

SECONDS = 5.0
"A file of a few kilobytes that takes more processor time hangs."


class ModelFile:
    """A model file and what people do with it first."""

    kinds = ("model", "estimator")

    def __init__(self, path, X):
        self.name, self.path, self.X = path.stem, path, X

    def use(self, path):
        model = md.load(path)
        repr(model)
        if isinstance(model, md.Model):
            model(self.X)
            md.save(model, path.with_suffix(".again"))
            return
        for name in ("predict", "predict_proba", "predict_interval", "decision_function"):
            if hasattr(model, name) and (name != "predict_interval" or getattr(model, "is_calibrated", True)):
                getattr(model, name)(self.X)
        model.save(path.with_suffix(".again"))
        md.load(path.with_suffix(".again"))


class CheckpointFile:
    """A checkpoint in the middle of an epoch, and a run that resumes from it."""

    kinds = ("checkpoint",)
    name = "checkpoint"

    def __init__(self, folder):
        self.path = folder / "checkpoint"
        self.X = np.random.default_rng(0).normal(size=(40, 3))
        self.fit(epochs=3, checkpoint=self.path, callbacks=Stop())

    def fit(self, **options):
        net = md.Sequential(md.Linear(4), md.BatchNorm(), "tanh", md.Linear(1))
        schedule = md.optim.schedules.ReduceOnPlateau(0.5, patience=0)
        trainer = md.Trainer(net, loss="mse", optimizer="adam", schedule=schedule)
        options = {"batch_size": 8, "validation": 0.25, "early_stopping": 2, "record_steps": True} | options
        trainer.fit(self.X, self.X[:, :1], **options)

    def use(self, path):
        self.fit(epochs=3, resume=path)


class Stop(md.Callback):
    every = 1

    def on_steps(self, trainer, step, values):
        if step == 6:
            trainer.stop()


def subjects(folder):
    """The files that are changed."""
    X = dict.fromkeys(("estimator", "trained", "counts"), golden_files.COLUMNS)
    X |= dict.fromkeys(("density", "units"), golden_files.NUMBERS)
    X["model"] = golden_files.model()[1]
    files = [ModelFile(golden_files.GOLDEN / f"{name}_1.madaline", rows) for name, rows in X.items()]
    return [*files, CheckpointFile(folder)]


def outcome(use, path):
    """What became of a file: ``refused``, ``used``, or a failure."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), no_longer_than(SECONDS):
            warnings.simplefilter("ignore")
            use(path)
    except FileFormatError as error:
        return "refused" if len(str(error)) < 2000 else "long message"
    except ConfigError as error:
        # Settings of a checkpoint that are not those of the run that resumes; the file itself may be right.
        return "refused" if str(error).startswith("resume=") else f"{type(error).__name__}: {error}"[:120]
    except (DivergenceError, InputError):
        return "used"  # a checkpoint of numbers from which training cannot continue, a model of other columns
    except MadalineError as error:
        return f"{type(error).__name__}: {error}"[:120]
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is counted; a panic of a library is no Exception
        return failure_of(error)
    return "used"


def attack(subject, seed, folder, how):
    """Change a file and use it."""
    rng = np.random.default_rng(seed)
    path = folder / f"{subject.name} {how}"
    if how == "bytes":
        before = subject.path.read_bytes()
        after = mutations.changed_bytes(before, rng)
        path.write_bytes(after)
        found = outcome(subject.use, path)
        return "unchanged" if after == before else "silent change" if found == "used" else found
    arrays, document = container.read(subject.path, kind=subject.kinds)
    if how == "document":
        document = mutations.changed_document(document, rng)
    else:
        arrays = mutations.changed_arrays(arrays, rng)
    try:
        container.write(path, arrays, document)
    except Exception:  # noqa: BLE001 - such as names that are not valid text: not a file that can be written
        return "unchanged"
    return outcome(subject.use, path)


def _copied(path, folder):
    """A copy, beside which a test may write."""
    return Path(shutil.copy(path, folder))


def run(counts_of=0, *, seed=0, seconds=None, how=("bytes", "document", "arrays")):
    """Attack every file; the counts of outcomes, and the failures with their seeds."""
    counts, failures = collections.Counter(), {}
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = subjects(folder)
        for subject in files:  # imports are no work of a mutated file, and a whole file must be right
            subject.use(subject.path if subject.path.parent == folder else _copied(subject.path, folder))
        k = 0
        while (seconds is None and k < counts_of) or (seconds is not None and time.monotonic() - started < seconds):
            for subject in files:
                for kind in how:
                    found = attack(subject, [seed, k], folder, kind)
                    counts[f"{kind}: {found if found in GOOD else 'FAILED'}"] += 1
                    if found not in GOOD:
                        failures.setdefault(found, []).append((subject.name, kind, [seed, k]))
            k += 1
    return counts, failures
