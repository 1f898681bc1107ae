"""Small real data sets that come with the package."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from madaline.registry import Registry

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Dataset:
    """A table that ships with madaline: where it is from, and what is to be learned from it."""

    name: str
    target: str
    task: str
    source: str
    licence: str

    def table(self) -> pl.DataFrame:
        """The table as a polars data frame; missing values are null.

        Examples
        --------
        >>> DATASETS["penguins"].table().shape
        (344, 7)
        """
        import polars as pl  # those who read tables wait for it

        return pl.read_csv(resources.files("madaline.data").joinpath(f"{self.name}.csv").read_bytes())


DATASETS: Registry[Dataset] = Registry("data set")
"Every data set by name."

DATASETS.add(
    "penguins",
    Dataset(
        "penguins",
        target="species",
        task="three species of penguins from measurements of body and bill",
        source="Horst, Hill & Gorman 2020, palmerpenguins; data by K. Gorman and Palmer Station LTER",
        licence="CC0",
    ),
)
