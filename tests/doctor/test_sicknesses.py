"""The registry of sicknesses: one file each, and nothing forgotten in any."""

from __future__ import annotations

from pathlib import Path

import pytest

from madaline.doctor import sicknesses
from madaline.doctor.sickness import all_sicknesses

ALL = all_sicknesses()
ROOT = Path(__file__).parents[2]


def test_each_has_a_file_of_its_name():
    files = {path.stem for path in Path(sicknesses.__path__[0]).glob("*.py")} - {"__init__"}
    assert files == {sickness.name for sickness in ALL}


def test_numbers_are_unique():
    assert len({sickness.number for sickness in ALL}) == len(ALL)


@pytest.mark.parametrize("sickness", ALL, ids=lambda sickness: sickness.name)
def test_each_says_what_is_wrong_and_why(sickness):
    assert sickness.title.endswith(".")
    assert 1 <= sickness.why.count(". ") <= 2, "two or three sentences"
    assert sickness.severity in ("error", "warning", "info")
    if sickness.concept:
        assert (ROOT / "docs" / sickness.concept).exists()


def test_the_guide_lists_all_of_them():
    guide = (ROOT / "docs" / "guides" / "doctor.md").read_text(encoding="utf-8")
    for sickness in ALL:
        assert f"| `{sickness.name}` | {sickness.severity} | {sickness.title} |" in guide
