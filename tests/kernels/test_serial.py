"""Programs as bytes."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.kernels.core import core
from madaline.kernels.execute import Executable
from madaline.kernels.serial import serialise, written


@pytest.mark.skipif(core() is None, reason="needs the native core")
def test_a_program_is_its_calls_in_order():
    graph = md.trace(lambda x, W: np.tanh(x @ W).sum(axis=0), np.ones((5, 3)), np.ones((3, 2)), rows=[0])
    content = serialise(Executable(graph).program(), core())
    places = [content.find(name) for name in (b"buffer", b"rows_stage", b"matmul", b"combine")]
    assert -1 not in places
    assert places == sorted(places)
    assert content == serialise(Executable(graph).program(), core())


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "81 80 00"),
        (-1, "81 ff ff"),
        (1 << 20, "82 00 00 10 00"),
        (True, "01"),
        (1 << 40, "83 00 00 00 00 00 01 00 00"),
        (0.5, "84 00 00 00 00 00 00 e0 3f"),
        ((1, None), "85 02 00 01 80"),
    ],
)
def test_values(value, content):
    assert written(value).hex(" ") == content
