"""Every example runs, checks its own claims, and draws at least one picture."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from madaline.gallery.results import FOLDER, kept
from madaline.gallery.runner import GALLERY


@pytest.mark.parametrize("example", list(GALLERY), ids=lambda example: example.name)
def test_an_example_runs_and_its_claims_hold(example, tmp_path, monkeypatch):
    """In a process of its own: the quick mode is read when it starts."""
    monkeypatch.setenv("MADALINE_QUICK", "1")
    code = f"""
from pathlib import Path
from matplotlib.figure import Figure
from madaline.gallery.runner import GALLERY

save = Figure.savefig
def check_and_save(figure, *args, **options):
    empty = [ax for ax in figure.axes if ax.axison and not ax.has_data() and not ax.images]
    assert not empty, f"{{len(empty)}} panels are empty at the end of the block that makes the figure"
    return save(figure, *args, **options)
Figure.savefig = check_and_save
GALLERY.find({example.name!r}).run(Path({str(tmp_path)!r}))
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / f"{example.name}.png").exists()


@pytest.mark.parametrize("example", list(GALLERY), ids=lambda example: example.name)
def test_an_example_names_its_rows_and_checks_what_it_says(example):
    assert example.rows
    text = example.path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 140
    assert re.search(r"^ *(assert|np\.testing\.assert)", text, flags=re.MULTILINE), "it checks no claim"


def test_kept_results_belong_to_an_example_and_name_their_command():
    for path in FOLDER.glob("*.json"):
        assert re.search(rf'kept\(\s*"{path.stem}"', GALLERY.find(path.stem).path.read_text(encoding="utf-8"))
        assert json.loads(path.read_text())["command"] == f"python {path.stem}.py --full"


def test_a_long_measurement_is_made_anew_only_if_asked(tmp_path, monkeypatch):
    """A copy of a script keeps its results beside it, and reads them again."""
    script = tmp_path / "disc.py"
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert set(kept("disc", lambda: pytest.fail("measured"))) == {"with", "without"}
    monkeypatch.setattr(sys, "argv", [str(script), "--full"])
    assert kept("disc", lambda: {"with": [1.0]}) == {"with": [1.0]}
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert kept("disc", lambda: pytest.fail("measured")) == {"with": [1.0]}
