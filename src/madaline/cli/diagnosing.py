"""The examination at the end of ``madaline train``, within a part of the training time."""

from __future__ import annotations

import warnings
from typing import Any

from madaline.doctor.diagnose import diagnose as diagnose_estimator
from madaline.doctor.diagnosis import Diagnosis
from madaline.errors import MadalineError

SHARE, LEAST, MOST = 0.5, 1.5, 3.0
"Fraction of the training time, and its limits in seconds."
LONG = 10.0
"Time limit for a net that has learned nothing, if no reason was found at once."


def diagnose(estimator: Any, *, seconds: float) -> Diagnosis:
    """Examine a fitted estimator that a doctor has watched; ``seconds`` is the time that training took."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = diagnose_estimator(estimator, max_seconds=min(max(SHARE * seconds, LEAST), MOST))
            is_unclear = found.is_healthy and not found.reasons
            return diagnose_estimator(estimator, max_seconds=LONG) if is_unclear else found
    except MadalineError as error:
        return Diagnosis(limits=(f"the examination failed: {error}",))
