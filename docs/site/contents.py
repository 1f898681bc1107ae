"""The contents of the site: where each file of the repository goes, and which pages each section has, in order."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
EXAMPLES = "src/madaline/gallery/examples"

GUIDES = [
    "tables",
    "choosing-a-net",
    "estimators",
    "nets",
    "training",
    "reading-curves",
    "doctor",
    "diagnoses",
    "understanding",
    "report",
    "uncertainty",
    "search",
    "large-data",
    "clusters",
    "command-line",
    "playground",
    "shipping",
    "serving",
    "other-tools",
    "differentiation",
]
CATALOGUE = ["activations", "losses", "optimizers", "schedules", "initializers", "layers", "regularizers"]
HOW_TO = ["add-an-activation", "add-a-layer", "add-a-loss", "add-an-optimizer", "add-a-primitive", "add-an-instruction"]
PERFORMANCE = {
    "Speed": [
        "train",
        "inference",
        "startup",
        "growth",
        "custom",
        "derivatives",
        "population",
        "anatomy",
        "activations",
        "probes",
        "serve",
        "wasm",
        "install",
        "scale",
    ],
    "Quality on open data": ["recipe", "presets", "ensemble", "first_runs", "estimators", "density", "mnist", "biases"],
    "Inside": ["heart-1", "heart-2"],
}
"The pages of results by topic. Others are listed under the last one."

SINGLE = {
    "docs/site/index.md": "index.md",
    "docs/tutorial.md": "tutorial.md",
    "docs/concepts.md": "concepts.md",
    "docs/scale.md": "performance/more-machines.md",
    "docs/api.md": "api/index.md",
    "docs/robustness.md": "contributing/robustness.md",
    "docs/architecture.md": "contributing/architecture.md",
    "README.md": "contributing/readme.md",
    "CONTRIBUTING.md": "contributing/contributing.md",
    "CODE_OF_CONDUCT.md": "contributing/conduct.md",
    "SECURITY.md": "contributing/security.md",
    "CHANGELOG.md": "changelog.md",
    "native/FORMAT.md": "contributing/format.md",
    **{f"docs/{name}.md": f"catalogue/{name}.md" for name in CATALOGUE},
}
FOLDERS = {
    "docs/guides": "guides",
    "docs/coming-from": "coming-from",
    "docs/how-to": "contributing/how-to",
    "docs/decisions": "contributing/decisions",
    "docs/pictures": "pictures",
    "benchmarks/results": "performance",
}
"Folders of pages and pictures, and where they go. Other files become listings under ``source/``."

TOPICS = {
    "Units and what they can represent": "A1 A2 A16 A17 B1 B2 B3 B4 B5 C1 C11 E1 E2 E17 E18 N8",
    "Activations and initial weights": "A3 B6 B9 D1 D3 D4 E4 N10 N12 N13",
    "Losses, risk and regularisation": "A4 D2 E3 E5 E6 C3",
    "Graphs and derivatives": "A5 A6 A7 A8 B7 C4 C5 E7 E8 E21 N9 D9",
    "Descent": "A9 A10 A11 A12 A13 C6 C12 E9 E10 E11 E20 N5 N6 N7 N11",
    "Norms, dropout and depth": "A14 A15 B10 C7 C8 C9 C10 D5 D6 D7 D8 E12 E13 E14 E15 E16 N1 N2 N3 N4 N14",
    "Features": "C2 C13 E19 N15 N16",
    "Babysitting, search and ensembles": "B8",
}
"Topics of the gallery, by the rows of the lectures. An example belongs to the topic of the first row that it names."


def topic(rows: tuple[str, ...]) -> str:
    """The topic of an example that names these rows."""
    return next((topic for row in rows for topic, ids in TOPICS.items() if row in ids.split()), "More")


def slug(title: str) -> str:
    """A folder's name for a title."""
    return title.lower().replace(",", "").replace(" ", "-")


def place(path: str) -> str:
    """Where a file of the repository is on the site; both are relative, with slashes."""
    if path in SINGLE:
        return SINGLE[path]
    pure = PurePosixPath(path)
    folder = FOLDERS.get(str(pure.parent))
    if folder and pure.suffix in {".md", ".png", ".gif", ".svg"}:
        return f"{folder}/{pure.name}"
    if str(pure.parent) == EXAMPLES and pure.suffix == ".py":
        from madaline.gallery.runner import GALLERY

        return f"gallery/{slug(topic(GALLERY.find(pure.stem).rows))}/{pure.stem}.rst"
    return f"source/{path}.md"


def pages() -> list[Path]:
    """Every Markdown file that is a page of the site."""
    folders = [sorted((ROOT / folder).glob("*.md")) for folder in FOLDERS]
    return [*(ROOT / path for path in SINGLE), *(page for folder in folders for page in folder)]
