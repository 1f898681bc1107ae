"""The report of the benchmarks can be made of the results that are kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_every_page_and_picture_of_the_report_is_made(tmp_path):
    if not BENCHMARKS.exists():
        pytest.skip("needs the folder benchmarks, which a package does not have")
    shutil.copytree(BENCHMARKS, tmp_path / "benchmarks", ignore=shutil.ignore_patterns("*.md", "*.png", "__pycache__"))
    found = subprocess.run(
        [sys.executable, "report.py"], cwd=tmp_path / "benchmarks", capture_output=True, text=True, check=False
    )
    assert not found.returncode, found.stderr
    results = tmp_path / "benchmarks" / "results"
    for page in ("train", "inference", "startup", "growth", "custom", "probes"):
        text = (results / f"{page}.md").read_text(encoding="utf-8")
        pictures = [part.split(")")[0] for part in text.split("](")[1:] if part.split(")")[0].endswith(".png")]
        assert pictures
        assert all((results / picture).exists() for picture in pictures)
