"""Our answers against those PyTorch and JAX gave when they were recorded."""

from __future__ import annotations

import json

import pytest
from questions import FAMILIES, N_EXPRESSIONS, RECORDED, all_questions, compare
from recordings import recorded


@pytest.mark.parametrize(("family", "question"), [pytest.param(f, q, id=q.name) for f, q in all_questions()])
def test_we_agree_with_what_was_recorded(family, question):
    compare(question.ours(), recorded(family, question.name), question)


def test_every_family_has_questions_and_the_versions_are_known():
    counts = {family: sum(1 for f, _ in all_questions() if f == family) for family in FAMILIES}
    assert all(counts.values())
    assert counts["expressions"] == N_EXPRESSIONS
    versions = json.loads((RECORDED / "versions.json").read_text())
    assert {"torch", "jax", "numpy"} <= versions.keys()


def test_recordings_are_small():
    assert sum(path.stat().st_size for path in RECORDED.iterdir()) < 1_000_000
