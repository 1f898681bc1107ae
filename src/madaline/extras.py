"""Optional packages: the core does without them, and says how to install them where they are needed."""

from __future__ import annotations

import importlib

from madaline.errors import MissingPackageError

EXTRAS = {
    "polars": "tables",
    "plotly": "tables",
    "typer": "tables",
    "starlette": "web",
    "uvicorn": "web",
    "httptools": "web",
    "ray": "ray",
    "fastexcel": "excel",
    "backports.zstd": "zstd",
    "duckdb": "duckdb",
    "anywidget": "notebook",
}
"The extra of madaline that installs each package."


def require(package: str, what: str) -> None:
    """Raise an error with the command to type if a package is not installed.

    Parameters
    ----------
    package : str
    what : str
        What needs it, as the subject of a sentence.
    """
    try:
        importlib.import_module(package)
    except ImportError:
        raise MissingPackageError(
            f'{what} needs the package {package}, which is not installed. Install it: pip install "madaline'
            f'[{EXTRAS[package]}]".'
        ) from None
