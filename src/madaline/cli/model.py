"""Models as arguments of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from madaline.estimators.tabular.saved_model import SavedModel, load_predicting, load_saved

ModelPath = Annotated[Path, typer.Argument(help="Model file or run folder.", show_default=False)]
DataPath = Annotated[
    str,
    typer.Argument(
        help="CSV, Excel, JSON, Parquet, Arrow, SQLite or DuckDB file, folder of such files, - for standard input, or "
        "the name of a data set.",
        show_default=False,
    ),
]


def load(path: Path) -> SavedModel:
    """The model of a file or of a run folder."""
    from madaline.cli.run_folder import model_of

    return load_saved(model_of(path))


def load_any(path: Path) -> Any:
    """The estimator of a file or of a run folder, or a net that was saved without one."""
    from madaline.cli.run_folder import model_of

    return load_predicting(model_of(path))
