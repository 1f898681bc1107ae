"""Finding and running the scripts of the gallery."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from traceback import extract_tb
from types import CodeType
from typing import Any

from madaline.errors import FileFormatError, MadalineError, MissingPackageError
from madaline.gallery.drawing import Drawing
from madaline.registry import Registry

EXAMPLES = Path(__file__).parent / "examples"


@dataclass(frozen=True)
class Example:
    """A script: its name, its title, and the rows of the curriculum that it shows."""

    name: str
    title: str
    rows: tuple[str, ...]
    path: Path
    "The script."

    def run(self, folder: Path) -> list[Path]:
        """Run the script, write its figures to a folder, and return their paths.

        Figures are ``NAME.png``, ``NAME-2.png`` ...; beside the picture of an animation, which is its first frame, the
        animation itself is a GIF of the same name. Drawings of graphs are ``NAME.svg``, ``NAME-2.svg`` ...
        """
        try:
            import matplotlib as mpl
        except ImportError:
            raise MissingPackageError(
                'The gallery needs matplotlib, which is not installed. Install it: pip install "madaline[plot]"'
            ) from None
        mpl.use("Agg")
        from matplotlib import pyplot as plt
        from matplotlib.animation import Animation, PillowWriter

        plt.close("all")
        names: dict[str, Any] = {"__name__": "__main__", "__file__": str(self.path)}
        folder.mkdir(parents=True, exist_ok=True)
        written: list[Path] = []
        position = 0
        for block in self.blocks():
            self._run_block(block, names)
            animations = [value for value in names.values() if isinstance(value, Animation)]
            for number in plt.get_fignums():
                position += 1
                path = folder / (f"{self.name}.png" if position == 1 else f"{self.name}-{position}.png")
                figure = plt.figure(number)
                figure.savefig(path)
                written.append(path)
                for animation in animations:
                    if animation._fig is figure:  # type: ignore[attr-defined]  # noqa: SLF001 - there is no public name
                        written.append(path.with_suffix(".gif"))
                        animation.save(written[-1], writer=PillowWriter(fps=2), dpi=80)
            plt.close("all")
        for position, drawing in enumerate((v for v in names.values() if isinstance(v, Drawing)), start=1):
            written.append(folder / (f"{self.name}.svg" if position == 1 else f"{self.name}-{position}.svg"))
            written[-1].write_text(drawing.svg, encoding="utf-8")
        return written

    def _run_block(self, block: CodeType, names: dict[str, Any]) -> None:
        try:
            exec(block, names)  # noqa: S102 - the script itself, as the documentation runs it
        except Exception as error:  # whatever a changed script raises
            lines = [frame for frame in extract_tb(error.__traceback__) if frame.filename == str(self.path)]
            place = f"line {lines[-1].lineno} of {self.path.name}: {lines[-1].line}" if lines else self.path.name
            if isinstance(error, AssertionError):
                told = f"A claim of the example does not hold, {place}"
            else:
                told = f"{type(error).__name__} in {place}\n{error}"
            raise MadalineError(told) from error

    def blocks(self) -> list[CodeType]:
        """The blocks of the script, which lines with ``# %%`` separate; a figure is finished in its block."""
        text = self.path.read_text(encoding="utf-8")
        starts = [0, *(found.start() for found in re.finditer(r"^# %%", text, flags=re.MULTILINE)), len(text)]
        return [
            compile("\n" * text.count("\n", 0, start) + text[start:end], str(self.path), "exec")
            for start, end in pairwise(starts)
        ]


def read(path: Path) -> Example:
    """The example in a file: its title is the first line of the docstring, which also names its rows."""
    try:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {str(path)!r}.") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{str(path)!r} is not a Python script: {error}.") from None
    rows = re.findall(r"\b[A-EN]\d+\b", text)
    return Example(path.stem, text.strip().splitlines()[0], tuple(dict.fromkeys(rows)), path)


GALLERY: Registry[Example] = Registry("example")
"Every example by name."
for _path in sorted(EXAMPLES.glob("*.py")):
    GALLERY.add(_path.stem, read(_path))
