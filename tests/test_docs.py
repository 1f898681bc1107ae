"""The pages under docs: their code runs, their links lead somewhere, the concept map tells the truth."""

from __future__ import annotations

import operator
import re
from pathlib import Path

import pytest

import madaline as md
from madaline.gallery.runner import GALLERY
from madaline.losses.loss import LOSSES
from madaline.nn.activation_function import ACTIVATIONS
from madaline.nn.initializers import INITIALIZERS
from madaline.optim.optimizer import OPTIMIZERS
from madaline.optim.schedule import SCHEDULES

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
CONCEPTS = ROOT / "docs" / "concepts.md"

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
ELSEWHERE = (ROOT / "docs" / "tutorial.md", ROOT / "docs" / "guides" / "other-tools.md")
"""Pages that other tests run: the tutorial needs the files that its commands write (tests/cli/test_tutorial.py), and
the other one needs other packages (tests/neighbours/live/test_page.py, tests/web/live/test_mlflow.py)."""
EXAMPLES = [page for page in PAGES if page not in ELSEWHERE and ">>> " in page.read_text(encoding="utf-8")]
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


@pytest.mark.page
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


ALL_ROWS = {
    f"{deck}{number}"
    for deck, count in {"A": 17, "B": 10, "C": 13, "D": 9, "E": 21, "N": 16}.items()
    for number in range(1, count + 1)
}
"Every row of the curriculum."
PICTURED = ALL_ROWS - {"N15"}
"Rows with a picture: all but a paragraph of history."
GALLERY_TEST = "../tests/gallery/test_examples.py"


def link(cell):
    """The target of the only link of a cell."""
    (path,) = re.findall(r"\]\(([^)]+)\)", cell)
    return path


def test_the_readme_counts_what_the_registries_hold():
    text = (ROOT / "README.md").read_text()
    counts = {
        "activations": len(ACTIVATIONS),
        "losses": len(LOSSES),
        "optimizers": len(OPTIMIZERS),
        "schedules": len(SCHEDULES),
        "initializers": len(INITIALIZERS),
    }
    assert {kind: int(re.search(rf"(\d+) {kind}", text)[1]) for kind in counts} == counts


def test_the_concept_map_has_every_row_once():
    ids = [cells[0] for cells in rows()]
    assert len(ids) == len(set(ids))
    assert set(ids) == ALL_ROWS


@pytest.mark.parametrize("cells", list(rows()), ids=lambda cells: cells[0])
def test_a_concept_names_what_exists_and_a_test_that_cites_it(cells):
    row, _, api, explained, picture, shown = cells
    names = re.findall(r"\bmd\.([\w.]+)", api)
    assert names
    assert all(operator.attrgetter(name)(md) for name in names)
    assert link(explained)
    if link(shown) == GALLERY_TEST:
        assert row in GALLERY.find(Path(link(picture)).stem).rows, f"the example does not cite {row}"
    else:
        text = (CONCEPTS.parent / link(shown)).read_text(encoding="utf-8")
        cited = re.search(rf"^(def test_.*|\) *(-> None)?):  # .*\b{row}\b", text, flags=re.MULTILINE)
        assert cited, f"no test of {link(shown)} cites {row}"


@pytest.mark.parametrize("cells", list(rows()), ids=lambda cells: cells[0])
def test_a_concept_has_a_picture_where_the_lectures_have_one(cells):
    """An example of the gallery that cites the row, or a page with a picture."""
    row, *_, picture, _ = cells
    assert bool(picture) or row not in PICTURED
    if not picture:
        return
    target = CONCEPTS.parent / link(picture)
    assert target.exists()
    if target.suffix == ".py":
        assert row in GALLERY.find(target.stem).rows, f"{target.name} does not cite {row}"
        assert "panels(" in target.read_text(encoding="utf-8"), f"{target.name} draws nothing"
    else:
        images = re.findall(r"!\[[^]]*\]\(([^)]+)\)", target.read_text(encoding="utf-8"))
        assert images
        assert all((target.parent / image).exists() for image in images)


def test_every_example_is_in_the_concept_map():
    text = CONCEPTS.read_text(encoding="utf-8")
    assert [example.name for example in GALLERY if f"/{example.name}.py)" not in text] == []
