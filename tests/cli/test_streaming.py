"""Tables that do not fit into memory are trained on from the disk: all of their rows, and the same whatever happens."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file

from command_options import BARE
from madaline.cli import memory
from madaline.errors import ConfigError

STREAMED = ("--memory", "100KB", "--hidden", "16", *BARE)


def assert_same(folder, other):
    first, second = (load_file(Path(each) / "model.madaline") for each in (folder, other))
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.fixture
def numbers(madaline):
    """A table of ten thousand rows, sorted by its target."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 10_000))
    city = rng.choice(["Rome", "Oslo", "Bern"], 10_000)
    shop = rng.choice([f"s{k}" for k in range(30)], 10_000)
    frame = pl.DataFrame({"a": a, "b": b, "city": city, "shop": shop, "y": 2.0 * a - b * b}).sort("y")
    frame.write_csv("t.csv")
    frame.write_parquet("t.parquet", row_group_size=3000)
    return frame


def test_a_table_too_large_for_memory_is_trained_on_whole_and_says_so(madaline, numbers):
    result = madaline("train", "t.csv", "-t", "y", "--out", "run", "--epochs", "20", *STREAMED)
    assert result.code == 0, result.err
    assert "The table is streamed from disk: in memory it would take" in result.out
    assert "[--memory, --rows]" in result.out
    document = json.loads(Path("run/result.json").read_text())
    rows = document["rows"]
    assert rows["all"] == 10_000
    assert rows["train"] == 10_000 - rows["validation"] - rows["test"]
    assert rows["test"] == 200, "a fifth of the sample"
    assert document["scores"]["R2"]["value"] > 0.9, "rows that lie together in the table must come apart"
    assert {file.name for file in Path("run").iterdir()} == {
        "model.madaline",
        "history.parquet",
        "config.toml",
        "result.json",
        "log.txt",
    }


def test_a_table_that_fits_is_not_streamed(madaline, numbers):
    options = ("--epochs", "1", "--hidden", "4", *BARE)
    result = madaline("train", "t.csv", "-t", "y", "--out", "run", "--memory", "1GB", *options)
    assert "streamed" not in result.out
    assert tomllib.loads(Path("run/config.toml").read_text())["data"]["sample"] == 0


def test_csv_parquet_and_a_folder_of_parquet_train_the_same_model(madaline, numbers):
    Path("folder").mkdir()
    numbers[:4321].write_parquet("folder/1.parquet")
    numbers[4321:].write_parquet("folder/2.parquet")
    for source in ("t.csv", "t.parquet", "folder"):
        assert madaline("train", source, "-t", "y", "--out", f"of-{source}", "--epochs", "2", *STREAMED).code == 0
    assert_same("of-t.csv", "of-t.parquet")
    assert_same("of-folder", "of-t.parquet")


def test_a_streamed_run_goes_on_to_the_same_end_from_the_middle_of_an_epoch_and_its_config_trains_it_again(
    madaline, numbers
):
    options = ("-t", "y", "--epochs", "6", "--batch-size", "4", *STREAMED)
    assert madaline("train", "t.parquet", "--out", "whole", *options).code == 0
    result = madaline("train", "t.parquet", "--out", "run", "--time", "0.1s", *options)
    assert result.code == 0, result.err
    ended = tomllib.loads(Path("run/config.toml").read_text())["ended"]
    assert ended["by"] == "time"
    assert 0 < ended["step"] < 6 * 2430
    config = Path("run/config.toml").read_text()
    Path("config.toml").write_text("".join(line for line in config.splitlines(True) if not line.startswith("time")))
    assert madaline("train", "--config", "config.toml", "--out", "again", *BARE).code == 0
    assert tomllib.loads(Path("again/config.toml").read_text())["ended"] == ended
    assert_same("again", "run")
    assert madaline("train", "--resume", "run", *BARE).code == 0
    assert_same("run", "whole")


def test_a_streamed_run_that_is_killed_goes_on_from_the_rows_it_has_written(madaline, numbers):
    options = ["-t", "y", "--epochs", "60", "--patience", "60", "--batch-size", "4", *STREAMED]
    assert madaline("train", "t.csv", "--out", "whole", *options).code == 0
    work = Path("run.unfinished")
    command = [sys.executable, "-m", "madaline.cli", "train", "t.csv", "--out", "run", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and not (work / "checkpoint.madaline").exists():
        time.sleep(0.02)
    process.kill()
    process.wait()
    if work.exists():
        written = next(work.glob("rows-*.bin"))
        before = written.stat().st_mtime_ns
        seen = []
        open_file = Path.open

        def opened(self, *arguments, **named):
            seen.extend([self.stat().st_mtime_ns] if self.name == written.name else [])
            return open_file(self, *arguments, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "open", opened)
            assert madaline("train", "--resume", "run", *BARE).code == 0
        assert set(seen) == {before}
    assert_same("run", "whole")


def test_a_report_is_written_even_if_no_epoch_came_to_its_end(madaline, numbers):
    options = ("--memory", "100KB", "--hidden", "512,512", "--batch-size", "1", "--no-baselines")
    result = madaline("train", "t.parquet", "-t", "y", "--out", "run", "--time", "0.1s", *options)
    assert result.code == 0, result.err
    assert tomllib.loads(Path("run/config.toml").read_text())["ended"]["epoch"] == 0
    assert Path("run/report.html").exists()


def test_rows_that_belong_to_the_test_train_nothing(madaline):
    rows = [f"{k % 40},{k % 7},{k // 40},{k % 2}" for k in range(8000)]
    Path("t.csv").write_text("\n".join(["who,a,when,y", *rows]))
    options = ("-t", "y", "--epochs", "1", *STREAMED)
    document = madaline("train", "t.csv", "--group", "who", "--json", *options).json()
    assert document["rows"]["train"] % 200 == 0, "all 200 rows of a group, or none"
    assert 0.5 < document["rows"]["train"] / 8000 < 0.8
    document = madaline("train", "t.csv", "--when", "when", "--json", *options).json()
    assert document["rows"]["train"] % 40 == 0, "all 40 rows of a moment, or none"
    assert 0.5 < document["rows"]["train"] / 8000 < 0.8


def test_a_class_that_no_sampled_row_has_is_one_all_the_same(madaline):
    names = ["cat" if k % 2 else "dog" for k in range(20_000)]
    names[7] = "owl"
    gap = {11: ""}
    rows = [f"{k % 2},{k % 11},{gap.get(k, name)}" for k, name in enumerate(names)]
    Path("t.csv").write_text("\n".join(["a,b,y", *rows]))
    options = ("--epochs", "2", "--class-weight", "balanced", *STREAMED)
    result = madaline("train", "t.csv", "-t", "y", "--ignore", "a", "--out", "run", *options)
    assert result.code == 0, result.err
    assert "1 row without a value in 'y' is left out" in result.out
    assert json.loads(Path("run/result.json").read_text())["rows"]["all"] == 19_999
    found = madaline("predict", "run", "t.csv", "--only", "--proba").out.splitlines()[0]
    assert found == "predicted y,probability cat,probability dog,probability owl"


def test_a_value_that_no_sampled_row_is_like_is_named(madaline):
    frame = pl.DataFrame({"a": [str(k % 97) for k in range(20_000)], "y": [k % 5 / 3 for k in range(20_000)]})
    frame[13, "a"] = "many"
    frame.write_parquet("t.parquet")
    result = madaline("train", "t.parquet", "-t", "y", "--numeric", "a", "--out", "run", *STREAMED)
    assert result.code == 1
    assert "Column 'a': row 13 holds 'many', which is not a number." in result.err
    assert not Path("run.unfinished").exists()


def test_a_disk_without_room_is_said_before_it_is_full(madaline, numbers, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    result = madaline("train", "t.csv", "-t", "y", "--out", "run", *STREAMED)
    assert result.code == 1
    assert "and the disk has 0.0 GB free. Use another folder, or train on a random sample of the rows." in result.err
    assert not Path("run.unfinished").exists()


@pytest.mark.parametrize("text", ["much", "", "0", "-3GB"])
def test_a_size_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match=f"--memory {text} is not a size. Write it as 500MB or 4GB."):
        memory.size(text)


def test_the_memory_that_is_free_is_some():
    assert 1 << 20 < memory.free() < 1 << 50


MEASURE = """
import sys
from madaline.cli.main import main
def peak():
    # Not getrusage, whose maximum is at least that of the process which started this one.
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
small, large, folder, *options = sys.argv[1:]
assert main(["train", small, "--out", folder + "-small", *options]) == 0
before = peak()
code = main(["train", large, "--out", folder, *options])
print(peak() - before)
sys.exit(code)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc, as Linux has it")
def test_a_file_several_times_larger_than_the_peak_of_memory_is_trained_on(tmp_path):
    """Rows with a long text in each; the process measures its own peak of memory.

    It trains on a small table first, so that programs and libraries, as large as the limit itself, do not count.
    """
    rng = random.Random(0)
    words = [f"word{k}" for k in range(1000)]
    block, n_blocks = [], 30
    for k in range(500):
        a, b = rng.gauss(0.0, 1.0), rng.gauss(0.0, 1.0)
        block.append(f"{a:.6f},{b:.6f},{' '.join(3 * (words[k:] + words[:k]))},{2 * a - b * b:.5f}\n")
    path = tmp_path / "huge.csv"
    (tmp_path / "small.csv").write_text("a,b,note,y\n" + "".join(block))
    with path.open("w") as file:
        file.write("a,b,note,y\n")
        for _ in range(n_blocks):
            file.writelines(block)
    options = ["-t", "y", "--ignore", "note", "--memory", "20MB", "--epochs", "2", *BARE]
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "small.csv"), str(path), str(tmp_path / "run"), *options],
        capture_output=True,
        text=True,
        check=True,
    )
    size, peak = path.stat().st_size, int(run.stdout.splitlines()[-1])
    document = json.loads((tmp_path / "run" / "result.json").read_text())
    assert document["rows"]["all"] == 500 * n_blocks
    assert document["rows"]["train"] > 0.9 * 500 * n_blocks
    assert document["scores"]["R2"]["value"] > 0.9
    assert size > 3 * peak, f"{size / 2**20:.0f} MiB trained on with a peak of {peak / 2**20:.0f} MiB"
