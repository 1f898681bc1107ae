"""A hint at the value that most likely made training diverge."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

FAR = 50.0
"A value this many times the usual range of its column away from the median is named."
USUAL = (0.01, 0.5, 0.99)


def outlier_hint(estimator: Any, X: Any) -> str:
    """A sentence that names the column with the most extreme value, or nothing if there is none.

    Examples
    --------
    >>> outlier_hint(None, {"rain": [*range(100), 9800.0]})
    " Column 'rain' has the value 9800, 99 times its usual range; correct it, or leave the column out."
    """
    from madaline.data.table import Table

    if issparse(X) or X is None:
        return ""
    worst, name, value = FAR, "", 0.0
    for column in Table.of(X):
        if column.kind != "number":
            continue
        numbers = np.asarray(column.numbers(), dtype=np.float64)
        numbers = numbers[np.isfinite(numbers)]
        if len(numbers) < 10:
            continue
        low, middle, high = np.quantile(numbers, USUAL)
        if high <= low:
            continue
        place = int(np.argmax(np.abs(numbers - middle)))
        times = abs(numbers[place] - middle) / (high - low)
        if times > worst:
            worst, name, value = times, column.name, float(numbers[place])
    if not name:
        return ""
    return (
        f" Column {name!r} has the value {value:g}, {worst:.0f} times its usual range; correct it, or leave the column "
        "out."
    )
