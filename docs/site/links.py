"""Check the links of the built site, ``python docs/site/links.py build/docs``: each leads to a file and an id in it."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """The ids of a page, and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids and addresses."""
        given = dict(attrs)
        self.ids |= {given[name] or "" for name in ("id", "name") if name in given}
        self.targets |= {given[name] or "" for name in ("href", "src") if name in given}


def broken(site: Path) -> list[str]:
    """Links that lead nowhere, as ``page: link``."""
    pages = {
        path: Links(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    found = []
    for page, links in pages.items():
        for link in sorted(links.targets):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
            known = pages.get(site / target.relative_to(site)) if target.is_relative_to(site) else None
            names_id = parts.fragment and "=" not in parts.fragment  # with =, settings of the playground
            if not target.is_file() or (names_id and known and unquote(parts.fragment) not in known.ids):
                found.append(f"{page.relative_to(site)}: {link}")
    return found


if __name__ == "__main__":
    problems = broken(Path(sys.argv[1]).resolve())
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(bool(problems))
