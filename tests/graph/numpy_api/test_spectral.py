"""``np.fft`` on traced values, with complex numbers between real ones."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import TraceError

rng = np.random.default_rng(22)
CUBE = rng.normal(size=(2, 3, 4))
X, V, W = rng.normal(size=(3, 6)), rng.normal(size=8), rng.normal(size=7)
H = np.exp(-1j * np.linspace(0.0, 1.0, 5))


def parts(z):
    return np.real(z), np.imag(z)


EXAMPLES = {
    np.fft.fft: [
        (lambda x: parts(np.fft.fft(x)), V),
        (lambda x: parts(np.fft.fft(x, axis=0)), X),
        (lambda x: parts(np.fft.fft(x, n=4)), W),
        (lambda x: parts(np.fft.fft(x, n=10, norm="ortho")), W),
        (lambda x: np.abs(np.fft.fft(x)), V.astype(np.float32)),
    ],
    np.fft.ifft: [
        (lambda x: parts(np.fft.ifft(np.fft.fft(x) * 2.0)), X),
        (lambda x: parts(np.fft.ifft(x, norm="forward")), W),
    ],
    np.fft.rfft: [
        (lambda x: parts(np.fft.rfft(x)), V),
        (lambda x: np.abs(np.fft.rfft(x)) ** 2, W),
        (lambda x: np.angle(np.fft.rfft(x, n=12)), V),
        (lambda x: np.sum(np.abs(np.fft.rfft(x, axis=0, norm="ortho")) ** 2), X),
    ],
    np.fft.irfft: [
        (lambda x: np.fft.irfft(np.fft.rfft(x)), V),
        (lambda x: np.fft.irfft(np.fft.rfft(x), n=7), W),
        (lambda x: np.fft.irfft(np.fft.rfft(x) * H), V),
        (np.fft.irfft, V),
        (lambda x: np.fft.irfft(np.fft.rfft(x, axis=0), axis=0, n=3), X),
    ],
    np.fft.fft2: [(lambda x: parts(np.fft.fft2(x)), X)],
    np.fft.ifft2: [(lambda x: np.real(np.fft.ifft2(np.fft.fft2(x) * np.fft.fft2(np.ones((3, 6))))), X)],
    np.fft.fftn: [(lambda x: parts(np.fft.fftn(x)), X), (lambda x: parts(np.fft.fftn(x, s=(4, 4), axes=(0, 1))), X)],
    np.fft.ifftn: [(lambda x: parts(np.fft.ifftn(x, axes=(1,))), X)],
    np.fft.rfft2: [(lambda x: parts(np.fft.rfft2(x)), X), (lambda x: parts(np.fft.rfft2(x, s=(4, 5))), X)],
    np.fft.irfft2: [(lambda x: np.fft.irfft2(np.fft.rfft2(x)), X)],
    np.fft.rfftn: [
        (lambda x: parts(np.fft.rfftn(x)), CUBE),
        (lambda x: parts(np.fft.rfftn(x, axes=(2, 0))), CUBE),
        (lambda x: parts(np.fft.rfftn(x, s=(4, 3), norm="ortho", axes=(0, 1))), X),
        (lambda x: np.abs(np.fft.rfftn(x)), V),
    ],
    np.fft.irfftn: [
        (lambda x: np.fft.irfftn(np.fft.rfftn(x)), CUBE),
        (lambda x: np.fft.irfftn(np.fft.rfftn(x, axes=(1, 0)), s=(4, 3), axes=(1, 0)), X),
        (np.fft.irfftn, X),
    ],
    np.fft.fftshift: [(np.fft.fftshift, X), (lambda x: np.fft.fftshift(x, axes=1), X)],
    np.fft.ifftshift: [(np.fft.ifftshift, X), (lambda x: np.fft.ifftshift(x, axes=(0,)), X)],
}


def test_the_value_is_numpys(example, ask):
    ask.value(example)


def test_the_program_gives_numpys_value(example, ask):
    ask.program(example)


def test_the_derivative_agrees_with_central_differences(smooth_example, ask):
    ask.derivative(smooth_example)


def test_the_gradient_can_be_differentiated_again(smooth_example, ask):
    ask.curvature(smooth_example)


def test_every_function_has_an_example(without_example):
    assert without_example("madaline.graph.numpy_api.spectral") == []


ARITHMETIC = [
    lambda x: np.fft.fft(x) + 1.0,
    lambda x: 2.0 - np.fft.fft(x),
    lambda x: np.fft.fft(x) - x,
    lambda x: x * np.fft.fft(x),
    lambda x: (1.0 + 2.0j) * np.fft.fft(x),
    lambda x: np.fft.fft(x) / (3.0 + x**2 + 1j),
    lambda x: 1.0 / (np.fft.fft(x) + 20.0),
    lambda x: np.fft.fft(x) ** 3,
    lambda x: np.conj(np.fft.fft(x)) * np.fft.fft(x),
    lambda x: np.fft.fft(x).conj()[1:4],
    lambda x: np.exp(1j * x),
    lambda x: np.exp(np.fft.fft(x) / 10.0),
    lambda x: np.log(np.fft.fft(x) + 20.0),
    lambda x: np.sum(np.fft.fft(x)) + np.fft.fft(x).mean(),
    lambda x: np.concatenate([np.fft.rfft(x), np.ones(2)]),
    lambda x: np.roll(np.fft.fft(x), 1).reshape(2, 4).T,
    lambda x: np.ones((2, 8)) @ np.fft.fft(x),
    lambda x: -np.fft.fft(x),
]


@pytest.mark.parametrize("f", ARITHMETIC)
def test_complex_numbers_are_numpys_between_real_ones(f):
    def squared(x):
        z = f(x)
        return np.sum(np.abs(z) ** 2 + np.real(z) - 2.0 * np.imag(z))

    value, slope = md.value_and_grad(squared)(V)
    assert value == pytest.approx(squared(V), rel=1e-12)
    assert md.check_gradient(squared, V), str(md.check_gradient(squared, V))
    assert np.isfinite(slope).all()


def test_frequencies_can_be_set_to_zero_in_place():
    def low_pass(x):
        spectrum = np.fft.rfft(x)
        spectrum[3:] = 0.0
        return np.fft.irfft(spectrum)

    np.testing.assert_allclose(md.jvp(low_pass, (V,), (V,))[0], low_pass(V), atol=1e-12)
    assert md.check_gradient(low_pass, V)


def test_a_complex_result_is_refused_with_the_way_out():
    with pytest.raises(TraceError, match=r"Take x\.real, x\.imag"):
        md.grad(np.fft.fft)(V)
    with pytest.raises(TraceError, match=r"np\.sort is not supported on traced complex numbers"):
        md.grad(lambda x: np.sort(np.fft.fft(x)))(V)


@pytest.mark.parametrize("n", [6, 7, 12])
def test_the_real_entries_of_a_half_spectrum_are_exactly_real(n):
    """With a rounding error for an imaginary part, the phase of a negative number would be -pi."""
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=n)
        np.testing.assert_allclose(md.compile(lambda x: np.angle(np.fft.rfft(x)))(x), np.angle(np.fft.rfft(x)))
