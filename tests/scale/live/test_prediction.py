"""Files scored on a cluster: the same bytes as on one computer, whatever happens to workers."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import madaline as md
from madaline.cli.main import main
from madaline.scale import cluster as clusters

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """A model and eight files."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=4000), "kind": rng.choice(["a", "b"], 4000)})
    frame = frame.with_columns(y=pl.col("x") ** 2 + (pl.col("kind") == "a"))
    model = md.MLPRegressor(preset="auto", max_iter=2, random_state=0).fit(frame.drop("y"), frame["y"])
    model.save("model.madaline")
    Path("big").mkdir()
    for k in range(8):
        frame.slice(500 * k, 500).write_parquet(f"big/{k}.parquet")
    assert main(["predict", "model.madaline", "big", "-o", _made("expected")]) == 0
    return tmp_path


def _made(name):
    Path(name).mkdir(exist_ok=True)
    return name


def assert_scored(folder="scored"):
    for k in range(8):
        assert Path(folder, f"{k}.parquet").read_bytes() == Path("expected", f"{k}.parquet").read_bytes()
    assert len(list(Path(folder).iterdir())) == 9


def test_the_files_have_the_bytes_of_one_computer(cluster, tables, capsys):
    assert main(["predict", "model.madaline", "big", "--cluster", cluster.address, "-o", "scored"]) == 0
    assert_scored()
    assert "4,000 rows of 8 files" in (shown := capsys.readouterr().out)
    assert "2 nodes, 2 CPUs" in shown


def test_files_that_were_scored_before_are_kept(cluster, tables, capsys):
    arguments = ["predict", "model.madaline", "big", "--cluster", cluster.address, "-o", "scored", "--json"]
    assert main(arguments) == 0
    Path("scored/3.parquet").unlink()
    capsys.readouterr()
    assert main(arguments) == 0
    assert '"kept": 7' in capsys.readouterr().out
    assert_scored()


def test_lost_workers_cost_nothing_but_time(cluster, busy_workers, tables):
    clusters.Cluster(cluster.address)
    is_over = threading.Event()

    def kill():
        while not is_over.wait(0.3):
            for process in busy_workers()[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        threading.Timer(4.0, is_over.set).start()
        assert main(["predict", "model.madaline", "big", "--cluster", cluster.address, "-o", "scored"]) == 0
    finally:
        is_over.set()
        thread.join()
    assert_scored()


def test_a_damaged_file_is_named_and_the_others_are_scored(cluster, tables, capsys):
    Path("big/5.parquet").write_bytes(b"PAR1 and nothing")
    assert main(["predict", "model.madaline", "big", "--cluster", cluster.address, "-o", "scored"]) == 1
    assert "5.parquet" in capsys.readouterr().err
    assert len(list(Path("scored").iterdir())) == 8
