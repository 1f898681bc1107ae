"""Examples of NumPy calls, each asked the same questions: NumPy's value, NumPy's dtype, the right derivatives.

A test file keeps a table ``EXAMPLES``: from a NumPy function to calls of it, each ``(call, *arguments)``.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
import pytest

import madaline as md
from madaline.graph.node import graph_dtype
from madaline.graph.numpy_api import dispatch
from madaline.graph.trace import trace_tree
from madaline.graph.tree import flatten


def pytest_generate_tests(metafunc):
    for fixture, wanted in (("example", lambda args: True), ("smooth_example", has_floats)):
        if fixture in metafunc.fixturenames:
            cases = [
                pytest.param(
                    SimpleNamespace(function=function, call=call, args=args), id=f"{name_of(function)}-{number}"
                )
                for function, calls in metafunc.module.EXAMPLES.items()
                for number, (call, *args) in enumerate(calls)
                if wanted(args)
            ]
            metafunc.parametrize(fixture, cases)


def has_floats(args):
    return any(np.asarray(arg).dtype.kind == "f" for arg in args)


def name_of(function):
    return getattr(function, "__name__", str(function))


class Questions:
    """What every example is asked."""

    def __init__(self, run, evaluate, gradient_graph, tangent_graph, directional_difference, monkeypatch):
        self.run, self.evaluate = run, evaluate
        self.gradient_graph, self.tangent_graph = gradient_graph, tangent_graph
        self.directional_difference, self.monkeypatch = directional_difference, monkeypatch
        self.rng = np.random.default_rng(5)

    def value(self, example):
        """NumPy's own shape, type and numbers; and the call did go through the function it is an example of."""
        with np.errstate(all="ignore"):
            expected = [np.asarray(leaf) for leaf in flatten(example.call(*example.args))[0]]
        called = self._watch(example.function)
        found = [np.asarray(leaf) for leaf in flatten(self.run(example.call, *example.args))[0]]
        assert not isinstance(example.function, str) or not called
        assert isinstance(example.function, str) or called, "the example does not call the function it stands for"
        assert len(found) == len(expected)
        for ours, numpys in zip(found, expected, strict=True):
            assert ours.shape == numpys.shape
            assert ours.dtype == graph_dtype(numpys.dtype)
            single = ours.dtype == np.float32
            np.testing.assert_allclose(ours, numpys, rtol=2e-5 if single else 1e-11, atol=1e-6 if single else 1e-12)

    def program(self, example):
        """The planned program, run natively where a core is installed, gives NumPy's numbers too."""
        with np.errstate(all="ignore"):
            expected = flatten(example.call(*example.args))[0]
        found = flatten(md.compile(example.call)(*example.args))[0]
        for ours, numpys in zip(found, expected, strict=True):
            single = np.asarray(ours).dtype.itemsize < 8
            np.testing.assert_allclose(ours, numpys, rtol=1e-4 if single else 1e-9, atol=1e-5 if single else 1e-11)

    def _watch(self, function):
        called = []
        table = dispatch.UFUNCS if isinstance(function, np.ufunc) else dispatch.FUNCTIONS
        if function in table:
            implementation = table[function]

            @functools.wraps(implementation, assigned=())
            def watched(*args, **kwargs):
                called.append(function)
                return implementation(*args, **kwargs)

            self.monkeypatch.setitem(table, function, watched)
        return called

    def derivative(self, example):
        """Reverse and forward mode against central differences of NumPy's own function."""
        args = doubled(example.args)
        graph, _, _ = trace_tree(example.call, args)
        directions = self._directions(args)
        differences = self.directional_difference(example.call, args, directions)
        dots = self.evaluate(self.tangent_graph(graph, directions), *args)
        for dot, difference in zip(dots, differences, strict=True):
            np.testing.assert_allclose(dot, difference, rtol=2e-6, atol=1e-7)
        seeds = [self.rng.standard_normal(difference.shape) for difference in differences]
        bars = self.evaluate(self.gradient_graph(graph, seeds), *args)
        forward = sum(float(np.vdot(seed, dot)) for seed, dot in zip(seeds, dots, strict=True))
        reverse = sum(float(np.vdot(bar, direction)) for bar, direction in zip(bars, directions, strict=True))
        assert reverse == pytest.approx(forward, rel=1e-9, abs=1e-10)

    def curvature(self, example):
        """The gradient's tangent against central differences of the gradient."""
        args = doubled(example.args)
        graph, _, _ = trace_tree(example.call, args)
        directions = self._directions(args)
        shapes = [node.shape for node in graph.outputs if node.dtype.kind == "f"]
        gradient = self.gradient_graph(graph, [self.rng.standard_normal(shape) for shape in shapes])
        exact = self.evaluate(self.tangent_graph(gradient, directions), *args)
        differences = self.directional_difference(lambda *moved: self.evaluate(gradient, *moved), args, directions)
        for ours, difference in zip(exact, differences, strict=True):
            np.testing.assert_allclose(ours, difference, rtol=1e-5, atol=1e-6)

    def _directions(self, args):
        return [self.rng.standard_normal(np.shape(arg)) for arg in args if np.asarray(arg).dtype.kind == "f"]


def doubled(args):
    """Arguments in float64, where differences are exact enough."""
    return tuple(np.asarray(arg, dtype=np.float64) if np.asarray(arg).dtype.kind == "f" else arg for arg in args)


@pytest.fixture
def ask(run, evaluate, gradient_graph, tangent_graph, directional_difference, monkeypatch):
    return Questions(run, evaluate, gradient_graph, tangent_graph, directional_difference, monkeypatch)


@pytest.fixture
def without_example(request):
    """Functions and ufuncs that a source module puts into the tables and the test file has no example of."""

    def missing(*modules):
        tables = {**dispatch.FUNCTIONS, **dispatch.UFUNCS}
        return sorted(
            name_of(function)
            for function, implementation in tables.items()
            if getattr(implementation, "__module__", type(implementation).__module__) in modules
            and function not in request.module.EXAMPLES
        )

    return missing
