"""Memory-mapped files that are cut while they are read: an error, not the end of the process (SIGBUS)."""

from __future__ import annotations

import signal
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not let a mapped file be cut")

CUT = """
import faulthandler, mmap, os, signal, threading
import numpy as np, madaline as md, scipy.sparse
FOLDER, WAYS, N, BATCH = {given}

def prepared(what):
    path = f"{{FOLDER}}/rows of {{what}}"
    rng = np.random.default_rng(0)
    dtype = "float64" if what == "converted" else "int16" if what == "integers" else "float32"
    whole = (4 * rng.normal(size=(N, 16))).astype(dtype)
    whole.tofile(path)
    X = np.memmap(path, dtype, mode="r", shape=whole.shape)
    y = np.zeros((N, 1), "float32")
    given = {{"X": X, "y": y, "batch_size": BATCH, "epochs": 50, "progress": False}}
    if what == "in place":
        given["shuffle"] = False
    elif what == "another view":
        given["X"] = np.asarray(X)[::-1, ::-1]
    elif what == "targets":
        given |= {{"X": np.array(X), "y": X[:, :1]}}
    elif what == "validation":
        given |= {{"X": np.array(X), "validation": (X, y)}}
    elif what == "validation rows":
        given["validation"] = 0.01
    elif what == "sparse":
        matrix = scipy.sparse.csr_array(np.ones(X.shape, "float32"))
        given["X"] = scipy.sparse.csr_array((np.asarray(X).reshape(-1), matrix.indices, matrix.indptr), shape=X.shape)
    elif what == "frombuffer":
        with open(path, "rb") as file:
            given["X"] = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), "float32").reshape(X.shape)
    elif what == "another library":
        import pyarrow as pa
        given["X"] = np.frombuffer(pa.memory_map(path).read_buffer(), "float32").reshape(X.shape)
    elif what == "a part of the file":
        given |= {{"X": np.memmap(path, dtype, mode="r", offset=64 * 100, shape=(N - 100, 16)), "y": y[100:]}}
    elif what == "under faulthandler":
        faulthandler.enable()
    return path, whole.astype("float32"), given

class Cut(md.Callback):
    every = 1

    def __init__(self, path):
        self.path = path

    def on_steps(self, trainer, step, values):
        if step == 3:
            os.truncate(self.path, 4096)

def train(what):
    path, whole, given = prepared(what)
    trainer = md.Trainer(md.mlp(8, 1), loss="mse", threads=1 if what == "in place" else 2, seed=0)
    try:
        trainer.fit(**given, callbacks=Cut(path))
    except md.errors.FileFormatError as error:
        assert np.isfinite(trainer.model(whole[:5])).all()
        trainer.fit(whole, np.zeros((N, 1)), epochs=1, progress=False)
        print(f"{{what}}: {{error}}")

for what in WAYS:
    if what == "in a thread":
        thread = threading.Thread(target=train, args=(what,))
        thread.start()
        thread.join()
    else:
        train(what)
print("SIGBUS", flush=True)
os.kill(os.getpid(), signal.SIGBUS)  # the system's own handler is back
"""

WAYS = ["shuffled", "in place", "converted", "integers", "another view", "targets", "validation", "validation rows"]
WAYS += ["sparse", "frombuffer", "another library", "a part of the file", "in a thread", "under faulthandler"]


def cut(run_python, folder, ways, n_rows, batch_size, **environment):
    """Cut a file while it is read in each of these ways; the messages by way."""
    run = run_python(CUT.format(given=repr((str(folder), ways, n_rows, batch_size))), **environment)
    assert run.returncode == -signal.SIGBUS, run.stderr
    *lines, last = run.stdout.splitlines()
    assert last == "SIGBUS"
    return dict(line.split(": ", 1) for line in lines)


def test_a_mapped_file_that_is_cut_while_training_is_an_error(tmp_path, run_python):
    pytest.importorskip("pyarrow")
    found = cut(run_python, tmp_path, WAYS, 40_000, 20_000)
    assert list(found) == WAYS
    assert all("became shorter while the array was in use" in message for message in found.values())
    unnamed = {what for what, message in found.items() if f"rows of {what}" not in message}
    assert unnamed <= {"frombuffer"}  # a mapping does not know the name of its file


def test_without_the_native_core_the_length_is_checked_before_every_batch(tmp_path, run_python):
    found = cut(run_python, tmp_path, ["shuffled", "sparse"], 400, 200, MADALINE_EXECUTOR="reference")
    assert list(found) == ["shuffled", "sparse"]


def test_a_file_that_is_too_short_already_is_refused_before_it_is_read(tmp_path, run_python):
    code = f"""
import os, numpy as np, madaline as md
np.zeros((9000, 4), "float32").tofile({str(tmp_path / "rows")!r})
X = np.memmap({str(tmp_path / "rows")!r}, "float32", mode="r", shape=(9000, 4))
os.truncate({str(tmp_path / "rows")!r}, 100)
try:
    md.Trainer(md.mlp(2, 1), loss="mse").fit(X, np.zeros((9000, 1)), epochs=1)
except md.errors.FileFormatError as error:
    print(error)
"""
    assert "became shorter while the array was in use" in run_python(code).stdout


def test_estimators_refuse_a_file_that_is_too_short_already(tmp_path, run_python):
    """scikit-learn's checks read all values by NumPy, which would end the process."""
    code = f"""
import os, warnings, numpy as np, madaline as md
warnings.simplefilter("ignore")
path = {str(tmp_path / "rows")!r}
whole = np.random.default_rng(0).normal(size=(9000, 4))
whole.tofile(path)
fitted = [
    md.MLPRegressor(hidden_layer_sizes=(2,), max_iter=1, dropout=0.1).fit(whole, whole[:, 0]),
    md.QuantileMLPRegressor(hidden_layer_sizes=(2,), max_iter=1).fit(whole, whole[:, 0]),
]
X, y = np.memmap(path, mode="r", shape=(9000, 4), dtype=float), whole[:, 0]
os.truncate(path, 100)
new = md.MLPRegressor(hidden_layer_sizes=(2,), max_iter=1)
uses = [
    lambda: new.fit(X, y), lambda: new.fit(whole, X[:, 0]), lambda: new.fit(whole, y, X[:, 0]),
    lambda: fitted[0].predict(X), lambda: fitted[0].predict_samples(X, 2),
    lambda: fitted[1].calibrate(X, y), lambda: fitted[1].predict(X),
]
for number, use in enumerate(uses):
    try:
        use()
    except md.errors.FileFormatError as error:
        print(number, "became shorter" in str(error), flush=True)
"""
    assert run_python(code).stdout.splitlines() == [f"{number} True" for number in range(7)]


CUT_AFTER_CHECK = """
import os, numpy as np, scipy.sparse, madaline as md
from madaline.kernels.mapped import MappedFile
WAYS, PATH = {given}
is_whole = MappedFile.check

def check(self):  # the worst moment: right after the length was checked
    if not cut:
        is_whole(self)
        os.truncate(PATH, 4096)
    cut.append(True)

whole = np.random.default_rng(0).normal(size=(20_000, 8)).astype("float32")
model = md.mlp(8, 1).init(whole)
for what in WAYS:
    whole.tofile(PATH)
    X, cut = np.memmap(PATH, "float32", mode="r", shape=whole.shape), []
    if what == "sparse":
        ones = scipy.sparse.csr_array(np.ones(X.shape, "float32"))
        X = scipy.sparse.csr_array((np.asarray(X).reshape(-1), ones.indices, ones.indptr), shape=X.shape)
    trainer = md.Trainer(md.mlp(8, 1), loss="mse")
    MappedFile.check = check
    try:
        if what == "model":
            model(X)
        elif what == "view":
            model(np.asarray(X)[1:])
        else:
            trainer.fit(X, np.zeros((20_000, 1)), epochs=1, progress=False)
    except md.errors.FileFormatError:
        print(what, flush=True)
    finally:
        MappedFile.check = is_whole
"""


def test_a_file_that_is_cut_after_its_length_was_checked_is_an_error(tmp_path, run_python):
    ways = ["train", "sparse", "model", "view"]
    run = run_python(CUT_AFTER_CHECK.format(given=repr((ways, str(tmp_path / "rows")))))
    assert run.stdout.split() == ways, run.stderr
