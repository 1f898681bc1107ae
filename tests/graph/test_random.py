"""md.random: numbers that belong to the program, drawn from a key whenever it runs."""

from __future__ import annotations

import re

import numpy as np
import pytest

import madaline as md
from madaline.errors import DtypeError, ShapeError


def test_the_same_key_gives_the_same_numbers():
    a, b = (md.random.uniform(md.random.key(3, 5), (4, 2)) for _ in range(2))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("other", [{"seed": 4}, {"step": 6}])
def test_another_seed_or_step_gives_other_numbers(other):
    first = md.random.uniform(md.random.key(3, 5), 100)
    second = md.random.uniform(md.random.key(**({"seed": 3, "step": 5} | other)), 100)
    assert not np.any(first == second)


def test_streams_keep_uses_of_one_key_apart():
    key = md.random.key(1)
    assert not np.any(md.random.uniform(key, 100, stream=0) == md.random.uniform(key, 100, stream=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_compiled_function_draws_what_a_plain_call_draws(dtype):
    draw = md.compile(lambda key: md.random.uniform(key, (3, 4), stream=2, dtype=dtype))
    for seed in range(3):
        key = md.random.key(seed, 9)
        drawn = draw(key)
        assert drawn.dtype == dtype
        np.testing.assert_array_equal(drawn, md.random.uniform(key, (3, 4), stream=2, dtype=dtype))


def test_a_traced_key_draws_anew_without_retracing():
    calls = []

    def noisy(x, key):
        calls.append(1)
        return x + md.random.normal(key, 3)

    compiled = md.compile(noisy)
    one, two, again = (compiled(np.zeros(3), md.random.key(0, step)) for step in (0, 1, 0))
    assert len(calls) == 1
    assert not np.any(one == two)
    np.testing.assert_array_equal(one, again)


def test_each_row_of_a_batch_has_its_own_numbers_whatever_the_batch_size():
    drop = md.compile(lambda x, key: x * md.random.uniform(key, x.shape), rows=[0])
    key = md.random.key(11)
    large = drop(np.ones((200, 3)), key)
    assert len(np.unique(large)) == large.size
    for n_rows in (0, 1, 7, 130):
        np.testing.assert_array_equal(drop(np.ones((n_rows, 3)), key), large[:n_rows])


def test_rows_of_a_known_number_can_have_the_numbers_of_a_batch():
    """So a mask is the same whether a net is run on a batch of any size or on an array of one."""
    key = md.random.key(5, 3)
    of_batch = md.compile(lambda x, key: md.random.uniform(key, x.shape) + 0.0 * x, rows=[0])(np.zeros((4, 9)), key)
    np.testing.assert_array_equal(md.random.uniform(key, (4, 9), rows=True), of_batch)
    assert not np.array_equal(md.random.uniform(key, (4, 9)), of_batch)


def test_dropout_is_differentiated_through_its_mask(rng):
    def loss(x, key):
        mask = md.random.bernoulli(key, 0.75, x.shape)
        return np.sum(np.where(mask, x**2 / 0.75, 0.0))

    x, key = rng.normal(size=(20, 5)), md.random.key(2)
    mask = md.random.bernoulli(key, 0.75, (20, 5))
    assert 0.5 < mask.mean() < 0.95
    np.testing.assert_allclose(md.grad(loss)(x, key), np.where(mask, 2 * x / 0.75, 0.0), rtol=1e-13)


def test_random_numbers_do_not_depend_on_what_is_differentiated(rng):
    noise = md.random.normal(md.random.key(5), 4)
    value, slope = md.value_and_grad(lambda x: np.sum(x * md.random.normal(md.random.key(5), 4)))(np.ones(4))
    assert value == pytest.approx(noise.sum())
    np.testing.assert_allclose(slope, noise, rtol=1e-13)


def test_uniform_numbers_are_uniform_and_within_the_open_interval():
    u = np.sort(md.random.uniform(md.random.key(1), 20_000))
    assert u[0] > 0.0
    assert u[-1] < 1.0
    distance = np.max(np.abs(u - (np.arange(u.size) + 0.5) / u.size))
    assert distance < 1.63 / np.sqrt(u.size)  # Kolmogorov's 1 % bound


def test_float32_numbers_never_round_to_one():
    u = md.random.uniform(md.random.key(1), 200_000, dtype=np.float32)
    assert u.min() > 0.0
    assert u.max() < 1.0


def test_normal_numbers_have_the_moments_of_a_normal():
    z = md.random.normal(md.random.key(1), 50_000)
    n = z.size
    assert abs(z.mean()) < 4 / np.sqrt(n)
    assert abs(z.var() - 1) < 4 * np.sqrt(2 / n)
    assert abs((z**3).mean()) < 4 * np.sqrt(15 / n)
    assert abs((z**4).mean() - 3) < 4 * np.sqrt(96 / n)


def test_bernoulli_takes_a_probability_for_each_element():
    p = np.array([0.0, 0.2, 0.9, 1.0])
    hits = md.random.bernoulli(md.random.key(3), p, (5000, 4))
    assert hits.dtype == bool
    np.testing.assert_allclose(hits.mean(axis=0), p, atol=0.03)


def test_what_is_no_key_is_refused():
    with pytest.raises(ShapeError, match=re.escape("is not a key. Make one with md.random.key(seed, step).")):
        md.random.uniform(3, 2)
    with pytest.raises(ShapeError, match="is not a key"):
        md.random.uniform(np.array([1.0, 2.0]), 2)
    with pytest.raises(ShapeError, match="is not a key"):
        md.random.uniform(np.arange(3), 2)


@pytest.mark.parametrize("seed", [1.5, "a", None, 2**70])
def test_a_key_is_made_of_integers(seed):
    with pytest.raises(DtypeError, match=re.escape(f"seed={seed!r} is not a 64-bit integer.")):
        md.random.key(seed)
    with pytest.raises(DtypeError, match=re.escape(f"step={seed!r} is not a 64-bit integer.")):
        md.random.key(0, seed)


def test_a_negative_size_is_refused():
    with pytest.raises(ShapeError, match=re.escape("shape=(2, -3) has a negative size.")):
        md.random.uniform(md.random.key(0), (2, -3))


def test_a_stream_has_32_bits():
    with pytest.raises(ShapeError, match="stream=4294967296 is out of range"):
        md.random.uniform(md.random.key(0), 2, stream=2**32)


def test_other_types_are_refused():
    with pytest.raises(
        DtypeError, match=re.escape("dtype=float16 is not supported for random numbers. Use float32 or float64.")
    ):
        md.random.uniform(md.random.key(0), 2, dtype=np.float16)


SHAPES_WITH_A_BATCH = {
    "rows that share a counter": (lambda n: (n, 3), False),
    "a batch that is not the first axis": (lambda n: (3, n), False),
    "a batch that is not the first axis, by rows": (lambda n: (3, n), True),
    "twice as many rows": (lambda n: (2 * n, 3), True),
    "one number for each pair of rows": (lambda n: (n, n), False),
}


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SHAPES_WITH_A_BATCH)
def test_every_element_is_drawn_wherever_the_batch_stands(name, dtype, executor, monkeypatch):
    """Also where the graph comes from a file, which may ask for what ``md.random`` never does."""
    from madaline.graph.plain import graph_from_dict, graph_to_dict
    from madaline.graph.primitive import PRIMITIVES
    from madaline.kernels.execute import Executable

    monkeypatch.setenv("MADALINE_EXECUTOR", executor)
    shape, rows = SHAPES_WITH_A_BATCH[name]
    primitive, key = PRIMITIVES["random_uniform"], md.random.key(5, 2)

    def draw(x, key):
        return primitive(key, shape=shape(x.shape[0]), stream=1, to=dtype, rows=rows)

    graph = graph_from_dict(graph_to_dict(md.trace(draw, np.zeros((4, 1)), key, rows=[0])))
    for n_rows in (1, 7, 300):
        (drawn,) = Executable(graph)([np.zeros((n_rows, 1)), key], n_rows)
        expected = primitive.value(key, shape=shape(n_rows), stream=1, to=dtype, rows=rows)
        np.testing.assert_array_equal(drawn, expected)
