"""Options of ``madaline train`` that many tests share."""

from __future__ import annotations

# Only the model: no comparison with simple models, no report, no diagnosis. The diagnosis is most of the time of a
# short run; where it matters, a test asks for it.
BARE = ("--no-baselines", "--no-report", "--no-doctor")
