"""Estimators in files of skops, and in ``mlflow.sklearn``, which writes such files."""

from __future__ import annotations

import importlib
import os
from typing import Any

from madaline.errors import MissingPackageError

__all__ = ["trusted_types"]

HARMLESS = ("numpy.dtype",)
"Types of other packages that estimators of madaline hold."


def trusted_types(source: Any) -> list[str]:
    """Names of the types of madaline in an estimator or in a file of skops, for ``skops.io.load(file, trusted=...)``.

    skops loads only types that it knows or that it is told to trust. Types of other packages are never in the list, so
    that skops still refuses a file that has unknown ones.

    Parameters
    ----------
    source : estimator, path or bytes
        A fitted estimator, alone or in a pipeline of scikit-learn; or the file that ``skops.io.dump`` has written.
    """
    try:
        skops = importlib.import_module("skops.io")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "skops":
            raise
        raise MissingPackageError("madaline.ship.skops needs skops: pip install skops.") from None
    if isinstance(source, (str, os.PathLike)):
        found: list[str] = skops.get_untrusted_types(file=source)
    else:
        found = skops.get_untrusted_types(data=source if isinstance(source, bytes) else skops.dumps(source))
    return [name for name in found if name.startswith("madaline.") or name in HARMLESS]
