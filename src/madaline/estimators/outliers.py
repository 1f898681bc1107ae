"""A hint at the value that most likely made training diverge."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse


def outlier_hint(estimator: Any, X: Any) -> str:
    """A sentence that names the column with the most extreme value, or nothing if there is none.

    Examples
    --------
    >>> outlier_hint(None, {"rain": [*range(100), 9800.0]})
    " Column 'rain' has the value 9800, 99 times its usual range; correct it, or leave the column out."
    """
    from madaline.data.outliers import worst_outlier
    from madaline.data.table import Table

    if issparse(X) or X is None:
        return ""
    found = []
    for column in Table.of(X):
        if column.kind == "number":
            numbers = np.asarray(column.numbers(), dtype=np.float64)
            outlier = worst_outlier(numbers[np.isfinite(numbers)])
            found += [] if outlier is None else [(outlier.times, column.name, outlier.value)]
    if not found:
        return ""
    times, name, value = max(found)
    return (
        f" Column {name!r} has the value {value:g}, {times:.0f} times its usual range; correct it, or leave the column "
        "out."
    )
