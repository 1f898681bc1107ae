"""A batch of open size: one graph, right for every number of rows."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ShapeError, TraceError
from madaline.graph.numpy_api.reduce import logsumexp
from madaline.graph.primitives.elementwise import relu, sigmoid, softplus
from madaline.graph.shapes import Rows
from madaline.graph.trace import trace

D, K = 4, 3
W, b = np.random.default_rng(0).normal(size=(D, K)), np.linspace(-1, 1, K)


def batch(n, rng):
    return rng.normal(size=(n, D)), np.eye(K)[rng.integers(0, K, size=n)], rng.integers(0, K, size=n)


def softmax(s):
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def batch_norm(x):
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)


def logsumexp_of(x, axis):
    """Of arrays or of a batch."""
    return logsumexp(x, axis=axis)


FUNCTIONS = {
    "affine map": lambda x, one_hot, y, W: x @ W + b,
    "mean of all": lambda x, one_hot, y, W: np.mean(x),
    "mean over the rows": lambda x, one_hot, y, W: x.mean(axis=0),
    "sum divided by the number of rows": lambda x, one_hot, y, W: x.sum(axis=0) / x.shape[0],
    "number of rows times": lambda x, one_hot, y, W: 2.0 * x.shape[0] * x,
    "array times the number of rows": lambda x, one_hot, y, W: np.ones(D) * x.shape[0] + x,
    "root of the number of rows": lambda x, one_hot, y, W: x / np.sqrt(x.shape[0]),
    "power of the number of rows": lambda x, one_hot, y, W: x * x.shape[0] ** -0.5,
    "size": lambda x, one_hot, y, W: x.sum() / x.size,
    "one less than the rows": lambda x, one_hot, y, W: x.sum(axis=0) / (x.shape[0] - 1 + 1),
    "variance over the rows": lambda x, one_hot, y, W: x.var(axis=0),
    "deviation over the rows": lambda x, one_hot, y, W: np.std(x + 1.0, axis=0, keepdims=True),
    "variance of each row": lambda x, one_hot, y, W: np.var(x, axis=1, ddof=1),
    "batch norm": lambda x, one_hot, y, W: batch_norm(x),
    "layer norm": lambda x, one_hot, y, W: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5),
    "softmax": lambda x, one_hot, y, W: softmax(x @ W),
    "cross-entropy of one-hot targets": lambda x, one_hot, y, W: (
        -np.mean(np.sum(one_hot * np.log(softmax(x @ W)), axis=1))
    ),
    "cross-entropy of class numbers": lambda x, one_hot, y, W: np.mean(
        logsumexp_of(x @ W, 1) - np.take_along_axis(x @ W, y[:, None], axis=1)[:, 0]
    ),
    "one-hot by comparison": lambda x, one_hot, y, W: (y[:, None] == np.arange(K)) * (x @ W),
    "one-hot by taking rows of the identity": lambda x, one_hot, y, W: (
        np.take_along_axis(np.eye(K), y[:, None], axis=0) * (x @ W)
    ),
    "embedding": lambda x, one_hot, y, W: np.take(W.T, y, axis=0),
    "embedding by index": lambda x, one_hot, y, W: W.T[y],
    "columns": lambda x, one_hot, y, W: x[:, 1:3] * x[:, ::-2] + x[:, [0, -1]],
    "one column": lambda x, one_hot, y, W: x[:, 0] * x[..., -1],
    "new axes": lambda x, one_hot, y, W: x[:, None, :] * x[:, :, None],
    "hidden layer": lambda x, one_hot, y, W: relu(x @ W) @ W.T,
    "stable activations": lambda x, one_hot, y, W: sigmoid(x) * softplus(x),
    "largest of the batch": lambda x, one_hot, y, W: np.max(x, axis=0),
    "argmax of rows": lambda x, one_hot, y, W: np.argmax(x @ W, axis=1),
    "accuracy": lambda x, one_hot, y, W: np.mean(np.argmax(x @ W, axis=1) == y),
    "concatenated columns": lambda x, one_hot, y, W: np.concatenate([x, one_hot, np.ones_like(x[:, :1])], axis=1),
    "stacked": lambda x, one_hot, y, W: np.stack([x, 2 * x], axis=1),
    "flattened rows": lambda x, one_hot, y, W: (x[:, :, None] * np.ones(2)).reshape(x.shape[0], -1),
    "reshaped by -1": lambda x, one_hot, y, W: x.reshape(-1, 2, 2),
    "ravelled": lambda x, one_hot, y, W: x.ravel().sum() + x.reshape(-1).mean(),
    "transposed product": lambda x, one_hot, y, W: x.T @ one_hot,
    "Gram matrix": lambda x, one_hot, y, W: x @ x.T,
    "einsum": lambda x, one_hot, y, W: np.einsum("ni,ij,nj->n", x, W, one_hot),
    "einsum over the rows": lambda x, one_hot, y, W: np.einsum("ni,nj->ij", x, one_hot),
    "norm of rows": lambda x, one_hot, y, W: np.linalg.norm(x, axis=1),
    "norm of the batch": lambda x, one_hot, y, W: np.linalg.norm(x),
    "broadcast": lambda x, one_hot, y, W: np.broadcast_to(x[:, :1], x.shape) + np.zeros_like(x),
    "cumulative sums": lambda x, one_hot, y, W: np.cumsum(x, axis=1) + np.cumsum(x, axis=0),
    "flipped columns": lambda x, one_hot, y, W: np.flip(x, axis=1),
    "clipped": lambda x, one_hot, y, W: np.clip(x, -0.5, 0.5),
    "count": lambda x, one_hot, y, W: np.count_nonzero(x > 0, axis=0),
    "any and all": lambda x, one_hot, y, W: (np.any(x > 1, axis=0), np.all(x < 1, axis=1)),
    "tiled": lambda x, one_hot, y, W: np.tile(x, (1, 2)),
    "twice the rows": lambda x, one_hot, y, W: np.concatenate([x, 2.0 * x], axis=0),
    "sorted rows": lambda x, one_hot, y, W: np.sort(x, axis=1),
    "covariance": lambda x, one_hot, y, W: np.cov(x, rowvar=False, ddof=0),
    "weighted mean": lambda x, one_hot, y, W: np.average(x, axis=0, weights=one_hot[:, 0] + 1.0),
}
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@each_function
@pytest.mark.parametrize("n", [1, 2, 7, 32])
def test_one_graph_gives_numpys_value_for_every_number_of_rows(function, n, rng, evaluate):
    # NumPy has no logsumexp, and indexes arrays by arrays only; both are the same function on both sides.
    graph = trace(function, *batch(5, rng), W, rows=[0, 1, 2])
    args = (*batch(n, rng), W)
    expected = function(*args)
    found = evaluate(graph, *args, n_rows=n)
    for ours, numpys in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert ours.shape == np.shape(numpys)
        np.testing.assert_allclose(ours, numpys, rtol=1e-11, atol=1e-13)


@each_function
@pytest.mark.parametrize("n", [2, 6])
def test_derivatives_hold_for_every_number_of_rows(
    function, n, rng, evaluate, gradient_graph, tangent_graph, directional_difference
):
    graph = trace(function, *batch(5, rng), W, rows=[0, 1, 2])
    args = (*batch(n, rng), W)
    floats = [node for node in graph.outputs if node.dtype.kind == "f"]
    if not floats:
        return
    scalar = trace(lambda *x: weighted_sum(function(*x)), *batch(5, rng), W, rows=[0, 1, 2])
    bars = evaluate(gradient_graph(scalar, [np.ones(())]), *args, n_rows=n)
    directions = [rng.standard_normal(arg.shape) for arg in (args[0], args[1], args[3])]
    (difference,) = directional_difference(lambda *x: weighted_sum(function(*x)), args, directions)
    total = sum(np.vdot(bar, direction) for bar, direction in zip(bars, directions, strict=True))
    assert total == pytest.approx(difference, rel=1e-5, abs=1e-6)


def weighted_sum(result):
    """One number of all float results, not the same weight for all."""
    results = result if isinstance(result, tuple) else (result,)
    return sum(np.sum(np.sin(item) * item) for item in results if item.dtype.kind == "f") + 0.0


def test_sizes_of_a_batch_are_shown_and_computed():
    n = Rows()
    assert repr(n) == "n"
    assert repr(2 * n + 1) == "2n+1"
    assert repr(n - 3) == "n-3"
    assert (2 * n + 1).at(10) == 21
    assert n - n == 0
    assert n + n == 2 * n


MISUSES = [
    (lambda x: [x[i] for i in range(x.shape[0])], "cannot steer Python code"),
    (lambda x: x if x.shape[0] > 10 else 2 * x, "cannot steer Python code"),
    (lambda x: x if x.shape[0] else 2 * x, "cannot steer Python code"),
    (lambda x: x if x.shape[0] == 1 else 2 * x, "cannot steer Python code"),
    (lambda x: x if x.shape != (5, 4) else 2 * x, "cannot steer Python code"),
    (lambda x: x if x.size in (1, 20) else 2 * x, "cannot steer Python code"),
    (lambda x: float(x.shape[0]) * x, "cannot steer Python code"),
    (lambda x: x + np.zeros(x.shape), "cannot steer Python code"),
    (lambda x: np.arange(x.shape[0]), "cannot steer Python code"),
    (lambda x: np.asarray(x.shape[0]), "np.zeros_like"),
    (len, "len() of it has no value"),
    (lambda x: list(x), "len() of it has no value"),  # noqa: PLW0108 - list itself would take the argument apart
    (lambda x: x[0], "One row of a traced batch cannot be picked"),
    (lambda x: x[-1, 2], "One row of a traced batch cannot be picked"),
    (lambda x: x[1:], "cannot be sliced"),
    (lambda x: x[::2], "cannot be sliced"),
    (lambda x: x[::-1], "cannot be sliced"),
    (lambda x: x[np.arange(3), np.arange(3)], "np.take_along_axis for one entry of each row"),
    (lambda x: np.roll(x, 1, axis=0), "cannot"),
]


@pytest.mark.parametrize(("function", "text"), MISUSES)
def test_what_would_need_the_number_of_rows_says_so(function, text):
    with pytest.raises(TraceError) as caught:
        trace(function, np.ones((5, 4)), rows=[0])
    assert text in str(caught.value)


def test_rows_do_not_fit_a_fixed_size():
    with pytest.raises(ShapeError, match=r"Shapes \(n, 4\) and \(5, 4\) cannot be broadcast"):
        trace(lambda x: x + np.ones((5, 4)), np.ones((5, 4)), rows=[0])
    with pytest.raises(ShapeError, match=r"\(n, 4\) cannot be reshaped to \(5, 4\)"):
        trace(lambda x: x.reshape(5, 4), np.ones((5, 4)), rows=[0])


def test_a_batch_needs_an_axis():
    with pytest.raises(TraceError, match="is a batch but has no axis for its rows"):
        trace(lambda x: x, 1.0, rows=[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_mean_over_the_batch_twice_divides_by_its_square(dtype):
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(dtype)
    mean = md.compile(lambda x: np.mean(x @ x.T), rows=[0])
    for n in (1, 4, 5):
        value = mean(x[:n])
        assert value.dtype == dtype
        np.testing.assert_allclose(value, np.mean(x[:n] @ x[:n].T), rtol=1e-5)


def test_the_size_of_a_value_with_two_batch_axes_says_what_to_do():
    with pytest.raises(ShapeError, match=r"\(n, n\) has the batch axis twice.*Reduce one of the two axes first"):
        md.trace(lambda x: np.ravel(x @ x.T), np.ones((5, 3)), rows=[0])
