"""The native machine, driven directly: wrong programs and arguments are refused."""

from __future__ import annotations

import numpy as np
import pytest

from core_build import Build
from madaline.kernels import core as cores

pytestmark = pytest.mark.skipif(not cores.cpu_isas(), reason="needs the native core")


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
