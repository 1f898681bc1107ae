"""The allowed values of parameters as scikit-learn checks them."""

from __future__ import annotations

from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions

from madaline.estimators.parameters import Check, NumberRange, OneOf, described

_CLOSED = {"[]": "both", "[)": "left", "(]": "right", "()": "neither"}


@cache
def constraints(cls: Any) -> dict[str, list[Any]]:
    """The constraints of the parameters of a class, in scikit-learn's form."""
    return {
        name: [_constraint(check) for check in parameter.checks]
        for name, parameter in described(cls).items()
        if parameter.checks
    }


def _constraint(check: Check) -> Any:
    if isinstance(check, OneOf):
        return StrOptions(set(check.texts))
    if isinstance(check, NumberRange):
        low, high = (float(end) for end in check.interval[1:-1].split(","))
        kind = Integral if check.whole else Real
        ends = [None if np.isinf(end) else int(end) if check.whole else end for end in (low, high)]
        return Interval(kind, *ends, closed=_CLOSED[check.interval[0] + check.interval[-1]])
    return Options(Real, {np.inf}) if check == "inf" else check
