"""Functions of SciPy on traced values: SciPy's own values, and derivatives that agree with differences of them."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.signal

import madaline as md
from madaline.graph.scipy_api import fft
from madaline.graph.scipy_api.replacement import HOMES, TABLES

rng = np.random.default_rng(5)
A = rng.normal(size=(3, 3)) * 0.4 + 2.0 * np.eye(3) * [1.0, 1.5, 2.1]
S = A @ A.T
TALL = rng.normal(size=(4, 3))
B = rng.normal(size=(3, 2))
V = rng.normal(size=6)
POSITIVE = rng.uniform(0.5, 2.0, size=6)
M = rng.normal(size=(4, 5))
K = rng.normal(size=(2, 3))


def symmetric(a):
    return (a + a.T) / 2.0


def first(f):
    """Singular and eigenvectors have no sign of their own."""
    return lambda *args, **options: np.abs(f(*args, **options)[0])


L = scipy.linalg
EXAMPLES = {
    "scipy.fft.dct": [(scipy.fft.dct, V), (lambda x: scipy.fft.dct(x, 3, 5, axis=0, norm="ortho"), M)],
    "scipy.fft.dctn": [(lambda x: scipy.fft.dctn(x, norm="ortho"), M), (lambda x: scipy.fft.dctn(x, axes=[1]), M)],
    "scipy.fft.dst": [(lambda x: scipy.fft.dst(x, type=1), V)],
    "scipy.fft.dstn": [(lambda x: scipy.fft.dstn(x, s=(3, 6)), M)],
    "scipy.fft.fft": [(lambda x: np.abs(scipy.fft.fft(x, 7)), V)],
    "scipy.fft.fft2": [(lambda x: scipy.fft.fft2(x).imag, M)],
    "scipy.fft.fftn": [(lambda x: np.abs(scipy.fft.fftn(x, workers=1)), M)],
    "scipy.fft.idct": [(scipy.fft.idct, V)],
    "scipy.fft.idctn": [(scipy.fft.idctn, M)],
    "scipy.fft.idst": [(lambda x: scipy.fft.idst(x, norm="forward"), V)],
    "scipy.fft.idstn": [(scipy.fft.idstn, M)],
    "scipy.fft.ifft": [(lambda x: scipy.fft.ifft(x, norm="ortho").real, V)],
    "scipy.fft.ifft2": [(lambda x: scipy.fft.ifft2(scipy.fft.fft2(x) * np.arange(5)).real, M)],
    "scipy.fft.ifftn": [(lambda x: np.abs(scipy.fft.ifftn(x)), M)],
    "scipy.fft.irfft": [(lambda x: scipy.fft.irfft(scipy.fft.rfft(x) * np.arange(4), 6), V)],
    "scipy.fft.irfft2": [(lambda x: scipy.fft.irfft2(scipy.fft.rfft2(x) ** 2, (4, 5)), M)],
    "scipy.fft.irfftn": [(lambda x: scipy.fft.irfftn(scipy.fft.rfftn(x) ** 2, (4, 5)), M)],
    "scipy.fft.rfft": [(lambda x: np.abs(scipy.fft.rfft(x)), V)],
    "scipy.fft.rfft2": [(lambda x: scipy.fft.rfft2(x).real, M)],
    "scipy.fft.rfftn": [(lambda x: scipy.fft.rfftn(x).imag, M)],
    "scipy.integrate.cumulative_trapezoid": [
        (lambda f, y: f(y), V), (lambda f, y: f(y, dx=0.3, axis=0, initial=0), M),
        (lambda f, y, x: f(y, np.cumsum(x)), V, POSITIVE),
    ],
    "scipy.integrate.simpson": [
        (lambda f, y: f(y), V), (lambda f, y: f(y, x=np.cumsum(POSITIVE)[:5]), M),
        (lambda f, y, h: f(y, dx=h, axis=0), M, np.array(0.3)),
    ],
    "scipy.integrate.trapezoid": [(lambda f, y: f(y, dx=0.2), V), (lambda f, y, x: f(y, np.cumsum(x)), V, POSITIVE)],
    "scipy.linalg.block_diag": [(lambda f, a, b, v: f(a, b, v), A, B, V), (lambda f, a: f(a), A)],
    "scipy.linalg.cho_factor": [
        (lambda f, a: np.triu(f(a @ a.T)[0]), A), (lambda f, a: np.tril(f(a @ a.T, True)[0]), A),
    ],
    "scipy.linalg.cho_solve": [
        (lambda f, a, b: f((np.tril(a), True), b), A, B),
        (lambda f, a, b: f((a, False), b, check_finite=False), A, V[:3]),
        (lambda f, a, b: f(L.cho_factor(a @ a.T), b), A, B),
    ],
    "scipy.linalg.cholesky": [(lambda f, a: f(symmetric(a)), S), (lambda f, a: f(symmetric(a), lower=True), S)],
    "scipy.linalg.det": [(lambda f, a: f(a), A)],
    "scipy.linalg.eigh": [
        (lambda f, a: first(f)(symmetric(a)), S), (lambda f, a: np.abs(f(a, lower=False)[1]), S),
        (lambda f, a, b: np.abs(f(symmetric(a), b @ b.T)[1]), S, A.T + 0.3), (lambda f, a: f(a, eigvals_only=True), S),
        (lambda f, a: f(symmetric(a), subset_by_index=[1, 2])[0], S),
    ],
    "scipy.linalg.eigvalsh": [(lambda f, a: f(a), S), (lambda f, a, b: f(symmetric(a), b @ b.T), S, A.T + 0.3)],
    "scipy.linalg.expm": [(lambda f, a: f(a / 3.0), A)],
    "scipy.linalg.inv": [(lambda f, a: f(a, overwrite_a=False), A)],
    "scipy.linalg.lstsq": [(lambda f, a, b: f(a, b)[0], TALL, V[:4])],
    "scipy.linalg.norm": [
        (lambda f, a: f(a), A), (lambda f, a: f(a, 1, axis=0), A), (lambda f, v: f(v, ord=3), V),
        (lambda f, a: f(a, 2), A),
    ],
    "scipy.linalg.pinv": [(lambda f, a: f(a), TALL)],
    "scipy.linalg.qr": [
        (lambda f, a: first(f)(a, mode="economic"), TALL), (lambda f, a: first(f)(a), A),
        (lambda f, a: np.abs(f(a, mode="r")[0]), TALL),
    ],
    "scipy.linalg.solve": [
        (lambda f, a, b: f(a, b), A, B), (lambda f, a, b: f(a @ a.T, b, assume_a="pos"), A, V[:3]),
        (lambda f, a, b: f(a, b, assume_a="sym", lower=True), S, B), (lambda f, a, b: f(a, b, transposed=True), A, B),
        (lambda f, a, b: f(a, b, assume_a="upper triangular"), np.triu(A), B),
    ],
    "scipy.linalg.solve_banded": [
        (lambda f, ab, b: f((1, 1), ab, b), rng.normal(size=(3, 5)) + np.array([[0.0], [4.0], [0.0]]), V[:5]),
        (lambda f, ab, b: f((2, 0), ab, b), rng.normal(size=(3, 4)) + np.array([[4.0], [0.0], [0.0]]), M),
    ],
    "scipy.linalg.solve_continuous_lyapunov": [(lambda f, a, q: f(a, q), A, S)],
    "scipy.linalg.solve_sylvester": [(lambda f, a, b, q: f(a, b, q), A, S[:2, :2], B)],
    "scipy.linalg.solve_triangular": [
        (lambda f, a, b: f(a, b), A, B), (lambda f, a, b: f(a, b, trans="T", lower=True), A, V[:3]),
    ],
    "scipy.linalg.sqrtm": [(lambda f, a: f(a), A), (lambda f, a: f(symmetric(a)), S)],
    "scipy.linalg.svd": [
        (lambda f, a: np.abs(f(a, full_matrices=False)[2]), TALL), (lambda f, a: f(a, compute_uv=False), A),
    ],
    "scipy.linalg.svdvals": [(lambda f, a: f(a), TALL)],
    "scipy.linalg.toeplitz": [(lambda f, c: f(c), V), (lambda f, c, r: f(c, r), V, V[:3] + 1.0)],
    "scipy.ndimage.gaussian_filter1d": [(lambda f, x: f(x, 1.3), V), (lambda f, x: f(x, 0.8, axis=0, mode="wrap"), M)],
    "scipy.optimize.rosen": [(lambda f, x: f(x), V)],
    "scipy.signal.convolve": [
        (lambda f, x, k, mode=mode: f(x, k, mode), *pair)
        for mode in ("full", "same", "valid")
        for pair in ((V, V[:3]), (V, V[:2]), (M, K), (K, M), (M, rng.normal(size=(4, 2))))
    ],
    "scipy.signal.convolve2d": [
        (lambda f, x, k, mode=mode: f(x, k, mode=mode), M, k)
        for mode in ("full", "same", "valid")
        for k in (K, rng.normal(size=(2, 2)), rng.normal(size=(3, 3)))
    ],
    "scipy.signal.correlate": [
        (lambda f, x, k, mode=mode: f(x, k, mode), *pair)
        for mode in ("full", "same", "valid")
        for pair in ((V, V[:3]), (V, V[:2]), (M, K), (M, rng.normal(size=(4, 2))))
    ],
    "scipy.signal.correlate2d": [
        (lambda f, x, k, mode=mode: f(x, k, mode=mode), M, k)
        for mode in ("full", "same", "valid")
        for k in (K, rng.normal(size=(2, 2)), rng.normal(size=(3, 4)), rng.normal(size=(3, 3)))
    ],
    "scipy.signal.detrend": [(lambda f, x: f(x), V), (lambda f, x: f(x, type="constant", axis=0), M)],
    "scipy.signal.fftconvolve": [(lambda f, x, k: f(x, k, mode="same"), M, K)],
    "scipy.signal.filtfilt": [(lambda f, x: f([0.4, 0.3], [1.0, -0.2], x, padlen=2), V)],
    "scipy.signal.lfilter": [
        (lambda f, b, a, x: f(b, a, x), V[:2], np.array([2.0, -0.5, 0.3]), V),
        (lambda f, x: f([1.0], [1.0, 0.3], x), V),
        (lambda f, x: f([0.5, 0.2], 1.0, x, axis=0), M),
    ],
    "scipy.signal.oaconvolve": [(lambda f, x, k: f(x, k), M, K)],
    "scipy.signal.savgol_filter": [(lambda f, x: f(x, 5, 2), V), (lambda f, x: f(x, 3, 1, axis=0), M)],
    "scipy.spatial.distance.cdist": [
        (lambda f, a, b, metric=metric: f(a, b, metric), M, M[:2] + 1.0)
        for metric in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine")
    ],
    **{
        f"scipy.spatial.distance.{name}": [(lambda f, u, v: f(u, v), V, POSITIVE)]
        for name in ("chebyshev", "cityblock", "cosine", "euclidean", "sqeuclidean")
    },
    "scipy.spatial.distance.pdist": [(lambda f, a: f(a), M)],
    "scipy.spatial.distance.squareform": [(lambda f, v: f(v), V), (lambda f, v: f(f(v) ** 2), V)],
    "scipy.special.comb": [(lambda f, n, k: f(n, k), 3.0 + POSITIVE, POSITIVE)],
    "scipy.special.factorial": [(lambda f, n: f(n), POSITIVE)],
    "scipy.special.log_softmax": [(lambda f, x: f(x), V), (lambda f, x: f(x, axis=1), M)],
    "scipy.special.logsumexp": [(lambda f, x: f(x, keepdims=True), np.array(0.3)), (lambda f, x: f(x), np.array(0.3)),
        (lambda f, x: f(x), V), (lambda f, x: f(x, axis=1, keepdims=True), M), (lambda f, x, b: f(x, b=b), V, POSITIVE),
        (lambda f, x, b: f(x, b=b, return_sign=True)[0], V, V[::-1]), (lambda f, x: f(x, axis=(0, 1)), M),
        (lambda f, x: f(x, axis=0, return_sign=True)[0], M), (lambda f, x: f([x[0], x[1], 1.0]), V),
    ],
    "scipy.special.multigammaln": [(lambda f, a: f(a, 2), POSITIVE + 1.0)],
    "scipy.special.polygamma": [(lambda f, x: f(1, x), POSITIVE)],
    "scipy.special.softmax": [(lambda f, x: f(x), V), (lambda f, x: f(x, axis=0), M)],
    "scipy.special.softplus": [(lambda f, x: f(x), V)],
    "scipy.stats.entropy": [(lambda f, p: f(p), POSITIVE), (lambda f, p, q: f(p, q, base=2), POSITIVE, POSITIVE[::-1])],
    "scipy.stats.gmean": [(lambda f, a: f(a), POSITIVE), (lambda f, a: f(a, axis=None), M**2 + 0.1)],
    "scipy.stats.hmean": [(lambda f, a: f(a), POSITIVE)],
    "scipy.stats.kurtosis": [(lambda f, a: f(a), V), (lambda f, a: f(a, axis=1, fisher=False, bias=False), M)],
    "scipy.stats.sem": [(lambda f, a: f(a), V), (lambda f, a: f(a, axis=1), M)],
    "scipy.stats.skew": [(lambda f, a: f(a), V), (lambda f, a: f(a, axis=1, bias=False), M)],
    "scipy.stats.zscore": [(lambda f, a: f(a), V), (lambda f, a: f(a, axis=1, ddof=1), M)],
}  # fmt: skip
CASES = [
    pytest.param(path, *example, id=f"{path.removeprefix('scipy.')}-{number}")
    for path, examples in EXAMPLES.items()
    for number, (*example,) in enumerate([(item[0], item[1:]) for item in examples])
]


def test_every_function_has_an_example():
    for home in HOMES.values():
        importlib.import_module(home)
    ours = {f"{module}.{name}" for module, names in TABLES.items() for name in names if "." not in name}
    assert ours | {f"scipy.fft.{name}" for name in fft.FUNCTIONS} == set(EXAMPLES)


@pytest.mark.parametrize(("path", "call", "args"), CASES)
def test_values_are_scipys_and_derivatives_agree_with_differences(path, call, args):
    module, _, name = path.rpartition(".")
    scipys = getattr(importlib.import_module(module), name)
    function = call if module == "scipy.fft" else lambda *x: call(scipys, *x)
    expected = function(*args)
    weights = np.cos(np.arange(np.size(expected))).reshape(np.shape(expected))

    def number(*x):
        return np.sum(function(*x) * weights)

    places = tuple(range(len(args)))
    value, slopes = md.value_and_grad(number, argnums=places)(*args)
    np.testing.assert_allclose(value, np.sum(expected * weights), rtol=1e-10, atol=1e-12)
    directions = [np.sin(1.0 + np.arange(x.size)).reshape(x.shape) for x in args]
    by_reverse = sum(np.sum(slope * d) for slope, d in zip(slopes, directions, strict=True))

    def moved(step):
        return [x + step * d for x, d in zip(args, directions, strict=True)]

    h = 1e-5
    assert by_reverse == pytest.approx((number(*moved(h)) - number(*moved(-h))) / (2.0 * h), rel=2e-6, abs=1e-7)
    by_forward = md.jvp(number, args, tuple(directions))[1]
    assert by_forward == pytest.approx(by_reverse, rel=1e-9, abs=1e-12)
    # Second order: the slope along the directions, differentiated once more.
    twice = (
        [np.sum(p * d) for p, d in zip(md.hvp(number, args, tuple(directions)), directions, strict=True)]
        if len(args) > 1
        else [np.sum(md.hvp(number, args, tuple(directions)) * directions[0])]
    )

    def along(x):
        found = md.grad(number, argnums=places)(*x)
        return sum(np.sum(slope * d) for slope, d in zip(found, directions, strict=True))

    assert sum(twice) == pytest.approx((along(moved(h)) - along(moved(-h))) / (2.0 * h), rel=1e-5, abs=1e-6)
