"""Workers, nodes and drivers that are lost in every phase; a store that is full; a token that is wrong."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import ray

import madaline as md
from madaline.errors import ConfigError
from madaline.scale import cluster as clusters

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

KILLS = int(os.environ.get("MADALINE_KILLS", "5"))
"Workers that are killed in each phase; `MADALINE_KILLS=50 make test-scale` is a longer campaign."
RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5)).astype("float32")
Y = (np.sin(X[:, 0]) + X[:, 1] * X[:, 2])[:, None].astype("float32")
NET = md.Sequential(md.Linear(16), md.BatchNorm(), "relu", md.Dropout(0.1), md.Linear(1))


def of_arrays(address=None, **options):
    """Rounds of replicas."""
    trainer = md.Trainer(NET, optimizer="adam", schedule="cosine", seed=1)
    given = {"epochs": 8, "batch_size": 10, "replicas": 4, "local_steps": 5} | options
    trainer.fit(X, Y, cluster=address, **given)
    return trainer.model.params.flat


def of_files(address=None):
    """Rounds of replicas that read files."""
    with contextlib.suppress(FileExistsError):
        FILES.mkdir()
        names = {f"x{k}": X[:, k] for k in range(5)} | {"y": Y[:, 0]}
        pl.DataFrame(names).write_parquet(FILES / "rows.parquet", row_group_size=100)
    stream = md.Stream(FILES, target="y", buffer=100)
    trainer = md.Trainer(NET, optimizer="adam", seed=1)
    trainer.fit(stream, epochs=8, batch_size=10, replicas=4, local_steps=5, cluster=address)
    return trainer.model.params.flat


def of_members(address=None):
    """Members of a population."""
    found = md.Population([md.Trainer(NET, optimizer="adam", seed=seed) for seed in range(4)])
    found.fit(X, Y, epochs=60, cluster=address)
    return found.predict(X)


def of_search(address=None):
    """Trials of a search."""
    pytest.importorskip("optuna")
    model = md.MLPRegressor(preset="auto", max_iter=6, random_state=0)
    space = {"dropout": [0.0, 0.3]}
    found = md.search(model, X, Y.ravel(), space=space, trials=3, max_seconds=None, cv=2, cluster=address)
    return found.predict(X)


FILES = Path()
PHASES = {phase.__doc__: phase for phase in (of_arrays, of_files, of_members, of_search)}


@pytest.mark.parametrize("phase", PHASES)
def test_workers_that_are_killed_change_nothing(cluster, busy_workers, phase, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "FILES", tmp_path / "files")
    run = PHASES[phase]
    expected, killed, is_over = run(), [], threading.Event()
    clusters.Cluster(cluster.address)

    def kill():
        while len(killed) < KILLS and not is_over.wait(0.1):
            for process in busy_workers()[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)
                    is_over.wait(0.5)  # the next one is in another step

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        while len(killed) < KILLS:
            np.testing.assert_array_equal(run(cluster.address), expected)
    finally:
        is_over.set()
        thread.join()
    assert len(killed) >= KILLS


def test_nodes_come_and_go_during_a_run(cluster):
    expected, added = of_arrays(epochs=40), [cluster.add_node(num_cpus=1)]

    def change():
        time.sleep(1.0)
        added.append(cluster.add_node(num_cpus=1))
        cluster.remove_node(added.pop(0), allow_graceful=False)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        np.testing.assert_array_equal(of_arrays(cluster.address, epochs=40), expected)
    finally:
        thread.join()
        for node in added:
            cluster.remove_node(node)


DRIVER = """
    import sys, numpy as np, madaline as md
    address, checkpoint, resume = sys.argv[1:]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)).astype("float32")
    y = X[:, :1] * X[:, 1:2]
    trainer = md.Trainer(md.mlp(16, 1), seed=1)
    class Say(md.Callback):
        def on_epoch_end(self, trainer, row):
            print("epoch", row["epoch"], flush=True)
    options = {"checkpoint": checkpoint, "checkpoint_epochs": 1, "resume": checkpoint} if resume == "yes" else {}
    trainer.fit(X, y, epochs=25, batch_size=10, replicas=4, local_steps=5, callbacks=Say(),
                cluster=None if address == "here" else address, **options)
    print(trainer.model.params.flat.tobytes().hex())
"""


def start(program, *arguments, **environment):
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    )


def test_a_driver_that_is_killed_is_resumed(cluster, tmp_path):
    first = start(DRIVER, cluster.address, tmp_path / "run.checkpoint", "yes")
    for line in first.stdout:
        if line.startswith("epoch 5"):
            first.send_signal(signal.SIGKILL)
            break
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    printed, errors = start(DRIVER, cluster.address, tmp_path / "run.checkpoint", "yes").communicate()
    assert "epoch 1\n" not in printed, errors
    expected, _ = start(DRIVER, "here", tmp_path / "other.checkpoint", "no").communicate()
    assert printed.split()[-1] == expected.split()[-1]


SMALL_STORE = """
    import numpy as np, ray, madaline as md
    ray.init("local", num_cpus=1, include_dashboard=False, object_store_memory=80 * 2**20, log_to_driver=False)
    X = np.random.default_rng(0).normal(size=(300_000, 100)).astype("float32")   # 120 MB
    trainer = md.Trainer(md.Linear(1))
    trainer.fit(X, X[:, :1], epochs=1, batch_size=1000, replicas=2, local_steps=50, cluster="auto")
    print("trained")
"""


def test_a_store_that_is_full_spills():
    printed, errors = start(SMALL_STORE).communicate(timeout=240)
    assert printed == "trained\n", errors[-2000:]


@pytest.mark.parametrize("kind", ["ObjectStoreFullError", "OutOfDiskError"])
def test_a_store_that_cannot_spill_is_one_sentence(cluster, monkeypatch, kind):
    """Ray spills as long as the disk has space, so that the error is made here."""
    clusters.Cluster(cluster.address)

    def put(value):
        raise getattr(ray.exceptions, kind)("full")

    monkeypatch.setattr(ray, "put", put)
    with pytest.raises(ConfigError, match="The object store of the cluster is full"):
        of_arrays(cluster.address)


WRONG_TOKEN = """
    import sys, madaline as md
    from madaline.scale.cluster import Cluster
    try:
        Cluster(sys.argv[1])
        print("connected")
    except md.errors.ConfigError as error:
        print(error)
"""


def test_a_wrong_token_is_one_sentence(cluster):
    """Ray's authentication is on in all of these tests."""
    printed, errors = start(WRONG_TOKEN, cluster.address, RAY_AUTH_TOKEN="0" * 64).communicate(timeout=120)
    assert "cannot be reached" in printed, errors[-2000:]
    assert printed.count("\n") == 1
    printed, errors = start(WRONG_TOKEN, cluster.address).communicate(timeout=120)
    assert printed == "connected\n", errors[-2000:]
