"""Small data sets: real ones that come with madaline or scikit-learn, and generated shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from madaline.extras import require
from madaline.registry import Registry

if TYPE_CHECKING:
    import polars as pl

N_POINTS = 1000
"Default number of points of a shape."


@dataclass(frozen=True)
class Dataset:
    """A table, its source, and what can be learned from it.

    Attributes
    ----------
    name : str
    target : str
        The column to predict.
    task : str
        The task in a few words.
    source, licence : str
        Who published it, and under which licence.
    read : callable
        Function that returns the table.
    """

    name: str
    target: str
    task: str
    source: str
    licence: str
    read: Callable[[], pl.DataFrame]

    def table(self) -> pl.DataFrame:
        """The table as a polars data frame; missing values are null.

        Examples
        --------
        >>> DATASETS["penguins"].table().shape
        (344, 7)
        >>> DATASETS["moons"].table().columns
        ['x', 'y', 'class']
        """
        require("polars", f"The data set {self.name!r}")
        return self.read()


DATASETS: Registry[Dataset] = Registry("data set")
"All data sets by name."


def load_dataset(name: str) -> pl.DataFrame:
    """A data set that comes with madaline or scikit-learn, as a polars data frame.

    Parameters
    ----------
    name : str
        ``"penguins"``, ``"auto_mpg"``, ``"moons"`` ...; ``md.data.DATASETS`` holds all of them with their sources.

    Examples
    --------
    >>> load_dataset("penguins").shape
    (344, 7)
    """
    return DATASETS.find(name, argument="name").table()


def shape_table(name: str, n: int = N_POINTS, *, seed: int = 0) -> pl.DataFrame:
    """Points of a shape of :mod:`madaline.data.shapes` as a table.

    Examples
    --------
    >>> round(shape_table("disc", 2000, seed=1)["class"].mean(), 1)
    0.5
    """
    require("polars", "shape_table")
    import numpy as np
    import polars as pl

    from madaline.data import shapes

    points, classes = getattr(shapes, name)(n, np.random.default_rng(seed))
    return pl.DataFrame({"x": points[:, 0], "y": points[:, 1], "class": classes})


def _shipped(name: str) -> Callable[[], pl.DataFrame]:
    def read() -> pl.DataFrame:
        import polars as pl  # slow to import

        return pl.read_csv(resources.files("madaline.data").joinpath(f"{name}.csv").read_bytes())

    return read


def _from_scikit_learn(name: str, target: str) -> Callable[[], pl.DataFrame]:
    """A function that returns a table of scikit-learn, with the names of classes."""

    def read() -> pl.DataFrame:
        import polars as pl
        from sklearn import datasets

        found: Any = getattr(datasets, f"load_{name}")()
        names = getattr(found, "target_names", None)
        values = found.target if names is None or name == "digits" else names[found.target]
        columns = dict(zip(map(str, found.feature_names), found.data.T, strict=True))
        return pl.DataFrame(columns | {target: values})

    return read


def _add(name: str, read: Callable[[], pl.DataFrame], target: str, task: str, source: str, licence: str) -> None:
    DATASETS.add(name, Dataset(name, target, task, source, licence, read))


_add(
    "penguins",
    _shipped("penguins"),
    "species",
    "three species of penguins from measurements of body and bill",
    "Horst, Hill & Gorman 2020, palmerpenguins; data by K. Gorman and Palmer Station LTER",
    "CC0",
)
_add(
    "auto_mpg",
    _shipped("auto_mpg"),
    "mpg",
    "miles per gallon of cars of 1970 to 1982 from engine, weight, origin",
    "Quinlan 1993, UCI machine learning repository, doi 10.24432/C5859H",
    "CC BY 4.0",
)
for _name, _target, _task, _source in (
    ("iris", "species", "three species of iris from four measurements", "Fisher 1936"),
    ("wine", "cultivar", "three cultivars of wine from a chemical analysis", "Aeberhard & Forina 1992"),
    ("breast_cancer", "diagnosis", "malignant or benign from images of cell nuclei", "Wolberg et al. 1995"),
    ("diabetes", "progression", "progression of a disease after one year from ten measurements", "Efron et al. 2004"),
    ("digits", "digit", "handwritten digits of 8 x 8 pixels", "Alpaydin & Kaynak 1998"),
):
    _add(_name, _from_scikit_learn(_name, _target), _target, _task, f"{_source}, in scikit-learn", "see scikit-learn")
for _name, _task in (
    ("moons", "two interleaving half circles"),
    ("circles", "a circle inside another"),
    ("spirals", "three arms of a spiral"),
    ("disc", "the inside of a disc in a square"),
    ("xor", "four clusters, two classes diagonally"),
):
    _add(
        _name,
        lambda name=_name: shape_table(name),  # type: ignore[misc]  # mypy infers no type for a default
        "class",
        _task,
        "generated by a formula",
        "CC0",
    )
