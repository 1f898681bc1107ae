"""Columns that number the rows of a table, which say nothing about a new row."""

from __future__ import annotations

import re

import numpy as np

ID_NAME = re.compile(
    r"(^|[\W_])(id|idx|index|row|rowid|rownum|uuid|guid|key)$|^unnamed: 0$|^$|(?-i:[a-z](Id|ID|Index|Key)$)",
    re.IGNORECASE,
)
"Names of identifiers. Integers with such a name that are all different are one."
COUNTER_NAME = re.compile(
    r"^(order|instant|no|nr|num|number|seq|sequence|serial|record|obs|observation|rownames|(s|sr|sl)[\W_]*no)\W*$",
    re.IGNORECASE,
)
"Names of counters. Integers with such a name number the rows if they are all different and leave out few numbers."
YEAR_NAME = re.compile(r"(^|[\W_])(year|yr|jahr|annee|anno|ano)s?($|[\W_])|(?-i:[a-z]Year$)", re.IGNORECASE)
FEWEST_ROWS = 30
"With fewer rows, measured values may have equal steps by chance or by the design of an experiment."
EQUAL_STEPS = 0.9
"Share of steps that must be equal; the others are left by rows that were taken out."


def why_row_number(name: str, values: np.ndarray) -> str | None:
    """Why integers number the rows, or None if they do not.

    They do if they increase in equal steps over at least 30 rows, as 1, 2, 3 or 0, 10, 20. Rows may have been taken
    out, so up to a tenth of the steps may be a multiple of the usual one. Years are kept, and so are sorted
    measurements, whose steps differ.

    Parameters
    ----------
    name : str
    values : array
        Integers of any dtype, in the order of the table, none missing.

    Examples
    --------
    >>> why_row_number("Order", np.arange(1, 41)), why_row_number("customer_id", np.array([7, 3, 9]))
    ('row number', 'identifier: integers that are all different')
    >>> why_row_number("size", np.arange(40)[::-1])
    """
    if not len(values):
        return None
    if counts_rows(values) and not _are_years(name, values):
        return "row number"
    is_id, is_counter = bool(ID_NAME.search(name)), bool(COUNTER_NAME.match(name))
    if not (is_id or is_counter) or len(np.unique(values)) < len(values):
        return None
    if is_id:
        return "identifier: integers that are all different"
    return "row number" if values.max() - values.min() < 2 * len(values) else None


def counts_rows(values: np.ndarray) -> bool:
    """Whether integers increase in equal steps, but for rows that were taken out."""
    if len(values) < FEWEST_ROWS:
        return False
    steps = np.diff(values.astype(np.float64))
    if steps[0] <= 0 or (steps <= 0).any():
        return False
    step = np.median(steps)
    return bool(np.mean(steps == step) >= EQUAL_STEPS and (steps % step == 0).all())


def _are_years(name: str, values: np.ndarray) -> bool:
    return bool(YEAR_NAME.search(name)) and bool((values >= 1000).all() and (values < 3000).all())
