"""SciPy on traced values: however it was imported, in several threads, and with nothing left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.special
import scipy.stats
from scipy.special import logsumexp

import madaline as md
from madaline.errors import TraceError

X = np.array([0.3, -1.2, 2.0])


def test_a_function_that_was_imported_by_name_or_kept_works_too():
    kept = {"f": partial(scipy.special.logsumexp, keepdims=False)}
    soft = np.exp(X) / np.sum(np.exp(X))
    np.testing.assert_allclose(md.grad(lambda x: logsumexp(x))(X), soft)  # noqa: PLW0108 - as users write it
    np.testing.assert_allclose(md.grad(logsumexp)(X), soft)
    np.testing.assert_allclose(md.grad(kept["f"])(X), soft)


def test_scipy_is_as_before_after_a_trace():
    before = {f: f.__code__ for f in (logsumexp, scipy.linalg.cholesky, scipy.stats.rv_continuous.logpdf)}
    md.grad(lambda x: logsumexp(x) + np.sum(scipy.stats.norm.logpdf(x)))(X)
    with pytest.raises(TraceError):
        md.grad(lambda x: scipy.linalg.logm(np.outer(x, x)))(X)
    with pytest.raises(ZeroDivisionError):
        md.grad(lambda x: logsumexp(x) * (1 / 0))(X)
    assert {f: f.__code__ for f in before} == before
    assert logsumexp([0.0, 0.0]) == pytest.approx(np.log(2.0))


def test_plain_arrays_are_left_to_scipy_inside_a_trace():
    def f(x):
        # Options and types that only SciPy itself has.
        z = scipy.linalg.logm(np.eye(2) * 2.0)
        c = logsumexp(np.array([1.0 + 1.0j, 2.0]))
        return np.sum(x) * z[0, 0] + logsumexp(x) * c.real

    c = logsumexp(np.array([1.0 + 1.0j, 2.0]))
    np.testing.assert_allclose(md.grad(f)(X), np.log(2.0) + scipy.special.softmax(X) * c.real)


def test_lists_and_arrays_of_objects_with_traced_numbers_arrive():
    np.testing.assert_allclose(
        md.grad(lambda x: logsumexp([x[0], x[1], x[2]]))(X), scipy.special.softmax(X), rtol=1e-12
    )
    np.testing.assert_allclose(
        md.grad(lambda x: logsumexp(np.array([x[0], x[1], x[2]])))(X), scipy.special.softmax(X), rtol=1e-12
    )


def test_a_result_has_memory_of_its_own():
    def f(x):
        y = scipy.linalg.block_diag(x)
        y += 1.0
        return np.sum(x * x) + np.sum(y)

    np.testing.assert_allclose(md.grad(f)(np.ones((2, 2))), np.full((2, 2), 3.0))


@pytest.mark.parametrize(
    "transform", [lambda f: md.compile(md.grad(f)), lambda f: md.grad(md.functional.checkpoint(f)), md.jacobian]
)
def test_all_transformations_take_scipy(transform):
    def f(x):
        return logsumexp(x) + np.sum(scipy.fft.dct(x) ** 2)

    np.testing.assert_allclose(transform(f)(X), md.grad(f)(X), rtol=1e-12)


def test_vmap_and_batches_take_scipy():
    rows = np.arange(12.0).reshape(4, 3) / 7.0
    np.testing.assert_allclose(md.vmap(scipy.special.softmax)(rows), scipy.special.softmax(rows, axis=1), rtol=1e-12)
    compiled = md.compile(lambda x: scipy.special.log_softmax(x, axis=1), rows=[0])
    for n in (1, 4):
        np.testing.assert_allclose(compiled(rows[:n]), scipy.special.log_softmax(rows[:n], axis=1), rtol=1e-12)


def test_second_derivatives_take_scipy():
    p = scipy.special.softmax(X)
    np.testing.assert_allclose(md.hessian(logsumexp)(X), np.diag(p) - np.outer(p, p), atol=1e-12)


def test_threads_trace_and_call_scipy_at_the_same_time():
    failures = []
    rows = np.random.default_rng(0).normal(size=(20, 3))

    def softmax(x):
        return np.exp(x) / np.sum(np.exp(x))

    def f(x):
        return logsumexp(x) + scipy.fft.rfft(x).real[0]

    def trace():
        failures.extend(x for x in rows if not np.allclose(md.grad(f)(x), 1.0 + softmax(x)))

    def call():
        several = np.repeat(rows, 20, axis=0)
        failures.extend(x for x in several if not np.isclose(logsumexp(x), np.log(np.sum(np.exp(x)))))

    threads = [threading.Thread(target=work) for work in (trace, call, trace, call)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


FRESH = """
import sys, numpy as np, madaline as md
md.grad(lambda x: np.sum(np.tanh(x)))(np.ones(3))
assert not any(name.startswith("scipy.") for name in sys.modules), "SciPy is not imported"
import scipy.special
md.grad(lambda x: np.sum(np.tanh(x)) + scipy.special.logsumexp(np.ones(2)))(np.ones(3))
from madaline.graph.scipy_api import replacement
assert not replacement.TABLES, "plain arrays do not bring our functions in"
calls = []
def f(x):
    calls.append(1)
    from scipy.stats import norm          # imported by the traced function itself
    from scipy.fft import rfft
    return np.sum(norm.logpdf(x)) + rfft(x).real[0]
assert np.allclose(md.grad(f)(np.ones(2)), [0.0, 0.0]), "the first call"
assert len(calls) <= 4, "each module that is met for the first time is one more call"
before = len(calls)
assert np.allclose(md.grad(f)(np.ones(2)), [0.0, 0.0]), "the second call"
assert len(calls) == before + 1
"""


def test_scipy_is_loaded_and_replaced_only_where_a_traced_value_meets_it_and_then_at_the_first_call():
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_frozen_distribution_of_vectors_with_traced_parameters_works():
    def f(mean, frozen):
        cov = np.array([[1.0, 0.3], [0.3, 2.0]])
        x = np.array([[0.1, 0.2], [1.0, -1.0]])
        normal = scipy.stats.multivariate_normal
        return np.sum(normal(mean, cov).logpdf(x) if frozen else normal.logpdf(x, mean=mean, cov=cov))

    mean = np.array([0.2, -0.5])
    assert md.check_gradient(lambda m: f(m, True), mean, raise_error=True)
    np.testing.assert_array_equal(md.grad(f)(mean, True), md.grad(f)(mean, False))
