"""NumPy's products on traced values."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(14)


def normal(*shape):
    return rng.normal(size=shape)


A, B, C, V, W, SQUARE = normal(3, 4), normal(4, 2), normal(2, 3, 4), normal(4), normal(4), normal(3, 3)
SINGLE = normal(4, 2).astype(np.float32)
INTEGERS = rng.integers(-4, 5, size=(3, 4))
SCALAR = np.float64(1.7)

RANKS = [
    ((4,), (4,)),
    ((3, 4), (4,)),
    ((4,), (4, 2)),
    ((3, 4), (4, 2)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((4,), (2, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((1, 3, 4), (2, 4, 1)),
    ((0, 4), (4, 2)),
    ((3, 0), (0, 2)),
    ((0,), (0,)),
    ((1, 1), (1, 1)),
    ((2, 0, 3, 4), (4, 2)),
]
EINSUMS = [
    ("ij,jk->ik", (3, 4), (4, 2)),
    ("ij,jk", (3, 4), (4, 2)),
    ("ji,jk", (4, 3), (4, 2)),
    ("ij->ji", (3, 4)),
    ("ij->", (3, 4)),
    ("ij->i", (3, 4)),
    ("ij->j", (3, 4)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("iij->j", (3, 3, 4)),
    ("iii->i", (3, 3, 3)),
    ("ijij->ij", (2, 3, 2, 3)),
    ("i,i->", (4,), (4,)),
    ("i,i->i", (4,), (4,)),
    ("i,j->ij", (4,), (3,)),
    ("i,j", (4,), (3,)),
    ("ij,ij->", (3, 4), (3, 4)),
    ("ij,ij->ij", (3, 4), (3, 4)),
    ("ij,ij->i", (3, 4), (3, 4)),
    ("ij,j->i", (3, 4), (4,)),
    ("ij,k->", (3, 4), (2,)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bij,jk->bik", (2, 3, 4), (4, 5)),
    ("bij,bij->b", (2, 3, 4), (2, 3, 4)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 5)),
    ("...i,i->...", (2, 3, 4), (4,)),
    ("...i->...", (2, 3, 4)),
    ("...ii->...i", (2, 3, 3)),
    ("i...->...", (2, 3, 4)),
    ("...,...", (3, 4), (4,)),
    ("...", (3, 4)),
    ("ij...,jk...->ik...", (3, 4, 2), (4, 5, 2)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("i,ij,j->", (3,), (3, 4), (4,)),
    ("bi,ij,bj->b", (5, 3), (3, 4), (5, 4)),
    ("i,i,i->i", (4,), (4,), (4,)),
    ("ab,bc,cd,de->ae", (2, 3), (3, 2), (2, 4), (4, 2)),
    (" i j , j k -> k i ", (3, 4), (4, 2)),
    ("ij,jk->ik", (1, 4), (4, 1)),
    ("ij,jk->ik", (0, 4), (4, 2)),
    ("ij,jk->ik", (3, 0), (0, 2)),
    (",ij->ij", (), (3, 4)),
    (",->", (), ()),
    ("iJ,Jk->ik", (3, 4), (4, 2)),
    ("ij,kj->ikj", (3, 4), (2, 4)),
    ("aab,b->a", (3, 3, 4), (4,)),
]
NORMS = [
    *[(lambda x, order=order: np.linalg.norm(x, order), V) for order in (None, 1, 2, 3, 2.5, 0, np.inf, -np.inf, -1)],
    *[(lambda x, order=order: np.linalg.norm(x, order), A) for order in (None, "fro", 1, -1, np.inf, -np.inf)],
    *[(lambda x, order=order: np.linalg.norm(x, order, axis=1), A) for order in (None, 1, 2, 3, np.inf)],
    (lambda x: np.linalg.norm(x, axis=0, keepdims=True), A),
    (lambda x: np.linalg.norm(x, axis=(1, 2)), C),
    (lambda x: np.linalg.norm(x, 1, axis=(1, 2)), C),
    (lambda x: np.linalg.norm(x, np.inf, axis=(0, 2), keepdims=True), C),
    (lambda x: np.linalg.norm(x, "fro", axis=(0, -1)), C),
    (lambda x: np.linalg.norm(x, keepdims=True), C),
    (np.linalg.norm, C),
    (np.linalg.norm, SINGLE),
    (np.linalg.norm, INTEGERS),
    (lambda x: np.linalg.norm(x, axis=-1), INTEGERS),
]

EXAMPLES = {
    np.matmul: [
        *[(np.matmul, normal(*left), normal(*right)) for left, right in RANKS],
        (lambda x: x @ np.ones((4, 2)), A),
        (lambda x: np.ones((2, 3)) @ x, A),
        (np.matmul, A, SINGLE),
        (np.matmul, SINGLE.T.copy(), SINGLE),
        (np.matmul, INTEGERS, B),
        (np.matmul, INTEGERS > 1, INTEGERS.T > 1),
        (np.matmul, INTEGERS, INTEGERS.T.copy()),
        (lambda x: x @ [[1.0], [2.0], [3.0], [4.0]], A),
    ],
    np.dot: [
        (np.dot, V, W),
        (np.dot, A, B),
        (np.dot, A, V),
        (np.dot, C, V),
        (np.dot, C, B),
        (np.dot, A, normal(2, 4, 3)),
        (np.dot, C, normal(5, 4, 2)),
        (lambda x: np.dot(x, 2.0), A),
        (np.dot, SCALAR, A),
        (np.dot, V, normal(2, 4, 3)),
    ],
    np.vdot: [(np.vdot, V, W), (np.vdot, A, normal(3, 4)), (np.vdot, A, normal(12))],
    np.inner: [(np.inner, V, W), (np.inner, A, normal(2, 4)), (np.inner, C, V), (lambda x: np.inner(x, 2.0), A)],
    np.outer: [(np.outer, V, W), (np.outer, A, V), (lambda x: np.outer(x, [1.0, 2.0]), V)],
    np.linalg.outer: [(np.linalg.outer, V, W)],
    np.vecdot: [
        (np.vecdot, A, normal(3, 4)),
        (lambda a, b: np.vecdot(a, b, axis=0), A, normal(3, 4)),
        (np.vecdot, C, V),
    ],
    np.linalg.vecdot: [
        (np.linalg.vecdot, A, normal(3, 4)),
        (lambda a, b: np.linalg.vecdot(a, b, axis=0), A, normal(3, 4)),
    ],
    np.matvec: [(np.matvec, A, V), (np.matvec, C, V)],
    np.vecmat: [(np.vecmat, normal(3), A), (np.vecmat, normal(2, 3), C)],
    np.tensordot: [
        (lambda a, b: np.tensordot(a, b, axes=1), A, B),
        (np.tensordot, A, normal(3, 4)),
        (lambda a, b: np.tensordot(a, b, axes=0), V, A),
        (lambda a, b: np.tensordot(a, b, axes=([1], [0])), A, B),
        (lambda a, b: np.tensordot(a, b, axes=((0, 2), (1, 0))), C, normal(4, 2, 5)),
        (lambda a, b: np.tensordot(a, b, axes=(-1, 0)), C, B),
    ],
    np.linalg.matmul: [(np.linalg.matmul, A, B)],
    np.linalg.tensordot: [(lambda a, b: np.linalg.tensordot(a, b, axes=1), A, B)],
    np.linalg.cross: [(np.linalg.cross, normal(3), normal(3))],
    np.linalg.trace: [(np.linalg.trace, C), (lambda x: np.linalg.trace(x, offset=1), SQUARE)],
    np.kron: [(np.kron, A, normal(2, 2)), (np.kron, V, W), (np.kron, A, V), (np.kron, V, A)],
    np.trace: [
        (np.trace, SQUARE),
        (lambda x: np.trace(x, 1), A),
        (lambda x: np.trace(x, axis1=1, axis2=2), C),
        (np.trace, INTEGERS),
    ],
    np.cross: [
        (np.cross, normal(3), normal(3)),
        (np.cross, normal(5, 3), normal(5, 3)),
        (lambda a, b: np.cross(a, b, axis=0), normal(3, 2), normal(3, 2)),
        (lambda a: np.cross(a, [0.0, 0.0, 1.0]), normal(4, 3)),
    ],
    np.linalg.norm: NORMS,
    np.linalg.vector_norm: [
        (np.linalg.vector_norm, A),
        (lambda x: np.linalg.vector_norm(x, axis=1, ord=1, keepdims=True), A),
        (lambda x: np.linalg.vector_norm(x, axis=(0, 1), ord=3), C),
    ],
    np.linalg.matrix_norm: [(np.linalg.matrix_norm, C), (lambda x: np.linalg.matrix_norm(x, ord=1, keepdims=True), C)],
    np.linalg.matrix_power: [(lambda x, n=n: np.linalg.matrix_power(x, n), SQUARE) for n in (0, 1, 2, 3, 5)],
    np.linalg.multi_dot: [
        (lambda a, b, c: np.linalg.multi_dot([a, b, c]), A, B, normal(2, 3)),
        (lambda v, a: np.linalg.multi_dot([v, a, a.T, v]), normal(3), A),
    ],
    np.einsum: [
        *[
            (lambda *x, text=text: np.einsum(text, *x), *(normal(*shape) for shape in shapes))
            for text, *shapes in EINSUMS
        ],
        (lambda x: np.einsum("ij,j->i", x, np.arange(4.0)), A),
        (lambda x: np.einsum("ij,jk->ik", x, B, optimize=False), A),
        (lambda x: np.einsum("ij,jk->ik", x, x.T, optimize="greedy"), INTEGERS),
        (lambda x: np.einsum("ij->ji", x), SINGLE),
        (lambda x: np.einsum("ij,ij->ij", x, x[:1]), A),
        (lambda x: np.einsum("ij,ij->j", x[:1], x), A),
        (lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [0, 2]), A, B),
        (lambda x, y: np.einsum(x, [0, 1], y, [1, 2]), A, B),
    ],
    np.convolve: [
        *[
            (lambda a, v, mode=mode: np.convolve(a, v, mode), normal(6), normal(3))
            for mode in ("full", "same", "valid")
        ],
        (np.convolve, normal(2), normal(5)),
        (lambda a, v: np.convolve(a, v, "same"), normal(3), normal(6)),
        (lambda a: np.convolve(a, [1.0, -1.0], mode="valid"), normal(5)),
    ],
    np.correlate: [
        *[
            (lambda a, v, mode=mode: np.correlate(a, v, mode), normal(6), normal(3))
            for mode in ("full", "same", "valid")
        ],
        (np.correlate, normal(5), normal(5)),
    ],
}


EXAMPLES[np.cross] += [
    (lambda a, b: np.cross(a, b, axisa=0, axisb=1, axisc=0), normal(3, 2), normal(2, 3)),
    (lambda a, b: np.cross(a, b, axis=0), normal(3, 2), normal(3, 2)),
]


def test_the_value_is_numpys(example, ask):
    ask.value(example)


def test_the_program_gives_numpys_value(example, ask):
    ask.program(example)


def test_the_derivative_agrees_with_central_differences(smooth_example, ask):
    ask.derivative(smooth_example)


def test_the_gradient_can_be_differentiated_again(smooth_example, ask):
    ask.curvature(smooth_example)


def test_every_function_has_an_example(without_example):
    assert without_example(*(f"madaline.graph.numpy_api.{name}" for name in ("linear", "einsum"))) == []
