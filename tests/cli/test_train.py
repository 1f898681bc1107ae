"""``madaline train``: what it shows, what it writes, and that it can be trained again and gone on with."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file

import madaline as md
from command_options import BARE
from madaline.cli.main import main
from madaline.data.split import split_rows

WITH_DOCTOR = ("--no-baselines", "--no-report")
QUICK = ("--epochs", "5", "--hidden", "16", *BARE)


def weights(folder):
    return load_file(Path(folder) / "model.madaline")


def assert_same(folder, other):
    first, second = weights(folder), weights(other)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_run_shows_assumptions_columns_task_scores_and_advice(madaline):
    Path("homes.csv").write_text(
        "price;rooms;city;id;sold\n"
        + "".join(
            f"{1000 + 7 * k},5;{k % 5};{'Rome' if k % 2 else 'Oslo'};{k};{1 + k % 28}/01/2024\n" for k in range(200)
        )
    )
    result = madaline("train", "homes.csv", "--target", "price", "--out", "run", "--epochs", "3")
    assert result.code == 0, result.err
    for text in (
        "200 rows, 5 columns",
        "Numbers have a decimal comma.  [--decimal]",
        "Fields are separated by a semicolon.  [--delimiter]",
        "Task: regression of 'price'",
        "rows for test",
        "left out (leak)",
        "R2: fraction of the variance that is explained",
        "this net",
        "mean",
        "linear model",
        "gradient boosting",
        "To try next",
        "  3. ",
        "madaline predict run/model.madaline NEW.csv -o scored.csv",
    ):
        assert text in result.out
    files = {"model.madaline", "report.html", "history.parquet", "config.toml", "result.json", "log.txt"}
    assert {file.name for file in Path("run").iterdir()} == files
    assert {file.name for file in Path().iterdir()} == {"homes.csv", "run"}


def test_a_run_for_scripts_is_one_json_document(madaline):
    result = madaline("train", "iris", "--json", *QUICK)
    document = result.json()
    assert document["task"] == "multiclass"
    assert document["target"] == ["species"]
    assert set(document["scores"]) == {"accuracy", "log loss", "macro F1"}
    assert document["scores"]["accuracy"]["low"] <= document["scores"]["accuracy"]["value"]
    assert document["ended"]["epoch"] == 5
    assert document["folder"] == "iris-run"
    assert json.loads(Path("iris-run/result.json").read_text())["scores"] == document["scores"]


def test_runs_of_the_same_data_get_folders_of_their_own(madaline):
    for folder in ("iris-run", "iris-run-2"):
        assert madaline("train", "iris", *QUICK).code == 0
        assert Path(folder, "model.madaline").exists()


def test_nothing_is_replaced_unless_forced(madaline):
    assert madaline("train", "iris", "--out", "run", *QUICK).code == 0
    before = Path("run/model.madaline").read_bytes()
    result = madaline("train", "iris", "--out", "run", "--seed", "1", *QUICK)
    assert result.code == 1
    assert "'run' already exists. Choose another --out, or use --force." in result.err
    assert Path("run/model.madaline").read_bytes() == before
    assert madaline("train", "iris", "--out", "run", "--seed", "1", "--force", *QUICK).code == 0
    assert Path("run/model.madaline").read_bytes() != before


def test_force_replaces_no_folder_that_is_none_of_a_run(madaline):
    Path("photos").mkdir()
    Path("photos/me.jpg").write_text("!")
    result = madaline("train", "iris", "--out", "photos", "--force", *QUICK)
    assert result.code == 1
    assert "'photos' is not a run folder, and --force replaces only those" in result.err
    assert Path("photos/me.jpg").exists()
    result = madaline("train", "iris", "--out", "photos/me.jpg", "--force", *QUICK)
    assert "'photos/me.jpg' is not a run folder" in result.err


def test_a_config_trains_the_same_model_again(madaline):
    options = ("--seed", "7", "--dropout", "0.2", "--ignore", "sepal length (cm)", "--test", "0.3")
    assert madaline("train", "iris", "--out", "run", *options, *QUICK, "--doctor").code == 0
    assert madaline("train", "--config", "run/config.toml", "--out", "again", *WITH_DOCTOR).code == 0
    assert_same("run", "again")
    first, again = (tomllib.loads(Path(name, "config.toml").read_text()) for name in ("run", "again"))
    assert first == again
    assert first["ended"]["epoch"] == 5


def test_a_run_that_time_ended_is_trained_again_up_to_its_epoch(madaline):
    options = ("--epochs", "100000", "--patience", "100000", *BARE)
    result = madaline("train", "digits", "--out", "run", "--time", "0.6s", *options)
    assert result.code == 0, result.err
    ended = tomllib.loads(Path("run/config.toml").read_text())["ended"]
    assert ended["by"] == "time"
    assert "The time limit ended training" in result.out
    assert madaline("train", "--config", "run/config.toml", "--out", "again", *BARE).code == 0
    assert tomllib.loads(Path("again/config.toml").read_text())["ended"] == ended
    assert_same("run", "again")
    assert madaline("train", "--resume", "run", "--time", "0.5s", *BARE).code == 0
    further = tomllib.loads(Path("run/config.toml").read_text())["ended"]
    assert further["step"] > ended["step"]
    assert madaline("train", "--config", "run/config.toml", "--out", "further", *BARE).code == 0
    assert tomllib.loads(Path("further/config.toml").read_text())["ended"] == further
    assert_same("run", "further")


def test_a_run_that_time_ended_goes_on(madaline):
    options = ("--epochs", "60", "--patience", "60", "--hidden", "64", *BARE)
    assert madaline("train", "digits", "--out", "whole", *options).code == 0
    assert madaline("train", "digits", "--out", "run", "--time", "0.2s", *options).code == 0
    for mine in ("run.copy", "run.old"):
        Path(mine).mkdir()
    assert tomllib.loads(Path("run/config.toml").read_text())["ended"]["by"] == "time"
    assert madaline("train", "--resume", "run", *BARE).code == 0
    assert tomllib.loads(Path("run/config.toml").read_text())["ended"]["by"] == "finished"
    assert_same("run", "whole")
    result = madaline("train", "--resume", "run")
    assert result.code == 2
    assert "is complete: there is nothing to resume" in result.err
    assert {path.name for path in Path().iterdir()} == {"run", "whole", "run.copy", "run.old"}


def test_a_run_on_standard_input_goes_on_with_what_came_from_there(madaline, monkeypatch):
    table = pl.DataFrame({"a": np.arange(5000) % 17, "y": np.arange(5000) % 17 % 3 / 2 + 0.1})
    options = ("-t", "y", "--epochs", "300", "--patience", "300", "--hidden", "64", *BARE)
    for name, time_limit in (("whole", ()), ("run", ("--time", "0.2s"))):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table.write_csv().encode())))
        result = madaline("train", "-", "--out", name, *time_limit, *options)
        assert result.code == 0, result.err
    assert {file.name for file in Path("run").iterdir()} >= {"input", "checkpoint.madaline"}
    assert "input" not in {file.name for file in Path("whole").iterdir()}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert madaline("train", "--resume", "run", *BARE).code == 0
    assert_same("run", "whole")
    assert "input" not in {file.name for file in Path("run").iterdir()}


def test_what_came_from_standard_input_is_called_that(madaline, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,y")))
    result = madaline("train", "-", "-t", "y", "--out", "run")
    assert result.code == 1
    assert result.err.startswith("madaline: Standard input")
    assert not Path("run.unfinished").exists()


def replaced(madaline, monkeypatch, moment):
    """A run that is replaced by another, whose process ends at a moment of ``finish``."""
    assert madaline("train", "iris", "--out", "run", *QUICK).code == 0
    before = Path("run/model.madaline").read_bytes()
    rename = Path.replace

    def dies(self, target):
        if moment(self.name, Path(target).name):
            raise KeyboardInterrupt
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", dies)
        assert madaline("train", "iris", "--out", "run", "--seed", "1", "--force", *QUICK).code == 130
    return before


def test_a_crash_while_a_run_is_replaced_leaves_the_new_one(madaline, monkeypatch):
    before = replaced(madaline, monkeypatch, lambda old, new: new == ".run.replaced")
    assert Path("run/model.madaline").read_bytes() != before, "they traded places in one step"
    assert Path("run.unfinished/model.madaline").read_bytes() == before
    assert madaline("train", "--resume", "run").code == 2
    assert {path.name for path in Path().iterdir()} == {"run"}
    assert ".unfinished" not in {path.name for path in Path("run").iterdir()}


@pytest.mark.parametrize("place", ["run", ".run.replaced"])
def test_where_folders_cannot_trade_places_a_crash_leaves_the_old_one(madaline, monkeypatch, place):
    monkeypatch.setattr("madaline.cli.run_folder.exchange", lambda first, second: False)
    before = replaced(madaline, monkeypatch, lambda old, new: new == place)
    assert madaline("predict", "run", "iris", "-o", "scored.csv").code == 0
    assert Path("run/model.madaline").read_bytes() == before
    assert madaline("train", "--resume", "run", *QUICK[-2:]).code == 0
    assert Path("run/model.madaline").read_bytes() != before
    assert {path.name for path in Path().iterdir()} == {"run", "scored.csv"}


N_KILLS = int(os.environ.get("MADALINE_KILLS", "2"))
CHECKPOINTS_ALWAYS = """
from madaline.estimators import training
training.CHECKPOINT_SECONDS = 0.0  # a checkpoint after every epoch: a short run has many, and is often killed in one
from madaline.cli.__main__ import run
run()
"""


def test_a_run_killed_at_any_moment_goes_on_to_the_same_end(madaline):
    """Each run is killed up to three times, one of them after a checkpoint; set MADALINE_KILLS for more runs."""
    options = ["--epochs", "30", "--patience", "30", "--hidden", "32", *WITH_DOCTOR]
    program = [sys.executable, "-c", CHECKPOINTS_ALWAYS]
    begin = time.monotonic()
    subprocess.run([*program, "train", "digits", "--out", "whole", *options], stdout=subprocess.DEVNULL, check=True)
    duration = time.monotonic() - begin
    rng = random.Random(0)
    from_checkpoint = 0
    for k in range(N_KILLS):
        command = ["train", "digits", "--out", f"run{k}", *options]
        checkpoint = Path(f"run{k}.unfinished", "checkpoint.madaline")
        for attempt in range(3):
            process = subprocess.Popen([*program, *command], stdout=subprocess.DEVNULL)
            if attempt == k % 2:
                while not checkpoint.exists() and process.poll() is None:
                    time.sleep(0.002)
                time.sleep(rng.uniform(0.0, 0.1) * duration)
            else:
                time.sleep(rng.uniform(0.2, 1.0) * duration)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if Path(f"run{k}").exists():
                break
            from_checkpoint += checkpoint.exists()
            begun = Path(f"run{k}.unfinished", "config.toml").exists()
            command = ["train", "--resume", f"run{k}", *WITH_DOCTOR] if begun else [*command, "--force"]
        if not Path(f"run{k}").exists():
            assert madaline(*command).code == 0
        assert_same(f"run{k}", "whole")
    assert from_checkpoint, "no run was resumed from a checkpoint"


def test_a_run_stopped_by_ctrl_c_says_how_to_go_on(tmp_path):
    options = ["--epochs", "200000", "--patience", "200000", *BARE]
    process = subprocess.Popen(
        [sys.executable, "-m", "madaline.cli", "train", "digits", "--out", "run", *options],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(1200):
        if (tmp_path / "run.unfinished" / "checkpoint.madaline").exists():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Resume with: madaline train --resume run" in err
    assert (tmp_path / "run.unfinished" / "checkpoint.madaline").exists()


def test_an_unfinished_run_is_not_thrown_away_by_accident(madaline):
    Path("run.unfinished").mkdir()
    result = madaline("train", "iris", "--out", "run", *QUICK)
    assert result.code == 1
    assert "There is an unfinished run in 'run.unfinished'. Continue it with madaline train --resume run" in result.err


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["yes", "no"], "binary"),
        (["a", "b", "c"], "multiclass"),
        ([0.5 * k for k in range(97)], "regression"),
        (list(range(60)), "regression"),
        (np.random.default_rng(0).poisson(8.0, 97).tolist(), "count"),
    ],
    ids=["binary", "multiclass", "regression", "whole numbers", "count"],
)
def test_the_task_is_seen_in_the_target(madaline, values, task):
    rows = [f"{k % 7},{k % 11},{values[k % len(values)]}" for k in range(300)]
    Path("t.csv").write_text("\n".join(["a,b,y", *rows]))
    assert madaline("train", "t.csv", "-t", "y", "--json", *QUICK).json()["task"] == task


def test_the_task_can_be_told(madaline):
    Path("t.csv").write_text("\n".join(["a,y", *(f"{k % 7},{k % 3}" for k in range(100))]))
    assert madaline("train", "t.csv", "-t", "y", "--json", *QUICK).json()["task"] == "multiclass"
    document = madaline("train", "t.csv", "-t", "y", "--task", "regression", "--json", *QUICK).json()
    assert document["task"] == "regression"


def test_several_targets_are_learned_together(madaline):
    rows = [f"{k % 7},{k % 11},{k % 2},{k % 3 % 2},{k / 7:.3f},{k / 5:.3f}" for k in range(200)]
    Path("t.csv").write_text("\n".join(["a,b,l1,l2,n1,n2", *rows]))
    labels = madaline("train", "t.csv", "-t", "l1,l2", "--out", "labels", "--json", *QUICK).json()
    assert labels["task"] == "multilabel"
    assert "Task: regression of 'n1', 'n2'" in madaline("train", "t.csv", "-t", "n1,n2", *QUICK).out
    numbers = madaline("train", "t.csv", "-t", "n1", "-t", "n2", "--out", "numbers", "--json", *QUICK).json()
    assert numbers["task"] == "regression"
    scored = madaline("predict", "numbers", "t.csv", "--only", "--interval", "0.5")
    assert scored.out.splitlines()[0].count(",") == 5
    assert madaline("predict", "labels", "t.csv", "--only", "--proba").out.startswith("predicted l1,predicted l2,prob")


def test_rows_are_parted_by_group_and_by_time(madaline):
    rows = [f"{k % 20},{k % 7},{1 + k % 28:02d}/{1 + k // 28 % 12:02d}/2024,{k % 2}" for k in range(400)]
    Path("t.csv").write_text("\n".join(["who,a,day,y", *rows]))
    document = madaline("train", "t.csv", "-t", "y", "--group", "who", "--json", *QUICK).json()
    assert document["split"] == "group"
    assert {"column": "who", "role": "ignored", "reason": "set by the user"} in document["columns"]
    assert madaline("train", "t.csv", "-t", "y", "--when", "day", "--json", *QUICK).json()["split"] == "time"


def test_a_validation_set_that_is_later_on_purpose_is_no_alarm(madaline):
    days = [f"{2015 + k // 336}-{1 + k // 28 % 12:02d}-{1 + k % 28:02d}" for k in range(600)]
    lines = [f"{day},{k + k * 37 % 101},{k % 7},{k % 7 * 2 + k % 5 / 5}" for k, day in enumerate(days)]
    Path("t.csv").write_text("day,level,b,y\n" + "\n".join(lines))
    result = madaline(
        "train", "t.csv", "-t", "y", "--when", "day", "--task", "regression", "--out", "run", *QUICK, "--doctor"
    )
    assert "The doctor found" in result.out
    assert "split_shift" not in result.out


def test_a_column_that_is_not_time_cannot_say_when(madaline):
    rows = [f"{k % 7},{['early', 'late'][k % 2]},{k % 2}" for k in range(60)]
    Path("t.csv").write_text("\n".join(["a,day,y", *rows]))
    result = madaline("train", "t.csv", "-t", "y", "--when", "day", "--out", "run", *QUICK)
    assert result.code == 1
    assert "--when day: row 0 holds 'early', which is neither a date nor a number" in result.err
    assert not Path("run").exists()


def test_a_compressed_file_may_be_as_large_as_is_allowed(madaline):
    Path("t.csv.gz").write_bytes(gzip.compress(b"a,y\n" + b"".join(b"%d,%d\n" % (k % 7, k % 2) for k in range(60))))
    refused = madaline("train", "t.csv.gz", "-t", "y", "--max-unpacked", "100B", "--out", "run", *QUICK)
    assert refused.code == 1
    assert "t.csv.gz has more than 100 bytes when it is decompressed" in refused.err
    assert "raise the limit: --max-unpacked 20GB." in refused.err
    assert madaline("train", "t.csv.gz", "-t", "y", "--max-unpacked", "1KB", "--out", "run", *QUICK).code == 0
    assert madaline("predict", "run", "t.csv.gz", "--max-unpacked", "1KB", "-o", "scored.csv").code == 0
    for command in ("evaluate", "explain"):
        assert "raise the limit" in madaline(command, "run", "t.csv.gz", "--max-unpacked", "100B").err
        assert madaline(command, "run", "t.csv.gz", "--max-unpacked", "1KB").code == 0


@pytest.mark.parametrize("option", ["--ignore", "--group"])
def test_the_target_cannot_be_left_out(madaline, option):
    result = madaline("train", "iris", option, "Species", "--out", "run", *QUICK)
    assert result.code == 2
    assert result.err == f"madaline: {option} species: it is the target, and cannot be left out.\n"


def test_commands_to_copy_can_be_typed_whatever_the_folder_is_called(madaline):
    result = madaline("train", "iris", "--out", "my run", "--time", "0.1", *QUICK)
    assert "madaline predict 'my run/model.madaline' NEW.csv" in result.out


def test_columns_are_what_they_are_told_to_be(madaline):
    rows = [f"{k % 5},{k % 7},0{k % 4},{k % 2}" for k in range(200)]
    Path("t.csv").write_text("\n".join(["a,b,code,y", *rows]))
    options = ("--ignore", "a", "--categorical", "b", "--numeric", "code")
    document = madaline("train", "t.csv", "-t", "y", "--json", *options, *QUICK).json()
    assert [column["role"] for column in document["columns"]] == ["ignored", "category", "number"]


def test_a_column_that_gives_the_target_away_is_left_out_with_a_warning(madaline):
    rows = [f"{k % 5},{'ja' if k % 2 else 'nein'},{'yes' if k % 2 else 'no'}" for k in range(200)]
    Path("t.csv").write_text("\n".join(["a,answer,y", *rows]))
    result = madaline("train", "t.csv", "-t", "y", "--out", "run", *QUICK)
    assert "Warning: Column 'answer' is left out" in result.out


def test_rows_without_a_target_are_left_out(madaline):
    rows = [f"{k % 5},{'' if k % 10 == 0 else k % 2}" for k in range(200)]
    Path("t.csv").write_text("\n".join(["a,y", *rows]))
    result = madaline("train", "t.csv", "-t", "y", "--out", "run", *QUICK)
    assert "20 rows without a value in 'y' are left out.  [--target]" in result.out


def test_of_a_long_table_some_rows_are_drawn(madaline):
    Path("t.csv").write_text("\n".join(["a,y", *(f"{k % 5},{k % 2}" for k in range(1000))]))
    document = madaline("train", "t.csv", "-t", "y", "--rows", "100", "--json", *QUICK).json()
    assert document["rows"]["all"] == 100
    assert {"text": "100 of 1,000 rows are used, a random sample.", "option": "--rows"} in document["assumptions"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,y\n" + "1,\n" * 20, "'y' has no values: there is nothing to learn. Choose another --target."),
        ("a,y\n" + "1,2\n" * 20, "in every row"),
        ("a,y\n1,2\n3,4\n", "The table has 2 rows, but at least 5 are needed"),
        ("y,a\n" + "".join(f"{k},same\n" for k in range(50)), "No column is left to learn from"),
    ],
    ids=["missing", "constant", "few", "no columns"],
)
def test_what_cannot_be_learned_is_refused_with_a_sentence(madaline, text, message):
    Path("t.csv").write_text(text)
    result = madaline("train", "t.csv", "-t", "y", "--out", "run", *QUICK)
    assert result.code in (1, 2)
    assert message in result.err
    assert not Path("run.unfinished").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[data", "is not a TOML file"),
        ("[dta]\nsource = 'iris'", "has an unknown section [dta]"),
        ("[data]\nsorce = 'iris'", "[data] has an unknown setting 'sorce'"),
        ("[training]\nseed = 'one'", "training.seed = 'one' must be int"),
        ("data = 3", "data must be a section: [data]"),
    ],
    ids=["toml", "section", "name", "type", "table"],
)
def test_a_config_that_cannot_be_is_refused(madaline, text, message):
    Path("c.toml").write_text(text)
    result = madaline("train", "--config", "c.toml")
    assert result.code == 2
    assert message in result.err


def test_the_model_file_holds_no_rows_and_is_read_by_md_load(madaline):
    Path("t.csv").write_text("\n".join(["a,name,y", *(f"{k},secret{k},{k % 2}" for k in range(100))]))
    assert madaline("train", "t.csv", "-t", "y", "--out", "run", *QUICK).code == 0
    assert b"secret" not in Path("run/model.madaline").read_bytes()
    assert len(md.load("run/model.madaline").model_.params) > 0


def test_history_has_a_row_for_each_epoch(penguins):
    history = pl.read_parquet(penguins / "history.parquet")
    assert history["epoch"].to_list() == list(range(1, len(history) + 1))
    assert {"loss", "val_loss", "val_accuracy"} <= set(history.columns)


def test_threads_do_not_change_the_result(madaline):
    for threads in ("1", "2"):
        assert madaline("train", "iris", "--out", f"run{threads}", "--threads", threads, *QUICK).code == 0
    assert_same("run1", "run2")


def test_a_config_of_another_instruction_set_is_said(madaline):
    assert madaline("train", "iris", "--out", "run", *QUICK).code == 0
    config = Path("run/config.toml").read_text()
    again = madaline("train", "--config", "run/config.toml", "--out", "again", *BARE)
    assert "may differ in the last digits" not in again.out
    instructions = tomllib.loads(config)["versions"]["instructions"]
    Path("other.toml").write_text(config.replace(f'instructions = "{instructions}"', 'instructions = "sse9"'))
    other = madaline("train", "--config", "other.toml", "--out", "other", *BARE)
    assert f"the config was written with instructions sse9 (here {instructions})" in other.out


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_latest_rows_are_found_however_dates_are_written(madaline, suffix):
    """31/12/2020 is before 01/01/2021; sorted as text it would be after."""
    days = [f"{1 + k % 28:02d}/{1 + k // 28 % 12:02d}/{2018 + k // 336}" for k in range(1000)]
    k = np.arange(1000)
    table = pl.DataFrame({"day": days, "a": k % 7, "y": np.where(k >= 800, 7.0, k % 13 + 0.5)})
    table.write_csv("t.csv") if suffix == "csv" else table.write_parquet("t.parquet")
    options = ("-t", "y", "--when", "day", "--task", "regression", "--json", *QUICK)
    document = madaline("train", f"t.{suffix}", *options).json()
    assert document["rows"]["test"] == 200
    assert document["scores"]["R2"]["value"] is None, "the target is constant in the latest rows, and only there"


def test_a_column_that_is_no_time_is_refused(madaline):
    Path("t.csv").write_text(
        "\n".join(["word,a,y", *(f"{('ab', 'cd', 'ef')[k % 3]},{k % 7},{k % 2}" for k in range(100))])
    )
    result = madaline("train", "t.csv", "-t", "y", "--when", "word", *QUICK)
    assert result.code == 1
    assert "--when word: row 0 holds 'ab', which is neither a date nor a number" in result.err


def test_a_panel_gets_a_hint(madaline):
    rows = [f"country {g},{1990 + t},{g * t % 7},{g + 0.1 * t:.2f}" for g in range(12) for t in range(20)]
    Path("t.csv").write_text("\n".join(["country,year,a,y", *rows]))
    result = madaline("train", "t.csv", "-t", "y", *QUICK)
    assert "pass --group country" in result.out
    assert "pass --group" not in madaline("train", "t.csv", "-t", "y", "--group", "country", *QUICK).out


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_a_value_that_cannot_be_used_is_named_with_its_row_in_the_file(madaline, part):
    """Whichever set its row is in."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=100), rng.normal(size=100)
    row = int(getattr(split_rows(100), part)[-1])
    x[row] = np.inf
    pl.DataFrame({"x": x, "z": rng.normal(size=100), "y": y}).write_parquet("t.parquet")
    result = madaline("train", "t.parquet", "-t", "y", "--out", "run", *QUICK)
    assert result.code == 1
    assert f"Column 'x': row {row} holds inf" in result.err
    assert not Path("run.unfinished").exists()


OUTLIER = 9831.3
"Where the next largest value is 55.6."


def weather(n=600):
    """A table in which rain matters; its largest value is 55.6."""
    rng = np.random.default_rng(0)
    rain = np.minimum(rng.gamma(1.0, 8.0, n), 55.6).round(1)
    rain[0] = 55.6
    wind, city = rng.normal(10.0, 3.0, n).round(1), rng.choice(["Rome", "Oslo"], n)
    flow = 2.0 * rain + 0.5 * wind + 5.0 * (city == "Rome") + rng.normal(0.0, 2.0, n)
    return pl.DataFrame({"rain": rain, "wind": wind, "city": city, "flow": flow.round(2)})


WEATHER = ("-t", "flow", "--epochs", "40", "--hidden", "32", *BARE)


def r2_without(run, row):
    """The R2 of a run on all rows but one, as they are without the outlier."""
    others = weather().filter(pl.int_range(pl.len()) != row)
    return md.load(Path(run, "model.madaline")).score(others.drop("flow"), others["flow"])


@pytest.fixture(scope="module")
def plain_weather(tmp_path_factory):
    """A run on the table without an outlier."""
    folder = tmp_path_factory.mktemp("weather")
    weather().write_csv(folder / "plain.csv")
    assert main(["train", str(folder / "plain.csv"), "--out", str(folder / "run"), *WEATHER]) == 0
    return folder / "run"


@pytest.mark.parametrize("column", ["rain", "wind", "flow"])
@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_one_outlier_does_not_spoil_a_model(madaline, plain_weather, column, part):
    """Wherever it is: a mistyped feature, or a mistyped target."""
    row = int(getattr(split_rows(600), part)[2])
    values = weather()[column].to_list()
    values[row] = OUTLIER
    weather().with_columns(pl.Series(column, values)).write_csv("outlier.csv")
    result = madaline("train", "outlier.csv", "--out", "run", *WEATHER)
    assert result.code == 0, result.err
    expected = r2_without(plain_weather, row)
    assert expected > 0.95
    assert r2_without("run", row) > expected - 0.05
    warning, is_said = "The target has the value 9831.3, ", (part, column) == ("train", "flow")
    assert (warning in result.out) == is_said
    document = json.loads(Path("run/result.json").read_text())
    assert any(warning in text for text in document["warnings"]) == is_said
    scores = document["scores"]
    assert scores["R2"]["value"] > 0.9 or part == "test"  # where the row with the mistake is one of those that count


def test_scores_of_the_second_class_say_which_one_that_is(madaline):
    rows = "".join(f"{k % 7},{'yes' if k % 7 > 3 else 'no'}\n" for k in range(100))
    Path("t.csv").write_text("a,answer\n" + rows)
    trained = madaline("train", "t.csv", "-t", "answer", "--out", "run", *QUICK)
    assert "  second class: yes." in trained.out
    assert "  second class: yes." in madaline("evaluate", "run", "t.csv").out


def test_a_whole_number_as_target_shows_the_other_task(madaline):
    counts = np.random.default_rng(0).poisson(9.0, 300)
    Path("t.csv").write_text("a,rings,grade\n" + "".join(f"{k},{c},{k % 5}\n" for k, c in enumerate(counts)))
    as_count = madaline("train", "t.csv", "-t", "rings", *QUICK).out
    assert "Task: count regression of 'rings' (whole numbers from" in as_count
    assert "predicted by a Poisson regression).  [--task regression]" in as_count
    as_classes = madaline("train", "t.csv", "-t", "grade", *QUICK).out
    assert (
        "Task: classification of 'grade' (5 different whole numbers: 0, 1, 2, 3, 4).  [--task regression]" in as_classes
    )
    chosen = madaline("train", "t.csv", "-t", "grade", "--task", "regression", *QUICK).out
    assert "Task: regression of 'grade' (as requested).  [--task]" in chosen


def test_repeated_rows_can_be_left_out(madaline):
    rows = [f"{k % 60},{(7 * k) % 60},{k % 60 + (7 * k) % 60}" for k in range(90)]
    Path("t.csv").write_text("a,b,y\n" + "\n".join(rows) + "\n")
    result = madaline("train", "t.csv", "-t", "y", "--task", "regression", "--out", "run", "--drop-duplicates", *QUICK)
    assert result.code == 0, result.err
    assert "30 rows are equal to an earlier one and left out.  [--drop-duplicates]" in result.out
    assert json.loads(Path("run/result.json").read_text())["rows"]["all"] == 60
    again = madaline("train", "--config", "run/config.toml", "--out", "again", *BARE)
    assert "30 rows are equal" in again.out
    assert_same("run", "again")


def test_ignored_columns_do_not_make_rows_different(madaline):
    rows = [f"{k},{k % 60},{(7 * k) % 60},{k % 60 + (7 * k) % 60}" for k in range(90)]
    Path("t.csv").write_text("key,a,b,y\n" + "\n".join(rows) + "\n")
    train = ("train", "t.csv", "-t", "y", "--drop-duplicates", "--task", "regression", *QUICK)
    assert "No row is equal to an earlier one.  [--drop-duplicates]" in madaline(*train).out
    assert "30 rows are equal" in madaline(*train, "--ignore", "key").out
    streamed = madaline(*train, "--memory", "1KB")
    assert streamed.code == 2
    assert "--drop-duplicates needs the table in memory" in streamed.err


def test_a_value_far_from_all_others_is_named_with_the_option_that_leaves_its_column_out(madaline, tmp_path, rng):
    rain = rng.gamma(1.0, 8.0, 200).round(1)
    rain[150] = 9831.3
    table = pl.DataFrame({"rain 1h": rain, "y": (rain > 8.0).astype(int)})
    table.write_csv(tmp_path / "rain.csv")
    quick = ("-t", "y", "--epochs", "2", *BARE, "--out", "run", "--force")
    said = madaline("train", tmp_path / "rain.csv", *quick).out
    assert "Note: Column 'rain 1h' has the value 9831.3, " in said
    assert "times its usual range; correct it, or leave the column out.  [--ignore 'rain 1h']" in said
    table.filter(pl.col("rain 1h") < 1000).write_csv(tmp_path / "rain.csv")
    assert "usual range" not in madaline("train", tmp_path / "rain.csv", *quick).out
