"""Names of the inputs and classes of an estimator, so that findings speak of the user's columns."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from madaline.data.encode import TablePlan


@dataclass(frozen=True)
class InputNames:
    """What the user calls the input columns and the classes.

    Attributes
    ----------
    features : tuple of str
        The columns of the matrix that the net gets, such as ``city=Rome``. Empty if they have no names.
    columns : tuple of str
        The column of the table that each feature comes from.
    ids : tuple of str
        Columns that are left out because they only tell rows apart.
    classes : tuple of str
        The classes in the order of their numbers.
    """

    features: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @classmethod
    def of(cls, estimator: Any) -> InputNames:
        """The names that a fitted estimator knows; a trainer has none."""
        classes = getattr(estimator, "classes_", None)
        shown = () if classes is None or isinstance(classes, list) else tuple(repr(each) for each in classes.tolist())
        plan = getattr(estimator, "table_plan_", None)
        if isinstance(plan, TablePlan):
            pairs = [(feature, each.column) for each in plan.columns for feature in each.features()]
            features, columns = tuple(feature for feature, _ in pairs), tuple(column for _, column in pairs)
            return cls(features, columns, tuple(each.column for each in plan.columns if each.role == "id"), shown)
        names = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
        return cls(names, names, (), shown)

    def at(self, places: Sequence[int], *, others: int = 0) -> str:
        """The input columns at these places, by name if they have names, and how many others there are.

        Examples
        --------
        >>> InputNames().at([0, 2]), InputNames(("age", "city=Rome"), ("age", "city")).at([1], others=3)
        ('columns 0, 2', "column 'city=Rome' and 3 others")
        """
        known = all(place < len(self.features) for place in places)
        shown = [repr(self.features[place]) if known else str(place) for place in places]
        rest = "" if not others else f" and {others} other{'s' if others > 1 else ''}"
        return f"column{'' if len(shown) == 1 else 's'} {', '.join(shown)}{rest}"

    def option(self, flag: str, places: Sequence[int]) -> str:
        """An option of ``madaline train`` with the table's columns at these places.

        Examples
        --------
        >>> InputNames(("age", "city=Rome"), ("age", "city")).option("--ignore", [1])
        '--ignore city'
        """
        if not all(place < len(self.columns) for place in places):
            return f"{flag} COLUMN"
        return option_of(flag, dict.fromkeys(self.columns[place] for place in places))

    def class_at(self, place: int) -> str:
        """A class by its number."""
        return f"class {self.classes[place] if place < len(self.classes) else place}"


def option_of(flag: str, columns: Iterable[str]) -> str:
    """An option of ``madaline train`` that names columns.

    Examples
    --------
    >>> option_of("--ignore", ["age", "fare, paid"])
    "--ignore age --ignore 'fare,, paid'"
    """
    return " ".join(f"{flag} {shlex.quote(column.replace(',', ',,'))}" for column in columns)
