"""`make test-neighbours` runs the tests of other packages, in an environment that has them."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("mapie") and find_spec("fairlearn") else ["live"]
