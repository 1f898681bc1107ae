"""Messages about the options of a table, for users of Python: keywords in place of command-line options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

from madaline.data.reading.options import ReadOptions
from madaline.errors import MadalineError

_NAMES = "|".join(each.name.replace("_", "-") for each in fields(ReadOptions))
_OPTION = re.compile(rf"--({_NAMES})\b(?: ('[^']*'|\S+?)(?=[.:)]?(?:\s|$)))?")


def with_keywords(text: str) -> str:
    """Write the options in a message as keywords, with their values if they have any.

    Examples
    --------
    >>> with_keywords("Raise the limit: --max-unpacked 20GB. Or pass --header 0.")
    "Raise the limit: max_unpacked='20GB'. Or pass header=0."
    >>> with_keywords("Pass the right --encoding, for example utf-8.")
    'Pass the right encoding, for example utf-8.'
    """

    def keyword(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        if value is None:
            return name
        is_literal = value.isdigit() or value.startswith("'")
        return f"{name}={value if is_literal else repr(value)}"

    return _OPTION.sub(keyword, text)


@contextmanager
def keywords_in_errors() -> Iterator[None]:
    """Context in which errors name keywords in place of command-line options."""
    try:
        yield
    except MadalineError as error:
        error.args = tuple(with_keywords(each) if isinstance(each, str) else each for each in error.args)
        raise
