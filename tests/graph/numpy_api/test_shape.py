"""NumPy's shape functions on traced values."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(13)


def normal(*shape):
    return rng.normal(size=shape)


A, B, C, SQUARE = normal(3, 4), normal(2, 3, 4), normal(5), normal(4, 4)
SINGLE = normal(3, 4).astype(np.float32)
INTEGERS = rng.integers(-4, 5, size=(3, 4))
MASK = A > 0.2
THIN = normal(1, 3, 1)
EMPTY = np.zeros((0, 3))
SCALAR = np.float64(1.7)
CHOICE = np.array([[0, 2], [1, -1], [3, 0]])

EXAMPLES = {
    np.reshape: [
        (lambda x: np.reshape(x, (4, 3)), A),
        (lambda x: np.reshape(x, -1), A),
        (lambda x: x.reshape(2, -1), A),
        (lambda x: x.reshape((6, 2)), SINGLE),
        (lambda x: x.reshape([2, 6]), INTEGERS),
        (lambda x: x.reshape(1, 1), SCALAR),
        (lambda x: x.reshape(()), normal(1)),
        (lambda x: np.reshape(x, (3, 0)), EMPTY),
        (lambda x: x.reshape(-1, 3), EMPTY),
        (lambda x: x.reshape(np.int64(2), -1), A),
        (lambda x: np.reshape(x, (2, -1), order="F"), A),
        (lambda x: x.reshape(4, 6, order="F"), B),
    ],
    np.ravel: [
        (np.ravel, A),
        (np.ravel, SCALAR),
        (lambda x: np.ravel(x, order="F"), B),
        (lambda x: np.ravel(x + 0), INTEGERS),
    ],
    "methods": [
        (lambda x: x.ravel(), A),
        (lambda x: x.flatten(), B),
        (lambda x: x.flatten("F"), B),
        (lambda x: x.ravel(order="F"), B),
        (lambda x: x.T, A),
        (lambda x: x.T, B),
        (lambda x: x.mT, B),
        (lambda x: x.copy(), A),
        (lambda x: x.conj(), A),
        (lambda x: x.astype(np.float64), SINGLE),
        (lambda x: x.astype(float), INTEGERS),
        (lambda x: x.astype(int), A * 10),
        (lambda x: x.astype(bool), INTEGERS),
        (lambda x: np.array([x.shape[0], x.ndim, x.size, len(x)]), A),
        (lambda x: [row.sum() for row in x], A),
        (lambda x: [a * b for a, b in zip(x, x[::-1], strict=True)], C),
        (sum, C),
        (lambda x: sum(x.flat), A),
        (lambda x: x.swapaxes(0, 2), B),
        (lambda x: x.transpose(2, 0, 1), B),
        (lambda x: x.transpose((1, 0, 2)), B),
        (lambda x: x.transpose(), A),
        (lambda x: x.squeeze(), THIN),
        (lambda x: x.take([0, 2], axis=1), A),
        (lambda x: x.repeat(2, axis=0), A),
        (lambda x: x.diagonal(), SQUARE),
        (lambda x: x.trace(), SQUARE),
        (lambda x: x.dot(x), SQUARE),
        (lambda x: x.nbytes, A),
        (lambda x: x.itemsize, SINGLE),
    ],
    np.transpose: [
        (np.transpose, A),
        (np.transpose, C),
        (lambda x: np.transpose(x, (2, 0, 1)), B),
        (lambda x: np.transpose(x, [-1, 0, 1]), B),
    ],
    np.permute_dims: [(lambda x: np.permute_dims(x, (1, 2, 0)), B)],
    np.swapaxes: [(lambda x: np.swapaxes(x, 0, -1), B), (lambda x: np.swapaxes(x, 1, 1), B)],
    np.matrix_transpose: [(np.matrix_transpose, B)],
    np.linalg.matrix_transpose: [(np.linalg.matrix_transpose, B)],
    np.moveaxis: [
        (lambda x: np.moveaxis(x, 0, -1), B),
        (lambda x: np.moveaxis(x, -1, 0), B),
        (lambda x: np.moveaxis(x, [0, 1], [-1, -2]), B),
        (lambda x: np.moveaxis(x, (0, 2), (1, 0)), B),
    ],
    np.rollaxis: [
        (lambda x: np.rollaxis(x, 2), B),
        (lambda x: np.rollaxis(x, 0, 3), B),
        (lambda x: np.rollaxis(x, -1, 1), B),
    ],
    np.expand_dims: [
        (lambda x: np.expand_dims(x, 0), A),
        (lambda x: np.expand_dims(x, -1), A),
        (lambda x: np.expand_dims(x, (0, 2)), A),
        (lambda x: np.expand_dims(x, 0), SCALAR),
    ],
    np.squeeze: [
        (np.squeeze, THIN),
        (lambda x: np.squeeze(x, 0), THIN),
        (lambda x: np.squeeze(x, axis=(0, -1)), THIN),
        (np.squeeze, A),
    ],
    np.atleast_1d: [(np.atleast_1d, SCALAR), (np.atleast_1d, A), (np.atleast_1d, SCALAR, C)],
    np.atleast_2d: [(np.atleast_2d, SCALAR), (np.atleast_2d, C), (np.atleast_2d, B), (np.atleast_2d, C, A)],
    np.atleast_3d: [(np.atleast_3d, SCALAR), (np.atleast_3d, C), (np.atleast_3d, A), (np.atleast_3d, B)],
    np.broadcast_to: [
        (lambda x: np.broadcast_to(x, (2, 3, 4)), A),
        (lambda x: np.broadcast_to(x, (3, 5)), normal(3, 1)),
        (lambda x: np.broadcast_to(x, 4), SCALAR),
        (lambda x: np.broadcast_to(x, (0, 3)), normal(1, 3)),
    ],
    np.broadcast_arrays: [
        (np.broadcast_arrays, normal(3, 1), normal(4)),
        (lambda x: np.broadcast_arrays(x, 2.0, np.ones((3, 1))), normal(4)),
    ],
    np.shape: [(np.shape, A)],
    np.ndim: [(np.ndim, B)],
    np.size: [(np.size, B), (lambda x: np.size(x, 1), B)],
    np.diag_indices_from: [(lambda x: x[np.diag_indices_from(x)], SQUARE)],
    np.tril_indices_from: [(lambda x: x[np.tril_indices_from(x, k=-1)], A)],
    np.triu_indices_from: [(lambda x: x[np.triu_indices_from(x)], A)],
    np.result_type: [(lambda x: np.ones(2, dtype=np.result_type(x, np.float32)), A)],
    np.zeros_like: [
        (np.zeros_like, A),
        (lambda x: np.zeros_like(x, dtype=np.int64), SINGLE),
        (lambda x: np.zeros_like(x, shape=(2, 2)), SINGLE),
    ],
    np.ones_like: [(np.ones_like, A), (lambda x: np.ones_like(x, dtype=bool), A)],
    np.full_like: [
        (lambda x: np.full_like(x, 2.5), A),
        (lambda x: np.full_like(x, x[0, 0]), A),
        (lambda x: np.full_like(x, 7.9), INTEGERS),
        (lambda x: np.full_like(x, 3, dtype=float, shape=2), INTEGERS),
    ],
    np.concatenate: [
        (lambda x, y: np.concatenate([x, y]), A, normal(2, 4)),
        (lambda x, y: np.concatenate((x, y), axis=1), A, normal(3, 2)),
        (lambda x, y: np.concatenate([x, y, x], axis=-1), A, normal(3, 1)),
        (lambda x: np.concatenate([x, np.ones((1, 4))]), A),
        (lambda x: np.concatenate([x, INTEGERS]), SINGLE),
        (lambda x, y: np.concatenate([x, y], axis=None), A, C),
        (lambda x: np.concatenate([x]), A),
        (lambda x: np.concatenate([x, x[:0]]), A),
        (lambda m: np.concatenate([m, ~m]), MASK),
        (lambda x: np.concatenate([x, x], dtype=np.float64), SINGLE),
        (np.concatenate, A),
    ],
    np.concat: [(lambda x, y: np.concat([x, y]), A, normal(2, 4))],
    np.stack: [
        (lambda x, y: np.stack([x, y]), A, normal(3, 4)),
        (lambda x, y: np.stack([x, y], axis=-1), C, normal(5)),
        (lambda x, y: np.stack((x, y), 1), A, SINGLE),
        (lambda x: np.stack([x[0], x[1] * 2, 3.0]), C),
        (lambda x: np.stack([x, np.zeros(5)]), C),
        (lambda x: np.stack(x, axis=1), A),
    ],
    np.unstack: [(np.unstack, A), (lambda x: np.unstack(x, axis=1), B)],
    np.vstack: [(lambda x, y: np.vstack([x, y]), A, normal(4)), (lambda x, y: np.vstack((x, y)), C, normal(5))],
    np.hstack: [(lambda x, y: np.hstack([x, y]), A, normal(3, 1)), (lambda x: np.hstack([x, 1.0]), C)],
    np.dstack: [(lambda x, y: np.dstack([x, y]), A, normal(3, 4)), (lambda x: np.dstack([x, x]), C)],
    np.column_stack: [
        (lambda x, y: np.column_stack([x, y]), C, normal(5)),
        (lambda x, y: np.column_stack((x, y)), A, normal(3)),
    ],
    np.block: [
        (lambda x, y: np.block([x, y]), C, normal(2)),
        (lambda x, y: np.block([[x, y], [y.T, np.eye(2)]]), SQUARE, normal(4, 2)),
        (lambda x: np.block([[x, 0.0], [0.0, x]]), SCALAR),
    ],
    np.append: [
        (lambda x: np.append(x, 1.0), C),
        (np.append, A, C),
        (lambda x: np.append(x, np.ones((1, 4)), axis=0), A),
    ],
    np.insert: [
        (lambda x: np.insert(x, 1, 9.0), C),
        (lambda x, y: np.insert(x, 2, y, axis=1), A, normal(3)),
        (lambda x: np.insert(x, -1, 0.5, axis=0), A),
    ],
    np.delete: [
        (lambda x: np.delete(x, 1), C),
        (lambda x: np.delete(x, [0, -1], axis=1), A),
        (lambda x: np.delete(x, slice(None, 2)), C),
    ],
    np.split: [
        (lambda x: np.split(x, 2, axis=1), A),
        (lambda x: np.split(x, [1, 3]), C),
        (lambda x: np.split(x, 3), A),
        (lambda x: np.split(x, [2, 9]), C),
    ],
    np.array_split: [(lambda x: np.array_split(x, 3), C), (lambda x: np.array_split(x, [1], axis=1), A)],
    np.hsplit: [(lambda x: np.hsplit(x, 2), A), (lambda x: np.hsplit(x, 5), C)],
    np.vsplit: [(lambda x: np.vsplit(x, 3), A)],
    np.dsplit: [(lambda x: np.dsplit(x, 2), B), (lambda x: np.dsplit(x, [1, 2]), B)],
    np.pad: [
        (lambda x: np.pad(x, 1), A),
        (lambda x: np.pad(x, (1, 2)), C),
        (lambda x: np.pad(x, ((0, 1), (2, 0))), A),
        (lambda x: np.pad(x, 2, constant_values=1.5), C),
        (lambda x: np.pad(x, 0), A),
        (lambda x: np.pad(x, 1, mode="constant"), INTEGERS),
        (lambda x: np.pad(x, 2, mode="edge"), A),
        (lambda x: np.pad(x, (1, 2), mode="reflect"), C),
        (lambda x: np.pad(x, (1, 2), mode="symmetric"), A),
        (lambda x: np.pad(x, (3, 1), mode="wrap"), A),
        (lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=((1, 2), (3, 4))), A),
    ],
    np.flip: [
        (np.flip, A),
        (lambda x: np.flip(x, 0), A),
        (lambda x: np.flip(x, (0, 2)), B),
        (lambda x: np.flip(x, -1), C),
    ],
    np.flipud: [(np.flipud, A)],
    np.fliplr: [(np.fliplr, A)],
    np.roll: [
        (lambda x: np.roll(x, 1), C),
        (lambda x: np.roll(x, -2, axis=1), A),
        (lambda x: np.roll(x, (1, 2), axis=(0, 1)), A),
        (lambda x: np.roll(x, 7), A),
        (lambda x: np.roll(x, 1, axis=(0, 1)), A),
        (lambda x: np.roll(x, 1), np.zeros(0)),
    ],
    np.rot90: [
        (np.rot90, A),
        (lambda x: np.rot90(x, 2), A),
        (lambda x: np.rot90(x, -1), A),
        (lambda x: np.rot90(x, 1, (1, 2)), B),
    ],
    np.tile: [
        (lambda x: np.tile(x, 2), C),
        (lambda x: np.tile(x, (2, 3)), A),
        (lambda x: np.tile(x, np.array([2, 3])), A),
        (lambda x: np.tile(x, (2, 1, 2)), A),
        (lambda x: np.tile(x, 3), SCALAR),
        (lambda x: np.tile(x, 0), C),
    ],
    np.repeat: [
        (lambda x: np.repeat(x, 2), A),
        (lambda x: np.repeat(x, 3, axis=1), A),
        (lambda x: np.repeat(x, [0, 1, 3], axis=0), A),
    ],
    np.take: [
        (lambda x: np.take(x, [1, 0, 1]), C),
        (lambda x: np.take(x, 2, axis=1), A),
        (lambda x: np.take(x, [[0, -1], [1, 1]], axis=0), A),
        (lambda x: np.take(x, np.array([], dtype=int), axis=1), A),
        (np.take, C, np.array([3, 0])),
        (lambda x: np.take(x, 5), A),
    ],
    np.lib.stride_tricks.sliding_window_view: [
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, 3), C),
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3)), A),
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=0), A),
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, (4, 1), axis=(-1, 0)), B),
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(1, 1)), SINGLE),
    ],
    np.take_along_axis: [
        (lambda x: np.take_along_axis(x, CHOICE, axis=1), A),
        (lambda x, i: np.take_along_axis(x, i, -1), A, CHOICE),
        (lambda x: np.take_along_axis(x, np.array([[0, 2, 1, 1]]), axis=0), A),
        (lambda x: np.take_along_axis(x, np.argmax(x, axis=1, keepdims=True), axis=1), A),
        (lambda x: np.take_along_axis(x, np.array([0, 7]), axis=None), A),
    ],
    np.diff: [
        (np.diff, C),
        (lambda x: np.diff(x, axis=0), A),
        (lambda x: np.diff(x, n=2), A),
        (lambda x: np.diff(x, prepend=0.0), C),
        (lambda x: np.diff(x, append=1.0, prepend=x[:1]), C),
        (np.diff, MASK),
        (lambda x: np.diff(x, n=0), C),
    ],
    np.ediff1d: [(np.ediff1d, C)],
    np.gradient: [
        (np.gradient, C),
        (lambda x: np.gradient(x, 0.5), C),
        (lambda x: np.gradient(x, axis=1), A),
        (np.gradient, A),
    ],
    np.tril: [(np.tril, SQUARE), (lambda x: np.tril(x, -1), B), (np.tril, INTEGERS)],
    np.triu: [(np.triu, SQUARE), (lambda x: np.triu(x, 1), B), (np.triu, SINGLE)],
    np.diagonal: [
        (np.diagonal, SQUARE),
        (lambda x: np.diagonal(x, 1), A),
        (lambda x: np.diagonal(x, -2), A),
        (lambda x: np.diagonal(x, 0, 1, 2), B),
        (lambda x: np.diagonal(x, axis1=0, axis2=2), B),
        (lambda x: np.diagonal(x, 9), A),
    ],
    np.linalg.diagonal: [(np.linalg.diagonal, B), (lambda x: np.linalg.diagonal(x, offset=1), B)],
    np.diag: [
        (np.diag, C),
        (lambda x: np.diag(x, 1), C),
        (lambda x: np.diag(x, -2), C),
        (np.diag, A),
        (lambda x: np.diag(x, 1), A),
    ],
    np.diagflat: [(np.diagflat, A), (lambda x: np.diagflat(x, 1), C)],
    np.linspace: [
        (np.linspace, SCALAR, np.float64(3.0)),
        (lambda a: np.linspace(a, 2.0, 5), SCALAR),
        (lambda a, b: np.linspace(a, b, 4, endpoint=False), C, normal(5)),
        (lambda a: np.linspace(0, a, 1), SCALAR),
    ],
    np.meshgrid: [
        (np.meshgrid, C, normal(3)),
        (lambda x: np.meshgrid(x, np.arange(2.0), indexing="ij"), C),
        (lambda x: np.meshgrid(x, x, sparse=True), C),
    ],
    np.vander: [(np.vander, C), (lambda x: np.vander(x, 3, increasing=True), C)],
}


EXAMPLES[np.empty_like] = [(lambda x: 0.0 * np.empty_like(x) + x, np.ones((2, 3)))]
EXAMPLES[np.logspace] = [(lambda a, b: np.logspace(a, b, 4), np.float64(0.1), np.float64(0.7))]
EXAMPLES[np.geomspace] = [(lambda a, b: np.geomspace(a, b, 5), np.float64(0.5), np.float64(3.0))]
EXAMPLES[np.linspace] += [
    (lambda a, b: np.linspace(a, b, 4, axis=1, retstep=True), np.array([1.0, 2.0]), np.array([3.0, 1.0]))
]
EXAMPLES[np.gradient] += [
    (lambda x: np.gradient(x, np.array([0.0, 1.0, 3.0, 4.5]), axis=1), np.arange(12.0).reshape(3, 4) ** 2),
    (lambda x: np.gradient(x, 0.5, 2.0, edge_order=2), np.sin(np.arange(12.0)).reshape(3, 4)),
    (np.gradient, np.sin(np.arange(5.0)), np.float64(0.5)),
]
EXAMPLES[np.ediff1d] += [(lambda x: np.ediff1d(x, to_end=[9.0], to_begin=x[:1]), np.arange(4.0) ** 2)]
EXAMPLES[np.take] += [
    (lambda x: np.take(x, [7, -3], mode="wrap"), np.arange(5.0)),
    (lambda x: np.take(x, [7, -3], mode="clip"), np.arange(5.0)),
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
    assert without_example(*(f"madaline.graph.numpy_api.{name}" for name in ("shape", "join", "pick"))) == []
