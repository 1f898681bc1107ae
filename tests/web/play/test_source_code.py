"""Copied code and copied commands give the numbers of the run."""

from __future__ import annotations

import contextlib
import io
import shlex
from pathlib import Path

import numpy as np
import pytest

from madaline.cli.main import main
from madaline.data.datasets import load_dataset
from madaline.web.play.lessons import LESSONS
from madaline.web.play.settings import Settings
from web.play.asked import client_of, command, started, wait_for

POINTS = "".join(
    f"{x}{y}{(x > 'h') != (y > 'h'):d}" for x in ("5a", "9k", "ps", "u1") for y in ("4c", "8z", "q0", "v5")
)
LINKS = [
    *(lesson.link for lesson in LESSONS),
    "data=moons&noise=0.2&flip=0.1&features=x1,x1x2,sin2&optimizer=rmsprop&momentum=0.5&regularizer=l1&seed=3&draw=2",
    "data=spirals&loss=focal&layers=5swish,6gelu,5elu&norm=layer&init=he_uniform&standardize=1&schedule=one_cycle",
    "data=xor&loss=hinge",
    "data=xor&clip=0.5&balance=1&patience=2",
    "data=hills&noise=0.1&loss=huber&batch=7",
    f"data=points&points={POINTS}&test=0.2",
]


@pytest.fixture(scope="module")
def client():
    with client_of() as found:
        yield found


def losses(client, link):
    """The losses of a run, and the run."""
    info = started(client, link)
    command(client, info["run"], "run")
    header, _ = wait_for(client, info["run"], "finished", "failed")
    assert header["status"] == "finished", header["message"]
    client.delete(f"/api/runs/{info['run']}")
    return header["history"], info


def executed(code):
    """The history that a script makes; it prints it, too."""
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "copied", "exec"), names)
    assert "val_loss" in printed.getvalue()
    return names["history"]


@pytest.mark.parametrize("link", LINKS)
def test_copied_python_gives_the_losses_of_the_page(client, link):
    link = Settings.of_link(link).changed(epochs=3).link()
    history, info = losses(client, link)
    again = executed(info["python"])
    for name in ("loss", "val_loss", info["metric"], f"val_{info['metric']}"):
        assert history[name] == pytest.approx(again[name].tolist(), rel=0, abs=0, nan_ok=True), name


def test_copied_python_of_a_table_gives_the_losses_of_the_page(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_dataset("penguins").write_csv("my penguins.csv")
    table = client.post("/api/tables", params={"name": "my penguins.csv"}, content=Path("my penguins.csv").read_bytes())
    base = Settings(data="table", table=table.json()["name"], digest=table.json()["digest"], epochs=2)
    for change in ({"target": "species"}, {"target": "body_mass_g", "columns": "bill_depth_mm,sex"}, {"target": "sex"}):
        history, info = losses(client, base.changed(**change).link())
        assert history["loss"] == executed(info["python"])["loss"].tolist()
        assert np.isfinite(history["loss"]).all()


def test_the_copied_command_prints_the_losses_of_the_page(client, capsys):
    history, info = losses(client, "data=circles&layers=4tanh&epochs=2")
    assert main(shlex.split(info["command"])[1:]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    place = rows[0].index("loss")
    assert [row[place] for row in rows[1:]] == [f"{loss:.4g}" for loss in history["loss"]]


def test_the_command_refuses_another_table(tmp_path, capsys):
    file = tmp_path / "some.csv"
    load_dataset("moons").write_csv(file)
    assert main(["play", str(file), "--settings", "data=table&digest=0123456789ab", "--train"]) == 2
    assert "SHA-256" in capsys.readouterr().err
    assert main(["play", str(file), "--settings", "target=class&epochs=2", "--train"]) == 0
    assert main(["play", "--settings", "rate=fast", "--train"]) == 2
    assert main(["play", str(tmp_path / "none.csv"), "--train"]) == 1
