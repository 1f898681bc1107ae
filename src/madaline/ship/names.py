"""Names and texts that every language of the exported files takes."""

from __future__ import annotations

import keyword
import re
from typing import Any

RESERVED = re.compile(
    r"n|np|torch|math|base64|struct|self|forward|predict|model|scratch|[ijkv]\d*|(layer_|computed|_).*|"
    r"auto|bool|case|char|const|default|do|double|enum|extern|float|goto|inline|int|long|main|register|restrict|short|"
    r"signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|y0f|y1f|[jy][01n]f?"
)
"Names that the files use themselves, or that C does, its library's Bessel functions among them."


def leaf_names(tree: Any, single: str) -> list[str]:
    """What inputs or outputs are called: by their names, or numbered, or by one letter if there is one."""
    if isinstance(tree, dict):
        return [
            f"{name}_{inner}" if inner else str(name) for name, item in tree.items() for inner in leaf_names(item, "")
        ]
    if isinstance(tree, (tuple, list)):
        inner = [leaf_names(item, "") for item in tree]
        return [f"{single}{number}{name}" for number, names in enumerate(inner) for name in names]
    return [single]


def new_name(wanted: str, taken: set[str], reserved: re.Pattern[str] | None = None) -> str:
    """A name that Python and C take, too, and nobody has: ``layer_0_W`` for ``layer_0.W``."""
    plain = re.sub(r"\W", "_", wanted, flags=re.ASCII)
    if not plain.isidentifier() or keyword.iskeyword(plain) or (reserved and reserved.fullmatch(plain)):
        plain = f"x_{plain}"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name)
    return name


def one_line(text: str, limit: int = 160) -> str:
    """A text that is harmless within a comment or docstring of any language."""
    plain = " ".join("".join(sign if sign.isascii() and sign.isprintable() else " " for sign in text).split())
    for sign, stand_in in (("\\", "/"), ('"', "'"), ("*/", "* /"), ("/*", "/ *"), ("??", "? ?")):
        plain = plain.replace(sign, stand_in)
    return plain if len(plain) <= limit else f"{plain[: limit - 3]}..."
