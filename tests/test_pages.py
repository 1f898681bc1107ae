"""The pages of the catalogue say what the registries hold: ``python docs/catalogue.py`` writes them."""

from __future__ import annotations

import re

import pytest

import catalogue
import figures
import madaline as md
from docstrings import cell, explain

each_page = pytest.mark.parametrize("name", catalogue.PAGES)


@each_page
def test_a_page_says_what_the_registries_hold(name):
    written = (catalogue.HERE / name).read_text(encoding="utf-8")
    assert written == catalogue.page(name), "run python docs/catalogue.py"


@each_page
def test_nothing_of_the_docstrings_markup_is_left(name):
    text = re.sub(r"```.*?```", "", catalogue.page(name), flags=re.DOTALL)
    assert not re.search(r":\w+:`|``|\.\. math|>>>", text)


@each_page
def test_the_rows_of_a_table_have_as_many_cells_as_its_header(name):
    for block in re.findall(r"(?:^\|.*\n)+", catalogue.page(name), flags=re.MULTILINE):
        header, _, *rows = block.splitlines()
        for row in rows:
            assert row.count("|") == header.count("|"), row


def descriptions():
    small = (md.optim.REGULARIZERS, md.optim.CLIPPINGS, md.optim.CONSTRAINTS, md.optim.AVERAGES)
    registries = (md.nn.LAYERS, md.losses.LOSSES, md.optim.OPTIMIZERS, md.optim.schedules.SCHEDULES, *small)
    return [kind for registry in registries for kind in registry if kind.__module__.startswith("madaline.")]


@pytest.mark.parametrize("kind", descriptions(), ids=lambda kind: kind.__name__)
def test_every_description_has_a_formula_and_is_public(kind):
    """What stands in the catalogue without a formula, or cannot be reached from md, is half finished."""
    assert explain(kind).formula
    assert catalogue.public(kind).startswith("md.")


def test_the_picture_of_schedules_shows_every_kind_that_is_known_before_the_training():
    shown = {schedule.name for schedule in figures.SCHEDULES}
    assert shown == set(md.optim.schedules.SCHEDULES.names()) - {"reduce_on_plateau"}


def test_a_docstring_is_taken_apart():
    class Thing:
        r"""A thing, :math:`y = |x|`.

        .. math:: z
                  = \|x\|

        See :class:`~madaline.optim.adam.Adam`.

        Parameters
        ----------
        a, b : float in [0, 1)
            What they are,
            in two lines.
        c
            Without a type.

        A paragraph : of its own.

        Notes
        -----
        The ``source``.

        Examples
        --------
        >>> Thing()
        """

    said = explain(Thing)
    assert said.summary == "A thing, $y = |x|$."
    assert said.formula == r"z = \|x\|"
    assert said.body == ("$$\nz = \\|x\\|\n$$", "See `Adam`.")
    assert said.parameters == (("a, b", "float in [0, 1). What they are, in two lines."), ("c", "Without a type."))
    assert said.notes == ("A paragraph : of its own.", "The `source`.")
    assert (
        cell(f"| {said.summary} | ${said.formula}$ |") == r"| A thing, $y = \vert{}x\vert{}$. | $z = \Vert{}x\Vert{}$ |"
    )
