"""Text from outside in comments, docstrings and literals: it stays text and cannot be written without escaping."""

from __future__ import annotations

import ast
import enum
import math
import re
import tokenize
from io import BytesIO

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import madaline as md
from madaline.errors import ExportError
from madaline.ship.escape import Untrusted, c_comment, python_comment, python_docstring, python_literal
from ship.estimator_cases import fitted

ANY = st.text(st.characters() | st.sampled_from("*/?\\\"'\n\r\0#{}%\u2028\u202e\ud800"))


def test_text_from_outside_cannot_be_written_as_it_is():
    for write in (str, "{}".format, "{:>9}".format, lambda given: f"{given}", lambda given: "%s" % given):  # noqa: UP031
        with pytest.raises(TypeError, match=r"madaline\.ship\.escape"):
            write(Untrusted("a"))


class Code(str):
    __slots__ = ()

    def __repr__(self):
        return "__import__('os')"


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    "value",
    [
        Code("a"),
        Colour.RED,
        None,
        b"a",
        ["a"],
        ("a",),
        {"a": 1},
        1j,
        np.str_("a"),
        np.float64(1.0),
        md.ReLU(),
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_values_of_exactly_plain_types_are_written(value):
    with pytest.raises(ExportError, match=f"is a {type(value).__name__}, which cannot be written"):
        Untrusted(value)


@pytest.mark.parametrize("to", ["c", "onnx", "python", "python-only", "torch"])
def test_a_class_of_another_type_is_refused(to, tmp_path):
    """Whoever put it there, by hand or by a pickle."""
    case = fitted("perceptron")
    estimator = md.classical.Perceptron().fit(case.rows, case.rows[:, 0] > 0)
    estimator.classes_ = np.array([Code("a"), Code("b")], dtype=object)
    with pytest.raises(ExportError, match="is a Code, which cannot be written"):
        md.export(estimator, tmp_path / "model.x", to=to)
    assert not list(tmp_path.iterdir())


@given(ANY | st.integers() | st.floats() | st.booleans())
@example(math.nan)
@example(math.inf)
@example(-0.0)
@example(2**200)
def test_a_literal_is_the_value_again(value):
    text = python_literal(Untrusted(value))
    assert text.isprintable()
    found = eval(text, {"__builtins__": {"float": float}})
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@given(ANY)
@example("*/")
@example("*??/")
@example("????/")
@example("*\\")
@example("/*/*/")
def test_a_c_comment_ends_where_it_should(text):
    comment = c_comment(text, text)
    assert re.fullmatch(r"/\*.*\*/", comment, flags=re.DOTALL)
    inside = comment[2:-2]
    assert not re.search(r"\*/|/\*|\?\?|\\", inside)
    assert inside.count("\n") == 1
    assert inside.replace("\n", "").isprintable()


@given(ANY)
def test_a_python_comment_is_one_token(text):
    source = f"{python_comment(text)}\nx = 1\n"
    tokens = [token for token in tokenize.tokenize(BytesIO(source.encode()).readline) if token.type == tokenize.COMMENT]
    assert len(tokens) == 1
    assert ast.dump(ast.parse(source.encode())) == ast.dump(ast.parse("x = 1"))


@given(st.lists(ANY, min_size=1, max_size=3))
@example(["\\"])
@example(['"'])
@example(['"""'])
@example(['a\\"', '"'])
def test_a_docstring_is_one_string(lines):
    (node,) = ast.parse(python_docstring(*lines).encode()).body
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Constant)
    found = node.value.value.split("\n")[: len(lines)]
    for line, text in zip(lines, found, strict=True):
        if line.isprintable():
            assert text == line


@given(ANY, st.integers(5, 50))
def test_what_is_shown_is_short_and_printable(text, limit):
    shown = Untrusted(text).shown(limit)
    assert shown.isprintable()
    assert len(shown) <= limit
    if text.isprintable() and len(text) <= limit:
        assert shown == text
