"""A table as the arrays that a net takes: fitted to the training table, then applied to any table."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from madaline.data.categories import Embedded
from madaline.data.column import Column
from madaline.data.fitting import fit_column
from madaline.data.plans import ColumnPlan, Dropped, Number, write_rows
from madaline.data.reading.assumption import listed
from madaline.data.roles import Dates, Role, infer_roles, listing
from madaline.data.series import column_of
from madaline.data.table import Table
from madaline.description import Description, description
from madaline.errors import ConfigError, DataWarning, InputError, ShapeError
from madaline.registry import Registry

if TYPE_CHECKING:
    from madaline.nn.layers.sequential import Sequential

TABLE_PLANS: Registry[type[TablePlan]] = Registry("table plan")

NUMBERS = "numbers"
"The input of the net with the matrix of numbers, booleans, dates, and categories that are few."
SHOWN_COLUMNS, PRINTED_COLUMNS = 10, 100
"Number of columns that an error lists, and that a printed plan lists."
BLOCK_ROWS = 4096
MOST_FEATURES = 256
"Number of waves, and of bins, of all columns together; more would cost more than the rest of a net."


@description
class TablePlan(Description):
    """How the columns of a table are encoded for a net; fitted by :meth:`fit` and kept with the model.

    A plan holds the names of columns and categories and a few statistics, never rows of the training table.

    Parameters
    ----------
    columns : tuple of ColumnPlan
        One for each column of the training table, including those that are left out, in its order.
    has_names : bool
        Whether the training table had column names; if not, columns are found by their position.
    waves : int
        Number of waves of each number that are added as inputs, by :class:`~madaline.nn.layers.periodic.Periodic`.
    bins : int
        Number of bins of each number that are added as inputs, by :class:`~madaline.nn.layers.piecewise.Piecewise`.
    wave_std : float
        Standard deviation of the frequencies of the waves before training.
    scale_rate : float
        Multiple of the learning rate of a learned factor for each input, by
        :class:`~madaline.nn.layers.feature_scale.FeatureScale`; 0 for no such factors.

    Examples
    --------
    >>> plan = TablePlan.fit({"size": [1.0, 2.0, None, 4.0], "city": ["Rome", "Oslo", "Rome", "Oslo"]})
    >>> plan.features()
    ('size', 'size missing', 'city=Rome')
    >>> plan.encode({"city": ["Rome", "Paris"], "size": [2.0, None]})["numbers"].round(2)
    array([[0., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """

    registry: ClassVar[Registry[Any]] = TABLE_PLANS
    name: ClassVar[str] = "table"

    ranges: ClassVar[Mapping[str, str]] = {
        "waves": "[0, 4096]",
        "bins": "[0, 4096]",
        "wave_std": "(0, inf)",
        "scale_rate": "[0, inf)",
    }

    columns: tuple[ColumnPlan, ...]
    has_names: bool = True
    waves: int = 0
    bins: int = 0
    wave_std: float = 0.1
    scale_rate: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [plan.column for plan in self.columns]
        if len(set(names)) != len(names):
            raise ConfigError("The plan of a table has two columns with the same name.")
        if not self.used():
            raise ConfigError(f"No column is left to learn from:\n{listing(self.roles(), SHOWN_COLUMNS)}")

    @classmethod
    def fit(
        cls,
        table: Any,
        y: Any = None,
        *,
        scaling: str = "robust",
        clip: bool | str | None = None,
        one_hot: int = 8,
        embedding: int = 8,
        waves: int = 0,
        bins: int = 0,
        wave_std: float = 0.1,
        scale_rate: float = 0.0,
        ignore: Collection[str] = (),
        categorical: Collection[str] = (),
        numeric: Collection[str] = (),
        text: Collection[str] = (),
        dates: Dates = None,
    ) -> TablePlan:
        """Fit a plan to the training table.

        Parameters
        ----------
        table : data frame, array, dict of columns ...
            Anything that :meth:`Table.of` takes, without the target.
        y : array, list or series, optional
            The target: a column that gives it away is left out, with a warning.
        scaling : {"robust", "standard", "winsorized", "minmax", "symmetric", "none"}
            Of numbers; see :func:`~madaline.data.scale.centre_and_scale`.
        clip : bool or {"none", "smooth", "log"}, optional
            What is done with scaled numbers far out: smooth clipping at 3 (``"smooth"`` or True), logarithmic
            compression beyond 10 (``"log"``), or nothing. By default smooth clipping with robust scaling.
        one_hot : int
            Largest number of categories that become one matrix column each; a column with more is embedded.
        embedding : int
            Largest length of the vector of an embedded category; a column with few categories gets shorter ones.
        waves : int
            Number of waves of each number that are added as inputs. 16 make functions that jump easier to learn. With
            many numbers there are fewer of each, so that there are at most 256 in total.
        bins : int
            Number of bins between quantiles of each number that are added as inputs. They make thresholds easier to
            learn. With many numbers there are fewer of each, as with waves.
        wave_std : float
            Standard deviation of the frequencies of the waves before training.
        scale_rate : float
            Multiple of the learning rate of a learned factor for each input; 0 for no such factors.
        ignore, categorical, numeric, text : collections of str
            Columns to leave out, and to use as categories, as numbers, and as text of several words.
        dates : {"dmy", "mdy", "ymd"} or dict of str, optional
            The order of day, month and year in text, or the formats of columns such as ``{"sold": "%d/%m/%Y"}``. By
            default the texts decide; if they do not, the day is assumed to come first, with a warning.
        """
        table = Table.of(table)
        if not table.n_rows:
            raise ShapeError("The table has no rows: there is nothing to learn from.")
        target = None if y is None else column_of("y", y)
        roles = infer_roles(
            table, target, ignore=ignore, categorical=categorical, numeric=numeric, text=text, dates=dates
        )
        for role in roles:
            if role.warning:
                warnings.warn(role.warning, DataWarning, stacklevel=2)
        clip = scaling == "robust" if clip is None else clip
        how = ("smooth" if clip else "none") if isinstance(clip, bool) else clip
        plans = [
            fit_column(table, role, scaling=scaling, clip=how, one_hot=one_hot, embedding=embedding) for role in roles
        ]
        return cls(tuple(plans), has_names=table.has_names).with_features(
            waves=waves, bins=bins, wave_std=wave_std, scale_rate=scale_rate
        )

    def with_features(
        self,
        *,
        waves: int | None = None,
        bins: int | None = None,
        wave_std: float | None = None,
        scale_rate: float | None = None,
    ) -> TablePlan:
        """The plan with other features of numbers, as in :meth:`fit`; those that are not given stay as they are."""
        most = MOST_FEATURES // max(sum(isinstance(plan, Number) for plan in self.columns), 1)
        return replace(
            self,
            waves=self.waves if waves is None else min(waves, most),
            bins=self.bins if bins is None else min(bins, most),
            wave_std=self.wave_std if wave_std is None else wave_std,
            scale_rate=self.scale_rate if scale_rate is None else scale_rate,
        )

    @property
    def adds_features(self) -> bool:
        """Whether a net has more inputs than the arrays of :meth:`encode`, or factors for them."""
        return bool(self.waves or self.bins or self.scale_rate)

    def encode(self, table: Any) -> dict[str, np.ndarray]:
        """The arrays of a table by the names of the net's inputs.

        ``numbers`` is float32 of shape (n_rows, len(features)), each embedded column int64 of shape (n_rows,).
        Columns are found by name, in any order. Columns that the plan does not know are left out.
        """
        table = Table.of(table)
        name_of = self._found(table)
        inputs = self.inputs()
        embedded: dict[str, np.ndarray] = {}
        parts: list[tuple[ColumnPlan, Column, np.ndarray, slice]] = []
        place = 0
        for plan in self.used():
            column = table[name_of[plan.column]]
            x = plan.read(column)
            if isinstance(plan, Embedded):
                embedded[inputs[plan.column]] = x
            width = len(plan.features())
            parts += [(plan, column, x, slice(place, place + width))] if width else []
            place += width
        if not parts:
            return embedded
        matrix = np.empty((table.n_rows, place), dtype=np.float32)
        # A block of rows stays in cache while its columns are written.
        for start in range(0, table.n_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            for plan, column, x, place_of_plan in parts:
                write_rows(plan, column, x[rows], matrix[rows, place_of_plan], start)
        return {NUMBERS: matrix, **embedded}

    def front(self) -> Sequential:
        """The layers that turn the arrays of :meth:`encode` into one matrix: numbers and embeddings side by side.

        If there is only the matrix ``numbers``, it may also be passed alone.
        """
        from madaline.nn.layers.embedding import Embedding
        from madaline.nn.layers.feature_scale import FeatureScale
        from madaline.nn.layers.parallel import Concat, Parallel
        from madaline.nn.layers.periodic import Periodic
        from madaline.nn.layers.piecewise import Piecewise
        from madaline.nn.layers.reshape import Identity
        from madaline.nn.layers.sequential import Sequential

        inputs = self.inputs()
        features = self.features()
        numbers = {plan.column for plan in self.columns if isinstance(plan, Number)}
        places = tuple(place for place, name in enumerate(features) if name in numbers)
        added: list[Any] = [Piecewise(self.bins, columns=places)] if self.bins and places else []
        added += [Periodic(self.waves, columns=places, std=self.wave_std)] if self.waves and places else []
        first = Identity() if not added else added[0] if len(added) == 1 else Sequential(*added)
        branches: dict[str, Any] = {NUMBERS: first} if features else {}
        branches |= {inputs[p.column]: Embedding(p.n_codes, p.width) for p in self.columns if isinstance(p, Embedded)}
        scale = [FeatureScale(self.scale_rate)] if self.scale_rate else []
        return Sequential(Parallel(**branches), Concat(), *scale)

    def used(self) -> tuple[ColumnPlan, ...]:
        """The columns that are not left out."""
        return tuple(plan for plan in self.columns if not isinstance(plan, Dropped))

    def features(self) -> tuple[str, ...]:
        """Names of the columns of the matrix ``numbers``."""
        return tuple(name for plan in self.columns for name in plan.features())

    def inputs(self) -> dict[str, str]:
        """The net's input for each embedded column: its name, with dots replaced."""
        found: dict[str, str] = {}
        taken = {NUMBERS}
        for plan in self.columns:
            if isinstance(plan, Embedded):
                name = plain = plan.column.replace(".", "_") or "column"
                count = 1
                while name in taken:
                    count += 1
                    name = f"{plain}_{count}"
                found[plan.column] = name
                taken.add(name)
        return found

    def __str__(self) -> str:
        return listing(self.roles(), PRINTED_COLUMNS)

    def roles(self) -> tuple[Role, ...]:
        """The role of every column of the training table, and why."""
        return tuple(Role(plan.column, plan.role, plan.reason) for plan in self.columns)

    def unknown(self, table: Any) -> tuple[str, ...]:
        """Columns of a table that the plan does not know and :meth:`encode` leaves out."""
        table = Table.of(table)
        known = {plan.column for plan in self.columns}
        return tuple(name for name in table.names if name not in known) if self._by_name(table) else ()

    def _by_name(self, table: Table) -> bool:
        return self.has_names and table.has_names

    def _found(self, table: Table) -> Mapping[str, str]:
        """The name in the table of each column of the plan."""
        names = [plan.column for plan in self.columns]
        if not self._by_name(table):
            if len(table.names) != len(names):
                raise ShapeError(f"The table has {len(table.names)} columns, but the training table had {len(names)}.")
            return dict(zip(names, table.names, strict=True))
        for plan in self.used():
            if plan.column not in table:
                near = difflib.get_close_matches(plan.column, self.unknown(table)[:1000], n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise InputError(
                    f"The table has no column {plan.column!r}, which the model was trained with.{hint} It has: "
                    f"{listed(table.names)}.",
                    column=plan.column,
                )
        return {name: name for name in names}
