"""Every example runs, checks its own claims, and draws at least one picture."""

from __future__ import annotations

import subprocess
import sys

import pytest

from madaline.gallery.runner import GALLERY


@pytest.mark.parametrize("example", list(GALLERY), ids=lambda example: example.name)
def test_an_example_runs_and_its_claims_hold(example, tmp_path, monkeypatch):
    """In a process of its own: the quick mode is read when it starts."""
    monkeypatch.setenv("MADALINE_QUICK", "1")
    code = f"""
from pathlib import Path
from madaline.gallery.runner import GALLERY
GALLERY.find({example.name!r}).run(Path({str(tmp_path)!r}))
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / f"{example.name}.png").exists()


@pytest.mark.parametrize("example", list(GALLERY), ids=lambda example: example.name)
def test_an_example_names_its_rows(example):
    assert example.rows
    assert len(example.path.read_text(encoding="utf-8").splitlines()) <= 140
