"""The exception tree: one base, the built-in class a caller would expect, readable text."""

from __future__ import annotations

import inspect

import pytest

from madaline import errors

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if cls.__module__ == errors.__name__]
EXCEPTIONS = [cls for cls in CLASSES if not issubclass(cls, Warning)]
WARNINGS = [cls for cls in CLASSES if issubclass(cls, Warning)]


@pytest.mark.parametrize("cls", EXCEPTIONS, ids=lambda cls: cls.__name__)
def test_every_exception_can_be_caught_as_madaline_error(cls):
    assert issubclass(cls, errors.MadalineError)


@pytest.mark.parametrize("cls", WARNINGS, ids=lambda cls: cls.__name__)
def test_every_warning_can_be_silenced_as_madaline_warning(cls):
    assert issubclass(cls, errors.MadalineWarning)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_drawn_tree_names_every_class_with_its_built_in_bases(cls):
    (line,) = [line for line in errors.__doc__.splitlines() if cls.__name__ in line.split()]
    drawn = line[line.find("(") + 1 : line.find(")")].split(", ") if "(" in line else []
    built_in = [base.__name__ for base in cls.__bases__ if base.__module__ == "builtins"]
    assert drawn == [name for name in built_in if name != "Exception"]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_text_of_an_exception_is_the_sentence_it_was_given(cls):
    assert str(cls("x has 3 columns, W has 2 rows.")) == "x has 3 columns, W has 2 rows."


def test_an_unknown_name_is_caught_by_those_who_expect_a_lookup_or_a_value_error():
    for expected in (KeyError, ValueError):
        with pytest.raises(expected):
            raise errors.UnknownNameError("activation='tanh2' is not a known activation.")
