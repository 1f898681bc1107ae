"""Memory-mapped files that are cut while they are read: an error, not the end of the process (SIGBUS)."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not let a mapped file be cut")

CUT = """
import faulthandler, os, signal, sys
import numpy as np, madaline as md
folder, what, threads = sys.argv[1:]
if what == "under faulthandler":
    faulthandler.enable()
rng = np.random.default_rng(0)
dtype = "float64" if what == "converted" else "int16" if what == "integers" else "float32"
whole = (4 * rng.normal(size=(40_000, 16))).astype(dtype)
whole.tofile(folder + "/rows")
X = np.memmap(folder + "/rows", dtype, mode="r", shape=whole.shape)
y = np.zeros((len(X), 1), "float32")
given = {"X": X, "y": y, "batch_size": 20_000, "epochs": 50, "progress": False}
if what == "in place":
    given["shuffle"] = False
elif what == "another view":
    given["X"] = np.asarray(X)[::-1, ::-1]
elif what == "targets":
    given |= {"X": np.array(X), "y": X[:, :1]}
elif what == "validation":
    given |= {"X": np.array(X), "validation": (X, y)}
elif what == "validation rows":
    given["validation"] = 0.01
elif what == "sparse":
    import scipy.sparse
    matrix = scipy.sparse.csr_array(np.ones(X.shape, "float32"))
    given["X"] = scipy.sparse.csr_array((np.asarray(X).reshape(-1), matrix.indices, matrix.indptr), shape=X.shape)
elif what == "frombuffer":
    import mmap
    with open(folder + "/rows", "rb") as file:
        given["X"] = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), "float32").reshape(X.shape)
elif what == "another library":
    import pyarrow as pa
    given["X"] = np.frombuffer(pa.memory_map(folder + "/rows").read_buffer(), "float32").reshape(X.shape)
elif what == "a part of the file":
    given["X"] = np.memmap(folder + "/rows", dtype, mode="r", offset=6400, shape=(39_900, 16))
    given["y"] = y[:39_900]

class Cut(md.Callback):
    every = 1

    def on_steps(self, trainer, step, values):
        if step == 3:
            os.truncate(folder + "/rows", 4096)

trainer = md.Trainer(md.mlp(8, 1), loss="mse", threads=int(threads), seed=0)
try:
    trainer.fit(**given, callbacks=Cut())
except md.errors.FileFormatError as error:
    assert "became shorter while the array was in use" in str(error), error
    print(error)
print(np.isfinite(trainer.model(whole[:5].astype("float32"))).all())
trainer.fit(whole.astype("float32"), y, epochs=1, progress=False)
os.kill(os.getpid(), signal.SIGBUS)  # the system's own handler is back
"""

WAYS = ["shuffled", "in place", "converted", "integers", "another view", "targets", "validation", "validation rows"]
WAYS += ["sparse", "frombuffer", "another library", "a part of the file", "under faulthandler"]


@pytest.mark.parametrize("what", WAYS)
def test_a_mapped_file_that_is_cut_while_training_is_an_error(what, tmp_path, run_python):
    if what == "another library":
        pytest.importorskip("pyarrow")
    code = CUT.replace("sys.argv[1:]", repr((str(tmp_path), what, "2" if what != "in place" else "1")))
    run = run_python(code)
    assert run.returncode == -7, run.stderr
    *error, is_usable = run.stdout.splitlines()
    assert is_usable == "True"
    assert len(error) == 1
    assert "rows" in error[0] or what in ("frombuffer", "sparse")


def test_without_the_native_core_the_length_is_checked_before_every_batch(tmp_path, run_python):
    code = CUT.replace("sys.argv[1:]", repr((str(tmp_path), "shuffled", "1"))).replace("40_000", "400")
    run = run_python(code.replace("20_000", "200"), MADALINE_EXECUTOR="reference")
    assert run.returncode == -7, run.stderr
    assert "became shorter" in run.stdout
