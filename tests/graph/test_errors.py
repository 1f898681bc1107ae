"""What a traced value cannot do says so, and says what to do instead."""

from __future__ import annotations

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.spatial.distance
import scipy.special
import scipy.stats

import madaline as md
from madaline.errors import ShapeError, TraceError
from madaline.graph.node import INPUT
from madaline.graph.trace import trace

X, A = np.array([1.0, 2.0, 3.0]), np.ones((3, 4))


def assign_into_array(x):
    y = np.zeros((2, 3))
    y[0] = x
    return y


def add_into_array(x):
    y = np.zeros(3)
    y += x
    return y


LOSES_ITS_TRACE = [
    (lambda x: float(x.sum()), "cannot become a Python number", "np.exp for math.exp"),
    (lambda x: int(x[0]), "cannot become a Python number", "auxiliary output"),
    (lambda x: complex(x[0]), "cannot become a Python number", "auxiliary output"),
    (lambda x: x.sum().item(), "cannot become a Python number", "auxiliary output"),
    (lambda x: x.tolist(), "cannot become a Python number", "auxiliary output"),
    (lambda x: f"{x[0]:.3f}", "cannot become a Python number", "auxiliary output"),
    (lambda x: round(x[0]), "cannot become a Python number", "auxiliary output"),
    (lambda x: math.exp(x[0]), "cannot become a Python number", "np.exp for math.exp"),
    (lambda x: math.floor(x[0]), "cannot become a Python number", "Use NumPy functions"),
    (lambda x: range(x[0]), "cannot become a Python number", "Use NumPy functions"),
    (lambda x: [1, 2, 3][x[0]], "cannot become a Python number", "Use NumPy functions"),
    (lambda x: np.asarray(x, dtype=float), "NumPy cannot turn it into a plain array", "md.array([...])"),
    (lambda x: np.array([x[0], 1.0], dtype=float), "NumPy cannot turn it into a plain array", "np.stack"),
    (lambda x: np.asarray(np.outer(x, np.ones(400))), "NumPy cannot turn it into a plain array", "large array"),
    (lambda x: np.mean([x[0]]), "NumPy cannot turn it into a plain array", "md.array([...])"),
    (lambda x: np.eye(3)[x.astype(int)], "NumPy cannot turn it into a plain array", "np.take_along_axis(a, i, axis=0)"),
    (lambda x: np.eye(3)[x > 0], "NumPy cannot turn it into a plain array", "np.where(mask, a, b)"),
    (assign_into_array, "NumPy cannot turn it into a plain array", "np.stack"),
    (lambda x: scipy.linalg.logm(np.outer(x, x)), "scipy.linalg.logm takes plain arrays only", "with NumPy functions"),
    (lambda x: scipy.linalg.solve(np.outer(x, x), x, assume_a="tridiagonal"), "assume_a='tridiagonal'", "Use 'gen'"),
    (lambda x: scipy.linalg.norm(x, axis=0, order=3), "scipy.linalg.norm(..., order=)", "Leave order= away"),
    (scipy.signal.hilbert, "scipy.signal.hilbert takes plain arrays only", "with NumPy functions"),
    (lambda x: scipy.signal.convolve2d(np.outer(x, x), np.eye(2), boundary="wrap"), "convolve2d", "pad with np.pad"),
    (lambda x: scipy.signal.savgol_filter(np.ones(9), x, 1), "by its first argument only", "must be plain"),
    (lambda x: scipy.stats.zipf.logpmf(3, x), "scipy.stats.zipf.logpmf has no derivative rule", "has bernoulli, beta"),
    (lambda x: scipy.stats.gamma.ppf(0.5, x), "gamma.ppf has no formula", "Use the distribution function"),
    (lambda x: scipy.stats.pearsonr(x, x[::-1])[0], "pearsonr", "with NumPy functions"),
    (
        lambda x: scipy.integrate.odeint(lambda y, t: -y, x, np.arange(3.0)),
        "scipy.integrate.odeint takes plain arrays only",
        "a loop of Euler or Runge-Kutta steps",
    ),
    (lambda x: scipy.integrate.simpson(np.ones(3), x=x), "traced points x=", "np.trapezoid"),
    (lambda x: scipy.spatial.distance.cdist(np.outer(x, x), np.eye(3), "hamming"), "metric='hamming'", "euclidean"),
    (lambda x: x[0].fill(1.0), "leaves a number as it is", "Write x = value"),
    (add_into_array, "np.add(..., out=) writes a traced value into a plain array", "Write a = a + x"),
    (lambda x: np.exp(x, out=np.zeros(3)), "np.exp(..., out=) writes a traced value into a plain array", "md.zeros"),
    (lambda x: np.sum(x, out=np.zeros(())), "np.sum(..., out=) writes a traced value into a plain array", "md.zeros"),
    (lambda x: x if x[0] > 0 else -x, "Python cannot branch on it", "np.where(condition, a, b)"),
    (lambda x: x if (x > 0).all() else -x, "Python cannot branch on it", "np.where(condition, a, b)"),
    (lambda x: max(x[0], x[1]), "Python cannot branch on it", "np.maximum"),
    (sorted, "Python cannot branch on it", "np.maximum"),
    (lambda x: 0.0 < x < 1.0, "Python cannot branch on it", "& and | for masks"),
    (lambda x: (x > 0) and (x < 1), "Python cannot branch on it", "& and | for masks"),
    (lambda x: 1.0 in x, "Python cannot branch on it", "np.where"),
    (lambda x: x[x > 0], "shape that depends on the values", "np.where(mask, x, 0)"),
    (lambda x: np.where(x > 0), "shape that depends on the values", "np.where(condition, a, b)"),
    (lambda x: x[True], "by True or False", "x[None]"),
    (lambda x: x & 1, "on traced numbers is not supported", "(x > 0) & (x < 1)"),
    (lambda x: ~x, "np.invert (~) on traced numbers", "Compare first"),
    (lambda x: None, "returned None", "Return an array or number"),
    (lambda x: x * 1j, "complex numbers cannot become a plain array", "x.real, x.imag"),
    (lambda x: x.astype(complex), "type complex128 cannot be traced", "float32 or float64"),
    (lambda x: x + np.array(["a", "b", "c"]), "cannot be traced", "float32 or float64"),
    (lambda x: x[np.array([0.0, 1.0])], "type float64 cannot index", "index.astype(int)"),
    (lambda x: np.take(x, [0.5]), "type float64 cannot index", "indices.astype(int)"),
    (lambda x: np.take_along_axis(x, x, 0), "type float64 cannot index", "indices.astype(int)"),
    (lambda x: x * np.ma.array(np.ones(3), mask=[0, 1, 0]), "masked array would lose its mask", "np.where(mask"),
    (lambda x: x * np.uint64(2**63), "9223372036854775808 of type uint64 is more than an int64", "a.astype(float)"),
    (lambda x: np.ravel(x, "K"), "order='K' asks for the order in memory", "'C' or 'F'"),
]


@pytest.mark.parametrize(("function", "what", "instead"), LOSES_ITS_TRACE)
def test_a_use_that_would_lose_the_trace_is_named_with_its_remedy(function, what, instead):
    with pytest.raises(TraceError) as caught:
        trace(function, X)
    assert what in str(caught.value)
    assert instead in str(caught.value)


def test_an_entry_of_a_plain_array_cannot_be_a_traced_value():
    """NumPy words this one itself; the error that arrives names the way out and the line."""

    def fill(x):
        y = np.zeros(3)
        y[0] = x[0]
        return y

    with pytest.raises(
        TraceError, match=r"md\.zeros\(n\), with np\.zeros_like\(x\).*\n  Line \d+ of test_errors\.py: y\[0\] = x\[0\]"
    ):
        trace(fill, X)


def test_the_line_of_the_users_function_is_named_once():
    def outer(x):
        return np.sum(md.grad(lambda z: float(z[0]))(x))

    with pytest.raises(TraceError) as caught:
        md.grad(outer)(X)
    assert str(caught.value).count("Line") == 1
    assert "of test_errors.py: return np.sum(md.grad(lambda z: float(z[0]))(x))" in str(caught.value)


UNSUPPORTED = [
    (np.unique, "np.unique", "Its shape depends on the values"),
    (np.nonzero, "np.nonzero", "np.where(condition, a, b)"),
    (np.argwhere, "np.argwhere", "np.where(condition, a, b)"),
    (np.histogram, "np.histogram", "outside the traced function"),
    (np.linalg.eig, "np.linalg.eig", "Use np.linalg.eigh for a symmetric matrix"),
    (np.linalg.eigvals, "np.linalg.eigvals", "Use np.linalg.eigvalsh for a symmetric matrix"),
    (np.fft.hfft, "np.fft.hfft", "similar name: np.fft.fft"),
    (lambda x: np.quantile(x, 0.5, weights=x), "np.quantile(..., weights=)", "Leave weights= away"),
    (scipy.special.spence, "scipy.special.spence", "expit"),
    (np.spacing, "np.spacing", "md.functional.supported_functions()"),
    (np.subtract.reduce, "np.subtract.reduce", "md.functional.supported_functions()"),
    (lambda x: np.exp(x, where=x > 0), "np.exp(..., where=)", "np.where(condition, a, b)"),
    (lambda x: np.exp(x, dtype=np.float32), "np.exp(..., dtype=)", ".astype(dtype)"),
    (lambda x: np.matmul(x, x, axes=[(0,), (0,), ()]), "np.matmul(..., axes=)", "Leave it away"),
    (lambda x: np.percentile(x, 50, method="lower"), "np.quantile(method='lower')", "method='linear' is"),
    (lambda x: np.pad(x, 1, mode="linear_ramp"), "np.pad(mode='linear_ramp')", "edge, reflect"),
    (lambda x: np.insert(x, [0, 1], 2.0), "np.insert", "np.concatenate"),
    (lambda x: np.digitize(x, [1.0, 0.0]), "np.digitize", "increasing order"),
    (lambda x: np.quantile(x, x[0, 0]), "np.quantile", "compute q outside"),
    (lambda x: np.max(x, where=x > 0), "np.max(..., where=)", "initial="),
]


@pytest.mark.parametrize(("function", "name", "instead"), UNSUPPORTED)
def test_an_unsupported_call_is_named_with_what_to_use(function, name, instead):
    with pytest.raises(TraceError) as caught:
        trace(function, A)
    assert name in str(caught.value)
    assert instead in str(caught.value)


def test_nearest_supported_names_are_offered():
    with pytest.raises(TraceError, match=r"similar name: .*np\.cumsum"):
        trace(np.nancumsum, X)


def test_a_missing_method_of_arrays_is_named():
    with pytest.raises(AttributeError, match=r"x\.byteswap of an array is not supported on traced values"):
        trace(lambda x: x.byteswap(), X)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        trace(lambda x: x.colour, X)


DO_NOT_FIT = [
    (lambda x: x + np.ones(4), "Shapes (3,) and (4,) cannot be broadcast together: sizes 3 and 4 meet at axis -1"),
    (lambda x: x @ np.ones((4, 2)), "the last axis of (3,) must equal the second-to-last axis of (4, 2)"),
    (lambda x: x @ np.ones(4), "the last axis of (3,) must equal the only axis of (4,)"),
    (lambda x: x @ 2.0, "multiply by a scalar with *"),
    (lambda x: x.reshape(2, 2), "(3,) cannot be reshaped to (2, 2)"),
    (lambda x: x.reshape(2, -1), "(3,) cannot be reshaped to (2, -1)"),
    (lambda x: x.reshape(-1, -1), "only one may be -1"),
    (lambda x: x.sum(axis=1), "axis=1 is out of range for an array with 1 axes"),
    (lambda x: x.sum(axis=(0, 0)), "axis=(0, 0) names an axis twice"),
    (lambda x: np.concatenate([x, np.ones((2, 2))]), "their shapes are (3,), (2, 2)"),
    (lambda x: np.stack([x, np.ones(4)]), "must have one shape; theirs are (3,), (4,)"),
    (lambda x: np.broadcast_to(x, (4,)), "(3,) and (4,)"),
    (lambda x: np.split(x, 2), "an axis of size 3 cannot be split into 2 equal parts"),
    (lambda x: np.squeeze(x, 0), "only axes of size 1"),
    (lambda x: np.transpose(x, (0, 0)), "must name each of the 1 axes once"),
    (lambda x: np.einsum("ij,jk", x, x), "the term 'ij' does not fit an operand with 1 axes"),
    (lambda x: np.einsum("i,i", x, np.ones(4)), "the letter 'i' has sizes 3 and 4"),
    (lambda x: np.einsum("i,i", x), "names 2 operands but got 1"),
    (lambda x: np.max(x[:0]), "max over an axis of size 0 has no value"),
    (lambda x: np.argmax(x[:0]), "argmax over an axis of size 0 has no value"),
    (lambda x: np.cross(x[:2], x), "three components"),
    (lambda x: np.linalg.norm(x.reshape(1, 1, 3), 1), "needs one axis or two; shape (1, 1, 3) gives 3"),
]


@pytest.mark.parametrize(("function", "text"), DO_NOT_FIT)
def test_shapes_that_do_not_fit_are_both_named(function, text):
    with pytest.raises(ShapeError) as caught:
        trace(function, X)
    assert text in str(caught.value)


OUT_OF_RANGE = [
    (lambda x: x[3], "Index 3 is out of range for an axis of size 3"),
    (lambda x: x[-4], "Index -4 is out of range for an axis of size 3"),
    (lambda x: x[[0, 5]], "Index 5 is out of range for an axis of size 3"),
    (lambda x: x[np.array([-7])], "Index -7 is out of range for an axis of size 3"),
    (lambda x: x[:, None][[1, 4], [0, 0]], "Index 4 is out of range for an axis of size 3"),
    (lambda x: np.take(x, [3]), "Index 3 is out of range for an axis of size 3"),
    (lambda x: np.take_along_axis(x, np.array([9]), 0), "Index 9 is out of range for an axis of size 3"),
    (lambda x: x[0, 0], "2 indices for a traced value with 1 axes, shape (3,)"),
    (lambda x: x[1.5], "1.5 cannot index"),
    (lambda x: x["W"], "'W' cannot index"),
    (lambda x: x[..., ...], "more than one '...'"),
    (lambda x: x[np.array([True, False])], "boolean index of shape (2,)"),
]


@pytest.mark.parametrize(("function", "text"), OUT_OF_RANGE)
def test_an_index_out_of_range_is_named_with_the_size(function, text):
    with pytest.raises(IndexError) as caught:
        trace(function, X)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "value", [np.array([1j]), np.array([None, 1.0]), "text", None, np.array(["a"]), np.datetime64("2024-01-01")]
)
def test_an_argument_of_another_type_is_refused(value):
    with pytest.raises(TraceError, match="cannot be traced"):
        trace(lambda x: x, value)


def test_a_number_may_be_summed_in_place():
    """A NumPy scalar is immutable, so += only rebinds the name: the usual running total."""

    def total(x):
        result = 0.0
        for item in x:
            result += item * item
        result *= 2.0
        result -= 1.0
        result /= 3.0
        result **= 2
        return result

    assert trace(total, X).outputs[0].shape == ()


def test_a_value_kept_from_another_call_is_refused():
    kept = []
    trace(lambda x: kept.append(x) or x.sum(), X)
    with pytest.raises(TraceError, match=r"traced in another call and kept .*has_aux=True"):
        trace(lambda x: x.sum() + kept[0].sum(), X)


def test_a_copy_is_the_same_value():
    graph = trace(lambda x: copy.deepcopy({"x": x})["x"] + copy.copy(x), X)
    assert [node.primitive for node in graph.nodes].count(INPUT) == 1


def test_text_of_a_traced_value_names_how_it_was_made():
    seen = SimpleNamespace()

    def look(x):
        seen.text = f"{np.exp(x)}"
        return x

    trace(look, X)
    assert seen.text == "<traced exp: float64 (3,)>"


def test_masks_cannot_be_subtracted_as_in_numpy():
    with pytest.raises(TraceError, match=r"Masks cannot be subtracted. Use a \^ b"):
        md.trace(lambda x: (x > 0) - (x > 1), np.ones(3))
    with pytest.raises(TraceError, match="Masks cannot be subtracted"):
        md.trace(lambda x: (x > 0) - True, np.ones(3))
    assert md.grad(lambda x: np.sum(x - (x > 0)))(np.ones(2)).tolist() == [1.0, 1.0]
