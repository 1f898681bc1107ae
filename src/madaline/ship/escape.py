"""Escaping of untrusted text (names, categories, classes) in the languages of exported files.

Column names come from the header of a table, classes and layer names from a model file, and both may be malicious. None
of it may become code. An :class:`Untrusted` value therefore cannot be formatted: a writer has to call a function of
this module, which escapes the text for a comment, a docstring or a literal of one language.
"""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import dataclass
from typing import Any

from madaline.errors import ExportError

PLAIN_TYPES = (str, int, float, bool)
MAX_SHOWN = 160
"Maximum length of a text in a comment."


@dataclass(frozen=True)
class Untrusted:
    """A text or number from a table, a model file or a user.

    Parameters
    ----------
    value : str, int, float or bool
        Of exactly that type: a subclass could have any ``repr``.

    Raises
    ------
    ExportError
        If the value is of another type.
    """

    value: str | int | float | bool

    def __post_init__(self) -> None:
        if type(self.value) not in PLAIN_TYPES:
            raise ExportError(
                f"A class, category or name is a {type(self.value).__name__}, which cannot be written to an exported "
                "file. Use strings or numbers."
            )

    def __str__(self) -> str:
        raise TypeError("Untrusted text must be escaped. Use a function of madaline.ship.escape.")

    def __format__(self, spec: str) -> str:
        return str(self)

    def shown(self, limit: int = MAX_SHOWN) -> str:
        """One line of printable characters, for messages and for the functions that write comments.

        Other characters are shown by their number, and long texts are shortened.

        Examples
        --------
        >>> Untrusted("size (m²)").shown(), Untrusted("a" + chr(10) + "b").shown()
        ('size (m²)', 'a<U+000A>b')
        """
        text = _printable(str(self.value)[: limit + 1])
        return text if len(text) <= limit else f"{text[: limit - 3]}..."


def _by_number(sign: str) -> str:
    return f"<U+{ord(sign):04X}>"


def python_literal(given: Untrusted) -> str:
    r"""A Python expression for the value, in printable characters.

    Examples
    --------
    >>> print(python_literal(Untrusted('"; print()')), python_literal(Untrusted(float("nan"))))
    '"; print()' float('nan')
    """
    value = given.value
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def python_comment(text: str) -> str:
    """A comment of one line."""
    return f"# {_printable(text)}"


def python_docstring(*lines: str, indent: str = "") -> str:
    """A docstring of these lines. Backslashes and quotes in them are escaped."""
    text = "\n".join(map(_printable, lines)).replace("\\", "\\\\").replace('"', '\\"')
    text = text.replace("\n", f"\n{indent}").replace(f"\n{indent}\n", "\n\n")
    return f'"""{text}\n{indent}"""' if len(lines) > 1 else f'"""{text}"""'


_UNSAFE_IN_C = re.compile(r"(?<=\*)/|(?<=/)\*|(?<=\?)\?|\\")
"The second character of what ends or begins a comment or a trigraph, and the backslash, which may continue a line."


def c_comment(*lines: str) -> str:
    """A comment of these lines.

    Examples
    --------
    >>> print(c_comment("*/ int main;"))
    /* *<U+002F> int main; */
    """
    text = "\n   ".join(_UNSAFE_IN_C.sub(lambda found: _by_number(found[0]), _printable(line)) for line in lines)
    return f"/* {text} */"


_SAFE_IN_A_PAGE = re.compile(r"[^0-9A-Za-z _.,:;()='+*|\[\]{}@#~-]")
"Characters of a comment in a page that are replaced: among others those with which a tag begins or ends."


def js_comment(text: str) -> str:
    """A comment of one line, in a script that is part of a page.

    Examples
    --------
    >>> print(js_comment("Column 'a</script>'"))
    // Column 'a??script?'
    """
    return f"// {_SAFE_IN_A_PAGE.sub('?', text)}"


def page_json(document: Any) -> str:
    r"""A JSON document that can be put between the tags of a script.

    Examples
    --------
    >>> print(page_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(document, separators=(",", ":"))  # in ASCII, so that line separators are escaped, too
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page_text(text: str) -> str:
    """Text of a page, in printable characters."""
    return html.escape(_printable(text))


def _printable(line: str) -> str:
    """The line without characters that end it or change how it is shown."""
    return "".join(sign if sign.isprintable() else _by_number(sign) for sign in line)
