"""The pages under docs and gallery: their code runs, their links lead somewhere, the concept map tells the truth."""

from __future__ import annotations

import operator
import re
from pathlib import Path

import pytest

import madaline as md

ROOT = Path(__file__).parents[1]
PAGES = sorted(page for folder in ("docs", "gallery") for page in (ROOT / folder).rglob("*.md"))
CONCEPTS = ROOT / "docs" / "concepts.md"

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
IN_ORDER = ROOT / "docs" / "tutorial.md"
"Its code needs the files that its commands write: tests/cli/test_tutorial.py runs both."
EXAMPLES = [page for page in PAGES if page != IN_ORDER and ">>> " in page.read_text(encoding="utf-8")]
"Pages that have something to run."


def rows():
    """The rows of the concept map: id and the cells after it."""
    for line in CONCEPTS.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if re.fullmatch(r"[A-EN]\d+", cells[0]):
            yield cells


def anchor(heading):
    """The name by which a heading is linked to."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, run_forked):
    """In a process of its own, since a page may register things."""
    code = f"""
import doctest, sys
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
failed, tried = doctest.testfile({str(page)!r}, module_relative=False, optionflags=flags, encoding="utf-8")
sys.exit(failed or not tried)
"""
    run = run_forked(code)
    assert run.returncode == 0, run.stdout + run.stderr


@each_page
def test_python_blocks_are_examples_that_run(page):
    """A block without prompts would be shown and never tried."""
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        assert block.startswith(">>> "), block


@each_page
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if "://" in link:
            continue
        path, _, name = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if name:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), flags=re.MULTILINE)
            assert name in map(anchor, headings), link


def test_the_concept_map_has_the_rows_that_work_once_each():
    ids = [cells[0] for cells in rows()]
    assert len(ids) == len(set(ids))
    differentiation = "A5 A6 A7 A8 B7 C4 C5 E7 E8 E21"
    catalogue = "A3 A4 A10 A11 A12 A13 B6 B9 C6 D1 D2 D3 D4 E4 E5 E6 E9 E10 E11 E20"
    gallery = "A17 C11 N1 N6 N8 N10 N11"
    assert set(f"{differentiation} {catalogue} {gallery}".split()) <= set(ids)


@pytest.mark.parametrize("cells", list(rows()), ids=lambda cells: cells[0])
def test_a_concept_names_what_exists_and_a_test_that_cites_it(cells):
    row, _, api, _, shown = cells
    names = re.findall(r"\bmd\.([\w.]+)", api)
    assert names
    assert all(operator.attrgetter(name)(md) for name in names)
    (path,) = re.findall(r"\]\(([^)]+)\)", shown)
    assert re.search(rf"# (\w+, )*{row}\b", (CONCEPTS.parent / path).read_text()), f"{path} does not cite {row}"
