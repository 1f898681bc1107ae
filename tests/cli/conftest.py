"""What tests of the command line share."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from madaline.cli.main import main


@dataclass
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


@pytest.fixture
def madaline(capsys, monkeypatch, tmp_path):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def penguins(tmp_path_factory):
    """The folder of a run on penguins."""
    folder = tmp_path_factory.mktemp("models") / "penguins"
    assert (
        main(
            [
                "train",
                "penguins",
                "--out",
                str(folder),
                "--epochs",
                "40",
                "--learning-rate",
                "0.01",
                "--no-baselines",
                "--no-report",
            ]
        )
        == 0
    )
    return folder


@pytest.fixture(scope="session")
def cars(tmp_path_factory):
    """The folder of a run on cars: a regression."""
    folder = tmp_path_factory.mktemp("models") / "cars"
    assert main(["train", "auto_mpg", "--out", str(folder), "--epochs", "40", "--no-baselines", "--no-report"]) == 0
    return folder
