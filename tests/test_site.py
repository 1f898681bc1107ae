"""What writes the sources of the site: links of the repository lead to the right pages, and nothing is left out."""

from __future__ import annotations

import re

import pytest

import api
import concept_pictures
import contents
import links
import madaline as md
import page_text
import sections
import speed_picture
from madaline.gallery.runner import GALLERY

PAGES = contents.pages()


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("docs/guides/tables.md", "guides/tables.md"),
        ("docs/losses.md", "catalogue/losses.md"),
        ("docs/pictures/activations.png", "pictures/activations.png"),
        ("tests/test_site.py", "source/tests/test_site.py.md"),
        ("benchmarks/results/train.md", "performance/train.md"),
        ("README.md", "contributing/readme.md"),
        (
            "src/madaline/gallery/examples/universal_approximation.py",
            "gallery/units-and-what-they-can-represent/universal_approximation.rst",
        ),
    ],
)
def test_a_file_of_the_repository_has_its_place_on_the_site(path, page):
    assert contents.place(path) == page


def test_no_two_files_have_the_same_place():
    places = [contents.place(page.relative_to(contents.ROOT).as_posix()) for page in PAGES]
    assert len(places) == len(set(places))


def test_every_page_of_the_documentation_is_on_the_site():
    """Those of docs, and the results of the benchmarks."""
    folders = ("docs", "benchmarks/results")
    written = {page for folder in folders for page in (contents.ROOT / folder).rglob("*.md")}
    assert written <= set(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(contents.ROOT)))
def test_a_page_can_be_translated_and_has_a_title(page):
    text = page.read_text(encoding="utf-8")
    assert page_text.translate(page, text, {}, lambda file: None)
    assert page_text.title(text)


def test_links_lead_to_where_the_target_is_on_the_site():
    page = contents.ROOT / "docs" / "guides" / "new.md"
    text = (
        "[a](../losses.md#mse) [b](../../src/madaline/gallery/examples/disc.py) [c](../../tests/test_site.py) "
        "[d](https://x.org) [e](#here)"
    )
    found = []
    assert page_text.translate(page, text, {}, found.append) == (
        "[a](../catalogue/losses.md#mse) [b](../gallery/norms-dropout-and-depth/disc.rst) "
        "[c](../source/tests/test_site.py.md) [d](https://x.org) [e](#here)"
    )
    assert [file.name for file in found] == ["losses.md", "disc.py", "test_site.py"]


def test_a_link_that_leads_nowhere_is_an_error():
    page = contents.ROOT / "docs" / "guides" / "new.md"
    with pytest.raises(FileNotFoundError, match="missing"):
        page_text.translate(page, "[a](missing.md)", {}, lambda file: None)


def test_public_names_in_code_become_links_and_blocks_of_code_stay():
    page = contents.ROOT / "docs" / "guides" / "new.md"
    text = (
        "## `md.Adam`\n`md.Adam` [`md.Adam`](nets.md) `md.nobody` `x](y)`\n"
        "```python\n>>> 1  # [a](b) `md.Adam`\n1\n\n```\n"
    )
    assert page_text.translate(page, text, {"Adam": "api/Adam.rst"}, lambda file: None) == (
        "## `md.Adam`\n[`md.Adam`](../api/Adam.rst) [`md.Adam`](nets.md) `md.nobody` `x](y)`\n"
        "```python\n>>> 1  # [a](b) `md.Adam`\n1\n```\n"
    )


def test_a_summary_is_the_first_sentence():
    assert page_text.summary("# Title\n![x](y.png)\n\nSee [this](a.md). And that.\n") == "See this."


def test_every_public_name_has_a_page():
    documented = {name for name, _, _ in api.documents()}
    names = api.names()
    assert {f"api/{name}.rst" for name in documented} == {page for page in names.values() if "#" not in page}
    assert set(md.__all__) <= set(names)
    assert names["optim.Adam"] == names["Adam"] == "api/Adam.rst"


def test_every_row_of_the_lectures_has_a_topic_and_every_example_a_known_one():
    rows = re.findall(r"^\| ([A-EN]\d+) \|", (contents.ROOT / "docs" / "concepts.md").read_text(), flags=re.MULTILINE)
    assert rows
    assert [row for row in rows if contents.topic((row,)) == "More"] == []
    assert [example.name for example in GALLERY if contents.topic(example.rows) == "More"] == []


def test_the_concept_map_of_the_site_shows_pictures():
    text = (
        "| id | a | b | c | picture | test |\n| --- | --- | --- | --- | --- | --- |\n"
        "| A3 | a | b | [c](x.md) | [curves](catalogue/activations.md#relu) | t |\n"
        "| A1 | a | b | [c](x.md) | [x](gallery/t/xor.rst) | t |\n| A2 | a | b | [c](x.md) | | t |\n"
        "| D9 | a | b | [c](x.md) | [paths](gallery/t/graphs_with_numbers.rst) | t |\n"
    )
    assert concept_pictures.add(text) == (
        "| id | a | b | c | picture | test |\n| --- | --- | --- | --- | --- | --- |\n"
        "| A3 | a | b | [c](x.md) | [![curves](pictures/activations.png)](catalogue/activations.md#relu) | t |\n"
        "| A1 | a | b | [c](x.md) | [![x](gallery/t/images/thumb/sphx_glr_xor_thumb.png)](gallery/t/xor.rst) | t |\n"
        "| A2 | a | b | [c](x.md) | | t |\n"
        "| D9 | a | b | [c](x.md) | "
        "[![paths](drawings/graphs_with_numbers-4.svg)](gallery/t/graphs_with_numbers.rst) | t |\n"
    )


def test_code_of_two_libraries_is_put_side_by_side():
    text = (contents.ROOT / "docs" / "coming-from" / "pytorch.md").read_text(encoding="utf-8")
    assert sections.side_by_side(text).count("{grid}") == text.count("**madaline**") == 3


def test_all_sections_list_existing_pages():
    assert set(sections.indexes({}, lambda file: None)) >= {
        "guides/index.md",
        "catalogue/index.md",
        "performance/index.md",
    }


def test_the_picture_of_speeds_has_madaline_first():
    assert next(iter(speed_picture.speeds("tiny"))) == "madaline"


def test_broken_links_of_the_built_site_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#two"></a><a href="#one"></a><a id="one" href="https://x.org"></a>'
    )
    (tmp_path / "b.html").write_text('<p id="two"></p><img src="none.png"><a href="a.html#three"></a>')
    assert links.broken(tmp_path) == ["b.html: a.html#three", "b.html: none.png"]
