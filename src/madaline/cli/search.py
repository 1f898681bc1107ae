"""``madaline search``: from a table to a model whose hyperparameters were searched."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from madaline.cli.reading_options import reading_options
from madaline.cli.train import start, train

SEARCH = "Search"
FIXED = {"preset": None, "doctor": False, "replicas": None}
"Options of ``train`` that a search does not have, and their values."


def search_options(
    trials: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of trials. Without --time, equal seeds give equal results.",
            rich_help_panel=SEARCH,
            show_default="as many as the time allows",
        ),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(
            help="TOML file with ranges and lists of hyperparameters.",
            rich_help_panel=SEARCH,
            show_default="depends on the size of the data",
        ),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            help="URL of an Optuna storage, which several searches may share.",
            rich_help_panel=SEARCH,
            show_default="study.db in the folder",
        ),
    ] = None,
    sampler: Annotated[
        str | None,
        typer.Option(help="Optuna sampler: tpe, random or gp.", rich_help_panel=SEARCH, show_default="tpe"),
    ] = None,
    asynchronous: Annotated[
        bool,
        typer.Option(
            "--asynchronous",
            help="With --cluster, start a trial as soon as there are CPUs for it, without waiting for slow nodes. The "
            "result cannot be repeated.",
            rich_help_panel=SEARCH,
        ),
    ] = False,
) -> None:
    """Define the names, defaults and descriptions of the options that only a search has."""


def search(**given: Any) -> None:
    """Search hyperparameters on a table, test the model, and write a folder with the model and a report.

    Trial 0 has the settings of madaline train. Options for the net and training are fixed in all trials.

    \b
    Examples:
      madaline search houses.csv --target price --time 10m
      madaline search penguins --trials 40 --space space.toml --out run
      madaline search --resume run --time 10m
    """
    reading = {name: given.pop(name) for name in inspect.signature(reading_options).parameters}
    start("search", FIXED | given | {"reading": reading_options(**reading)})


_shared = [each for each in inspect.signature(train).parameters.values() if each.name not in FIXED]
_own = inspect.signature(search_options, eval_str=True).parameters.values()
_time = Annotated[
    str | None,
    typer.Option(help="Time limit for the search, for example 90s, 5m or 1h30m.", show_default="10m without --trials"),
]
_options = [each.replace(annotation=_time) if each.name == "time" else each for each in _shared]
search.__signature__ = inspect.Signature([*_options[:4], *_own, *_options[4:]])  # type: ignore[attr-defined]  # as inspect has it
search.__annotations__ = {each.name: each.annotation for each in (*_options, *_own)}
