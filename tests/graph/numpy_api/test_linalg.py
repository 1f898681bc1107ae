"""``np.linalg`` on traced values: systems, factorisations, norms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import madaline as md
from madaline.errors import ShapeError, TraceError

rng = np.random.default_rng(21)


def normal(*shape):
    return rng.normal(size=shape)


def regular(*shape):
    return normal(*shape) + 3.0 * np.eye(shape[-1])


def positive(*shape):
    x = regular(*shape)
    return x @ np.swapaxes(x, -1, -2)


A, S, TALL, WIDE = regular(3, 3), positive(3, 3), normal(4, 2), normal(2, 4)
BATCH, SPD = regular(2, 3, 3), positive(2, 3, 3)
SINGLE = regular(3, 3).astype(np.float32)
INTEGERS = np.array([[3, 1], [0, 2]])
V = normal(3)

EXAMPLES = {
    np.linalg.solve: [
        (np.linalg.solve, A, V),
        (np.linalg.solve, A, normal(3, 2)),
        (np.linalg.solve, BATCH, normal(2, 3, 1)),
        (np.linalg.solve, BATCH, normal(3, 4)),
        (np.linalg.solve, A, normal(5, 3, 2)),
        (np.linalg.solve, SINGLE, normal(3).astype(np.float32)),
        (lambda b: np.linalg.solve(INTEGERS, b), normal(2)),
        (np.linalg.solve, INTEGERS, np.array([1, 2])),
    ],
    np.linalg.inv: [(np.linalg.inv, A), (np.linalg.inv, BATCH), (np.linalg.inv, SINGLE), (np.linalg.inv, INTEGERS)],
    np.linalg.det: [(np.linalg.det, A), (np.linalg.det, BATCH), (np.linalg.det, regular(1, 1))],
    np.linalg.slogdet: [
        (np.linalg.slogdet, A),
        (np.linalg.slogdet, BATCH),
        (lambda a: np.linalg.slogdet(-a).logabsdet, S),
        (lambda a: np.linalg.slogdet(a)[0] * np.linalg.slogdet(a)[1], A[[1, 0, 2]]),
    ],
    np.linalg.cholesky: [
        (np.linalg.cholesky, S),
        (np.linalg.cholesky, SPD),
        (np.linalg.cholesky, positive(1, 1)),
        (lambda a: np.linalg.cholesky(a, upper=True), S),
        (np.linalg.cholesky, positive(3, 3).astype(np.float32)),
    ],
    np.linalg.eigh: [
        (np.linalg.eigh, S),
        (np.linalg.eigh, SPD),
        (lambda a: np.linalg.eigh(a, UPLO="U"), A),
        (lambda a: np.linalg.eigh(a).eigenvectors[:, 0], S),
    ],
    np.linalg.eigvalsh: [(np.linalg.eigvalsh, S), (np.linalg.eigvalsh, SPD), (lambda a: np.linalg.eigvalsh(a, "U"), A)],
    np.linalg.svd: [
        (np.linalg.svd, A),
        *[(lambda a: np.linalg.svd(a, full_matrices=False), x) for x in (TALL, WIDE, BATCH, SINGLE)],
        (lambda a: np.linalg.svd(a, compute_uv=False), TALL),
        (lambda a: np.linalg.svd(a, full_matrices=False)[2], TALL),
    ],
    np.linalg.svdvals: [(np.linalg.svdvals, TALL), (np.linalg.svdvals, BATCH)],
    np.linalg.qr: [
        *[(np.linalg.qr, x) for x in (A, TALL, WIDE, BATCH)],
        (lambda a: np.linalg.qr(a, mode="r"), TALL),
        (lambda a: np.linalg.qr(a, mode="complete"), A),
    ],
    np.linalg.pinv: [
        *[(np.linalg.pinv, x) for x in (A, TALL, WIDE, BATCH)],
        (lambda a: np.linalg.pinv(a, rcond=1e-10), TALL),
    ],
    np.linalg.lstsq: [
        (lambda a, b: np.linalg.lstsq(a, b, rcond=None), TALL, normal(4)),
        (lambda a, b: np.linalg.lstsq(a, b, rcond=None), TALL, normal(4, 3)),
        (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], WIDE, normal(2)),
        (lambda a, b: np.linalg.lstsq(a, b)[0], A, V),
    ],
    np.linalg.matrix_rank: [(np.linalg.matrix_rank, A), (np.linalg.matrix_rank, np.ones((3, 3)))],
    np.linalg.matrix_power: [
        *[(lambda a, n=n: np.linalg.matrix_power(a, n), A) for n in (0, 1, 2, 3, 5, -1, -2)],
        (lambda a: np.linalg.matrix_power(a, 3), BATCH),
    ],
    np.linalg.multi_dot: [(lambda a, b: np.linalg.multi_dot([a, b, a]), A, S)],
    np.linalg.trace: [(np.linalg.trace, BATCH), (lambda a: np.linalg.trace(a, offset=1), A)],
    np.linalg.tensorsolve: [(np.linalg.tensorsolve, regular(4, 4).reshape(2, 2, 4), normal(2, 2))],
    np.linalg.tensorinv: [(lambda a: np.linalg.tensorinv(a, ind=1), regular(4, 4).reshape(4, 2, 2))],
    np.linalg.norm: [
        *[(lambda x, order=order: np.linalg.norm(x, order), TALL) for order in (2, -2, "nuc")],
        (lambda x: np.linalg.norm(x, 2, axis=(1, 2)), BATCH),
        (lambda x: np.linalg.norm(x, "nuc", axis=(0, 2), keepdims=True), normal(2, 3, 4)),
    ],
    np.linalg.matrix_norm: [
        (lambda x: np.linalg.matrix_norm(x, ord=2), BATCH),
        (lambda x: np.linalg.matrix_norm(x, ord="nuc", keepdims=True), BATCH),
    ],
    np.linalg.vector_norm: [(lambda x: np.linalg.vector_norm(x, axis=(0, 1)), A)],
    np.linalg.cond: [*[(lambda x, p=p: np.linalg.cond(x, p), A) for p in (None, 2, -2, 1, "fro", np.inf)]],
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
    assert without_example("madaline.graph.numpy_api.linalg", "madaline.graph.numpy_api.norms") == []


@pytest.mark.parametrize(("lower", "unit", "trans"), [(True, False, 0), (False, False, "T"), (True, True, 1)])
@pytest.mark.parametrize("b", [V, normal(3, 2)], ids=["vector", "matrix"])
def test_triangular_systems_are_solved_as_by_scipy(lower, unit, trans, b):
    def ours(a, b):
        return md.functional.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit)

    expected = scipy.linalg.solve_triangular(A, b, trans=trans, lower=lower, unit_diagonal=unit)
    np.testing.assert_allclose(ours(A, b), expected, rtol=1e-12)
    np.testing.assert_allclose(md.compile(ours)(A, b), expected, rtol=1e-12)
    assert md.check_gradient(ours, A, b, argnums=(0, 1))


def test_the_matrix_exponential_is_scipys():
    np.testing.assert_allclose(md.functional.expm(A / 3.0), scipy.linalg.expm(A / 3.0), rtol=1e-12)
    assert md.check_gradient(md.functional.expm, A / 3.0)
    assert md.check_gradient(md.grad(lambda a: np.sum(np.sin(md.functional.expm(a)))), A / 3.0)
    assert md.check_gradient(md.functional.expm, BATCH / 3.0)


def test_eigenvalues_that_are_repeated_have_a_finite_derivative():
    """The sum of a repeated eigenvalue's copies is smooth; within them eigenvectors count as constant."""
    a = np.diag([2.0, 2.0, 5.0])
    np.testing.assert_allclose(md.grad(lambda a: np.sum(np.linalg.eigvalsh(a)))(a), np.eye(3), atol=1e-14)
    np.testing.assert_allclose(md.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(a), 2.0 * a, atol=1e-13)
    slope = md.grad(lambda a: np.sum(np.linalg.eigh(a)[1] ** 3))(a)
    assert np.isfinite(slope).all()
    np.testing.assert_allclose(md.grad(lambda a: np.linalg.norm(a, "nuc"))(np.eye(3)), np.eye(3), atol=1e-14)
    assert np.isfinite(md.grad(lambda a: np.linalg.norm(a, "nuc"))(np.ones((3, 3)))).all()


def test_only_the_triangle_that_is_read_has_a_derivative():
    slope = md.grad(lambda a: np.sum(np.linalg.cholesky(a)))(S)
    assert not np.triu(slope, 1).any()
    slope = md.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3))(S)
    assert not np.triu(slope, 1).any()
    np.testing.assert_allclose(slope, np.tril(6 * S @ S, -1) + np.diag(np.diag(3 * S @ S)), rtol=1e-10)


def test_the_marginal_likelihood_of_a_gaussian_process():
    """Solve, determinant and Cholesky of one kernel matrix give the same gradient."""
    x, y = np.linspace(0.0, 1.0, 6), normal(6)

    def kernel(p):
        return np.exp(p[0]) * np.exp(-0.5 * ((x[:, None] - x) / np.exp(p[1])) ** 2) + np.exp(p[2]) * np.eye(6)

    def direct(p):
        K = kernel(p)
        return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * np.linalg.slogdet(K)[1]

    def by_cholesky(p):
        L = np.linalg.cholesky(kernel(p))
        alpha = md.functional.solve_triangular(L, y, lower=True)
        return 0.5 * alpha @ alpha + np.sum(np.log(np.diag(L)))

    p = np.array([0.1, -1.0, -2.0])
    np.testing.assert_allclose(md.grad(direct)(p), md.grad(by_cholesky)(p), rtol=1e-9)
    np.testing.assert_allclose(md.hessian(direct)(p), md.hessian(by_cholesky)(p), rtol=1e-7)
    np.testing.assert_allclose(md.compile(md.grad(direct))(p), md.grad(by_cholesky)(p), rtol=1e-9)


@pytest.mark.parametrize("n", [1, 5])
def test_a_batch_of_matrices_of_any_size(n):
    f = md.compile(lambda a: np.linalg.inv(a) + np.linalg.det(a)[:, None, None], rows=[0])
    a = regular(n, 3, 3)
    np.testing.assert_allclose(f(a), np.linalg.inv(a) + np.linalg.det(a)[:, None, None], rtol=1e-10)


def test_what_lapack_refuses_is_its_own_error():
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        md.grad(lambda a: np.sum(np.linalg.cholesky(a)))(-S)
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        md.grad(lambda a: np.sum(np.linalg.inv(a)))(np.ones((2, 2)))


def test_errors_name_shapes_and_the_way_out():
    with pytest.raises(ShapeError, match=r"solve: the shapes are \(3, 3\) and \(4,\); use \(\.\.\., n, n\)"):
        md.grad(lambda a: np.sum(np.linalg.solve(a, np.ones(4))))(A)
    with pytest.raises(ShapeError, match=r"inv needs square matrices .* \(4, 2\)"):
        md.grad(lambda a: np.sum(np.linalg.inv(a)))(TALL)
    with pytest.raises(TraceError, match="Use full_matrices=False"):
        md.grad(lambda a: np.sum(np.linalg.svd(a)[0]))(TALL)
    with pytest.raises(TraceError, match=r"np\.linalg\.eig has no derivative rule .* Use np\.linalg\.eigh"):
        md.grad(lambda a: np.sum(np.linalg.eig(a)[0]))(A)
    with pytest.raises(TraceError, match=r"inv is computed by a library .* cannot be a layer"):
        md.compile(np.linalg.inv).program(A)


def test_ranks_of_a_batch_may_have_limits_of_their_own():
    batch = np.stack([np.diag([3.0, 1.0, 1e-3]), np.diag([2.0, 1e-3, 1e-3])])
    limits = np.array([1e-4, 0.1])
    for options in ({"tol": limits}, {"rtol": limits}, {"tol": 0.5}, {}):
        expected = np.linalg.matrix_rank(batch, **options)
        _, found = md.grad(lambda x, o=options: (np.sum(x), np.linalg.matrix_rank(x, **o)), has_aux=True)(batch)
        np.testing.assert_array_equal(found, expected)
