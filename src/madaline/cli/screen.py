"""What a command shows: tables for people, plain text for pipes, one JSON document for scripts."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PIPED_WIDTH = 110
"Characters of a line where nobody looks on."


class Screen:
    """Where results go. With ``as_json``, only :meth:`result` writes.

    Parameters
    ----------
    as_json : bool
    """

    def __init__(self, *, as_json: bool = False) -> None:
        from rich.console import Console  # those who look on wait for it

        self.as_json = as_json
        self.is_watched = sys.stderr.isatty() and not as_json
        width = None if sys.stdout.isatty() else PIPED_WIDTH
        self._console = Console(width=width, highlight=False)
        self.log: list[str] = []

    def say(self, text: str = "", *, style: str | None = None) -> None:
        """A line."""
        text = visible(text)
        self.log.append(text)
        if not self.as_json:
            self._console.print(text, style=style, markup=False, soft_wrap=True)

    def title(self, text: str) -> None:
        """A line that begins something."""
        self.say()
        self.say(text, style="bold")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> None:
        """Rows of texts under their names; columns ``right`` have numbers."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        columns = [visible(name) for name in columns]
        shown = [[visible(str(cell)) for cell in row] for row in rows]
        self.log += ["\t".join(columns), *("\t".join(row) for row in shown)]
        if self.as_json:
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for k, name in enumerate(columns):
            table.add_column(Text(name), justify="right" if k in right else "left", overflow="fold")
        for row in shown:
            table.add_row(*map(Text, row))
        self._console.print(table)

    def result(self, document: Mapping[str, Any]) -> None:
        """The one JSON document that scripts read."""
        if self.as_json:
            print(json.dumps(plain(document), indent=2, ensure_ascii=False))


def visible(text: str) -> str:
    r"""A text with control characters written out, so that a table cannot send commands to the terminal.

    Examples
    --------
    >>> visible("a\x1b[31m\tb\n")
    'a\\x1b[31m\tb\n'
    """
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"Control characters but for tabs and line ends, and those that change the direction of text."


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays as lists, what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
