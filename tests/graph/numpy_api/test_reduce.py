"""NumPy's reductions on traced values."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(12)


def normal(*shape):
    return rng.normal(size=shape)


A, B, C = normal(3, 4), normal(2, 3, 4), normal(5)
SINGLE = normal(3, 4).astype(np.float32)
INTEGERS = rng.integers(-4, 5, size=(3, 4))
MASK = A > 0.2
EMPTY = np.zeros((0, 3))
HOLES = np.where(MASK, A, np.nan)
SCALAR = np.float64(1.7)


def over_axes(function, *, empty=True, tuples=True):
    """Calls with every way to name axes, and of every kind of array."""
    calls = [
        (function, A),
        (lambda x: function(x, axis=0), A),
        (lambda x: function(x, axis=-1), B),
        (lambda x: function(x, 1), B),
        (lambda x: function(x, axis=1, keepdims=True), B),
        (lambda x: function(x, keepdims=True), A),
        (lambda x: function(x, axis=0), C),
        (function, SCALAR),
        (lambda x: function(x, axis=0), SINGLE),
        (function, INTEGERS),
        (lambda x: function(x, axis=1), INTEGERS),
        (lambda x: function(x, axis=1), normal(3, 1)),
        (lambda x: function(x, axis=np.int64(1)), A),
    ]
    if tuples:
        calls += [
            (lambda x: function(x, axis=(0, 2)), B),
            (lambda x: function(x, axis=(-1, 0), keepdims=True), B),
            (lambda x: function(x, axis=()), A),
        ]
    if empty:
        calls += [(lambda x: function(x, axis=0), EMPTY), (function, EMPTY)]
    return [*calls, (lambda x: function(x, axis=1), np.zeros((0, 3)))]


EXAMPLES = {
    np.sum: [
        *over_axes(np.sum),
        (lambda x: x.sum(), A),
        (lambda x: x.sum(0), A),
        (lambda x: x.sum(axis=(0, 1), keepdims=True), A),
        (np.sum, MASK),
        (lambda x: np.sum(x, dtype=np.float64), SINGLE),
        (lambda x: np.sum(x, axis=1, dtype=float), INTEGERS),
        (lambda x: np.sum(x, where=MASK), A),
        (lambda x: np.sum(x, axis=0, where=MASK, initial=2.0), A),
        (lambda x: np.sum(x, initial=1.0), A),
        (lambda x: x.sum(where=MASK), A),
        (lambda x: x.sum(dtype=np.float64), SINGLE),
    ],
    np.prod: [
        *over_axes(np.prod),
        (lambda x: x.prod(axis=0), A),
        (np.prod, MASK),
        (np.prod, np.array([2.0, 0.0, 3.0])),
        (np.prod, np.array([2.0, 0.0, 0.0, 3.0])),
        (np.prod, np.array([0.0, 0.0, 0.0])),
        (lambda x: np.prod(x, axis=1, where=MASK), A),
        (lambda x: np.prod(x, initial=2.0), A),
    ],
    np.max: [
        *over_axes(np.max, empty=False),
        (lambda x: x.max(), A),
        (lambda x: x.max(1, keepdims=True), A),
        (np.max, MASK),
        (lambda x: np.max(x, axis=1, where=MASK, initial=-9.0), A),
        (lambda x: np.max(x, initial=0.5), A),
        (lambda x: np.max(x, axis=1, initial=0.5), A),
        (lambda x: np.max(x, initial=9.0), A),
    ],
    np.min: [
        *over_axes(np.min, empty=False),
        (lambda x: x.min(axis=0), A),
        (np.min, MASK),
        (lambda x: np.min(x, axis=1, initial=0.5), A),
    ],
    np.amax: [(np.amax, A), (lambda x: np.amax(x, axis=1), A)],
    np.amin: [(np.amin, A), (lambda x: np.amin(x, axis=1), A)],
    np.ptp: [(np.ptp, A), (lambda x: np.ptp(x, axis=1), A), (lambda x: np.ptp(x, axis=0, keepdims=True), A)],
    np.any: [*over_axes(np.any), (np.any, MASK), (lambda x: (x > 0).any(axis=1), A)],
    np.all: [*over_axes(np.all), (np.all, MASK), (lambda x: (x > 0).all(axis=1), A)],
    np.count_nonzero: [
        (np.count_nonzero, INTEGERS),
        (lambda x: np.count_nonzero(x > 0, axis=0), A),
        (lambda x: np.count_nonzero(x, axis=1, keepdims=True), INTEGERS),
    ],
    np.mean: [
        *over_axes(np.mean, empty=False),
        (lambda x: x.mean(), A),
        (lambda x: x.mean(axis=(0, 1)), B),
        (np.mean, MASK),
        (lambda x: np.mean(x, dtype=np.float64), SINGLE),
        (lambda x: np.mean(x, axis=1, where=OFTEN), A),
    ],
    np.average: [
        (np.average, A),
        (lambda x: np.average(x, axis=1), A),
        (lambda x, w: np.average(x, axis=1, weights=w), A, rng.uniform(1, 2, size=4)),
        (lambda x, w: np.average(x, weights=w), A, rng.uniform(1, 2, size=(3, 4))),
        (lambda x: np.average(x, axis=0, weights=[1.0, 2.0, 3.0]), A),
        (lambda x: np.average(x, axis=0, weights=[1, 2, 3], keepdims=True), A),
        (lambda x: np.average(x, axis=0, weights=[1.0, 2.0, 3.0], returned=True), A),
    ],
    np.var: [
        *over_axes(np.var, empty=False),
        (lambda x: np.var(x, axis=0, ddof=1), A),
        (lambda x: np.var(x, axis=0, correction=1), A),
        (lambda x: x.var(axis=1, ddof=1, keepdims=True), A),
        (lambda x: np.var(x, axis=1, mean=np.mean(x, axis=1, keepdims=True)), A),
        (lambda x: np.var(x, dtype=np.float64), SINGLE),
    ],
    np.std: [
        (np.std, A),
        (lambda x: np.std(x, axis=0), A),
        (lambda x: np.std(x, axis=(0, 2), keepdims=True), B),
        (lambda x: np.std(x, axis=0, ddof=1), SINGLE),
        (lambda x: x.std(axis=1, ddof=1), A),
        (np.std, INTEGERS),
        (lambda x: np.std(x, axis=1, correction=1, mean=np.mean(x, axis=1, keepdims=True)), A),
    ],
    np.argmax: [
        (np.argmax, A),
        (lambda x: np.argmax(x, axis=0), A),
        (lambda x: np.argmax(x, axis=-1, keepdims=True), B),
        (lambda x: np.argmax(x, keepdims=True), A),
        (lambda x: x.argmax(axis=1), INTEGERS),
        (np.argmax, MASK),
    ],
    np.argmin: [
        (np.argmin, A),
        (lambda x: np.argmin(x, axis=0), A),
        (lambda x: x.argmin(1), INTEGERS),
        (np.argmin, MASK),
        (lambda x: np.argmin(x, axis=1, keepdims=True), SINGLE),
    ],
    np.cumsum: [
        (np.cumsum, A),
        (lambda x: np.cumsum(x, axis=0), A),
        (lambda x: np.cumsum(x, axis=-1), B),
        (lambda x: x.cumsum(1), SINGLE),
        (np.cumsum, INTEGERS),
        (np.cumsum, MASK),
        (np.cumsum, np.zeros(0)),
        (np.cumsum, SCALAR),
        (lambda x: np.cumsum(x, dtype=float), INTEGERS),
    ],
    np.cumprod: [
        (np.cumprod, A),
        (lambda x: np.cumprod(x, axis=0), A),
        (lambda x: np.cumprod(x, axis=-1), B),
        (lambda x: x.cumprod(axis=1), SINGLE),
        (np.cumprod, np.array([2.0, 0.0, 3.0, 4.0])),
        (np.cumprod, np.array([2.0, 0.0, 3.0, 0.0, 1.5])),
        (np.cumprod, INTEGERS),
        (np.cumprod, np.zeros(0)),
        (np.cumprod, normal(1)),
    ],
    np.cumulative_sum: [(lambda x: np.cumulative_sum(x, axis=1), A), (np.cumulative_sum, C)],
    np.cumulative_prod: [(lambda x: np.cumulative_prod(x, axis=1), A), (np.cumulative_prod, C)],
    np.nansum: [
        (np.nansum, A),
        (lambda x: np.nansum(x, axis=0), A),
        (lambda x: np.nansum(x, axis=1, keepdims=True), SINGLE),
    ],
    np.nanprod: [(np.nanprod, A), (lambda x: np.nanprod(x, axis=1), A)],
    np.nanmean: [(np.nanmean, A), (lambda x: np.nanmean(x, axis=0), A)],
    np.nanvar: [(np.nanvar, A), (lambda x: np.nanvar(x, axis=0, ddof=1), A)],
    np.nanstd: [(np.nanstd, A), (lambda x: np.nanstd(x, axis=1, keepdims=True), A)],
    np.nanmax: [(np.nanmax, A), (lambda x: np.nanmax(x, axis=1), A)],
    np.nanmin: [(np.nanmin, A), (lambda x: np.nanmin(x, axis=1), A)],
    np.cov: [
        (np.cov, A),
        (lambda x: np.cov(x, rowvar=False), A),
        (lambda x: np.cov(x, ddof=0), A),
        (np.cov, C),
        (np.cov, A, normal(3, 4)),
        (lambda x: np.cov(x, bias=True), A),
    ],
    np.corrcoef: [
        (np.corrcoef, A),
        (lambda x: np.corrcoef(x, rowvar=False), normal(6, 3)),
        (np.corrcoef, C, normal(5)),
    ],
    np.trapezoid: [
        (np.trapezoid, C),
        (lambda y: np.trapezoid(y, dx=0.5), A),
        (lambda y: np.trapezoid(y, x=[0.0, 1.0, 3.0], axis=0), A),
        (np.trapezoid, C, np.sort(normal(5))),
        (lambda y: np.trapezoid(y, np.arange(4.0)), A),
    ],
    np.sort: [
        (np.sort, C),
        (lambda x: np.sort(x, axis=0), A),
        (lambda x: np.sort(x, axis=-1), B),
        (lambda x: np.sort(x, axis=None), A),
        (np.sort, SINGLE),
        (np.sort, INTEGERS),
    ],
    np.argsort: [
        (np.argsort, C),
        (lambda x: np.argsort(x, axis=0), A),
        (lambda x: np.argsort(x, axis=None), A),
        (lambda x: x.argsort(axis=1), A),
        (lambda x: np.argsort(x, stable=True), INTEGERS),
    ],
    np.median: [
        (np.median, C),
        (np.median, A),
        (lambda x: np.median(x, axis=0), A),
        (lambda x: np.median(x, axis=1, keepdims=True), A),
        (lambda x: np.median(x, axis=(0, 2)), B),
    ],
    np.quantile: [
        (lambda x: np.quantile(x, 0.3), C),
        (lambda x: np.quantile(x, [0.1, 0.5, 0.9]), A),
        (lambda x: np.quantile(x, 0.25, axis=0), A),
        (lambda x: np.quantile(x, [0.0, 1.0], axis=1, keepdims=True), A),
        (lambda x: np.quantile(x, [[0.2, 0.4]], axis=(0, 1)), B),
    ],
    np.percentile: [(lambda x: np.percentile(x, 30), C), (lambda x: np.percentile(x, [10, 50], axis=1), A)],
    np.searchsorted: [
        (lambda x: np.searchsorted([-1.0, 0.0, 0.5], x), A),
        (lambda x: np.searchsorted(np.array([-1.0, 0.0, 0.5]), x, side="right"), SINGLE),
    ],
    np.digitize: [
        (lambda x: np.digitize(x, [-1.0, 0.0, 1.0]), A),
        (lambda x: np.digitize(x, np.array([-1.0, 0.0, 1.0]), right=True), A),
    ],
    "methods of ufuncs": [
        (np.add.reduce, A),
        (lambda x: np.add.reduce(x, axis=1), A),
        (lambda x: np.multiply.reduce(x, axis=None), A),
        (lambda x: np.maximum.reduce(x, axis=1, keepdims=True), A),
        (np.minimum.reduce, A),
        (np.add.accumulate, A),
        (lambda x: np.multiply.accumulate(x, axis=1), A),
        (np.add.outer, C, C),
        (np.multiply.outer, A, C),
        (np.subtract.outer, C, C),
        (np.logical_and.reduce, MASK),
        (np.logical_or.reduce, MASK),
        (np.logaddexp.reduce, A),
    ],
}
OFTEN = np.array([[True, True, False, True], [True, False, True, True], [False, True, True, True]])


EXAMPLES[np.partition] = [
    (lambda x: np.sort(np.partition(x, 1)[..., :2]), A),
    (lambda x: np.partition(x, 1, axis=0)[1], A),
]
EXAMPLES[np.argpartition] = [(lambda x: np.argpartition(x, 2, axis=-1)[..., 2], A)]
EXAMPLES[np.nanquantile] = [(lambda x: np.nanquantile(np.where(x > 0.5, np.nan, x), 0.3, axis=1), A)]
EXAMPLES[np.nanpercentile] = [(lambda x: np.nanpercentile(np.where(x > 0.5, np.nan, x), 70, axis=0, keepdims=True), A)]
EXAMPLES[np.nanmedian] = [(lambda x: np.nanmedian(np.where(x > 0.5, np.nan, x)), A)]
EXAMPLES[np.cumulative_sum] += [(lambda x: np.cumulative_sum(x, axis=1, include_initial=True), A)]
EXAMPLES[np.cumulative_prod] += [(lambda x: np.cumulative_prod(x, axis=0, include_initial=True), A)]
EXAMPLES[np.any] += [(lambda x: np.any(x > 0, axis=0, where=x < 1), A)]
EXAMPLES[np.all] += [(lambda x: np.all(x > -1, where=x < 1), A)]
EXAMPLES["accumulate"] = [
    (lambda x, f=f, a=a: f.accumulate(x, axis=a), A)
    for f in (np.maximum, np.minimum, np.logaddexp, np.add, np.multiply)
    for a in (0, 1)
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
    assert without_example(*(f"madaline.graph.numpy_api.{name}" for name in ("reduce", "order", "nan"))) == []
