"""The manners of the command line: help, exit codes, errors in a line or two, no colour in pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = ["train", "predict", "evaluate", "diagnose", "explain", "compare", "inspect", "export", "datasets"]
PROGRAM = Path(sys.executable).with_name("madaline")


def test_without_a_command_there_is_help(madaline):
    result = madaline()
    assert result.code == 2
    assert all(command in result.out for command in COMMANDS)
    assert result.err == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(madaline, command):
    result = madaline(command, "--help")
    assert result.code == 0
    assert "Examples:" in result.out
    assert f"madaline {command}" in result.out.split("Examples:")[1]


@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)], ids=str)
def test_help_has_no_types_of_flags_and_fits_on_a_narrow_screen(madaline, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = madaline(*command, "--help")
    assert "<bool>" not in result.out
    assert "list[" not in result.out
    assert all(len(line) <= 80 for line in result.out.splitlines())
    titles = [line for line in result.out.splitlines() if line.startswith("╭")]
    assert titles
    assert all(" ─" in line or line.endswith("──╮") for line in titles), "a title is cut off"


def test_help_shows_the_defaults_of_the_preset(madaline, penguins, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    used = json.loads((penguins / "result.json").read_text())["recipe"]
    shown = madaline("train", "--help").out
    for name in ("activation", "dropout", "weight_decay"):
        line = next(line for line in shown.splitlines() if f"--{name.replace('_', '-')} " in line)
        assert f"[default: ({used[name]})]" in line


@pytest.mark.parametrize("module", ["madaline", "madaline.cli"])
def test_the_command_line_runs_as_a_module(module):
    run = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=False, timeout=300
    )
    assert (run.returncode, run.stdout.split()[0]) == (0, "madaline"), run.stderr


def test_the_version_is_shown(madaline):
    import madaline as md

    assert madaline("--version").out == f"madaline {md.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["trian"], 2, "No such command 'trian'"),
        (["train", "penguins", "--sed", "1"], 2, "No such option: --sed"),
        (["train", "penguins", "--seed", "one"], 2, "Invalid value for '--seed'"),
        (["predict"], 2, "Missing argument"),
        (["train"], 2, "Choose a table: madaline train FILE --target COLUMN"),
        (["train", "nowhere.csv"], 1, "There is no file 'nowhere.csv', and no data set of that name"),
        (["train", "pinguins"], 1, "Did you mean 'penguins'?"),
        (["predict", "nothing.madaline", "penguins"], 1, "There is no file 'nothing.madaline'"),
        (["datasets", "pinguins"], 2, "Did you mean 'penguins'?"),
        (["train", "penguins", "--time", "soon"], 2, "--time soon is not a duration. Use for example 90s, 5m or 1h30m"),
        (["train", "penguins", "--hidden", "big"], 2, "--hidden big must be numbers of units, separated by commas"),
        (["train", "penguins", "-t", "specis"], 2, "--target specis: there is no such column. Did you mean 'species'?"),
        (["train", "penguins", "--split", "group"], 2, "--split group needs a column: --group COLUMN"),
        (["train", "penguins", "--activation", "ReLu"], 2, "Did you mean 'relu'?"),
        (["train", "penguins", "--norm", "bach"], 2, "Did you mean 'batch'?"),
        (["train", "penguins", "--seed", "-1"], 2, "--seed -1 must be a number from 0 to 4294967295"),
        (["train", "penguins", "--seed", str(2**70)], 2, "must be a number from 0 to 4294967295"),
        (["train", "penguins", "--threads", "0"], 2, "--threads 0 must be a number from 1 to 1024"),
        (["train", "penguins", "--rows", "0"], 2, "--rows 0 must be a number from 1"),
        (["train", "penguins", "--learning-rate", "-1"], 2, "--learning-rate -1.0 must be a number in (0, inf)"),
        (["train", "penguins", "--learning-rate", "nan"], 2, "--learning-rate nan must be a number in (0, inf)"),
        (["train", "penguins", "--weight-decay", "-1"], 2, "--weight-decay -1.0 must be a number in [0, inf)"),
        (["train", "penguins", "--dropout", "1.5"], 2, "--dropout 1.5 must be a number in [0, 1)"),
        (["train", "penguins", "--epochs", "0"], 2, "--epochs 0 must be a number from 1"),
        (["train", "penguins", "--batch-size", "0"], 2, "--batch-size 0 must be a number from 1"),
        (["train", "penguins", "--patience", "-3"], 2, "--patience -3 must be a number from 1"),
        (["train", "penguins", "--hidden", "8,0"], 2, "--hidden 8,0: every layer needs at least one unit"),
        (["train", "penguins", "--task", "regresion"], 2, "--task regresion is not known. Choose one of binary, multi"),
        (["train", "penguins", "--class-weight", "big"], 2, "--class-weight big is not known. Choose balanced."),
        (["train", "penguins", "--split", "tim"], 2, "--split tim is not known. Choose one of random, stratified"),
        (["train", "penguins", "--test", "1.2"], 2, "--test 1.2 must be a fraction of the rows between 0 and 1"),
        (["search", "penguins", "--sampler", "grid"], 2, "--sampler grid is not known. Choose one of tpe, random, gp."),
        (["export", "x", "--to", "tensorflow"], 2, "--to tensorflow is not a known target."),
        (["datasets", "penguins", "-o", "p.xls"], 2, "-o p.xls: the file must end in .csv or .parquet."),
        (["train", "penguins", "--resume", "run"], 2, "the table cannot be changed"),
        (["train", "--resume", "run", "--ragged", "drop"], 2, "--ragged cannot be changed"),
        (["train", "--resume", "run", "--max-unpacked", "1GB"], 2, "--max-unpacked cannot be changed"),
        (["train", "--resume", "nowhere"], 1, "There is no run to resume in 'nowhere'"),
        (["train", "--config", "nowhere.toml"], 1, "nowhere.toml"),
        (["serve", "nowhere"], 1, "There is no model 'nowhere'"),
        (["serve", "a=x", "a=y"], 1, "There is no model 'x'"),
        (["serve", "a b=x"], 2, "'a b' cannot be the name of a model"),
        (["serve", "x", "--host", "0.0.0.0"], 2, "needs a token: set the environment variable MADALINE_TOKEN"),
        (["serve", "x", "--timeout", "0"], 2, "--timeout 0.0 must be above 0"),
        (["serve", "x", "--max-rows", "-1"], 2, "--max-rows -1 must be above 0"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else "",
)
def test_an_error_is_a_line_or_two_and_an_exit_code(madaline, arguments, code, text):
    result = madaline(*arguments)
    assert result.code == code
    assert text in result.err
    assert len(result.err.splitlines()) <= 2
    assert "Traceback" not in result.err
    assert not list(Path().iterdir()), "nothing is left behind"


def test_debug_shows_the_traceback(madaline):
    result = madaline("train", "nowhere.csv", "--debug")
    assert result.code == 1
    assert "Traceback" in result.err


def test_an_error_of_ours_is_said_to_be_one(madaline, monkeypatch):
    monkeypatch.setattr("madaline.cli.source.opened", lambda settings, file: 1 / 0)
    result = madaline("train", "penguins")
    assert result.code == 70
    assert "Internal error: ZeroDivisionError" in result.err


def test_ctrl_c_is_an_exit_code_and_a_word(madaline, monkeypatch):
    def stop(settings, file):
        raise KeyboardInterrupt

    monkeypatch.setattr("madaline.cli.source.opened", stop)
    result = madaline("train", "penguins")
    assert (result.code, result.err) == (130, "madaline: Stopped.\n")
    assert not list(Path().iterdir())


def test_ctrl_c_while_modules_are_loaded_is_a_word_too(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    run = subprocess.run(
        [sys.executable, "-m", "madaline.cli", "datasets"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
        timeout=300,
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "madaline: Stopped.\n")


def test_ctrl_c_when_all_is_done_changes_nothing():
    code = (
        "import atexit, os, signal, sys; atexit.register(os.kill, os.getpid(), signal.SIGINT); "
        "sys.argv = ['madaline', '--version']; from madaline.cli.__main__ import run; run()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("madaline ")


@pytest.fixture
def program(tmp_path):
    """The installed program in a pipe."""

    def run(line, **options):
        return subprocess.run(
            [PROGRAM, *line.split()], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300, **options
        )

    return run


def test_in_a_pipe_there_is_neither_colour_nor_progress(program):
    run = program("train penguins --epochs 2 --no-baselines --no-report --out run")
    assert run.returncode == 0, run.stderr
    assert "\x1b" not in run.stdout
    assert run.stderr == ""


def test_who_reads_a_pipe_may_stop_early(tmp_path, penguins):
    line = f"'{PROGRAM}' predict '{penguins}' spirals_like.csv | head -n 1"
    rows = "\n".join(
        ["island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex", *["Dream,1,2,3,4,MALE"] * 50_000]
    )
    (tmp_path / "spirals_like.csv").write_text(rows)
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300)
    assert run.stdout.startswith("island,")
    assert run.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_completion(program, shell):
    import os

    run = program("", env=os.environ | {"_MADALINE_COMPLETE": f"source_{shell}"})
    assert "madaline" in run.stdout.lower()
    assert run.returncode == 0
