"""A function of one example over a batch: the same as a loop over the examples."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ShapeError, TraceError
from madaline.graph.batching import RULES, batched
from madaline.graph.node import new_input
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.trace import Graph
from madaline.kernels.execute import Executable

rng = np.random.default_rng(31)
X, W, I = rng.normal(size=(5, 4)), rng.normal(size=(4, 3)), np.array([0, 3, 1, 1, 2])

FUNCTIONS = {
    "affine": (lambda x: np.tanh(x) @ W + 1.0, (X,), 0),
    "shared": (lambda x, w: x @ w, (X, W), (0, None)),
    "columns": (lambda x: x.mean() * x[::-1], (X.T,), 1),
    "joined": (lambda x: np.concatenate([x, np.ones(2), x[:1]]), (X,), 0),
    "sorted": (lambda x: np.sort(x) * np.arange(4.0), (X,), 0),
    "median": (np.median, (X,), 0),
    "entry": (lambda x, i: x[i] ** 2, (X, I), (0, 0)),
    "entry of shared": (lambda x, i: x[i] ** 2, (X[0], I), (None, 0)),
    "outer": (lambda x: np.outer(x, x) + np.eye(4), (X,), 0),
    "system": (lambda x: np.linalg.solve(np.outer(x, x) + 3 * np.eye(4), np.ones(4)), (X,), 0),
    "eigenvalues": (lambda x: np.linalg.eigvalsh(np.outer(x, x) + np.diag(np.arange(4.0))), (X,), 0),
    "cumulated": (lambda x: np.cumsum(x)[2] + np.cumprod(x), (X,), 0),
    "reduced": (lambda x: np.max(x) * np.prod(x) + np.std(x), (X,), 0),
    "interp": (lambda x: np.interp(x, [-1.0, 0.0, 1.0], [0.0, 2.0, 3.0]), (X,), 0),
    "spectrum": (lambda x: np.abs(np.fft.rfft(x)), (X,), 0),
    "einsum": (lambda x: np.einsum("i,ij->j", x, W), (X,), 0),
    "gradient": (md.grad(lambda z: np.sum(np.exp(z) * z[0])), (X,), 0),
    "hessian": (md.hessian(lambda z: np.sum(np.exp(z) * z[0] ** 2)), (X,), 0),
    "written": (lambda x: md.array([x[0], 2.0, x[1] * x[2]]), (X,), 0),
    "constant": (lambda x: np.ones(2), (X,), 0),
}


def looped(f, args, in_axes):
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    rows = [
        [a if axis is None else np.take(a, i, axis=axis) for a, axis in zip(args, axes, strict=True)] for i in range(5)
    ]
    return np.stack([f(*row) for row in rows])


@pytest.mark.parametrize(("f", "args", "in_axes"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_it_gives_what_a_loop_gives(f, args, in_axes):
    expected = looped(f, args, in_axes)
    np.testing.assert_allclose(md.vmap(f, in_axes)(*args), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(md.compile(md.vmap(f, in_axes))(*args), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        md.vmap(f, in_axes, out_axes=-1)(*args), np.moveaxis(expected, 0, -1), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("sorted", "constant")])
def test_it_can_be_differentiated(name):
    f, args, in_axes = FUNCTIONS[name]
    argnums = 0

    def total(f):
        return lambda *a: np.sum(np.sin(f(*a)))

    found = md.grad(total(md.vmap(f, in_axes)), argnums)(*args)
    expected = md.grad(lambda x: total_by_loop(f, (x, *args[1:]), in_axes))(args[0])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def total_by_loop(f, args, in_axes):
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    total = 0.0
    for i in range(5):
        row = [a if axis is None else np.moveaxis(a, axis, 0)[i] for a, axis in zip(args, axes, strict=True)]
        total = total + np.sum(np.sin(f(*row)))
    return total


def cases():
    for primitive in PRIMITIVES:
        if primitive.name not in ("input", "constant", "row_count"):
            for number, (args, params) in enumerate(primitive.samples(np.random.default_rng(7))):
                yield pytest.param(primitive, args, params, id=f"{primitive.name}-{number}")


@pytest.mark.parametrize(("primitive", "args", "params"), list(cases()))
def test_every_primitive_has_a_batch_of_its_samples(primitive, args, params):
    """All arguments batched, then each of them alone."""
    args = [np.asarray(arg) for arg in args]
    moved = [np.stack([arg, arg[..., ::-1] if arg.ndim == 1 else arg, arg]) for arg in args]
    choices = [list(range(len(args)))] + [[i] for i in range(len(args)) if len(args) > 1]
    for chosen in choices:
        nodes = [new_input(i, arg.shape, arg.dtype) for i, arg in enumerate(args)]
        given = {id(nodes[i]): new_input(i, moved[i].shape, moved[i].dtype) for i in chosen}
        ((y, depends),) = batched([primitive(*nodes, **params)], given, 3)
        assert depends
        inputs = tuple(given.get(id(node), node) for node in nodes)
        values = [moved[i] if i in chosen else arg for i, arg in enumerate(args)]
        (found,) = Executable(Graph(inputs, (y,)))(values)
        for row in range(3):
            one = [moved[i][row] if i in chosen else arg for i, arg in enumerate(args)]
            with np.errstate(all="ignore"):
                expected = primitive.value(*one, **params)
            np.testing.assert_allclose(found[row], expected, rtol=1e-6, atol=1e-9)


def test_the_batched_program_is_not_unrolled():
    f = md.vmap(lambda x: np.sum(np.tanh(x @ W)[np.argsort(x)[:3]]))
    few, many = (md.trace(f, np.ones((n, 4))).counts() for n in (2, 50))
    assert few == many
    assert "matmul" in RULES


def test_it_nests_in_any_order():
    table = md.vmap(md.vmap(np.multiply, (None, 0)), (0, None))(np.arange(3.0), np.arange(2.0))
    assert table.tolist() == [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]

    def loss(w, x):
        return np.sum(np.tanh(x @ w) ** 2)

    w = W[:, 0]
    each = md.vmap(md.grad(loss), (None, 0))(w, X)
    np.testing.assert_allclose(each.sum(axis=0), md.grad(lambda w: np.sum(md.vmap(loss, (None, 0))(w, X)))(w))
    nested = md.vmap(lambda p: {"a": p["x"] * p["y"], "b": [p["x"]]})({"x": X, "y": X[:, :1]})
    np.testing.assert_allclose(nested["a"], X * X[:, :1])
    np.testing.assert_array_equal(nested["b"][0], X)


def test_arguments_that_do_not_fit_are_named():
    with pytest.raises(ShapeError, match="4 and 5 examples"):
        md.vmap(np.add)(X, X[:4])
    with pytest.raises(ShapeError, match=r"in_axes=\(0, 0, 0\) has 3 entries for 2"):
        md.vmap(np.add, (0, 0, 0))(X, X)
    with pytest.raises(ShapeError, match="axis 2 for an argument of shape"):
        md.vmap(np.sin, 2)(X)
    with pytest.raises(ShapeError, match="None for all arguments"):
        md.vmap(np.sin, None)(X)
    with pytest.raises(TraceError, match="cannot branch"):
        md.vmap(lambda x: x if x > 0 else -x)(X[0])
