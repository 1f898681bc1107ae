"""The native machine, driven directly: every instruction of native/FORMAT.md against NumPy."""

from __future__ import annotations

import concurrent.futures
import math
from types import ModuleType

import numpy as np
import pytest
from scipy import special

from madaline.graph.trace import trace
from madaline.kernels import core as cores
from madaline.kernels import native
from madaline.plan.planner import plan

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")

FLOATS = ("float32", "float64")
# Ends, kinks and rounding cases of every function; halves for rint.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 1e-30, 1e10, -1e10, np.inf, -np.inf, np.nan]


@pytest.fixture(params=cores.cpu_isas())
def core(request) -> ModuleType:
    return cores.load(request.param)


class Build:
    """A program whose arguments are NumPy arrays; operands are views of them."""

    def __init__(self, core, *, shared=0, row=0, tile=0, lane=0):
        self.core = core
        self.program = core.Program(shared, row, tile, lane)
        self.inputs, self.outputs = [], []

    def dtype(self, name):
        return self.core.DTYPES[np.dtype(name).name]

    def buffer(self, space, dtype, offset=0):
        return self.program.buffer(self.core.SPACES[space], self.dtype(dtype), offset)

    def argument(self, array, space):
        arrays = self.inputs if space == "input" else self.outputs
        arrays.append(array)
        return self.buffer(space, array.dtype, len(arrays) - 1)

    def view(self, base, view, space="input", row_advance=0):
        """The operand for ``view``, a view of the C-contiguous ``base``."""
        offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        strides = [s // base.itemsize for s in view.strides]
        return (self.argument(base, space), offset // base.itemsize, row_advance, strides)

    def read(self, array, shape=None):
        return self.view(array, array if shape is None else np.broadcast_to(array, shape))

    def write(self, array):
        return self.view(array, array, "output")

    def ops(self, *ops):
        return [(self.core.OPCODES[op[0]], *op[1:]) for op in ops]

    def run(self, n_rows=1, threads=1):
        self.program.run(self.inputs, self.outputs, n_rows, threads)
        return self.outputs[0] if len(self.outputs) == 1 else self.outputs


def static(shape):
    return [(n, False) for n in shape]


def apply(core, op, *args, dtype, out=None, threads=1):
    """One op on arrays that broadcast together."""
    shape = np.broadcast_shapes(*(a.shape for a in args))
    b = Build(core)
    b.program.shared_stage()
    y = np.zeros(shape, dtype if out is None else out)
    operands = [b.read(a, shape) for a in args] + [b.write(y)]
    b.program.elementwise(b.dtype(dtype), static(shape), operands, [], 0, b.ops((op, len(args), *range(len(args)))))
    return b.run(threads=threads)


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


REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "argmax": np.argmax,
    "logsumexp": lambda x, axis: special.logsumexp(x, axis=axis),
}  # fmt: skip


def reduce(core, op, x, axes, *, view=None, threads=1, dtype=None):
    dtype = x.dtype if dtype is None else dtype
    v = x if view is None else view
    keep = [d for d in range(v.ndim) if d not in axes]
    b = Build(core)
    b.program.shared_stage()
    y = np.zeros([v.shape[d] for d in keep], "int64" if op == "argmax" else dtype)
    src = b.view(x, v.transpose(*keep, *axes))
    b.program.reduce(
        core.REDUCTIONS[op],
        b.dtype(dtype),
        static([v.shape[d] for d in keep]),
        static([v.shape[d] for d in axes]),
        src,
        b.write(y),
    )
    return b.run(threads=threads)


@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((7,), (0,)), ((1,), (0,)), ((1000,), (0,)), ((33, 10), (1,)), ((33, 10), (0,)), ((130, 2), (1,)),
     ((3, 300), (1,)), ((300, 70), (0,)),
     ((300, 70), (0, 1)), ((5, 6, 7), (1,)), ((5, 6, 7), (0, 2)), ((5, 6, 7), (2, 0)), ((4, 5, 3, 2), (1, 3)),
     ((1, 9), (0,)), ((70000,), (0,)), ((70000, 3), (0,))],
    ids=str,
)  # fmt: skip
def test_reductions_agree_with_numpy(core, op, shape, axes, dtype, rng):
    if op == "logsumexp" and dtype == "int64":
        pytest.skip("floats only")
    x = (rng.normal(size=shape) if dtype != "int64" else rng.integers(-50, 50, shape)).astype(dtype)
    if op == "prod" and dtype != "int64":
        x = np.exp(0.01 * x).astype(dtype)
    if op == "argmax" and len(axes) > 1:
        keep = [d for d in range(x.ndim) if d not in axes]
        expected = np.argmax(x.transpose(*keep, *axes).reshape(*[x.shape[d] for d in keep], -1), axis=-1)
    else:
        expected = REDUCTIONS[op](
            x.astype("float64") if dtype == "float32" else x, axis=axes[0] if op == "argmax" else axes
        )
    results = [reduce(core, op, x, axes, threads=threads) for threads in (1, 2, 3)]
    if dtype == "int64" or op in {"max", "min", "argmax"}:
        np.testing.assert_array_equal(results[0], expected)
    else:
        eps = np.finfo(dtype).eps
        n = math.prod(shape[d] for d in axes)
        rtol = (4 + n * 0.5 * (op == "prod")) * eps
        # float32 sums are held to the error of short blocks; float64 ones are as inexact as NumPy's.
        atol = (4 if dtype == "float32" else 64) * eps * (math.sqrt(n) if op == "sum" else 1)
        np.testing.assert_allclose(results[0], expected, rtol=rtol, atol=atol)
    assert all(r.tobytes() == results[0].tobytes() for r in results)


@pytest.mark.parametrize("op", ["sum", "max", "argmax", "logsumexp"])
def test_reductions_take_any_strides(core, op, rng):
    base = rng.normal(size=(40, 60)).astype("float32")
    for view in (base.T, base[::-1, ::-1], base[::2, ::3], base.reshape(40, 6, 10).transpose(2, 0, 1)):
        for axis in range(view.ndim):
            expected = REDUCTIONS[op](view.astype("float64"), axis=axis)
            np.testing.assert_allclose(reduce(core, op, base, (axis,), view=view), expected, rtol=1e-5, atol=1e-5)


def test_long_float32_sums_are_accurate(core):
    """A plain loop in float32 is off by percents here."""
    x = np.full(3_000_000, 0.1, np.float32)
    exact = float(np.float32(0.1)) * x.size
    assert reduce(core, "sum", x, (0,)) == pytest.approx(exact, rel=1e-6)
    np.testing.assert_allclose(reduce(core, "sum", x.reshape(-1, 3), (0,)), exact / 3, rtol=1e-6)
    np.testing.assert_allclose(reduce(core, "sum", x.reshape(3, -1), (1,)), exact / 3, rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 3, 9, 40, 600])
def test_reductions_treat_nan_and_infinity_as_numpy(core, n, dtype):
    for special_values in ([np.nan], [np.inf], [-np.inf], [np.inf, -np.inf], [-np.inf, np.nan, np.inf]):
        rows = [np.full(n, -np.inf), np.zeros(n), np.linspace(-3, 3, n)]
        for where in {0, n // 2, n - 1}:
            row = np.linspace(-3, 3, n)
            for k, value in enumerate(special_values):
                row[(where + k) % n] = value
            rows.append(row)
        x = np.array(rows, dtype)
        for op in ("max", "min", "argmax", "logsumexp", "sum"):
            with np.errstate(all="ignore"):
                expected = np.array(
                    [np.max(r) if op == "logsumexp" and np.isinf(np.max(r)) else REDUCTIONS[op](r, 0) for r in x]
                )
            for got in (reduce(core, op, x, (1,)), reduce(core, op, np.ascontiguousarray(x.T), (0,))):
                np.testing.assert_allclose(
                    got, expected, rtol=4 * np.finfo(dtype).eps, atol=n * np.finfo(dtype).eps, err_msg=op
                )


def test_empty_reductions_give_the_identity(core):
    for op, identity in {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf, "logsumexp": -np.inf}.items():
        with np.errstate(all="ignore"):
            assert (reduce(core, op, np.zeros((3, 0)), (1,)) == identity).all()
            assert (reduce(core, op, np.zeros((0, 3)), (0,)) == identity).all()
    assert reduce(core, "max", np.array([[True, False], [False, False]]), (1,)).tolist() == [True, False]
    assert reduce(core, "min", np.zeros((1, 0), bool), (1,)).tolist() == [True]


def matmul(core, a, b, *, a_base=None, b_base=None, bias=None, relu=False, threads=1, epilogue=None, dtype=None):
    dtype = a.dtype if dtype is None else dtype
    build = Build(core)
    build.program.shared_stage()
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    (m, k), n = a.shape[-2:], b.shape[-1]
    c = np.zeros((*batch, m, n), dtype)
    operands = {
        "A": build.view(a if a_base is None else a_base, np.broadcast_to(a, (*batch, m, k))),
        "B": build.view(b if b_base is None else b_base, np.broadcast_to(b, (*batch, k, n))),
        "C": build.write(c),
    }
    more = {} if bias is None else {"bias": build.read(bias, (n,))}
    extra = None
    if epilogue is not None:  # z = c * c + 1
        z = np.zeros_like(c)
        z_operand = build.write(z)
        ops = build.ops(("square", 3, 0), ("add", 1, 3, 2))
        chain_operands = [(*operands["C"][:3], [n, 1]), z_operand]
        more["epilogue"] = (build.dtype(dtype), static((m, n)), chain_operands, [1.0], 1, ops)
        extra = z
    build.program.matmul(
        build.dtype(dtype), static(batch), (m, False), (n, False), (k, False), relu=relu, **operands, **more
    )
    build.run(threads=threads)
    return c if extra is None else (c, extra)


PRODUCTS = [
    (1, 1, 1),
    (5, 3, 4),
    (32, 32, 32),
    (1, 64, 20),
    (100, 2, 64),
    (7, 10, 0),
    (0, 3, 3),
    (300, 257, 129),
    (128, 600, 300),
]


@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
@pytest.mark.parametrize(("m", "n", "k"), PRODUCTS)
def test_products_agree_with_numpy(core, m, n, k, dtype, rng):
    a, b, bias = (10 * rng.normal(size=s) for s in [(m, k), (k, n), (n,)])
    a, b, bias = a.astype(dtype), b.astype(dtype), bias.astype(dtype)
    tolerance = {"rtol": 1e-5, "atol": 5e-3} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-10}
    expected = a @ b
    got = [matmul(core, a, b, threads=t) for t in (1, 2, 3, 4)]
    np.testing.assert_allclose(got[0], expected, **tolerance)
    assert all(g.tobytes() == got[0].tobytes() for g in got)
    np.testing.assert_allclose(
        matmul(core, a, b, bias=bias, relu=True, threads=2), np.maximum(expected + bias, 0), **tolerance
    )
    at, bt = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    np.testing.assert_allclose(matmul(core, at.T, bt.T, a_base=at, b_base=bt), expected, **tolerance)
    for threads in (1, 3):
        c, z = matmul(core, a, b, bias=bias, epilogue=True, threads=threads)
        np.testing.assert_allclose(c, expected + bias, **tolerance)
        np.testing.assert_array_equal(z, c * c + 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_batches_of_products(core, threads, rng):
    a, b = rng.normal(size=(3, 1, 50, 40)), rng.normal(size=(1, 4, 40, 30))
    np.testing.assert_allclose(matmul(core, a, b, threads=threads), a @ b, rtol=1e-12, atol=1e-12)


def gather(core, name, src, indices, dst, size, *, n_rows=1, threads=1, **more):
    """src, indices and dst as three, two and three axes."""
    b = Build(core)
    b.program.shared_stage()
    outer, count = indices.shape
    inner = dst.shape[2]
    operands = {"src": b.read(src), "indices": b.read(indices), "dst": b.write(dst)}
    getattr(b.program, name)(
        b.dtype(dst.dtype), (outer, False), (count, False), (inner, False), (size, False), **operands, **more
    )
    return b.run(n_rows, threads)


@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "bool"])
@pytest.mark.parametrize(("outer", "count", "inner"), [(1, 7, 5), (6, 1, 1), (3, 4, 2), (1, 0, 3), (1, 3000, 40)])
def test_take_and_scatter_add_agree_with_numpy(core, outer, count, inner, dtype, rng):
    size = 11
    src = (10 * rng.normal(size=(outer, size, inner))).astype(dtype)
    indices = rng.integers(-size, size, (outer, count))
    expected = np.stack([src[o, indices[o]] for o in range(outer)])
    for threads in (1, 2):
        got = gather(core, "take", src, indices, np.zeros((outer, count, inner), dtype), size, threads=threads)
        np.testing.assert_array_equal(got, expected)
    if dtype != "bool":
        scattered = np.zeros((outer, size, inner), dtype)
        for o in range(outer):
            np.add.at(scattered[o], indices[o], expected[o])
        got = gather(core, "scatter_add", expected, indices, np.ones((outer, size, inner), dtype), size)
        np.testing.assert_array_equal(got, scattered)


@pytest.mark.parametrize("bad", [5, -6, 1 << 40])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_index_out_of_range_names_the_instruction(core, bad, threads):
    src, indices = np.zeros((1, 5, 40000)), np.array([[1, bad, 2]])
    with pytest.raises(IndexError, match=rf"Instruction 0, take: index {bad} is out of range for an axis of size 5\."):
        gather(core, "take", src, indices, np.zeros((1, 3, 40000)), 5, threads=threads)
    with pytest.raises(IndexError, match="Instruction 0, scatter_add"):
        gather(core, "scatter_add", np.zeros((1, 3, 1)), indices, np.zeros((1, 5, 1)), 5)


@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", [(1, 9, 1), (3, 5, 4), (2, 0, 3), (1, 1, 1)])
def test_cumsum_agrees_with_numpy(core, shape, reverse, dtype, rng):
    x = (10 * rng.normal(size=shape)).astype(dtype)
    y = np.zeros(shape, dtype)
    b = Build(core)
    b.program.shared_stage()
    b.program.cumsum(b.dtype(dtype), *static(shape), b.read(x), b.write(y), reverse=reverse)
    expected = np.cumsum(x[:, ::-1], axis=1, dtype=dtype)[:, ::-1] if reverse else np.cumsum(x, axis=1, dtype=dtype)
    np.testing.assert_array_equal(b.run(), expected)


def philox(counter, key):
    """Philox4x32-10 as in Salmon et al. (2011): counter (..., 4) and key (2,) of 32-bit words."""
    x = [counter[..., i].astype(np.uint64) for i in range(4)]
    k = [int(word) for word in key]
    mask = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [
            (p1 >> np.uint64(32)) ^ x[1] ^ np.uint64(k[0]),
            p1 & mask,
            (p0 >> np.uint64(32)) ^ x[3] ^ np.uint64(k[1]),
            p0 & mask,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(x, axis=-1)


def test_philox_reference_gives_the_published_vectors():
    """Known answers of the authors' Random123 library."""
    np.testing.assert_array_equal(
        philox(np.zeros(4, np.uint32), (0, 0)), [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    )
    ones = 0xFFFFFFFF
    np.testing.assert_array_equal(
        philox(np.full(4, ones), (ones, ones)), [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    )


def uniform(n_rows, units, dtype, *, seed, step, stream):
    per = 4 if dtype == "float32" else 2
    counts = -(-units // per)
    counter = np.zeros((n_rows, counts, 4), np.uint64)
    counter[..., 0] = np.arange(counts)
    counter[..., 1] = np.arange(n_rows)[:, None]
    counter[..., 2] = step & 0xFFFFFFFF
    counter[..., 3] = stream
    words = philox(counter, (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF))
    if dtype == "float32":
        values = ((words >> np.uint64(9)).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-23)
    else:
        pairs = words.reshape(n_rows, counts, 2, 2)
        values = (
            (((pairs[..., 0] << np.uint64(32)) | pairs[..., 1]) >> np.uint64(12)).astype(np.float64) + 0.5
        ) * 2.0**-52
    return values.reshape(n_rows, -1)[:, :units]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("n_rows", "units"), [(1, 1), (5, 7), (70, 33), (3, 1000), (400, 256)])
def test_random_numbers_depend_on_seed_step_stream_row_and_unit_alone(core, n_rows, units, dtype):
    seed, step, stream = -(1 << 40) - 12345, (1 << 33) + 7, 0xDEADBEEF
    expected = uniform(n_rows, units, dtype, seed=seed & (1 << 64) - 1, step=step, stream=stream)
    key = np.array([seed, step])
    for dims, strides in (([(1, True), (units, False)], [units, 1]), ([(units, True)], [1])):
        for stage in (None, (1, 1, 8), (16, 32, 4)):
            for threads in (1, 2):
                b = Build(core)
                y = np.zeros((n_rows, units), dtype)
                if stage is None:
                    b.program.shared_stage()
                else:
                    b.program.rows_stage(*stage)
                out = b.argument(y, "output")
                b.program.random(b.dtype(dtype), dims, (out, 0, units if stage else 0, strides), b.read(key), stream)
                b.run(n_rows, threads)
                np.testing.assert_array_equal(y, expected)
    b = Build(core)
    y = np.zeros((units, 2), dtype)
    b.program.shared_stage()
    b.program.random(b.dtype(dtype), [(units, False)], (b.argument(y, "output"), 1, 0, [2]), b.read(key), stream)
    np.testing.assert_array_equal(b.run()[:, 1], expected[0])
    assert ((y[:, 1] > 0) & (y[:, 1] < 1)).all()


def training_step(core, tile_rows, lane_rows, max_lanes):
    """h = relu(X W + b), z = h * scale - 1/2, then X^T z, the sums of z by column and over all, and its maximum."""
    n_in, n_out = 20, 33
    lane = {"dW": 0, "db": 2688, "total": 2880, "largest": 2944}
    b = Build(core, row=4 * n_out, tile=64 * math.ceil(4 * n_out * tile_rows / 64), lane=3008, shared=3008)
    f = b.dtype("float32")
    X, W, bias, scale = (b.buffer("input", "float32", i) for i in range(4))
    H, Z, DW, DB, TOTAL, LARGEST = (b.buffer("output", "float32", i) for i in range(6))
    h, rows = b.buffer("tile", "float32"), b.buffer("rows", "float32")
    lanes = {name: b.buffer("lane", "float32", offset) for name, offset in lane.items()}
    R = (1, True)
    p = b.program
    p.rows_stage(tile_rows, lane_rows, max_lanes)
    copy = (f, [R, (n_out, False)], [(h, 0, 0, [n_out, 1]), (H, 0, n_out, [n_out, 1])], [], 0, b.ops(("copy", 1, 0)))
    p.matmul(
        f, [], R, (n_out, False), (n_in, False),
        A=(X, 0, n_in, [n_in, 1]), B=(W, 0, 0, [n_out, 1]), C=(h, 0, 0, [n_out, 1]),
        bias=(bias, 0, 0, [1]), relu=True, epilogue=copy,
    )  # fmt: skip
    operands = [(h, 0, 0, [n_out, 1]), (scale, 0, 1, [1, 0]), (rows, 0, n_out, [n_out, 1])]
    ops = b.ops(("multiply", 4, 0, 1), ("subtract", 2, 4, 3))
    p.elementwise(f, [R, (n_out, False)], operands, [0.5], 1, ops)
    p.matmul(
        f,
        [],
        (n_in, False),
        (n_out, False),
        R,
        A=(X, 0, n_in, [1, n_in]),
        B=(rows, 0, n_out, [n_out, 1]),
        C=(lanes["dW"], 0, 0, [n_out, 1]),
        accumulate=True,
    )
    p.reduce(
        core.REDUCTIONS["sum"],
        f,
        [(n_out, False)],
        [R],
        (rows, 0, n_out, [1, n_out]),
        (lanes["db"], 0, 0, [1]),
        accumulate=True,
    )
    p.reduce(
        core.REDUCTIONS["sum"],
        f,
        [],
        [(n_out, True)],
        (rows, 0, n_out, [1]),
        (lanes["total"], 0, 0, []),
        accumulate=True,
    )
    p.reduce(
        core.REDUCTIONS["max"],
        f,
        [],
        [(n_out, True)],
        (rows, 0, n_out, [1]),
        (lanes["largest"], 0, 0, []),
        accumulate=True,
    )
    for name, out, size in (("dW", DW, n_in * n_out), ("db", DB, n_out), ("total", TOTAL, 1)):
        p.combine(core.REDUCTIONS["sum"], f, lanes[name], out, size)
    p.combine(core.REDUCTIONS["max"], f, lanes["largest"], LARGEST, 1)
    p.shared_stage()
    p.elementwise(f, [(n_out, True)], [(rows, 0, 0, [1]), (Z, 0, 0, [1])], [], 0, b.ops(("copy", 1, 0)))
    return b


def step_arguments(n, rng):
    inputs = [rng.normal(size=s).astype("float32") for s in [(n, 20), (20, 33), (33,), (n, 1)]]
    outputs = [np.zeros(s, "float32") for s in [(n, 33), (n, 33), (20, 33), (33,), (), ()]]
    return inputs, outputs


@pytest.mark.parametrize("stage", [(1, 1, 1), (8, 16, 4), (32, 1, 16), (64, 64, 8), (1000, 1, 8)], ids=str)
@pytest.mark.parametrize("n", [0, 1, 31, 256, 1001])
def test_a_rows_stage_equals_the_whole_batch(core, stage, n, rng):
    b = training_step(core, *stage)
    inputs, outputs = step_arguments(n, rng)
    X, W, bias, scale = inputs
    h = np.maximum(X @ W + bias, 0)
    z = h * scale - np.float32(0.5)
    expected = [h, z, X.T @ z, z.sum(axis=0), z.sum(), z.max() if n else -np.inf]
    first = None
    for threads in (1, 2, 3, 4):
        for y in outputs:
            y[...] = 77
        b.program.run(inputs, outputs, n, threads)
        for got, value in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, value, rtol=2e-5, atol=1e-4 * math.sqrt(n + 1))
        data = [y.tobytes() for y in outputs]
        first = data if first is None else first
        assert data == first, f"threads={threads} changed the bits"
    assert b.program.instruction_count == 7
    assert b.program.memory(n, 4) >= b.program.memory(n, 1) > 0


def test_a_bound_program_keeps_its_program_and_arguments(core, rng):
    b = training_step(core, 16, 32, 4)
    inputs, outputs = step_arguments(100, rng)
    b.program.run(inputs, outputs, 100, 1)
    expected = [y.tobytes() for y in outputs]
    for y in outputs:
        y[...] = 0
    bound = b.program.bind(inputs, outputs, 100)
    del b, inputs
    for threads in (1, 2):
        bound.run(threads)
        assert [y.tobytes() for y in outputs] == expected
    with pytest.raises(ValueError, match="threads must be at least 1"):
        bound.run(0)


def test_several_python_threads_may_run_one_program(core, rng):
    b = training_step(core, 16, 32, 4)
    cases = [step_arguments(n, rng) for n in (40, 300, 999, 64)]
    expected = []
    for inputs, outputs in cases:
        b.program.run(inputs, outputs, len(inputs[0]), 1)
        expected.append([y.tobytes() for y in outputs])

    def work(k):
        inputs, _ = cases[k % len(cases)]
        _, outputs = step_arguments(len(inputs[0]), np.random.default_rng(0))
        for _ in range(30):
            b.program.run(inputs, outputs, len(inputs[0]), 1 + k % 3)
        return [y.tobytes() for y in outputs]

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for k, got in enumerate(pool.map(work, range(24))):
            assert got == expected[k % len(cases)]


def test_a_forked_child_runs_programs_on_several_threads(core, run_python):
    code = f"""
import os, sys, numpy as np
from madaline.graph.trace import trace
from madaline.kernels import core as cores
from madaline.kernels import native
from madaline.plan.planner import plan
core = cores.load({core.isa!r})
p = core.Program(0, 0, 0, 0)
f = core.DTYPES["float32"]
x, y = p.buffer(core.SPACES["input"], f, 0), p.buffer(core.SPACES["output"], f, 0)
p.shared_stage()
p.elementwise(f, [(1, True)], [(x, 0, 0, [1]), (y, 0, 0, [1])], [], 0, [(core.OPCODES["square"], 1, 0, -1, -1)])
X = np.arange(300_000, dtype=np.float32)
Y = np.zeros_like(X)
p.run([X], [Y], X.size, 2)
child = os.fork()
Y[:] = 0
p.run([X], [Y], X.size, 2)
assert (Y == X * X).all()
if child == 0:
    os._exit(0)
_, status = os.waitpid(child, 0)
sys.exit(status != 0)
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr


def refused(core, match, add, **sizes):
    b = Build(core, **sizes)
    with pytest.raises(ValueError, match=match):
        add(b, b.program)


def test_mistakes_are_refused_when_they_are_added(core):
    f32, f64, i64 = (core.DTYPES[k] for k in ("float32", "float64", "int64"))
    ops = core.OPCODES
    copy = [(ops["copy"], 1, 0, -1, -1)]

    def chain(
        *,
        dims=((4, False),),
        a=(0, 0, [1]),
        y=(0, 0, [1]),
        ops=copy,
        space="output",
        n_scratch=0,
        constants=(),
        stage=True,
        sizes=None,
    ):
        def add(b, p):
            x, out = b.buffer("input", "float32"), b.buffer(space, "float32")
            if stage is True:
                p.shared_stage()
            elif stage:
                p.rows_stage(*stage)
            p.elementwise(f32, list(dims), [(x, *a), (out, *y)], list(constants), n_scratch, ops)

        refused(core, chain.match, add, **(sizes or {}))

    def expect(match, **kwargs):
        chain.match = match
        chain(**kwargs)

    expect("Start a stage before adding instructions", stage=False)
    expect("Operand 0 of the elementwise chain has 2 strides for 1 dims", a=(0, 0, [1, 1]))
    expect("more than 6 dims", dims=[(1, False)] * 7, a=(0, 0, [1] * 7), y=(0, 0, [1] * 7))
    expect("Operand 1 is written and has stride 0 in dim 0", y=(0, 0, [0]))
    expect("Operand 0 of the elementwise chain starts before its buffer", a=(2, 0, [-1]))
    expect("negative stride in a dim of rows", dims=[(1, True)], a=(0, 0, [-1]))
    expect("negative dim", dims=[(-3, False)])
    expect("negative row_advance", a=(0, -1, [1]))
    expect("unknown opcode", ops=[(1000, 1, 0, -1, -1)])
    expect("copy, reads slot 7, which does not exist", ops=[(ops["copy"], 1, 7, -1, -1)])
    expect("copy, reads slot 2 before it is written", ops=[(ops["copy"], 1, 2, -1, -1)], n_scratch=1)
    expect("copy, writes a constant", ops=[(ops["copy"], 2, 0, -1, -1)], constants=[1.0])
    expect("writes operand 1 a second time", ops=[*copy, *copy])
    expect("add, needs 2 arguments", ops=[(ops["add"], 1, 0)])
    expect("reads slot -1, which does not exist", ops=[(ops["add"], 1, 0, -1, -1)])
    expect("copy, takes 1 arguments", ops=[(ops["copy"], 1, 0, 0, -1)])
    expect("at least one op", ops=[])
    expect("is written, but it is an input", ops=[(ops["copy"], 0, 1, -1, -1)])
    expect("reaches beyond its arena", space="shared", sizes={"shared": 15})
    expect("has rows, but is in the shared space", space="shared", sizes={"shared": 1024}, dims=[(1, True)])
    expect("in the tile space, which exists in rows stages only", space="tile", sizes={"tile": 1024})
    expect(
        "has a row_advance, but its space has no global rows",
        space="tile",
        sizes={"tile": 1024},
        stage=(4, 4, 4),
        y=(0, 1, [1]),
    )
    expect("reaches beyond its arena", space="tile", sizes={"tile": 64}, dims=[(1, True)], stage=(17, 1, 1))
    expect("reaches beyond its arena", space="rows", sizes={"row": 3}, dims=[(1, True)])
    expect("needs its last 2 arguments to be scalars", ops=[(ops["scaled_sum"], 1, 0, 0, 0, 0)])

    refused(core, "Space 6 does not exist", lambda b, p: p.buffer(6, 0, 0))
    refused(core, "Dtype 4 does not exist", lambda b, p: p.buffer(0, 4, 0))
    refused(core, "multiple of 64", lambda b, p: p.buffer(2, 0, 32), shared=128)
    refused(core, "lies beyond its arena", lambda b, p: p.buffer(2, 0, 128), shared=64)
    refused(core, "different dtypes", lambda b, p: (p.buffer(0, 0, 0), p.buffer(0, 1, 0)))
    refused(core, "must be positive", lambda b, p: p.rows_stage(0, 1, 1))
    with pytest.raises(ValueError, match="tile_bytes is negative"):
        core.Program(0, 0, -1, 0)

    def product(match, *, c=(0, 0, [3, 1]), c_dtype="float32", space="output", **more):
        def add(b, p):
            x, y = b.buffer("input", "float32"), b.buffer(space, c_dtype)
            p.rows_stage(4, 4, 4)
            arguments = {"A": (x, 0, 0, [3, 1]), "B": (x, 0, 0, [3, 1]), "C": (y, *c)} | more
            p.matmul(f32, [], (3, False), (3, False), (3, False), **arguments)

        refused(core, match, add, lane=64, tile=64)

    product("C of matmul must have unit stride in n", c=(0, 0, [1, 3]))
    product("C of matmul is float64; the instruction needs float32", c_dtype="float64")
    product("destination must be in the lane space", accumulate=True)
    product("takes no bias, relu, gate or epilogue", accumulate=True, relu=True, space="lane")
    product("bias of matmul must have stride 0 or 1", bias=(0, 0, 0, [2]))
    product("gate of matmul must have unit stride in n", gate=(0, 0, 0, [1, 3]))
    product(
        "first dim of a matmul's epilogue must be m",
        epilogue=(f32, [(9, False)], [(1, 0, 0, [1]), (1, 9, 0, [1])], [], 0, copy),
    )

    def with_two(match, call, dtypes=("float32", "float32"), space="output"):
        def add(b, p):
            x, y = b.buffer("input", dtypes[0]), b.buffer(space, dtypes[1])
            p.rows_stage(4, 4, 4)
            call(p, x, y)

        refused(core, match, add, lane=64)

    three = [(3, False)]
    with_two("Reduction 6 does not exist", lambda p, x, y: p.reduce(6, f32, three, [], (x, 0, 0, [1]), (y, 0, 0, [1])))
    with_two(
        "dst of reduce is float32; the instruction needs int64",
        lambda p, x, y: p.reduce(5, f32, [], three, (x, 0, 0, [1]), (y, 0, 0, [])),
    )
    with_two("dst of reduce has stride 0", lambda p, x, y: p.reduce(0, f32, three, [], (x, 0, 0, [1]), (y, 0, 0, [0])))
    with_two(
        "src of reduce has 1 strides for 2 dims",
        lambda p, x, y: p.reduce(0, f32, three, three, (x, 0, 0, [1]), (y, 0, 0, [1])),
    )
    with_two("combine has a negative size", lambda p, x, y: p.combine(0, f32, y, x, -1), space="lane")
    with_two("combine has a negative offset", lambda p, x, y: p.combine(0, f32, y, x, 1, -1), space="lane")
    with_two("not in the lane space", lambda p, x, y: p.combine(0, f32, x, y, 1))
    with_two("is written, but it is an input", lambda p, x, y: p.combine(0, f32, y, x, 1), space="lane")
    with_two("random exists for floats only", lambda p, x, y: p.random(i64, three, (y, 0, 0, [1]), (x, 0, 0, [1]), 0))
    with_two(
        "key of random is float32; the instruction needs int64",
        lambda p, x, y: p.random(f32, three, (y, 0, 0, [1]), (x, 0, 0, [1]), 0),
    )
    with_two(
        "src of cumsum is float32",
        lambda p, x, y: p.cumsum(f64, (1, False), *three, (1, False), (x, 0, 0, [1, 1, 1]), (y, 0, 0, [1, 1, 1])),
    )
    with_two(
        "indices of take is float32; the instruction needs int64",
        lambda p, x, y: p.take(f32, 1, 3, 1, 3, (x, 0, 0, [1, 1, 1]), (x, 0, 0, [1, 1]), (y, 0, 0, [1, 1, 1])),
    )


def test_wrong_arguments_of_a_run_are_refused(core):
    b = Build(core)
    f = b.dtype("float32")
    x, y = b.buffer("input", "float32"), b.buffer("output", "float32")
    b.program.rows_stage(4, 4, 4)
    b.program.elementwise(f, [(3, True)], [(x, 0, 3, [1]), (y, 0, 3, [1])], [], 0, b.ops(("copy", 1, 0)))
    X, Y = np.zeros((5, 3), "float32"), np.zeros((5, 3), "float32")
    run = b.program.run
    run([X], [Y], 5, 1)
    run([X], [Y], 0, 1)
    with pytest.raises(ValueError, match="takes 1 inputs; 0 were given"):
        run([], [Y], 5, 1)
    with pytest.raises(ValueError, match="gives 1 outputs; 2 were given"):
        run([X], [Y, Y], 5, 1)
    with pytest.raises(ValueError, match="Input 0 must have dtype float32"):
        run([X.astype("float64")], [Y], 5, 1)
    with pytest.raises(ValueError, match="Input 0 must be a C-contiguous NumPy array"):
        run([np.zeros((3, 5), "float32").T], [Y], 5, 1)
    with pytest.raises(ValueError, match="Input 0 must be a C-contiguous NumPy array"):
        run([3], [Y], 5, 1)
    with pytest.raises(ValueError, match="Input 0 has 15 elements; the program reaches 18"):
        run([X], [Y], 6, 1)
    with pytest.raises(ValueError, match="n_rows is negative"):
        run([X], [Y], -1, 1)
    with pytest.raises(ValueError, match="threads must be at least 1"):
        run([X], [Y], 5, 0)
    Y.flags.writeable = False
    with pytest.raises(ValueError, match="Output 0 must be a C-contiguous NumPy array that can be written"):
        run([X], [Y], 5, 1)
    X.flags.writeable = False
    run([X], [np.zeros((5, 3), "float32")], 5, 1)


def test_a_class_loss_that_cannot_be_is_refused(core):
    f32 = core.DTYPES["float32"]

    def loss(match, *, dtype=f32, classes=3, indices="int64"):
        def add(b, p):
            x, k, y = b.buffer("input", "float32"), b.buffer("input", indices, 1), b.buffer("output", "float32")
            p.shared_stage()
            row = (0, 0, [classes, 1])
            p.class_loss(
                dtype, (4, False), classes, (x, *row), (k, 0, 0, [1]), (x, 0, 0, [0]), (y, 0, 0, [classes + 1, 1])
            )

        refused(core, match, add)

    loss("exists for floats only", dtype=core.DTYPES["int64"])
    loss("takes 1 to 64 classes", classes=65)
    loss("takes 1 to 64 classes", classes=0)
    loss("indices of class_loss is float32; the instruction needs int64", indices="float32")


def test_a_sum_of_products_that_cannot_be_is_refused(core):
    def total(match, *, op="sum", src=(1, 3), times=(1, 3), dtype="float32"):
        def add(b, p):
            x, y = b.buffer("input", dtype), b.buffer("output", dtype)
            p.shared_stage()
            p.reduce(
                core.REDUCTIONS[op],
                core.DTYPES[dtype],
                [(3, False)],
                [(4, False)],
                (x, 0, 0, list(src)),
                (y, 0, 0, [1]),
                times=(x, 0, 0, list(times)),
            )

        refused(core, match, add)

    total("for sums of floats down several columns", op="max")
    total("for sums of floats down several columns", dtype="int64")
    total("for sums of floats down several columns", src=(4, 1))
    total("for sums of floats down several columns", times=(4, 1))


def test_a_profile_has_a_time_for_every_instruction_and_leaves_the_arguments_alone(core):
    def step(w, x):
        return w - 0.1 * np.sum(np.tanh(x @ w)), np.sum(x)

    w, x = np.ones((3, 2)), np.ones((40, 3))
    program = plan(trace(step, w, x, rows=[1]), {0: 0})
    seconds = native.compiled(program, core).profile([w, x], 40, 7)
    assert seconds.shape == (7, sum(len(stage.instructions) for stage in program.stages))
    assert np.all(seconds >= 0.0)
    assert np.all(seconds.sum(axis=1) > 0.0)
    np.testing.assert_array_equal(w, 1.0)
