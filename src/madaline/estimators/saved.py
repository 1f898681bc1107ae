"""What estimators of every kind have that can be written to a file."""

from __future__ import annotations

import os


class SavableEstimator:
    """An estimator that ``madaline.load`` gives back; only classes of this kind are made from files."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file; :func:`madaline.load` reads it."""
        from madaline.estimators.files import save

        save(self, path)
