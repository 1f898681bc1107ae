"""Counters as Prometheus reads them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from madaline.web.metrics import Metrics

LINE = re.compile(r'\w+(\{\w+="(?:[^"\\\n]|\\[\\"nr])*"(,\w+="(?:[^"\\\n]|\\[\\"nr])*")*\})? \S+')


@given(st.text())
def test_no_column_name_can_forge_a_line(name):
    metrics = Metrics()
    metrics.count("madaline_unknown_categories_total", model="a", column=name)
    text = metrics.text()
    text.encode()
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert len(lines) == 1
    assert LINE.fullmatch(lines[0])


def test_response_times_are_in_buckets_that_add_up():
    metrics = Metrics()
    for seconds in (0.0004, 0.0007, 0.3, 60.0):
        metrics.observe("m", seconds)
    text = metrics.text()
    assert 'madaline_response_seconds_bucket{model="m",le="0.0005"} 1' in text
    assert 'madaline_response_seconds_bucket{model="m",le="0.001"} 2' in text
    assert 'madaline_response_seconds_bucket{model="m",le="5.0"} 3' in text
    assert 'madaline_response_seconds_bucket{model="m",le="+Inf"} 4' in text
    assert 'madaline_response_seconds_sum{model="m"} 60.3011' in text
