"""Elementwise NumPy functions on traced values."""

from __future__ import annotations

import numpy as np

from madaline.graph.numpy_api.dispatch import UFUNCS
from madaline.graph.primitives.elementwise import Elementwise

rng = np.random.default_rng(11)


def normal(*shape):
    return rng.normal(size=shape)


def calls_of_primitive(ufunc, primitive):
    """Calls with arrays of one shape, broadcasting, scalars, other types, no axes and no elements."""
    draws = [lambda shape, domain=domain: rng.uniform(*domain, size=shape) for domain in primitive.domains]
    if primitive.types == "logical":
        draws = [lambda shape: rng.random(size=shape) > 0.5 for _ in draws]
    yield ufunc, *(draw((3, 4)) for draw in draws)
    yield ufunc, *(draw(()) for draw in draws)
    yield ufunc, *(draw((0, 2)) for draw in draws)
    if primitive.types != "logical":
        yield ufunc, *(draw((2, 3)).astype(np.float32) for draw in draws)
        yield ufunc, *(np.ceil(np.abs(draw((5,)))).astype(np.int64) for draw in draws)
    if len(draws) == 2:
        yield ufunc, draws[0]((3, 1)), draws[1]((4,))
        yield lambda a: ufunc(a, 0.75), draws[0]((3,))
        yield lambda b: ufunc(1.25, b), draws[1]((3,))
        if primitive.types != "logical":
            yield ufunc, draws[0]((2, 3)).astype(np.float32), draws[1]((3,))
            yield ufunc, np.ceil(draws[0]((3,))).astype(np.int64), draws[1]((3,))


EXAMPLES = {
    ufunc: list(calls_of_primitive(ufunc, primitive))
    for ufunc, primitive in UFUNCS.items()
    if isinstance(primitive, Elementwise)
}

A, B, P = normal(3, 4), normal(3, 4), rng.uniform(0.5, 2.0, size=(3, 4))
SINGLE = normal(4).astype(np.float32)
MASK, OTHER = A > 0.3, B > 0.0
INTEGERS = np.array([-3, -1, 0, 2, 7])

EXAMPLES[np.power] = [
    (np.power, P, B),
    (np.power, P, normal(4)),
    (lambda x, p: x**p, P, normal(3, 1)),
    (lambda p: 2.0**p, A),
    (lambda p: 2**p, A),
    *[(lambda x, p=p: x**p, A) for p in (0, 1, 2, 3, 4, -1, -2, -3, 7)],
    *[(lambda x, p=p: x**p, P) for p in (0.0, 0.5, 1.0, 1.5, -0.5, 2.0, 3.0, 2.5)],
    *[(lambda x, p=p: np.power(x, p), SINGLE) for p in (2, 3.0, np.float32(2.0), np.float64(2.0))],
    *[(lambda x, p=p: x**p, INTEGERS) for p in (0, 1, 2, 3, 5, 2.0, 1.0, 3.0)],
    (lambda x: x ** np.array([1.0, 2.0, 3.0, 0.0]), P),
    (lambda x: x ** np.array([1, 2, 3, 0]), A),
    (lambda x: np.power(x, np.array(2)), A),
    (lambda x: x**3, np.float64(1.5)),
]
EXAMPLES[np.add] += [
    (lambda x: x + 1, A),
    (lambda x: 1 + x, INTEGERS),
    (lambda x: np.add(x, [1.0, 2.0, 3.0, 4.0]), A),
    (lambda x: np.add(x, (1, 2, 3, 4)), SINGLE),
    (lambda x: x + True, A),
    (lambda x: x + MASK, A),
    (lambda x: np.float32(2.0) + x, SINGLE),
    (lambda x: np.float64(2.0) + x, SINGLE),
    (np.add, MASK, OTHER),
    (lambda m: m + 1, MASK),
    (lambda x: +x + -x, A),
    (np.add, np.array([1, 2], dtype=np.int8), np.array([1, 2], dtype=np.uint8)),
    (np.add, SINGLE.astype(np.float16), SINGLE.astype(np.float16)),
]
EXAMPLES[np.multiply] += [(np.multiply, MASK, OTHER), (lambda m, x: m * x, MASK, A), (lambda m: 2.5 * m, MASK)]
EXAMPLES[np.maximum] += [
    (np.maximum, MASK, OTHER),
    (lambda x: np.maximum(0, x), A),
    (lambda x: np.maximum(0, x), INTEGERS),
]
EXAMPLES[np.minimum] += [(np.minimum, MASK, OTHER), (lambda x: np.minimum(x, 0.1), SINGLE)]
EXAMPLES[np.subtract] += [(lambda x: 1 - x, A), (lambda x: 3.0 - x, INTEGERS)]
EXAMPLES[np.divide] += [(lambda x: 1 / x, P), (lambda x: x / 2, INTEGERS), (lambda x: x / 2, SINGLE)]
EXAMPLES[np.floor_divide] += [
    (lambda x: x // 0.3, A),
    (lambda x: 7 // x, np.array([2, -3])),
    (lambda x: x // 2, INTEGERS),
]
EXAMPLES[np.remainder] += [(lambda x: x % 0.3, A), (lambda x: x % 3, INTEGERS), (lambda x: 2.5 % x, P)]
EXAMPLES[np.equal] += [(lambda x: x == 2, INTEGERS), (lambda x: x == x, MASK)]  # noqa: PLR0124 - a traced comparison
EXAMPLES[np.not_equal] += [(lambda x: x != 2, INTEGERS)]
EXAMPLES[np.less] += [(lambda x: x < 0, A)]
EXAMPLES[np.less_equal] += [(lambda x: x <= 0, INTEGERS)]
EXAMPLES[np.greater] += [(lambda x: x > 0.5, SINGLE), (lambda x: 0.5 < x, A)]  # noqa: SIM300 - the reflected operator
EXAMPLES[np.greater_equal] += [(lambda x: x >= 0, A)]
EXAMPLES[np.absolute] += [(abs, A), (np.abs, INTEGERS)]
EXAMPLES[np.negative] += [(lambda x: -x, A)]
EXAMPLES[np.logical_and] += [(np.logical_and, A, INTEGERS[:4]), (lambda m: np.logical_and(m, True), MASK)]
EXAMPLES[np.logical_or] += [(np.logical_or, MASK, A)]
EXAMPLES[np.logical_not] += [(np.logical_not, INTEGERS)]

EXAMPLES |= {
    "divmod": [(lambda x: divmod(x, 0.7), A), (lambda x: divmod(2.0, x), P)],
    np.positive: [(np.positive, A), (np.positive, INTEGERS)],
    np.conjugate: [(np.conjugate, A), (np.conj, SINGLE)],
    np.real: [(np.real, A)],
    np.imag: [(np.imag, A)],
    np.real_if_close: [(np.real_if_close, A)],
    np.angle: [(np.angle, A), (lambda x: np.angle(x, deg=True), A)],
    np.iscomplex: [(np.iscomplex, A), (lambda x: x**2 if np.iscomplex(x.sum()) else x, A)],
    np.isreal: [(np.isreal, A)],
    np.iscomplexobj: [(np.iscomplexobj, A)],
    np.isrealobj: [(np.isrealobj, A)],
    np.copy: [(np.copy, A)],
    np.float_power: [
        (np.float_power, P, B),
        (lambda x: np.float_power(x, 2), SINGLE),
        (np.float_power, np.array([1, 2]), np.array([3, 2])),
    ],
    np.fabs: [(np.fabs, A), (np.fabs, INTEGERS), (np.fabs, SINGLE)],
    np.hypot: [
        (np.hypot, A, B),
        (lambda x: np.hypot(x, 1.0), A),
        (np.hypot, SINGLE, SINGLE),
        (np.hypot, INTEGERS, INTEGERS),
    ],
    np.logaddexp: [
        (np.logaddexp, A, B),
        (lambda x: np.logaddexp(0, x), A),
        (lambda x: np.logaddexp(x, 0.0), SINGLE),
        (np.logaddexp, INTEGERS, INTEGERS[::-1].copy()),
    ],
    np.logaddexp2: [(np.logaddexp2, A, B), (lambda x: np.logaddexp2(x, 0.0), SINGLE)],
    np.fmax: [(np.fmax, A, B), (lambda x: np.fmax(x, 0.2), SINGLE)],
    np.fmin: [(np.fmin, A, B), (lambda x: np.fmin(0.2, x), SINGLE)],
    np.reciprocal: [*EXAMPLES[np.reciprocal], (np.reciprocal, np.array([1, -1, 2, -7, 2**63 - 1]))],
    np.heaviside: [(np.heaviside, A, B), (np.heaviside, SINGLE, SINGLE), (lambda x: np.heaviside(x, 0.5), SINGLE)],
    np.deg2rad: [(np.deg2rad, A), (np.deg2rad, INTEGERS)],
    np.radians: [(np.radians, SINGLE)],
    np.rad2deg: [(np.rad2deg, A)],
    np.degrees: [(np.degrees, SINGLE)],
    np.signbit: [(np.signbit, np.array([-1.0, -0.0, 0.0, 2.0])), (np.signbit, INTEGERS)],
    np.bitwise_and: [(np.bitwise_and, MASK, OTHER), (lambda x: (x > 0) & (x < 1), A), (lambda m: m & True, MASK)],
    np.bitwise_or: [(np.bitwise_or, MASK, OTHER), (lambda x: (x < 0) | (x > 1), A)],
    np.bitwise_xor: [(np.bitwise_xor, MASK, OTHER), (lambda a, b: a ^ b, MASK, OTHER)],
    np.invert: [(np.invert, MASK), (lambda x: ~(x > 0), A)],
    np.where: [
        (np.where, MASK, A, B),
        (lambda x: np.where(x > 0, x, 0.01 * x), A),
        (lambda x: np.where(x > 0, 1, 0), A),
        (lambda x: np.where(x > 0, 1.0, 0.0), SINGLE),
        (lambda x: np.where(x > 0, x, 0), SINGLE),
        (lambda x: np.where(MASK, x, 0.5), A),
        (np.where, MASK[:, :1], A, np.float64(2.0)),
        (np.where, A, A, B),
        (lambda x: np.where(x > 0, x, [1.0, 2.0, 3.0, 4.0]), A),
        (lambda x: np.where(x > 0, x, 0), INTEGERS),
        (lambda x: np.where(x > 0, x, 0.5), INTEGERS),
        (np.where, np.array(True), np.float64(1.0), np.float64(2.0)),
        (lambda m: np.where(m, True, m), MASK),
    ],
    np.select: [
        (lambda x: np.select([x < -0.5, x > 0.5], [x * 2, x**2], 0.25), A),
        (lambda x: np.select([x < -0.5, x > 0.5], [x * 2, x**2]), A),
        (lambda x: np.select([MASK, OTHER], [x, -x], default=x), A),
    ],
    np.clip: [
        (lambda x: np.clip(x, -0.5, 0.5), A),
        (lambda x: np.clip(x, 0, None), SINGLE),
        (lambda x: np.clip(x, None, 0.25), A),
        (lambda x: np.clip(x, a_min=-1, a_max=1), A),
        (lambda x: np.clip(x, min=-0.5, max=0.5), A),
        (lambda x: x.clip(-0.5, 0.5), A),
        (lambda x: x.clip(min=0.1), A),
        (np.clip, A, B - 1, B + 1),
        (lambda x: np.clip(x, -1, 2), INTEGERS),
    ],
    np.round: [
        (np.round, A),
        (lambda x: np.round(x, 2), A),
        (lambda x: x.round(1), SINGLE),
        (lambda x: np.round(x, -1), A * 100),
        (np.round, INTEGERS),
        (lambda x: np.round(x, decimals=3), A),
        (lambda x: np.round(x, -1), np.array([14, 16, 25])),
    ],
    np.around: [(np.around, A), (lambda x: np.around(x, 1), SINGLE)],
    np.fix: [(np.fix, A), (np.fix, SINGLE)],
    np.nan_to_num: [
        (np.nan_to_num, A),
        (lambda x: np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=-2.0), A),
        (np.nan_to_num, INTEGERS),
    ],
    np.sinc: [(np.sinc, A), (np.sinc, SINGLE), (np.sinc, INTEGERS)],
    np.isclose: [
        (np.isclose, A, A + 1e-9),
        (lambda x: np.isclose(x, 0.0, atol=0.5), A),
        (lambda x: np.isclose(x, x, rtol=0.0), SINGLE),
    ],
    np.allclose: [(np.allclose, A, A + 1e-9), (lambda x: np.allclose(x, 0.0, atol=0.5), A)],
    np.array_equal: [(np.array_equal, A, A), (np.array_equal, A, A + 1), (lambda x: np.array_equal(x, np.zeros(2)), A)],
    np.isneginf: [(np.isneginf, np.array([1.0, -np.inf, np.inf, np.nan]))],
    np.isposinf: [(np.isposinf, np.array([1.0, -np.inf, np.inf, np.nan]))],
    np.isin: [(lambda x: np.isin(x, [2, 7]), INTEGERS), (lambda x: np.isin(x, [2, 7], invert=True), INTEGERS)],
    np.astype: [
        (lambda x: np.astype(x, np.float64), SINGLE),
        (lambda x: np.astype(x, np.float64, copy=False), INTEGERS),
    ],
    np.modf: [(np.modf, A), (np.modf, SINGLE)],
    np.divmod: [(np.divmod, A, P), (np.divmod, INTEGERS, np.array(2))],
    np.interp: [
        (lambda x: np.interp(x, [-1.0, 0.0, 0.5, 1.5], [0.0, 2.0, 1.0, 3.0]), A),
        (lambda x, f: np.interp(x, np.array([-1.0, 0.0, 0.5, 1.5]), f), A, normal(4)),
        (lambda f: np.interp(np.linspace(-2, 2, 5), [-1.0, 0.0, 0.5, 1.5], f), normal(4)),
        (lambda x: np.interp(x, [-1.0, 1.0], [0.0, 2.0], left=-5.0, right=7.0), A),
        (lambda x: np.interp(x, [0.0, 1.0, 4.0], [0.0, 2.0, 1.0]), np.float64(0.3)),
    ],
}


EXAMPLES[np.i0] = [(np.i0, A)]
EXAMPLES[np.piecewise] = [
    (lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda t: t**2, np.sin]), A),
    (lambda x: np.piecewise(x, [x < 0], [lambda t: -t, np.exp]), A),
    (lambda x: np.piecewise(x, [x < -0.5, x > 0.5], [-1.0, lambda t, s: s * t, 3.0], 2.0), A),
]
EXAMPLES[np.unwrap] = [
    (np.unwrap, 4.0 * A),
    (lambda x: np.unwrap(x, axis=0), 4.0 * A),
    (lambda x: np.unwrap(x, period=2.0), 4.0 * A),
]
EXAMPLES[np.interp] += [(lambda x: np.interp(x, [0.5, 2.0, 1.0], [1.0, 3.0, 2.0], period=2.5), 3.0 * A)]
EXAMPLES[np.isclose] += [(lambda a: np.isclose(a, np.where(a > 0, np.nan, a), equal_nan=True), A)]


def test_the_value_is_numpys(example, ask):
    ask.value(example)


def test_the_program_gives_numpys_value(example, ask):
    ask.program(example)


def test_the_derivative_agrees_with_central_differences(smooth_example, ask):
    ask.derivative(smooth_example)


def test_the_gradient_can_be_differentiated_again(smooth_example, ask):
    ask.curvature(smooth_example)


def test_every_function_has_an_example(without_example):
    modules = ("numpy_api.elementwise", "numpy_api.real_parts", "primitives.elementwise")
    assert without_example(*(f"madaline.graph.{name}" for name in modules)) == []
