"""Quick encoding of single rows: the formulas of exported files as one native program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.data.categories import Listed
from madaline.data.column import MISSING
from madaline.data.encode import NUMBERS, TablePlan
from madaline.data.plans import ColumnPlan, Flag, Number
from madaline.graph.trace import Graph, open_trace
from madaline.graph.tree import flatten, unflatten
from madaline.kernels.execute import Executable
from madaline.ship.columns import TableColumns

NOTHING = float("nan")


@dataclass(frozen=True)
class _Reader:
    """How the usual values of a column are read."""

    name: str
    types: tuple[type, ...]
    codes: Mapping[str, int] | None = None
    low: float = 0.0
    high: float = 1.0


class RowEncoder:
    """Encodes rows that are as the training table was; for others, :meth:`TablePlan.encode` explains and warns.

    Parameters
    ----------
    plan : TablePlan
        A plan with names and without dates; see :meth:`takes`.
    """

    def __init__(self, plan: TablePlan) -> None:
        columns = TableColumns(plan)
        with open_trace(columns.inputs):
            leaves, self._structure = flatten(columns.encoded())
        self._run = Executable(Graph(tuple(columns.inputs), tuple(leaves)))
        self._readers = [_reader(column) for column in plan.used()]
        self._names = frozenset(column.column for column in plan.columns)

    @staticmethod
    def takes(plan: TablePlan) -> bool:
        """Whether rows of a plan can be encoded in this way."""
        used = plan.used()
        return bool(used) and plan.has_names and all(_is_usual(column) for column in used)

    def encode(self, row: Mapping[str, Any]) -> dict[str, np.ndarray] | None:
        """The arrays of a row as :meth:`TablePlan.encode` gives them; None if some value needs a closer look.

        That is a text or a truth value for a number, a number outside of the training range, a category or a column
        that training did not see.
        """
        if not self._names.issuperset(row):
            return None
        arrays = []
        for reader in self._readers:
            value = row.get(reader.name, reader)
            codes = reader.codes
            if value is None:
                arrays.append(np.array([NOTHING if codes is None else MISSING]))
            elif type(value) not in reader.types:
                return None
            elif codes is None:
                if not reader.low <= value <= reader.high:
                    return None
                arrays.append(np.array([value], dtype=np.float64))
            elif value in codes:
                arrays.append(np.array([codes[value]]))
            else:
                return None
        found = unflatten(self._structure, list(self._run(arrays, 1)))
        return found if isinstance(found, dict) else {NUMBERS: found}


def _is_usual(column: ColumnPlan) -> bool:
    return isinstance(column, (Flag, Listed)) or (isinstance(column, Number) and column.low is not None)


def _reader(column: ColumnPlan) -> _Reader:
    if isinstance(column, Listed):
        return _Reader(column.column, (str,), {name: code for code, name in enumerate(column.categories)})
    if isinstance(column, Number):
        assert column.low is not None
        assert column.high is not None
        return _Reader(column.column, (float, int), None, column.low, column.high)
    return _Reader(column.column, (bool,))
