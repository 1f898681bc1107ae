"""What a loop is given is checked before its first step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import madaline as md
from agreement import assert_same_bits
from madaline.errors import DtypeError, ShapeError
from madaline.kernels.loop import Loop, Outcome
from madaline.kernels.sources import DenseRows


def step(w, m, x, y, lr):
    """One step of descent with momentum, its outputs: a loss, new w, new m, one number a row."""
    error = x @ w - y
    m = 0.9 * m + error @ x
    return np.mean(error**2), w - lr * m, m, error


def problem():
    rng = np.random.default_rng(1)
    w, x, y = rng.normal(size=5), rng.normal(size=(50, 5)), rng.normal(size=50)
    w, m, x, y = (array.astype(np.float32) for array in (w, 0 * w, x, y))
    return w, m, x, y


def step_graph():
    return md.trace(step, *problem(), np.float32(0.1), rows=[2, 3])


def arguments(**changes: Any) -> dict[str, Any]:
    """Arguments that are right, but for the changes."""
    w, m, x, y = problem()
    given = {
        "inputs": {0: w, 1: m},
        "gathered": {2: DenseRows(x), 3: DenseRows(y)},
        "tables": {4: np.ones(3)},
        "emitted": {0: np.zeros(3, np.float32)},
        "order": np.arange(50),
        "starts": np.array([0, 20, 40, 50]),
    }
    return given | changes


def refused(error: type[Exception], match: str, **changes: Any) -> None:
    given = arguments(**changes)
    before = [array.copy() for array in given["inputs"].values()]
    with pytest.raises(error, match=match):
        Loop(step_graph(), carried={1: 0, 2: 1}, guard=0).run(**given)
    assert_same_bits([np.asarray(array) for array in given["inputs"].values()], before)


def test_what_is_right_passes():
    loop = Loop(step_graph(), carried={1: 0, 2: 1}, guard=0)
    assert loop.run(**arguments()) == Outcome(3, "finished")


def test_an_input_that_is_missing_or_given_twice():
    w, m, *_ = problem()
    refused(ShapeError, r"Input 4 \(lr\) is not given", tables={})
    refused(ShapeError, r"Input 4 \(lr\) is given twice", inputs={0: w, 1: m, 4: np.float32(1)})
    refused(ShapeError, r"Input 0 \(w\) is not given", inputs={1: m})
    refused(ShapeError, r"tables names input 5; the graph has inputs 0 to 4", tables={5: np.ones(3)})
    refused(ShapeError, r"emitted names output 4", emitted={4: np.ones(3, np.float32)})
    refused(ShapeError, r"output 1 is carried", emitted={1: np.ones((3, 5), np.float32)})


def test_a_carried_array_that_cannot_be_written_in_place():
    w, m, *_ = problem()
    refused(ShapeError, "is float64", inputs={0: w.astype(np.float64), 1: m})
    refused(ShapeError, "C-contiguous", inputs={0: np.repeat(w, 2)[::2], 1: m})
    frozen = w.copy()
    frozen.flags.writeable = False
    refused(ShapeError, "writable", inputs={0: frozen, 1: m})
    refused(ShapeError, r"inputs\[1\] and inputs\[0\] share memory", inputs={0: w, 1: w})


def test_an_emitted_array_of_another_kind():
    refused(ShapeError, r"emitted\[0\] is float32 \(4,\)", emitted={0: np.zeros(4, np.float32)})
    refused(ShapeError, r"emitted\[0\] is float64", emitted={0: np.zeros(3)})
    refused(ShapeError, r"must be float32 \(50,\)", emitted={3: np.zeros(3, np.float32)})


def test_what_is_written_shares_no_memory_with_anything_else():
    _, _, x, y = problem()
    rows = {2: DenseRows(x), 3: DenseRows(y)}
    refused(ShapeError, r"emitted\[0\] and gathered\[2\] share memory", gathered=rows, emitted={0: x.reshape(-1)[9:12]})
    backwards = {2: DenseRows(x[::-1]), 3: DenseRows(y)}
    refused(ShapeError, "share memory", gathered=backwards, emitted={0: x.reshape(-1)[:3]})


def test_what_is_only_read_may_share_memory():
    _, _, x, _ = problem()
    given = arguments(gathered={2: DenseRows(x), 3: DenseRows(x[:, 1])}, tables={4: x[0, :3]})
    assert Loop(step_graph(), carried={1: 0, 2: 1}, guard=0).run(**given) == Outcome(3, "finished")


def test_rows_that_do_not_fit():
    _, _, x, y = problem()
    refused(ShapeError, r"rows of input 2 \(x\) have shape \(4,\)", gathered={2: DenseRows(x[:, 1:]), 3: DenseRows(y)})
    refused(ShapeError, "order holds row 50", order=np.arange(1, 51))
    refused(ShapeError, "order holds row -1", order=np.arange(-1, 49))
    refused(DtypeError, "order is float64", order=np.arange(50.0))


def test_batches_that_are_none():
    refused(ShapeError, "Batch 1 is empty", starts=np.array([0, 20, 20, 50]))
    refused(ShapeError, "never fall", starts=np.array([0, 20, 10, 50]))
    refused(ShapeError, r"len\(order\)=50", starts=np.array([0, 20, 40, 51]))
    refused(ShapeError, "starts must begin", starts=np.array([], np.int64))


def test_a_table_of_another_length_or_type():
    refused(ShapeError, "each of 3 steps", tables={4: np.ones(2)})
    refused(DtypeError, "complex128, which cannot become float32", tables={4: np.ones(3, complex)})


def test_floats_cannot_become_labels():
    loop = Loop(md.trace(lambda y: y.sum(), np.zeros(1, np.int64), rows=[0]), carried={})
    with pytest.raises(DtypeError, match="float64, which cannot become int64"):
        loop.run({}, gathered={0: DenseRows(np.ones(3))}, order=[0], starts=[0, 1])


def test_what_is_carried_must_fit_and_the_guard_must_be_a_number():
    graph = step_graph()
    with pytest.raises(ShapeError, match=r"output 0 is float32 \(\), input 1 \(m\) is float32"):
        Loop(graph, carried={0: 1})
    with pytest.raises(ShapeError, match="gives one input two values"):
        Loop(graph, carried={1: 0, 2: 0})
    with pytest.raises(ShapeError, match="guard=1: output 1 is float32"):
        Loop(graph, carried={}, guard=1)
    with pytest.raises(ShapeError, match="guard=0: output 0 is carried"):
        Loop(md.trace(lambda n: n + 1, 0.0), carried={0: 0}, guard=0)
    with pytest.raises(ShapeError, match="carried names output 9"):
        Loop(graph, carried={9: 0})
