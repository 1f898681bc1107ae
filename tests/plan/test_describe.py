"""A program in words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings

import madaline as md
from agreement import bound
from random_graphs import cases
from training_step import adam_arguments, adam_step


@pytest.fixture(scope="module")
def training_step():
    return md.compile(adam_step, rows=[3, 4]).program(*adam_arguments())


def test_every_instruction_has_a_line(training_step):
    lines = training_step.describe().splitlines()
    numbered = [line for line in lines if re.match(r"\s+\d+  ", line)]
    assert len(numbered) == len(training_step.instructions)
    assert lines[0].startswith(f"{len(numbered)} instructions in {len(training_step.stages)} stages")


def test_a_product_tells_its_sizes_and_what_is_fused_into_it(training_step):
    text = training_step.describe()
    assert re.search(r"product +n x 64 x 20 +float32 +\+ bias, then maximum.* in 24, in 0, in 1 -> tile\+", text)
    assert re.search(r"product +20 x 64 x n +float32 +over the rows +in 24, tile\+\d+ -> lane\+\d+", text)
    assert re.search(r"combine +1280 +float32 +sum of lanes +lane\+\d+ -> shared\+\d+", text)


def test_stages_say_how_they_run(training_step):
    text = training_step.describe()
    assert re.search(r"stage \d: rows, tiles of \d+, a lane for each \d+ rows, at most \d lanes", text)
    assert re.search(r"stage \d: shared, run once", text)


def test_memory_is_added_up(training_step):
    arena = training_step.arena
    total = arena["shared"] + 64 * arena["rows"] + arena["tile"] + arena["lane"]
    inputs = sum(np.asarray(leaf).nbytes for leaf in leaves(adam_arguments(n_rows=32)))
    assert f"for 32 rows, one thread: {total / 1024:.1f} KiB in arenas" in training_step.describe()
    # t, a Python float, is an input of eight bytes here and of its own type there
    shown = float(re.search(r"([\d.]+) KiB of inputs", training_step.describe())[1])
    assert shown == pytest.approx(inputs / 1024, abs=0.1)


def leaves(tree):
    return [leaf for item in tree for leaf in leaves(item)] if isinstance(tree, (tuple, list)) else [tree]


def test_inputs_and_outputs_are_listed_with_their_shapes():
    f = md.compile(lambda x, i: (np.take(x, i, axis=1), x.sum(axis=0) / x.shape[0]), rows=[0])
    text = f.program(np.ones((5, 3)), np.array([2, 0])).describe()
    assert "in 0: float64 (n, 3)" in text
    assert "in 1: int64 (2,)" in text
    assert "= n" in text
    assert "out 1: float64 (3,)" in text
    assert re.search(r"take +n x 3 -> n x 2", text)


@settings(max_examples=100)
@given(cases(batch=True))
def test_every_program_can_be_described(case):
    program = bound(case.graph, case.arguments(3), 3)[0]
    text = program.describe()
    assert "KiB" in text
    assert all(len(line) == len(line.rstrip()) for line in text.splitlines())
