"""The examination at the end of ``madaline train``."""

from __future__ import annotations

import warnings
from typing import Any

from madaline.doctor.diagnose import diagnose as diagnose_estimator
from madaline.doctor.diagnosis import Diagnosis
from madaline.errors import MadalineError

SECONDS = 3.0
"Limit of the work, so that the result does not depend on how fast the machine was while it trained."
LONG = 10.0
"Time limit for a net that has learned nothing, if no reason was found at once."


def diagnose(estimator: Any) -> Diagnosis:
    """Examine a fitted estimator that a doctor has watched."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = diagnose_estimator(estimator, max_seconds=SECONDS)
            is_unclear = found.is_healthy and not found.reasons
            return diagnose_estimator(estimator, max_seconds=LONG) if is_unclear else found
    except MadalineError as error:
        return Diagnosis(limits=(f"the examination failed: {error}",))
