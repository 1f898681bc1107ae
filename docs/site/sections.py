"""Pages that are lists of other pages, and what the site adds to pages of the repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import concept_pictures
from contents import CATALOGUE, GUIDES, HOW_TO, PERFORMANCE, ROOT, place
from page_text import relative, summary, title, translate

GALLERY = """\
Gallery
=======
What the lectures show, computed: one short script for each concept, with pictures. Every script checks its claims when
it runs. ``madaline gallery`` lists the scripts, ``madaline gallery NAME`` runs one, ``--copy`` writes it to a file, and
``madaline gallery FILE.py`` runs the file with your changes. The :doc:`concept map </concepts>` lists everything by
concept.

"""


def finish(name: str, text: str) -> str:
    """A page of the repository with what only the site has: lists of subpages, and pictures of concepts."""
    if name == "concepts.md":
        return concept_pictures.add(text)
    if name.startswith("coming-from/"):
        return side_by_side(text)
    if name == "api/index.md":
        return text + toctree(["*"], hidden=True, glob=True)
    return text


def toctree(entries: Sequence[str], *, hidden: bool = True, glob: bool = False, depth: int = 1) -> str:
    """A directive that lists the subpages for the navigation."""
    options = [f":maxdepth: {depth}", *([":hidden:"] if hidden else []), *([":glob:"] if glob else [])]
    return "\n\n" + "\n".join(["```{toctree}", *options, "", *entries, "```"]) + "\n"


def cards(here: str, paths: Sequence[str], *, columns: str = "1 2 2 2") -> str:
    """A card for each page: its title and its first sentence."""
    lines = [f"::::{{grid}} {columns}", ":gutter: 3", ""]
    for path in paths:
        text = (ROOT / path).read_text(encoding="utf-8")
        link = relative(place(path), here).removesuffix(".md")
        lines += [
            f":::{{grid-item-card}} {title(text)}",
            f":link: {link}",
            ":link-type: doc",
            "",
            summary(text),
            ":::",
            "",
        ]
    return "\n".join([*lines, "::::"])


def section(here: str, heading: str, text: str, paths: Sequence[str]) -> str:
    """An index page with cards."""
    entries = [relative(place(path), here).removesuffix(".md") for path in paths]
    return f"# {heading}\n{text}\n\n{cards(here, paths)}{toctree(entries)}"


def indexes(names: Mapping[str, str], found: Callable[[Path], None]) -> dict[str, str]:
    """The index page of each section by its path."""
    guides = [f"docs/guides/{name}.md" for name in GUIDES]
    missing = {f"docs/guides/{path.name}" for path in (ROOT / "docs/guides").glob("*.md")} - set(guides)
    assert not missing, f"Add to GUIDES in docs/site/contents.py: {sorted(missing)}"
    coming = [f"docs/coming-from/{name}.md" for name in ("scikit-learn", "pytorch", "keras")]
    decisions = [f"docs/decisions/{path.name}" for path in sorted((ROOT / "docs/decisions").glob("*.md"))]
    contributing = ["CONTRIBUTING.md", "docs/architecture.md", "docs/robustness.md", "native/FORMAT.md", "SECURITY.md"]
    how_to = [f"docs/how-to/{name}.md" for name in HOW_TO]
    return {
        "guides/index.md": section(
            "guides/index.md",
            "User guide",
            "From a table to a model in use. Every example on these pages is run by the tests.",
            guides,
        )
        + "\n## Coming from another library\nThe same task in both libraries, side by side.\n\n"
        + cards("guides/index.md", coming, columns="1 3 3 3")
        + toctree([relative(place(path), "guides/index.md").removesuffix(".md") for path in coming]),
        "catalogue/index.md": section(
            "catalogue/index.md",
            "Catalogue",
            "Formulas, defaults and sources of everything that has a name.",
            [f"docs/{name}.md" for name in CATALOGUE],
        ),
        "contributing/index.md": section(
            "contributing/index.md", "Contributing", "How madaline is built, and how to change it.", contributing
        )
        + "\n## How to\n"
        + cards("contributing/index.md", how_to)
        + toctree([relative(place(path), "contributing/index.md").removesuffix(".md") for path in how_to])
        + "\n## Decisions\n"
        + "".join(decision(path) for path in decisions)
        + toctree([*(f"decisions/{Path(path).stem}" for path in decisions), "conduct", "readme"]),
        "performance/index.md": performance(names, found),
    }


def decision(path: str) -> str:
    """A line that links to the page of a decision."""
    name = Path(path).name
    return f"- [{title((ROOT / path).read_text(encoding='utf-8'))}](decisions/{name})\n"


def performance(names: Mapping[str, str], found: Callable[[Path], None]) -> str:
    """The page of measurements: the main picture and table of the training benchmark, and the list of all results."""
    results = ROOT / "benchmarks" / "results"
    train = translate(results / "train.md", (results / "train.md").read_text(encoding="utf-8"), names, found)
    first = re.split(r"^## ", train, flags=re.MULTILINE)[:2]
    text = f"# Performance\n{first[0].split(chr(10), 1)[1].strip()}\n\n## {first[1].strip()}\n"
    listed = {name for topic in PERFORMANCE.values() for name in topic}
    existing = {path.stem for path in results.glob("*.md")}
    *_, last = PERFORMANCE
    for heading, pages in PERFORMANCE.items():
        shown = [*pages, *(sorted(existing - listed) if heading == last else [])]
        paths = [f"benchmarks/results/{name}.md" for name in shown if name in existing]
        paths += ["docs/scale.md"] if "scale" in shown else []
        entries = [Path(place(path)).stem for path in paths]
        text += f"\n## {heading}\n{cards('performance/index.md', paths)}{toctree(entries)}"
    return text


def side_by_side(text: str) -> str:
    """Put two blocks of code with bold titles beside each other on wide screens."""
    titled = r"\*\*([\w-]+)\*\*\n\n(```\w+\n.*?\n```)\n"
    grid = (
        "::::{grid} 1 1 2 2\n:gutter: 2\n:class-container: side-by-side\n\n"
        ":::{grid-item}\n**\\1**\n\n\\2\n:::\n:::{grid-item}\n**\\3**\n\n\\4\n:::\n::::\n"
    )
    return re.sub(rf"{titled}\n{titled}", grid, text, flags=re.DOTALL)
