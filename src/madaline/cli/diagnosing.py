"""The examination at the end of ``madaline train``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from madaline.doctor.diagnose import diagnose as diagnose_estimator
from madaline.doctor.diagnosis import Diagnosis
from madaline.errors import MadalineError

SECONDS = 3.0
"Limit of the work, so that the result does not depend on how fast the machine was while it trained."
LONG = 10.0
"Time limit for a net that has learned nothing, if no reason was found at once."


def diagnose(estimator: Any, split: str | None = None) -> Diagnosis:
    """Examine a fitted estimator that a doctor has watched.

    Parameters
    ----------
    estimator : estimator
    split : str, optional
        How the rows were split. Later rows, and rows of other groups, differ from those of the training set on purpose.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = diagnose_estimator(estimator, max_seconds=SECONDS)
            is_unclear = found.is_healthy and not found.reasons
            if is_unclear:
                found = diagnose_estimator(estimator, max_seconds=LONG)
            left_out = {"split_shift"} if split in ("time", "group") else set()
            if hasattr(estimator, "members_"):  # the net that is examined has one fold, the ensemble has all
                left_out.add("small_validation")
            return replace(found, findings=[each for each in found.findings if each.name not in left_out])
    except MadalineError as error:
        return Diagnosis(limits=(f"the examination failed: {error}",))
