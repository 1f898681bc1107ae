"""The native machine, driven directly: elementwise chains against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from core_build import FLOATS, SPECIAL, Build, apply, static
from madaline.kernels import core as cores

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")


UNARY = {
    "copy": lambda x: x, "negative": np.negative, "absolute": np.abs, "sign": np.sign, "square": np.square,
    "reciprocal": np.reciprocal, "sqrt": np.sqrt, "cbrt": np.cbrt, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "arcsin": np.arcsin, "arccos": np.arccos, "arctan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "arcsinh": np.arcsinh, "arccosh": np.arccosh, "arctanh": np.arctanh, "sigmoid": special.expit,
    "softplus": lambda x: np.logaddexp(x, x.dtype.type(0)), "erf": special.erf,
    "relu": lambda x: np.where(x < 0, x.dtype.type(0), x), "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "rint": np.rint, "logical_not": np.logical_not, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
}  # fmt: skip
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "power": np.power,
    "arctan2": np.arctan2, "maximum": np.maximum, "minimum": np.minimum, "floor_divide": np.floor_divide,
    "remainder": np.remainder, "fmod": np.fmod, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
    "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor, "copysign": np.copysign,
}  # fmt: skip
TERNARY = {"where": lambda a, b, c: np.where(a != 0, b, c), "multiply_add": lambda a, b, c: a * b + c}
# The planner's own: scalars last.
FUSED = {
    "scaled_sum": lambda a, b, s, t: s * a + t * b,
    "scaled_sum_square": lambda a, b, s, t: s * a + t * b * b,
    "adaptive_step": lambda a, b, c, s, t, u: a - s * b / (np.sqrt(t * c) + u),
}
# Each operation rounded once by NumPy and by us: the same bits, signs of zero included.
EXACT = {
    "copy", "negative", "absolute", "sign", "square", "reciprocal", "sqrt", "relu", "floor", "ceil", "trunc", "rint",
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "copysign", "multiply_add",
}  # fmt: skip
INTEGER = [
    "copy", "negative", "absolute", "sign", "square", "relu", "logical_not", "add", "subtract", "multiply", "power",
    "maximum", "minimum", "floor_divide", "remainder", "fmod", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "logical_and", "logical_or", "logical_xor", "where", "multiply_add",
]  # fmt: skip
BOOLEAN = [
    "copy", "absolute", "logical_not", "add", "multiply", "maximum", "minimum", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "where",
]  # fmt: skip
FUNCTIONS = UNARY | BINARY | TERNARY


def arity(op):
    return 1 if op in UNARY else 2 if op in BINARY else 3


def test_every_opcode_is_tested(core):
    assert set(core.OPCODES) == set(FUNCTIONS) | set(FUSED)
    assert core.DTYPES == {"float32": 0, "float64": 1, "int64": 2, "bool": 3}
    assert core.SPACES == {"input": 0, "output": 1, "shared": 2, "rows": 3, "tile": 4, "lane": 5}
    assert list(core.REDUCTIONS) == ["sum", "prod", "max", "min", "logsumexp", "argmax"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_float_opcodes_agree_with_numpy(core, op, dtype, rng):
    """Over all pairs of special values and a spread of ordinary ones."""
    n = arity(op)
    if n == 1:
        args = [np.concatenate([SPECIAL, rng.normal(size=1001), 30 * rng.normal(size=500)]).astype(dtype)]
    else:
        grid = np.stack(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
        args = list(np.concatenate([grid, rng.normal(size=(2, 1001)) * [[3], [2]]], axis=1).astype(dtype))
        if n == 3:
            args.append(rng.normal(size=args[0].size).astype(dtype))
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[op](*args).astype(dtype)
        got = apply(core, op, *args, dtype=dtype)
    if op in EXACT:
        np.testing.assert_array_equal(got, expected)
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]))
    else:
        np.testing.assert_allclose(got, expected, rtol=6 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)


@pytest.mark.parametrize("op", INTEGER)
def test_integer_opcodes_agree_with_numpy(core, op, rng):
    top = np.iinfo(np.int64).max
    values = np.array([0, 1, -1, 2, -2, 7, -7, 1 << 40, top, -top, -top - 1])
    if op == "power":
        values = np.array([0, 1, -1, 2, 3, -5])
        grid = [g.ravel() for g in np.meshgrid(values, np.arange(5))]
    else:
        grid = [g.ravel() for g in np.meshgrid(values, values)]
    args = [*grid, rng.integers(-9, 9, grid[0].size)][: arity(op)]
    with np.errstate(all="ignore"):
        if op == "relu":
            expected = np.maximum(args[0], 0)
        else:
            expected = FUNCTIONS[op](*args).astype(np.int64)
    np.testing.assert_array_equal(apply(core, op, *args, dtype="int64"), expected)


@pytest.mark.parametrize("op", BOOLEAN)
def test_boolean_opcodes_agree_with_numpy(core, op):
    args = [g.ravel() for g in np.meshgrid([False, True], [False, True], [True, False])][: arity(op)]
    expected = np.asarray(FUNCTIONS[op](*args)).astype(bool)
    np.testing.assert_array_equal(apply(core, op, *args, dtype="bool"), expected)


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_an_opcode_a_dtype_does_not_have_is_refused_by_name(core, dtype):
    supported = set(INTEGER if dtype == "int64" else BOOLEAN)
    for op in set(FUNCTIONS) - supported:
        args = [np.ones(3, dtype)] * arity(op)
        with pytest.raises(ValueError, match=rf"Op 0 of the elementwise chain, {op}, does not exist for {dtype}\."):
            apply(core, op, *args, dtype=dtype)


SHAPES = [
    (),
    (1,),
    (7,),
    (1023,),
    (5000,),
    (0,),
    (3, 0),
    (33, 5),
    (7, 32),
    (100, 1),
    (1, 100),
    (3, 700),
    (600, 300),
    (2, 3, 5),
    (3, 4, 1, 70),
    (2, 2, 2, 2, 2, 3),
]


def broadcasts(shape):
    """Arrays of every shape that broadcasts to this one by sizes of 1."""
    for bits in range(1 << len(shape)):
        yield tuple(1 if bits >> d & 1 else n for d, n in enumerate(shape))


@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "bool"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_operands_broadcast(core, shape, dtype, rng):
    a = np.asarray(10 * rng.normal(size=shape)).astype(dtype)
    for other in broadcasts(shape):
        b = np.asarray(10 * rng.normal(size=other)).astype(dtype)
        for args in ((a, b), (b, a)):
            got = apply(core, "add", *args, dtype=dtype)
            np.testing.assert_array_equal(got, np.broadcast_to(np.add(*args), shape))
        where = apply(core, "where", b, a, b, dtype=dtype)
        np.testing.assert_array_equal(where, np.where(b != 0, a, b))
        filled = np.full(shape, 3, dtype)
        build = Build(core)
        build.program.shared_stage()
        build.program.elementwise(
            build.dtype(dtype),
            static(shape),
            [build.read(b, shape), build.write(filled)],
            [],
            0,
            build.ops(("copy", 1, 0)),
        )
        np.testing.assert_array_equal(build.run(), np.broadcast_to(b, shape))


VIEWS = {
    "transposed": (lambda x: x.T),
    "every second column": lambda x: x[:, ::2],
    "flipped": lambda x: x[::-1, ::-1],
    "flipped columns of the transpose": lambda x: x.T[:, ::-1],
    "a slice": lambda x: x[3:20, 5:17],
    "a diagonal": lambda x: np.einsum("ii->i", x[:40]),  # a view that can be written
    "an axis put first": lambda x: x.reshape(-1, 4, 10).transpose(1, 0, 2),
    "axes reversed": lambda x: x.reshape(-1, 4, 10).T,
}


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("op", ["copy", "square"])
def test_operands_may_have_any_strides(core, view, op, dtype, rng):
    """For reading and for writing."""
    if (op, dtype) == ("square", "bool"):
        op = "logical_not"
    function = FUNCTIONS[op]
    base = (10 * rng.normal(size=(60, 40))).astype(dtype)
    x = view(base)
    b = Build(core)
    b.program.shared_stage()
    y = np.zeros(x.shape, dtype)
    b.program.elementwise(b.dtype(dtype), static(x.shape), [b.view(base, x), b.write(y)], [], 0, b.ops((op, 1, 0)))
    np.testing.assert_array_equal(b.run(), function(x))

    target = np.zeros((60, 40), dtype)
    values = np.ascontiguousarray(x)
    b = Build(core)
    b.program.shared_stage()
    b.program.elementwise(
        b.dtype(dtype),
        static(x.shape),
        [b.read(values), b.view(target, view(target), "output")],
        [],
        0,
        b.ops((op, 1, 0)),
    )
    b.run()
    expected = np.zeros((60, 40), dtype)
    view(expected)[...] = function(values)
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("to", [*FLOATS, "int64", "bool"])
@pytest.mark.parametrize("chain", [*FLOATS, "int64", "bool"])
@pytest.mark.parametrize("source", [*FLOATS, "int64", "bool"])
def test_operands_of_another_dtype_are_converted(core, source, chain, to):
    x = np.array([0.0, -0.0, 1.0, -1.0, 2.75, -3.5, 100.0] * 3).astype(source)
    expected = x.astype(chain).astype(to)
    np.testing.assert_array_equal(apply(core, "copy", x, dtype=chain, out=to), expected)
    scalar = apply(core, "maximum", x, x[:1], dtype=chain, out=to)
    np.testing.assert_array_equal(scalar, np.maximum(x.astype(chain), x[:1].astype(chain)).astype(to))


def test_what_does_not_fit_an_integer_becomes_the_smallest(core):
    x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30])
    assert (apply(core, "copy", x, dtype="float64", out="int64") == np.iinfo(np.int64).min).all()
    assert apply(core, "copy", x, dtype="float64", out="bool").all()


def adam(b, n, *, fused):
    """Ops for slots w g m v | w' m' v' | then the scalars."""
    lr, m1, m1c, v1, v1c, c2, eps = range(7, 14)
    r = range(14, 24)
    if fused:
        return 7, b.ops(
            ("scaled_sum", 5, 2, 1, m1, m1c),
            ("scaled_sum_square", 6, 3, 1, v1, v1c),
            ("adaptive_step", 4, 0, 5, 6, lr, c2, eps),
        )
    return 3, b.ops(
        ("multiply", r[0], 2, m1), ("multiply", r[1], 1, m1c), ("add", 5, r[0], r[1]),
        ("multiply", r[0], 3, v1), ("square", r[1], 1), ("multiply", r[1], r[1], v1c), ("add", 6, r[0], r[1]),
        ("multiply", r[0], 6, c2), ("sqrt", r[0], r[0]), ("add", r[0], r[0], eps),
        ("multiply", r[1], 5, lr), ("divide", r[1], r[1], r[0]), ("subtract", 4, 0, r[1]),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 5, 1000, 100_000])
@pytest.mark.parametrize("fused", [False, True])
def test_a_long_chain_with_several_outputs_computes_adam(core, n, fused, dtype, rng):
    scalars = [1e-3, 0.9, 0.1, 0.999, 0.001, 1.25, 1e-8]
    w, g, m = rng.normal(size=(3, n)).astype(dtype)
    v = rng.uniform(0.1, 1, size=n).astype(dtype)
    results = []
    for threads in (1, 2, 3, 4):
        b = Build(core)
        b.program.shared_stage()
        outputs = [np.zeros(n, dtype) for _ in range(3)]
        operands = [b.read(a) for a in (w, g, m, v)] + [b.write(y) for y in outputs]
        n_scratch, ops = adam(b, n, fused=fused)
        b.program.elementwise(b.dtype(dtype), static((n,)), operands, scalars, n_scratch, ops)
        b.run(threads=threads)
        results.append(outputs)
    m2 = 0.9 * m + 0.1 * g
    v2 = 0.999 * v + 0.001 * g * g
    expected = [w - 1e-3 * m2 / (np.sqrt(1.25 * v2) + 1e-8), m2, v2]
    for got, value in zip(results[0], expected, strict=True):
        np.testing.assert_allclose(
            got, value, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-6 if dtype == "float32" else 1e-15
        )
    for other in results[1:]:
        for got, first in zip(other, results[0], strict=True):
            assert got.tobytes() == first.tobytes()


def test_scalar_ops_are_hoisted_and_registers_may_be_reused(core, rng):
    """Scratch register r holds a scalar, then a vector, then a scalar again."""
    x = rng.normal(size=(50, 30))
    row = rng.normal(size=(50, 1))
    lr = rng.normal(size=(1, 1))
    y, z = np.zeros((50, 30)), np.zeros((50, 30))
    b = Build(core)
    b.program.shared_stage()
    operands = [b.read(x), b.read(row, x.shape), b.read(lr, x.shape), b.write(y), b.write(z)]
    two, r, s = 5, 6, 7
    ops = b.ops(
        ("multiply", r, 2, two), ("multiply", s, x0 := 0, r), ("square", r, s), ("add", 3, r, 1),
        ("square", r, 1), ("negative", s, 2), ("multiply", r, r, s), ("exp", 4, r),
    )  # fmt: skip
    assert x0 == 0
    b.program.elementwise(b.dtype("float64"), static(x.shape), operands, [2.0], 2, ops)
    b.run()
    np.testing.assert_allclose(y, (x * (lr * 2)) ** 2 + row, rtol=1e-14)
    np.testing.assert_allclose(z, np.broadcast_to(np.exp(row**2 * -lr), x.shape), rtol=1e-14)
