"""``x[...]`` on traced values: every kind of index, in every position."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(15)


def normal(*shape):
    return rng.normal(size=shape)


A, B, C, D = normal(3, 4), normal(2, 3, 4), normal(5), normal(2, 3, 4, 5)
SINGLE = normal(3, 4).astype(np.float32)
INTEGERS = rng.integers(-4, 5, size=(3, 4))
SCALAR = np.float64(1.7)
EMPTY = np.zeros((0, 3))
I, J = np.array([2, 0, 0]), np.array([1, -1, 3])
MASK3, MASK4, MASK34 = np.array([True, False, True]), np.array([False, True, True, True]), A > 0
s_ = np.s_

INDICES = [
    (C, [0, -1, s_[1:3], s_[::2], s_[::-1], s_[3:0:-2], s_[-2:], s_[:-1], s_[4:1], s_[10:], s_[None], s_[...], s_[:]]),
    (C, [s_[1:, None], s_[None, 1:, None], s_[..., 0], s_[0, ...], np.int64(2), np.array(3), (), s_[-100:100]]),
    (
        C,
        [
            [0, 2, 2],
            np.array([[0, 1], [-1, 4]]),
            C > 0,
            np.array([], dtype=int),
            [],
            (1,),
            [True, False, True, False, True],
        ],
    ),
    (
        A,
        [
            0,
            s_[0, 1],
            s_[:, 0],
            s_[-1, -1],
            s_[1:],
            s_[1:, ::2],
            s_[::-1, ::-1],
            s_[..., -1],
            s_[..., None],
            s_[None, :, 1],
        ],
    ),
    (
        A,
        [I, s_[I], s_[:, I], s_[I, J], s_[I[:, None], J], s_[np.ix_(I, J)], s_[1, J], s_[I, 2], s_[1:, J], s_[I, ::-1]],
    ),
    (A, [MASK3, s_[MASK3], s_[:, MASK4], MASK34, s_[MASK3, 1], s_[MASK3, 1:], s_[1, MASK4]]),
    (A, [s_[MASK3, I[:2]], s_[None, I], s_[I, None], s_[I, None, J], s_[..., I], s_[I, ...], s_[[0, 1], [1, 0]]]),
    (A, [s_[0:0], s_[:, 4:], s_[:, None, :, None], s_[2::-1, 0], s_[np.array([[0, 1], [2, 2]]), 1:3]]),
    (
        B,
        [
            1,
            s_[0, 1, 2],
            s_[:, 1],
            s_[..., 1],
            s_[1, ..., 2],
            s_[:, ::2, 1:3],
            s_[0, None, 1],
            s_[:, :, None],
            s_[1, ::-1],
        ],
    ),
    (
        B,
        [
            s_[[0, 1]],
            range(2),
            s_[:, I],
            s_[:, :, J],
            s_[:, I, J],
            s_[[0, 1, 1], :, J],
            s_[[0, 1, 1], I],
            s_[[0, 1, 1], I, J],
        ],
    ),
    (B, [s_[0, :, J], s_[:, I, 0], s_[[0, 1, 1], 1, :], s_[1, I, :], s_[[1, 0], ..., [2, 3]], s_[[[0], [1]], :, J]]),
    (
        B,
        [
            B > 0,
            s_[:, MASK34],
            s_[[True, False]],
            s_[..., MASK4],
            s_[1, MASK34],
            s_[:, MASK3, 0],
            s_[None, ..., J, None],
        ],
    ),
    (
        D,
        [
            s_[:, I, :, [0, 1, 1]],
            s_[0, I, :, 2],
            s_[:, I, J[:, None]],
            s_[..., I, :],
            s_[1, :, J, 1:3],
            s_[[0, 1], :, 1, ::-1],
        ],
    ),
    (D, [s_[:, 1, :, I], s_[0, :, 1, I], s_[I // 2, :, :, I], s_[:, None, I, None, J], s_[MASK34[:2, :3]]]),
    (SINGLE, [s_[1:, ::2], I, s_[I, J]]),
    (INTEGERS, [0, s_[::-1], s_[I, J], INTEGERS > 0]),
    (SCALAR, [(), s_[...], s_[None], s_[None, ..., None]]),
    (EMPTY, [s_[:], s_[:, 0], s_[::-1], np.array([], dtype=int), s_[:, [0, 0]]]),
]

EXAMPLES = {
    "getitem": [(lambda x, index=index: x[index], x) for x, indices in INDICES for index in indices],
    "traced index": [
        (lambda x, i: x[i], A, I),
        (lambda x, i: x[:, i], A, J),
        (lambda x, i, j: x[i, j], A, I, J),
        (lambda x, i: x[i, [1, -1, 3]], A, I),
        (lambda x: x[np.argmax(x, axis=0), np.arange(4)], A),
        (lambda x: x[np.arange(3), np.argmin(x, axis=1)], A),
        (lambda x, i: x[i], A, np.array(-1)),
        (lambda x, i: x[i, 1:], A, np.array(2)),
        (lambda x, i: x[0, i], A, np.array(2)),
    ],
    "chained": [
        (lambda x: x[1:][::-1][:, 0] * x[0, 0], A),
        (lambda x: sum(x[i, j] * x[j, i] for i in range(3) for j in range(3)), A),
        (lambda x: np.stack([x[i] * x[i + 1] for i in range(4)]), C),
    ],
}


def test_the_value_is_numpys(example, ask):
    ask.value(example)


def test_the_program_gives_numpys_value(example, ask):
    ask.program(example)


def test_the_derivative_agrees_with_central_differences(smooth_example, ask):
    ask.derivative(smooth_example)


def test_the_gradient_can_be_differentiated_again(smooth_example, ask):
    ask.curvature(smooth_example)
