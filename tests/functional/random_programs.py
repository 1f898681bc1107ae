"""Random programs of NumPy and SciPy functions, and what must hold for their derivatives.

A campaign by hand: ``python tests/functional/random_programs.py 0 3000`` checks the programs of these seeds and prints
those that fail. Programs also use arrays, numbers and paths that differ from call to call; a gradient must not depend
on what was traced before, to the last bit. Values that ``np.array`` makes are arrays of objects, which not every
function takes; programs refused for that reason are counted apart.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

import madaline as md
from madaline.errors import TraceError
from madaline.functional import derived
from madaline.graph import tape

SHAPES = ((), (1,), (3,), (4,), (2, 3), (3, 3), (1, 4), (2, 2, 2))
norm, special = scipy.stats.norm, scipy.special


def square(a):
    """Any array as a well-conditioned matrix of three rows."""
    flat = np.ravel(a)
    return np.tanh(np.concatenate([flat] * (9 // flat.size + 1))[:9]).reshape(3, 3) + np.diag([2.0, 3.0, 4.0])


def in_place(a, b):
    y = a.copy()
    if not y.ndim:
        return y + np.sum(b)
    y[0] = 0.3 * np.sum(b)
    y[-1:] += np.mean(b)
    half = y[::2]
    half -= 0.1 * np.max(b)
    return y


def recurrence(a, b):
    y = np.zeros_like(a)
    for i in range(len(a) if a.ndim else 0):
        y[i] = 0.5 * a[i] + (y[i - 1] * np.tanh(np.sum(b)) if i else 0.0)
    return y if y.ndim else a * np.sum(b)


def axis_or(function, otherwise=lambda a: a):
    """A function along the last axis, and for numbers another one."""
    return lambda a: function(a) if a.ndim else otherwise(a)


UNARY = {
    "tanh": np.tanh, "sin": np.sin, "bell": lambda a: np.exp(-(a**2)), "power": lambda a: (a**2 + 0.5) ** 1.7,
    "expit": special.expit, "gammaln": lambda a: special.gammaln(a**2 + 0.7), "log_ndtr": special.log_ndtr,
    "abs": np.abs, "relu": lambda a: np.maximum(a, 0.1), "clip": lambda a: np.clip(a, -0.83, 0.91),
    "where": lambda a: np.where(a > 0.123, a**2, np.sin(a)), "cumsum": axis_or(lambda a: np.cumsum(a, axis=-1)),
    "cumprod": axis_or(lambda a: np.cumprod(1.0 + 0.1 * np.tanh(a), axis=0)), "sort": axis_or(np.sort),
    "largest so far": axis_or(np.maximum.accumulate), "flip": np.flip, "roll": lambda a: np.roll(a, 1),
    "turned": lambda a: a.T, "new axis": lambda a: a[None] if a.ndim < 3 else a[0], "squeeze": np.squeeze,
    "unwrap": lambda a: np.unwrap(2.0 * np.ravel(a)), "softmax": special.softmax,
    "logpdf": lambda a: norm.logpdf(a, 0.2, 1.4),
    "t": lambda a: scipy.stats.t.logpdf(a, 4.0), "spectrum": axis_or(lambda a: np.abs(np.fft.rfft(a + 0.3))[..., :2]),
    "dct": axis_or(scipy.fft.dct), "pad": lambda a: np.pad(a, 1, mode="edge") if a.ndim and a.size < 40 else a,
    "fancy": axis_or(lambda a: a[[0, -1, 0]]), "every other": axis_or(lambda a: a[::2]),
    "inv": lambda a: np.linalg.inv(square(a)),
    "last": axis_or(lambda a: a[..., -1]), "eigvalsh": lambda a: np.linalg.eigvalsh(square(a)),
    "expm": lambda a: scipy.linalg.expm(0.2 * square(a)),
    "cholesky": lambda a: scipy.linalg.cholesky(square(a) @ square(a).T),
    "sqrtm": lambda a: scipy.linalg.sqrtm(square(a) @ square(a).T),
    "listed": axis_or(lambda a: np.array([np.sin(v) for v in a.ravel()[:4]])),
}  # fmt: skip
REDUCTIONS = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "var": np.var, "median": np.median, "ptp": np.ptp,
    "prod": lambda a, **o: np.prod(np.tanh(a) + 1.5, **o), "logsumexp": special.logsumexp,
    "quantile": lambda a, **o: np.quantile(a, 0.37, **o), "norm": lambda a, **o: np.sqrt(np.sum(a**2, **o) + 0.2),
}  # fmt: skip
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": lambda a, b: a / (2.0 + np.cos(b)),
    "maximum": np.maximum, "logaddexp": np.logaddexp, "power": lambda a, b: (a**2 + 1.1) ** np.tanh(b),
    "xlogy": lambda a, b: special.xlogy(a, b**2 + 0.3), "where": lambda a, b: np.where(a > b, a, 0.5 * b),
    "select": lambda a, b: np.select([a > 0.3, a > -0.4], [a, a**2], b),
}  # fmt: skip
ANY_SHAPES = {
    "joined": lambda a, b: np.concatenate([np.ravel(a), np.ravel(b)])[:40],
    "in place": in_place, "recurrence": recurrence,
    "solve": lambda a, b: np.linalg.solve(square(a), np.arange(3.0) + np.sum(b)),
    "outer": lambda a, b: np.einsum("i,j->ij", np.ravel(a)[:4], np.ravel(b)[:3]),
    "convolve": lambda a, b: np.convolve(np.ravel(a)[:5], np.ravel(b)[:3]),
    "array": lambda a, b: md.array([np.sum(a), np.max(b)]),
    "density": lambda a, b: norm.logpdf(a, np.mean(b), 1.0 + np.mean(b) ** 2),
    "filter": lambda a, b: scipy.signal.lfilter([1.0, 0.3], [1.0, 0.5 * np.tanh(np.mean(b))], np.ravel(a)),
}  # fmt: skip


class Data:
    """What a program uses beside its argument. It may be changed between two calls, in place or by other objects."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self._tables = {}
        self._numbers = [0.3, 2, True, np.float64(-0.7), np.float32(0.4), np.array(1.3), -1.1, 0.0, 1.0]
        self.index = self._rng.integers(0, 100, size=5)

    def tables(self, shape):
        """Two arrays of a shape, the same ones until the data are changed."""
        if shape not in self._tables:
            self._tables[shape] = [self._rng.normal(size=shape), self._rng.normal(size=shape)]
        return self._tables[shape]

    def number(self, place):
        return self._numbers[place % len(self._numbers)]

    def change(self, way):
        """Other numbers and arrays: written in place, new, swapped, of another type, equal, read-only."""
        for shape, (first, second) in list(self._tables.items()):
            if way % 6 == 0 and shape:
                first[...] = self._rng.normal(size=shape)
                second[...] = -first
            elif way % 6 == 1:
                self._tables[shape] = [self._rng.normal(size=shape), self._rng.normal(size=shape)]
            elif way % 6 == 2:
                self._tables[shape] = [second, first]
            elif way % 6 == 3:
                self._tables[shape] = [np.asarray(first, np.float32) + 0, np.asarray(np.rint(9.0 * second), np.int64)]
            elif way % 6 == 4:
                self._tables[shape] = [first, first]
            else:
                self._tables[shape] = [np.broadcast_to(np.sum(first), shape), second]
        self._numbers = self._numbers[1:] + self._numbers[:1]
        self.index = self._rng.permutation(self.index)


def written_table(a, data):
    """Write to an array between two uses of it, and restore it."""
    (table, _), y = data.tables(np.shape(a)), a
    if not np.ndim(a) or not table.flags.writeable or table.dtype.kind != "f":
        return y
    saved = table.copy()
    y = a * table
    table[...] = np.cos(saved)
    y = y + np.sin(a) * table
    table[...] = saved
    return y


def longer(a, data):
    """A number of rounds that depends on the values."""
    y = a
    for _ in range(1 + int(np.argmax(np.ravel(a)[:3]))):
        y = np.tanh(1.1 * y) + data.number(1)
    return y


def by_rule(a, data):
    """A rule by hand over arrays that change."""
    table = data.tables(np.shape(a))[0]
    f = md.functional.custom_derivative(
        lambda z, t: np.sin(z) * t, vjp=lambda args, y, y_bar: (y_bar * np.cos(args[0]) * args[1], None)
    )
    return f(a, np.asarray(table, np.float64))


CAPTURED = {
    "tables": lambda a, data: a * data.tables(np.shape(a))[0] + np.sin(a) * data.tables(np.shape(a))[1],
    "one table": lambda a, data: data.tables(np.shape(a))[1] - a,
    "same table": lambda a, data: (a + data.tables(np.shape(a))[0]) * data.tables(np.shape(a))[0],
    "written table": written_table,
    "mask": lambda a, data: np.where(data.tables(np.shape(a))[0] > 0.0, a, 0.5 * a),
    "chosen": lambda a, data: np.ravel(a)[data.index % np.size(a)],
    "by mask": lambda a, data: np.ravel(a)[np.ravel(data.tables(np.shape(a))[1]) > -9.0],
    "number": lambda a, data: a * data.number(0) + data.number(1),
    "numbers": lambda a, data: data.number(2) - np.maximum(a, data.number(3)) * data.number(4),
    "joined": lambda a, data: np.concatenate([np.ravel(a), np.ravel(data.tables(np.shape(a))[0]), [data.number(6)]]),
    "product": lambda a, data: np.dot(np.ravel(a), np.ravel(data.tables(np.shape(a))[0])),
    "checkpoint": lambda a, data: md.functional.checkpoint(lambda z: np.tanh(z) * data.tables(np.shape(a))[0])(a),
    "by rule": by_rule,
}  # fmt: skip
BY_VALUE = {
    "branch": lambda a, data: 2.0 * a if np.sum(a) > 0.0 else np.sin(a) * data.number(0),
    "longer": longer,
    "rolled": lambda a, data: np.roll(a, np.argmax(a)) * data.number(0),
    "spread": lambda a, data: np.sum(np.broadcast_to(np.ravel(a)[:1], (np.argmax(np.ravel(a)[:3]) + 1, 4))),
    "positive": lambda a, data: np.ravel(a)[np.ravel(a) > -0.5] if np.any(a > -0.5) else a,
    "inner gradient": lambda a, data: md.grad(lambda u: np.sum(np.sin(u) * a) + np.sum(u * u * data.number(0)))(a),
    "inner slopes": lambda a, data: md.jvp(lambda u: np.tanh(u * a), (a,), (0.5 * a,))[1],
}  # fmt: skip
"Steps whose graph depends on the numbers, or that cannot be traced without them."


class Program:
    """A function of one array with a number as result, the same at every call until its data are changed."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.data = Data(seed)
        self.x = rng.normal(size=SHAPES[rng.integers(len(SHAPES))])
        self.direction = rng.normal(size=self.x.shape)
        self.steps = [self._step(rng) for _ in range(rng.integers(2, 8))]

    @staticmethod
    def _step(rng):
        kinds = (UNARY, UNARY, REDUCTIONS, BINARY, ANY_SHAPES, CAPTURED, BY_VALUE)
        table = kinds[rng.integers(len(kinds))]
        return table, sorted(table)[rng.integers(len(table))], *map(int, rng.integers(100, size=3))

    def __repr__(self):
        return f"{self.x.shape}: {', '.join(step[1] for step in self.steps)}"

    def __call__(self, x):
        values = [x, 0.7 * x + 0.1]
        for table, name, first, second, option in self.steps:
            a, b = values[-1 - first % min(len(values), 3)], values[second % len(values)]
            if table is UNARY:
                values.append(UNARY[name](a))
            elif table is CAPTURED or table is BY_VALUE:
                values.append(table[name](a, self.data))
            elif table is REDUCTIONS:
                axis = None if option % 4 == 3 or not a.ndim else option % a.ndim
                values.append(REDUCTIONS[name](a, axis=axis, keepdims=bool(second % 2)))
            else:
                fits = table is ANY_SHAPES or np.shape(a) == np.shape(b) or not np.ndim(a)
                values.append(table[name](a, b if fits else np.sum(b)))
        return sum(np.sum(np.sin(0.37 * v) * np.cos(np.arange(v.size)).reshape(v.shape)) for v in values[2:])


def slope(f, x, direction):
    """The slope along a direction by differences, and how far two of them are apart."""
    first, second = ((f(x + h * direction) - f(x - h * direction)) / (2.0 * h) for h in (1e-4, 5e-5))
    return (4.0 * second - first) / 3.0, abs(second - first)


def is_close(a, b, tolerance):
    return bool(np.all(np.abs(a - b) <= tolerance * (1.0 + np.abs(a) + np.abs(b))))


def failures(program):
    """What is wrong with the derivatives of a program: names of checks that failed."""
    x, d = program.x, program.direction
    value, gradient = md.value_and_grad(program)(x)
    along, spread = slope(program, x, d)
    is_smooth = spread < 1e-5 * (1.0 + abs(along))
    batch = np.stack([x, x + 0.01 * d])
    found = {
        "value": is_close(value, program(x), 1e-9),
        "gradient": not is_smooth or is_close(np.sum(gradient * d), along, 2e-6),
        "forward mode": is_close(md.jvp(program, (x,), (d,))[1], np.sum(gradient * d), 1e-8),
    }
    twice, spread = slope(lambda y: np.sum(md.grad(program)(y) * d), x, d)
    is_smooth = is_smooth and spread < 1e-5 * (1.0 + abs(twice))
    found["second order"] = not is_smooth or is_close(np.sum(md.hvp(program, (x,), (d,)) * d), twice, 1e-5)
    # NumPy compares objects one by one.
    if all(table is not BY_VALUE and name != "listed" for table, name, *_ in program.steps):
        found["compiled"] = is_close(md.compile(md.grad(program))(x), gradient, 1e-9)
        each = np.stack([md.grad(program)(row) for row in batch])
        found["batch"] = is_close(md.vmap(md.grad(program))(batch), each, 1e-8)
    found["second call"] = all(_is_independent(program, x + 0.1 * way * d, way) for way in range(6))
    return [name for name, holds in found.items() if not holds]


def _is_independent(program, x, way):
    """Whether a gradient is the same when nothing was traced before: by other data and types, through one function."""
    program.data.change(way)
    x = np.asarray(x, np.float32 if way == 3 else np.float64)
    warm = [md.value_and_grad(program)(x) for _ in range(2)]
    for _ in range(2):
        tape._TABLES.renew()
    derived._KEPT.clear()
    value, gradient = md.value_and_grad(program)(x)
    return all(
        np.array_equal(first, value, equal_nan=True) and np.array_equal(second, gradient, equal_nan=True)
        for first, second in warm
    )


def main(first, last):
    warnings.simplefilter("ignore")
    counts = Counter()
    for seed in range(first, last):
        program = Program(seed)
        try:
            wrong = failures(program)
        except TraceError as error:
            wrong = [] if "array of Python objects" in str(error) or "md.array" in str(error) else [str(error)]
            counts["refused"] += not wrong
        counts["wrong" if wrong else "right"] += 1
        if wrong:
            print(seed, program, wrong, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
