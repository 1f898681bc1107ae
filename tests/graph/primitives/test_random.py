"""Counter-based random numbers: the published test vectors, and independence of batch size and order."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.random import philox

uniform = PRIMITIVES["random_uniform"]
ONES = 0xFFFFFFFF

# Random123's kat_vectors, philox 4x32 with 10 rounds.
VECTORS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_philox_gives_the_published_words(counter, key, expected):
    assert tuple(int(word) for word in philox(tuple(np.uint64(c) for c in counter), key)) == expected


@pytest.mark.parametrize("to", ["float32", "float64"])
def test_a_row_does_not_depend_on_the_batch_around_it(to):
    params = {"stream": 3, "to": to, "rows": True}
    small = uniform.value(np.array([7, 1]), shape=(4, 5), **params)
    large = uniform.value(np.array([7, 1]), shape=(9, 5), **params)
    np.testing.assert_array_equal(small, large[:4])


@pytest.mark.parametrize("to", ["float32", "float64"])
def test_seed_step_and_stream_each_give_other_numbers(to):
    def draw(seed, step, stream):
        return uniform.value(np.array([seed, step]), shape=(3, 5), stream=stream, to=to, rows=True).tobytes()

    keys = [(0, 0, 0), (1, 0, 0), (2**40, 0, 0), (-1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert len({draw(*key) for key in keys}) == len(keys)
    assert draw(5, 6, 7) == draw(5, 6, 7)


@pytest.mark.parametrize("to", ["float32", "float64"])
def test_numbers_are_uniform_between_the_ends(to):
    u = uniform.value(np.array([1, 2]), shape=(400, 500), stream=0, to=to, rows=True)
    assert u.dtype == np.dtype(to)
    assert 0.0 < u.min() < 1e-4
    assert 1.0 - 1e-4 < u.max() < 1.0
    counts, _ = np.histogram(u, bins=20, range=(0, 1))
    chi_squared = np.sum((counts - u.size / 20) ** 2) / (u.size / 20)
    assert chi_squared < 44  # 19 degrees of freedom: exceeded once in a thousand seeds, and this seed is fixed
    centred = u.astype(np.float64) - 0.5
    assert abs(np.mean(centred[:, 1:] * centred[:, :-1])) < 1e-3
    assert abs(np.mean(centred[1:] * centred[:-1])) < 1e-3
