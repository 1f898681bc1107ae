"""The doctor on a training that may still run."""

from __future__ import annotations

import pytest

from madaline.doctor.finding import Finding, Remedy
from madaline.web.examination import only_trains_longer

LONGER, OTHER, ADVICE = Remedy("a", parameters={"max_iter": 9}), Remedy("b", parameters={"dropout": 0}), Remedy("c")


@pytest.mark.parametrize(
    ("remedies", "expected"), [([LONGER, LONGER], True), ([LONGER, OTHER], False), ([ADVICE], False), ([], False)]
)
def test_findings_that_only_ask_for_more_epochs_can_wait(remedies, expected):
    assert only_trains_longer(Finding("name", "Title.", "warning", 0.9, "", {}, "Why.", remedies=remedies)) is expected
