"""Numbers as people write them: with separators, decimal commas, currency or percent signs, negatives in brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

CURRENCY = r"(?:[$€£¥₹₽₩₺₪฿]|US\$|R\$|A\$|C\$|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|kr\.?|zł|Kč|Ft)"
BLANKS = r"\s'\x{2019}\x{00a0}\x{202f}"
"Thousands separators other than comma and point: blanks of all widths, apostrophes."
MARKS = {".": ",", ",": "."}
"The thousands separator for each decimal mark."

PROVES = {
    ",": r",(?:\d{1,2}|\d{4,})(?:\D|$)|(?:^|\D)0,\d",
    ".": r"\.(?:\d{1,2}|\d{4,})(?:\D|$)|(?:^|\D)0\.\d",
}
"A mark in a number that cannot be a thousands separator."


def pattern(decimal: str) -> str:
    """A regular expression for all ways to write a number with this decimal mark."""
    mark, separator = f"\\{decimal}", f"[\\{MARKS[decimal]}{BLANKS}]"
    digits = rf"(?:\d{{1,3}}(?:{separator}\d{{3}})+|\d+)(?:{mark}\d*)?|{mark}\d+"
    number = rf"(?:{digits})(?:[eE][+-]?\d{{1,3}})?"
    sign = r"[+\-\x{2212}\x{2013}]?"
    return (
        rf"^(?:{sign}\s*{CURRENCY}?\s*{sign}{number}\s*(?:{CURRENCY}|%)?|\(\s*{CURRENCY}?\s*{number}\s*{CURRENCY}?\))$"
    )


def read_numbers(column: pl.Expr, decimal: str) -> pl.Expr:
    """Texts that match :func:`pattern` as plain digits, to be cast; other texts are null."""
    import polars as pl

    bare = (
        column.str.replace_all(r"[\x{2212}\x{2013}]", "-")
        .str.replace(r"^\((.*)\)$", "-$1")
        .str.replace_all(rf"{CURRENCY}|%|[{BLANKS}]|\{MARKS[decimal]}", "")
        .str.replace(f"\\{decimal}", ".")
    )
    return pl.when(column.str.contains(pattern(decimal))).then(bare)
