"""The code of other libraries on the pages under docs/coming-from runs, and does what ours beside it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "coming-from"


@pytest.mark.filterwarnings("ignore")  # of the other library
@pytest.mark.parametrize("name", ["pytorch", "keras"])
def test_the_code_of_the_other_library_runs(name, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    pytest.importorskip("torch").set_num_threads(1)
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 2
    names = {}
    for block in blocks:
        exec(compile(block, f"{name}.md", "exec"), names)
    assert float(names["accuracy"]) > 0.9
