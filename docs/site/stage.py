"""Write the sources of the site: ``python docs/site/stage.py build/docs-source``, as ``make docs`` does.

The pages of the repository are copied with their links translated. Indexes, the API reference, the performance page and
listings of linked files are generated.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import api
import sections
import speed_picture
from contents import EXAMPLES, ROOT, TOPICS, pages, place, slug, topic
from madaline.gallery.runner import GALLERY
from page_text import listing, translate

PICTURES = {".png", ".gif", ".svg"}


class Stage:
    """A folder of sources. Files that did not change are not written again, so that Sphinx need not read them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: set[Path] = set()
        self.linked: set[Path] = set()

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file, unless it has this content."""
        target = self.folder / path
        data = content.encode("utf-8") if isinstance(content, str) else content
        self.written.add(target)
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def add_pages(self, names: dict[str, str]) -> None:
        """The pages of the repository, and the files that they link to."""
        for page in pages():
            name = place(page.relative_to(ROOT).as_posix())
            text = translate(page, page.read_text(encoding="utf-8"), names, self.linked.add)
            self.write(name, sections.finish(name, text))
        for file in self.linked - set(pages()):
            name = place(file.relative_to(ROOT).as_posix())
            if file.suffix in PICTURES:
                self.write(name, file.read_bytes())
            elif name.startswith("source/"):
                self.write(name, listing(file))

    def add_examples(self) -> None:
        """The scripts of the gallery by topic, for sphinx-gallery."""
        grouped = {name: [each for each in GALLERY if topic(each.rows) == name] for name in (*TOPICS, "More")}
        self.write("examples/GALLERY_HEADER.rst", sections.GALLERY)
        for name, examples in grouped.items():
            if examples:
                self.write(f"examples/{slug(name)}/GALLERY_HEADER.rst", f"{name}\n{'-' * len(name)}\n")
            for example in examples:
                self.write(
                    f"examples/{slug(name)}/{example.name}.py", (ROOT / EXAMPLES / example.path.name).read_bytes()
                )

    def add_drawings(self) -> None:
        """The graphs that the concept map shows."""
        with TemporaryDirectory() as folder:
            for path in GALLERY.find("graphs_with_numbers").run(Path(folder)):
                if path.suffix == ".svg":
                    self.write(f"drawings/{path.name}", path.read_bytes())

    def add_api(self) -> None:
        """The pages of all public names."""
        for name, text, source in api.documents():
            self.write(f"api/{name}.rst", text)
            if source:
                self.write(f"source/{source.relative_to(ROOT).as_posix()}.md", listing(source))

    def remove_others(self) -> None:
        """Remove what earlier runs wrote and this one did not, except what sphinx-gallery writes."""
        for file in [file for file in self.folder.rglob("*") if file.is_file()]:
            if file not in self.written and "gallery" not in file.relative_to(self.folder).parts[:1]:
                file.unlink()
        known = {place(f"{EXAMPLES}/{example.path.name}") for example in GALLERY}
        for page in (self.folder / "gallery").glob("*/*.rst"):
            if page.name != "index.rst" and page.relative_to(self.folder).as_posix() not in known:
                shutil.rmtree(self.folder / "gallery")
                break


if __name__ == "__main__":
    stage = Stage(Path(sys.argv[1]).resolve())
    names = api.names()
    stage.add_pages(names)
    stage.add_examples()
    stage.add_drawings()
    stage.add_api()
    for path, text in sections.indexes(names, stage.linked.add).items():
        stage.write(path, text)
    for mode in ("light", "dark"):
        stage.write(f"performance/speed-{mode}.svg", speed_picture.svg(mode))
    stage.remove_others()
