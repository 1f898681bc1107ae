"""Values of any kind that a cell of a table may hold, for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.decimals()
    | st.lists(st.integers(), max_size=2)
    | st.binary(max_size=2)
)
