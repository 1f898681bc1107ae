"""How much memory training needs, said before it starts."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md


def test_parts_are_those_of_the_net_and_its_recipe():
    X = np.zeros((1000, 30), "float32")
    net = md.Sequential(md.Linear(64), md.BatchNorm(), "relu", md.Linear(5))
    trainer = md.Trainer(net, optimizer="adam", average="ema", threads=1)
    needed = trainer.memory(X, X[:, :5], batch_size=100, early_stopping=True)
    n_params = 30 * 64 + 64 + 2 * 64 + 64 * 5 + 5
    assert needed["parameters"] == 4 * n_params
    assert needed["state"] == 4 * 2 * 64
    assert needed["optimizer"] == 2 * 4 * n_params
    assert needed["average"] == 4 * n_params
    assert needed["best"] == 4 * n_params + 4 * 2 * 64
    assert needed["program"] > 4 * 100 * (30 + 64)
    assert needed["total"] == sum(value for name, value in needed.items() if name != "total")
    assert not hasattr(trainer, "model"), "nothing was trained or changed"
    larger = trainer.memory(X, X[:, :5], batch_size=1000)
    assert larger["program"] > needed["program"]
    assert larger["best"] == 0
    solver = md.Trainer(net, optimizer=md.LBFGS(history=7))
    assert solver.memory(X, X[:, :5])["optimizer"] == 2 * 7 * 8 * n_params


@pytest.mark.parametrize(
    ("net", "rows", "batch_size"),
    [("700, 700, 200", 4000, 2000), ("8, 200", 4000, 2), ("8, 200", 40_000, None), ("1", 500_000, 64)],
    ids=["parameters and activations", "little", "all rows where they lie", "the order of many rows"],
)
def test_it_is_about_what_training_takes(run_python, net, rows, batch_size):
    found = run_python(
        f"""
import numpy as np, madaline as md
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
def trainer():
    return md.Trainer(md.mlp({net}), optimizer="adam", threads=2)
X = np.random.default_rng(0).normal(size=({rows}, 200 if {rows} < 100_000 else 1)).astype("float32")
md.Trainer(md.mlp(4, X.shape[1]), threads=2).fit(X[:8], epochs=1)
needed = trainer().memory(X, batch_size={batch_size})["total"]
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak is that of now
before = peak()
trainer().fit(X, epochs=2, batch_size={batch_size})
print((peak() - before) / 2**20, needed / 2**20)
"""
    )
    if found.returncode and "/proc" in found.stderr:
        pytest.skip("needs /proc, as Linux has it")
    taken, needed = map(float, found.stdout.split())
    assert needed / 1.5 - 2 < taken < 1.2 * needed + 6, found.stdout  # MiB; threads take some, too


def test_predicting_takes_little_more_than_its_result(run_python):
    found = run_python(
        """
import resource
import numpy as np, madaline as md
X = np.ones((400_000, 20), "float32")
trainer = md.Trainer(md.mlp(256, 256, 1))
trainer.fit(X[:2000], X[:2000, :1], epochs=1)
trainer.predict(X[:2000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert trainer.predict(X).shape == (400_000, 1)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    )
    # The activations of one layer alone would take 400 MB.
    assert int(found.stdout) < 40_000_000, found.stderr


def test_a_mapped_file_several_times_larger_than_the_memory_used_is_trained_on(run_python, tmp_path):
    """Pages of the file that are in memory are the system's, which takes them back as it likes; the rest is counted."""
    found = run_python(
        f"""
import numpy as np, madaline as md
shape = (160_000, 1000)
np.memmap({str(tmp_path / "rows")!r}, dtype="float32", mode="w+", shape=shape)  # of nothing but holes
X = np.memmap({str(tmp_path / "rows")!r}, dtype="float32", mode="r", shape=shape)
class Peak(md.Callback):
    every, own = 10, 0
    def on_steps(self, trainer, step, values):
        line = next(line for line in open("/proc/self/status") if line.startswith("RssAnon"))
        self.own = max(self.own, int(line.split()[1]) * 1024)
peak = Peak()
trainer = md.Trainer(md.mlp(4, 2), loss="cross_entropy", threads=1)
trainer.fit(X, np.arange(shape[0]) % 2, epochs=1, batch_size=512, callbacks=peak)
print(peak.own)
"""
    )
    if found.returncode and "/proc" in found.stderr:
        pytest.skip("needs /proc, as Linux has it")
    assert 0 < int(found.stdout) < 160_000 * 1000 * 4 / 5, found.stdout + found.stderr
