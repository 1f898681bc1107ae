"""Markdown of the repository as Markdown of the site: links lead to where their targets are there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from contents import ROOT, place

CODE_OR_LINK = re.compile(
    r"^(`{3,}).*?^\1`*[ \t]*$|(?<!\[)`md\.([\w.]+)`(?!\])|`[^`\n]+`|\]\(([^)\s]+)\)", re.MULTILINE | re.DOTALL
)


def relative(target: str, page: str) -> str:
    """A link from a page of the site to another."""
    return Path(os.path.relpath(target, Path(page).parent)).as_posix()


def translate(page: Path, text: str, api: Mapping[str, str], found: Callable[[Path], None]) -> str:
    """Translate the links of a page, and make links of public names in ``code``.

    Parameters
    ----------
    page : Path
        The file in the repository.
    text : str
        Its contents.
    api : mapping of str to str
        Pages of the site by public name, such as ``optim.Lion``.
    found : callable
        Called with each file that the page links to.
    """
    here = place(page.relative_to(ROOT).as_posix())

    def link(match: re.Match[str]) -> str:
        name, url = match[2], match[3]
        if match[1]:  # doctests end in an empty line, which need not be shown
            return re.sub(r"\n+(`{3,})$", r"\n\1", match[0])
        if name:
            return f"[{match[0]}]({relative(api[name], here)})" if name in api and not in_heading(match) else match[0]
        if url is None or "://" in url or url.startswith(("#", "mailto:")):
            return match[0]
        path, hash_, anchor = url.partition("#")
        target = (page.parent / path).resolve()
        if not target.is_file():
            raise FileNotFoundError(f"{page}: the link {url!r} does not lead to a file.")
        found(target)
        return f"]({relative(place(target.relative_to(ROOT).as_posix()), here)}{hash_}{anchor})"

    def in_heading(match: re.Match[str]) -> bool:
        return text[text.rfind("\n", 0, match.start()) + 1 :].startswith("#")

    return CODE_OR_LINK.sub(link, text)


def title(text: str) -> str:
    """The first heading."""
    match = re.search(r"^# (.*)$", text, flags=re.MULTILINE)
    assert match, text[:80]
    return match[1]


def summary(text: str) -> str:
    """The first sentence after the first heading, without links and pictures."""
    after = text.split("\n# " if not text.startswith("# ") else "# ", 1)[1].split("\n", 1)[1]
    paragraphs = [part for part in re.split(r"\n{2,}", after.strip()) if not re.match(r"[#!|`:\-*]|\d\.", part)]
    if not paragraphs:
        return ""
    line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraphs[0].split()))
    return re.split(r"(?<=[.;]) (?=[A-Z`*])", line)[0].rstrip(":;")


def listing(path: Path) -> str:
    """A page that shows a file of the repository."""
    language = {".py": "python", ".json": "json", ".toml": "toml", ".h": "cpp", ".cpp": "cpp", ".yml": "yaml"}
    text = path.read_text(encoding="utf-8").rstrip("\n")
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    name = path.relative_to(ROOT).as_posix()
    kind = language.get(path.suffix, "text")
    return f"---\norphan: true\nnosearch: true\n---\n# {name}\n{ticks}{{code-block}} {kind}\n{text}\n{ticks}\n"
