"""The concept map of the site: each row with the picture of the page that explains it."""

from __future__ import annotations

import re
from pathlib import Path

from contents import ROOT

THUMBNAIL = "{folder}/images/thumb/sphx_glr_{name}_thumb.png"
ROW = re.compile(r"^\| (?:id|---|[A-EN]\d+) \|.*\|$", re.MULTILINE)
GALLERY_LINK = re.compile(r"\]\((gallery/[^/)]+)/([\w-]+)\.rst")
EXPERIMENT_LINK = re.compile(r"\]\(experiments/([\w-]+)\.md")


def add(text: str) -> str:
    """Add a column of pictures to the tables of the map."""
    return ROW.sub(lambda row: f"{row[0]} {picture(row[0])} |", text)


def picture(row: str) -> str:
    """The cell of a row: a picture that links to its page, or nothing."""
    if row.startswith("| id |"):
        return "picture"
    if row.startswith("| --- |"):
        return "---"
    if match := GALLERY_LINK.search(row):
        folder, name = match.groups()
        return f"[![{name}]({THUMBNAIL.format(folder=folder, name=name)})]({folder}/{name}.rst)"
    if match := EXPERIMENT_LINK.search(row):
        page = ROOT / "gallery" / f"{match[1]}.md"
        shown = re.search(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
        if shown:
            return f"[![{match[1]}](experiments/{Path(shown[1]).as_posix()})](experiments/{match[1]}.md)"
    return ""
