"""The concept map of the site: each row with its picture instead of a link to it."""

from __future__ import annotations

import posixpath
import re

from contents import CATALOGUE, ROOT

THUMBNAIL = "{folder}/images/thumb/sphx_glr_{name}_thumb.png"
ROW = re.compile(r"^\| [A-EN]\d+ \|.*\|$", re.MULTILINE)
PICTURE = 5
"Position of the picture in a row that is split at its bars."
LINK = re.compile(r"\[([^\]]*)\]\(([^)]+)\)")
DRAWN = {"A5": "", "A7": "-2", "A8": "-3", "D9": "-4", "E21": "-3", "N9": ""}
"Rows whose picture is a graph that the example ``graphs_with_numbers`` draws, and the end of its name."
GALLERY_PAGE = re.compile(r"(gallery/[^/)]+)/([\w-]+)\.rst")


def add(text: str) -> str:
    """Replace the links of the column of pictures."""
    return ROW.sub(lambda row: with_picture(row[0]), text)


def with_picture(row: str) -> str:
    """A row whose picture is shown and leads to its page."""
    cells = row.split("|")
    if len(cells) > PICTURE and (found := LINK.search(cells[PICTURE])):
        title, page = found.groups()
        row_id = cells[1].strip()
        shown = f"drawings/graphs_with_numbers{DRAWN[row_id]}.svg" if row_id in DRAWN else image(page)
        cells[PICTURE] = f" [![{title}]({shown})]({page}) "
    return "|".join(cells)


def image(page: str) -> str:
    """The first picture of a page of the site: of an example of the gallery, or of the catalogue."""
    if example := GALLERY_PAGE.fullmatch(page):
        return THUMBNAIL.format(folder=example[1], name=example[2])
    name = posixpath.basename(page).partition(".")[0]
    assert name in CATALOGUE, f"The concept map shows {page}, which is not in the gallery or the catalogue."
    (first, *_) = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    return first
