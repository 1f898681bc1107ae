"""Optuna, which is an optional dependency."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from madaline.errors import MissingPackageError


def optuna() -> Any:
    """The package."""
    try:
        import optuna as package
    except ImportError:
        raise MissingPackageError(
            'A search needs Optuna, which is not installed. Install it: pip install "madaline[tune]"'
        ) from None
    return package


@contextmanager
def quiet() -> Iterator[None]:
    """Optuna without its messages about studies; its settings are as before afterwards."""
    import warnings

    logging = optuna().logging
    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna().exceptions.ExperimentalWarning)
            yield
    finally:
        logging.set_verbosity(before)
