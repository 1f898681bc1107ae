"""Tables in the page of the playground: wide ones, long names, many classes."""

from __future__ import annotations

import numpy as np
import pytest

from web.live.play_process import scores

LONG = "the measured length of the left wing in units of the long experiment"


@pytest.fixture(scope="module")
def wide_file(tmp_path_factory):
    """A table with 200 columns of long names and 50 classes."""
    rng = np.random.default_rng(0)
    kinds = np.arange(400) % 50
    rows = rng.normal(size=(400, 200)).round(3) + kinds[:, None] * (np.arange(200) < 9)
    lines = [",".join([*(f"{LONG} {k}" for k in range(200)), "kind"])]
    lines += [",".join([*map(str, row), f"class {LONG} {kind}"]) for row, kind in zip(rows, kinds, strict=True)]
    file = tmp_path_factory.mktemp("tables") / "wide.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


TOO_WIDE = """
all => all.filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => `${each.tagName} ${each.id} ${each.scrollWidth} in ${each.clientWidth}`)
"""


def too_wide(page, selector):
    """Those of the elements whose content is wider than they are."""
    assert page.locator(selector).count()
    return page.locator(selector).evaluate_all(TOO_WIDE)


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_a_wide_table_with_long_names_fits_and_any_two_columns_can_be_chosen(open_page, wide_file, size):
    page = open_page(size=size)
    page.locator("#file").set_input_files(wide_file)
    page.wait_for_function("() => document.querySelector('#net .head')?.innerText.includes('200 inputs')")
    page.get_by_role("button", name="Epoch", exact=True).click()
    page.wait_for_function("() => document.getElementById('epoch-text').textContent === '1'")
    assert "50 outputs" in page.inner_text("#net")
    assert "Test accuracy" in scores(page)
    assert too_wide(page, "html, .panel, #surfaces, #layers, #table-panel") == []
    page.get_by_text("Columns: 200 of 200").click()
    page.get_by_role("button", name="None", exact=True).click()
    assert page.get_by_text("Columns: tick at least one").is_visible()
    for count, number in enumerate((3, 5), start=1):
        page.get_by_label("Find columns").fill(f"experiment {number}")
        page.get_by_role("checkbox", name=f"{LONG} {number}", exact=True).click()
        page.get_by_text(f"Columns: {count} of 200").wait_for()
    page.wait_for_function("() => document.querySelector('#net .head').innerText.includes('2 inputs')")
    assert page.get_by_role("checkbox", name=f"{LONG} 6", exact=True).is_hidden()
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_text("Columns: 200 of 200").wait_for()


def test_notes_are_those_of_the_table_that_is_shown(open_page, tmp_path):
    page = open_page()
    for delimiter, word in ((";", "semicolon"), ("|", "bar")):
        file = tmp_path / f"{word}.csv"
        lines = [
            delimiter.join(map(str, row)) for row in (("a", "b", "c"), *((k, 3 * k % 7, k % 2) for k in range(40)))
        ]
        file.write_text("\n".join(lines) + "\n")
        page.locator("#file").set_input_files(file)
        page.get_by_text(f"Fields are separated by a {word}.").wait_for()
    assert page.get_by_text("semicolon").count() == 0
