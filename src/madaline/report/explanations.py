"""Explanations of single predictions, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from madaline.extras import require
from madaline.report.cells import cell_text
from madaline.report.value_text import shown

PRINTED_ROWS, PRINTED_COLUMNS = 5, 8
OTHERS, MISSING = "other columns", "(missing)"


class Contribution(NamedTuple):
    """The contribution of one column to one prediction, with its value and that as a text."""

    column: str
    value: Any
    contribution: float
    text: str


@dataclass(frozen=True)
class Explanations:
    """What each column contributes to the predictions of some rows; made by :func:`madaline.explain`.

    Attributes
    ----------
    columns : tuple of str
    values : mapping of str to list
        Values of the columns in each row; None for missing ones.
    contributions : array of shape (n_rows, n_columns)
        What each column adds to the prediction or, if negative, takes away.
    base : array of shape (n_rows,)
        The prediction of the baseline, which says nothing about the row.
    prediction : array of shape (n_rows,)
        The explained prediction: ``base`` plus the contributions of the row.
    outputs : list
        What is explained in each row: a class, a label, or the name of the target.
    predicted : list
        What the model predicts for each row: the class, the labels or the number.
    quantity : str
        What ``base``, ``contributions`` and ``prediction`` are: "probability", "value" or "raw output".
    rows : sequence of int
        Numbers of the rows.
    """

    columns: tuple[str, ...]
    values: Mapping[str, Sequence[Any]]
    contributions: np.ndarray
    base: np.ndarray
    prediction: np.ndarray
    outputs: Sequence[Any]
    predicted: Sequence[Any]
    quantity: str
    rows: Sequence[int]

    def __len__(self) -> int:
        return len(self.base)

    def largest(self, place: int, count: int | None = None) -> list[Contribution]:
        """The columns that contribute most to one row.

        Parameters
        ----------
        place : int
            Index of the row among those that were explained.
        count : int, optional
            Number of columns; the contributions of the others are added up under "other columns". By default all
            columns.
        """
        parts = self.contributions[place]
        order = np.argsort(-np.abs(parts), kind="stable")
        count = len(order) if count is None else count
        found = [self._contribution(place, int(k)) for k in order[:count]]
        if len(order) == count + 1:  # one column takes no more space than the sum of the others
            found.append(self._contribution(place, int(order[count])))
        elif len(order) > count:
            rest = float(parts[order[count:]].sum())
            found.append(Contribution(f"{OTHERS} ({len(order) - count})", None, rest, ""))
        return found

    def _contribution(self, place: int, k: int) -> Contribution:
        column, part = self.columns[k], float(self.contributions[place, k])
        if column not in self.values:
            return Contribution(column, None, part, "")
        value = self.values[column][place]
        return Contribution(column, value, part, MISSING if value is None else cell_text(value))

    def title(self, place: int) -> str:
        """One line about a row: what is predicted, and the base."""
        size = self.size(place)
        text, base = (shown(float(each[place]), size) for each in (self.prediction, self.base))
        output, predicted = self.outputs[place], self.predicted[place]
        if isinstance(predicted, float):
            prediction = f"{output} = {text}" if self.quantity == "value" else f"{self.quantity} {output} = {text}"
        elif output == predicted:
            prediction = f"{cell_text(predicted)}, {self.quantity} {text}"
        else:
            prediction = f"{cell_text(predicted)}; {self.quantity} of {cell_text(output)} {text}"
        return f"Row {self.rows[place]}: predicted {prediction} (base {base})"

    def size(self, place: int) -> float:
        """The size by which the digits of all numbers of a row are chosen."""
        largest = np.abs([self.prediction[place], self.base[place], *self.contributions[place]]).max()
        return max(float(largest), 1.0 if self.quantity == "probability" else 0.0)

    def to_plain(self, count: int | None = None) -> list[dict[str, Any]]:
        """The explanations as JSON has them, the largest contributions of each row first."""
        return [
            {
                "row": int(self.rows[place]),
                "predicted": self.predicted[place],
                "output": self.outputs[place],
                "quantity": self.quantity,
                "prediction": float(self.prediction[place]),
                "base": float(self.base[place]),
                "contributions": [
                    {"column": each.column, "value": each.value, "contribution": each.contribution}
                    for each in self.largest(place, count)
                ],
            }
            for place in range(len(self))
        ]

    def frame(self) -> Any:
        """A polars data frame with a row for each row: what is predicted and explained, and all contributions."""
        require("polars", "A data frame of explanations")
        import polars as pl  # only those who ask for a frame wait for it

        columns: dict[str, Any] = {
            "row": list(self.rows),
            "predicted": list(self.predicted),
            "output": list(self.outputs),
            "prediction": self.prediction,
            "base": self.base,
        }
        columns |= {f"contribution {name}": self.contributions[:, k] for k, name in enumerate(self.columns)}
        return pl.DataFrame(columns)

    def __str__(self) -> str:
        lines = []
        for place in range(min(len(self), PRINTED_ROWS)):
            lines.append(self.title(place))
            rows = self.largest(place, PRINTED_COLUMNS)
            width, value_width = (max(map(len, texts)) for texts in ([r.column for r in rows], [r.text for r in rows]))
            lines += [
                f"  {r.column:<{width}}  {r.text:>{value_width}}  {signed(r.contribution, self.size(place))}"
                for r in rows
            ]
        if len(self) > PRINTED_ROWS:
            lines.append(f"... {len(self) - PRINTED_ROWS:,} more rows")
        return "\n".join(lines)


def signed(value: float, size: float = 0.0) -> str:
    """A contribution with its sign, with the digits of a number of this ``size``.

    Examples
    --------
    >>> signed(0.1234), signed(-1234.5), signed(0.0), signed(0.01234, size=1.0)
    ('+0.123', '-1,234', '0.000', '+0.012')
    """
    text = shown(value, size)
    return f"+{text}" if value > 0.0 else text
