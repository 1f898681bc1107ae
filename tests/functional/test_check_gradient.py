"""check_gradient: right passes, wrong fails, and the report says what and where. Lecture row B7."""

from __future__ import annotations

import re

import numpy as np
import pytest

import madaline as md
from madaline.errors import DtypeError, GradientError, ShapeError, TraceError
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise


def doubled(x, factor=2.0):
    """The value is x^2, but the derivative is said to be factor * x."""
    return x**2 + (factor - 2.0) * md.functional.stop_gradient(x) * (x - md.functional.stop_gradient(x))


def test_a_right_gradient_passes(rng):
    report = md.check_gradient(lambda x: np.sum(np.exp(np.sin(x))), rng.normal(size=(3, 4)))
    assert report
    assert report.passed
    assert report.error < 1e-8
    assert len(report.probes) == 12
    assert not report.failures
    assert not report.kinks


@pytest.mark.parametrize("factor", [0.0, -2.0, 2.0 + 1e-4, 2.0 + 1e-5, np.pi])
def test_a_wrong_gradient_fails(factor):
    report = md.check_gradient(lambda x: doubled(x, factor), 1.5)
    assert not report
    assert report.error == pytest.approx(abs(factor - 2) / max(abs(factor), 2), rel=1e-3)
    assert report.worst.analytic == pytest.approx(factor * 1.5, abs=1e-12)
    assert report.worst.numeric == pytest.approx(3.0)


def test_the_worst_element_is_named_as_one_would_type_it(rng):
    params = {"W1": rng.normal(size=(4, 3)), "b": [rng.normal(size=3), 0.5]}

    def f(params):
        W = params["W1"]
        wrong = 0.3 * (W[3, 2] - md.functional.stop_gradient(W[3, 2]))
        return np.sum(W**2) + np.sum(params["b"][0] ** 2) + params["b"][1] ** 2 + wrong

    report = md.check_gradient(f, params)
    (failure,) = report.failures
    assert failure.where == report.worst.where == "params['W1'][3, 2]"
    assert [argument.name for argument in report.arguments] == ["params['W1']", "params['b'][0]", "params['b'][1]"]
    assert [argument.size for argument in report.arguments] == [12, 3, 1]
    assert report.arguments[2].worst.where == "params['b'][1]"


def test_the_report_is_a_readable_table():
    report = md.check_gradient(lambda w: np.sum(w**2), np.array([1.0, 2.0]))
    lines = str(report).splitlines()
    assert re.fullmatch(r"Gradient check passed: largest relative error \S+, tolerance 1.0e-06\.", lines[0])
    assert lines[1].split() == ["argument", "shape", "checked", "error", "worst", "at", "given", "differences"]
    assert lines[2].split()[:4] == ["w", "(2,)", "all", "2"]
    assert len(lines) == 3
    assert report._repr_html_() == f"<pre>{report}</pre>"


def test_a_failed_report_lists_what_was_given_and_what_differences_say():
    report = md.check_gradient(lambda x: np.sum(doubled(x, 5.0)), np.arange(1.0, 9.0))
    text = str(report)
    assert text.startswith("Gradient check FAILED: largest relative error 6.0e-01")
    assert "8 wrong:\n  x[0]: 5 was given, differences say 2.\n" in text
    assert text.endswith("  ... and 3 more")


def test_raise_error_raises_with_the_report():
    with pytest.raises(GradientError, match=re.escape("1 wrong:\n  x: 5 was given, differences say 2.")):
        md.check_gradient(lambda x: doubled(x, 5.0), 1.0, raise_error=True)
    assert md.check_gradient(lambda x: x, 1.0, raise_error=True)


@pytest.mark.parametrize("argnums", [1, (0, 1), (1, 0), -1])
def test_argnums_choose_what_is_checked(argnums):
    report = md.check_gradient(lambda a, b: a * b + doubled(b, 3.0), 2.0, 3.0, argnums=argnums)
    assert not report
    assert report.worst.where == "b"
    names = {1: ["b"], (0, 1): ["a", "b"], (1, 0): ["b", "a"], -1: ["b"]}[argnums]
    assert [argument.name for argument in report.arguments] == names
    assert md.check_gradient(lambda a, b: a * b + doubled(b, 3.0), 2.0, 3.0, argnums=0)


def test_results_of_any_shape_are_contracted_with_fixed_weights(rng):
    x = rng.normal(size=(3, 2))
    assert md.check_gradient(np.tanh, x)
    assert md.check_gradient(lambda x: {"a": x**2, "count": 3, "b": [np.sum(x), x[0]]}, x)
    assert not md.check_gradient(lambda x: doubled(x, 3.0), x)
    # An error in one output that cancels in their sum is found, since the weights differ.
    assert not md.check_gradient(lambda x: np.stack([doubled(x, 3.0), doubled(x, 1.0)]), 1.0)


# Precision


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_all_types_are_checked_in_float64(dtype, rng):
    x = rng.normal(size=5).astype(dtype)
    seen = []

    def f(x):
        seen.append(x.dtype)
        return np.sum(np.sin(x) ** 2)

    report = md.check_gradient(f, x)
    assert report.error < 1e-8
    assert set(seen) == {np.dtype(np.float64)}


@pytest.mark.parametrize("scale", [1e-20, 1e-8, 1.0, 1e8, 1e20])
def test_the_verdict_does_not_depend_on_the_scale_of_the_function(scale, rng):
    x = rng.normal(size=4)
    assert md.check_gradient(lambda x: scale * np.sum(np.sin(x)), x)
    assert not md.check_gradient(lambda x: scale * np.sum(doubled(x, 2.001)), x)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e6])
def test_the_step_follows_the_size_of_the_argument(size):
    x = size * np.array([1.0, -2.0, 3.0])
    assert md.check_gradient(lambda x: np.sum(np.log(x**2)), x)
    assert md.check_gradient(lambda x: np.sum(x**3), x)


def test_zero_gradients_pass(rng):
    x = rng.normal(size=6)
    for zero in (
        lambda x: 3.0,
        lambda x: np.sum(x) * 0.0 + 7.0,
        lambda x: np.sum(x - x.mean()),  # zero but for rounding
        lambda x: np.sum(np.sin(x) ** 2 + np.cos(x) ** 2),
        lambda x: np.sum((x / np.linalg.norm(x)) ** 2),
    ):
        assert md.check_gradient(zero, x, raise_error=True)


def test_small_elements_beside_large_ones_pass():
    assert md.check_gradient(lambda x: np.sum(x**4), np.array([1e-4, 1e-2, 1.0, 1e2]), raise_error=True)


def test_steep_functions_are_looked_at_with_smaller_steps():
    assert md.check_gradient(lambda x: np.sum(np.log(x)), np.array([1e-4, 1e-3, 1.0]), raise_error=True)
    assert md.check_gradient(lambda x: np.sum(np.sin(1000 * x)), np.array([0.1, 0.7]), raise_error=True)


def test_a_function_that_rounds_to_float32_is_checked_coarsely_and_said_so(rng):
    x = rng.normal(size=4)
    report = md.check_gradient(lambda x: np.tanh(x).astype(np.float32), x)
    assert report
    assert report.tolerance == 1e-2
    assert "Remark: the function itself computes in low precision, so differences are coarse." in str(report)
    assert not md.check_gradient(lambda x: doubled(x, 3.0).astype(np.float32), x)


def test_a_gradient_too_small_to_see_is_remarked():
    report = md.check_gradient(lambda x: 1e13 + np.tanh(x), 0.3)
    assert "differences cannot tell derivatives below" in str(report)


def test_the_tolerance_can_be_chosen():
    assert not md.check_gradient(lambda x: doubled(x, 2.001), 1.0)
    assert md.check_gradient(lambda x: doubled(x, 2.001), 1.0, tolerance=1e-3)


# Kinks


@pytest.mark.parametrize(
    ("f", "x", "slopes"),
    [
        (md.functional.relu, 0.0, (0.0, 1.0)),
        (lambda x: np.where(x > 0, 2 * x, x), 0.0, (1.0, 2.0)),
        (lambda x: np.abs(x - 3.0) + 2 * md.functional.relu(x - 3.0), 3.0, (-1.0, 3.0)),
        (lambda x: md.functional.relu(x) + 5 * x, 1e-11, (5.0, 6.0)),
    ],
)
def test_a_kink_is_told_apart_with_the_slopes_of_both_sides(f, x, slopes):
    report = md.check_gradient(f, x)
    assert report
    (kink,) = report.kinks
    assert kink.kind == "kink"
    assert kink.slopes == pytest.approx(slopes, abs=0.02)
    text = str(report)
    assert "1 at a kink, not counted:\n  " in text
    assert "on the left and" in text


def test_kinks_fail_when_asked_to():
    report = md.check_gradient(md.functional.relu, 0.0, count_kinks=True)
    assert not report
    assert "1 at a kink:\n" in str(report)
    with pytest.raises(GradientError, match="at a kink"):
        md.check_gradient(md.functional.relu, 0.0, count_kinks=True, raise_error=True)


def test_a_kink_nearby_is_avoided_by_a_smaller_step():
    report = md.check_gradient(lambda x: np.sum(md.functional.relu(x)), np.array([1e-7, -1e-7, 1e-6]))
    assert report
    assert not report.kinks


def test_a_kink_whose_centred_difference_agrees_is_no_matter():
    report = md.check_gradient(np.abs, 0.0)
    assert report
    assert not report.kinks


def test_a_kink_does_not_excuse_any_gradient():
    """The slopes of relu at 0 are 0 and 1; a derivative of 9 has another reason."""
    report = md.check_gradient(lambda x: md.functional.relu(x) + 9.0 * (x - md.functional.stop_gradient(x)), 0.0)
    assert not report
    assert [failure.where for failure in report.failures] == ["x"]


def test_a_wrong_gradient_of_a_smooth_function_is_no_kink():
    assert not md.check_gradient(lambda x: doubled(x, 2.00001), 1.0).kinks
    assert not md.check_gradient(
        lambda x: md.functional.relu(x) - md.functional.relu(-x), 0.0
    )  # the identity; but 0 comes out here


def test_a_jump_is_told_apart():
    report = md.check_gradient(lambda x: np.where(x > 0, 1.0, 0.0) + x, 0.0)
    assert report
    (jump,) = report.kinks
    assert jump.kind == "jump"
    assert "the function seems to jump here; 1 was given." in str(report)


def test_kinks_stand_beside_errors():
    report = md.check_gradient(lambda x: np.sum(md.functional.relu(x)) + doubled(x[1], 3.0), np.array([0.0, 1.0]))
    assert not report
    assert [kink.where for kink in report.kinks] == ["x[0]"]
    assert [failure.where for failure in report.failures] == ["x[1]"]


# Large arguments


def test_large_arguments_are_sampled_and_the_report_says_so(rng):
    W = rng.normal(size=(200, 50))
    calls = []

    def f(W, b):
        calls.append(1)
        return np.sum(np.tanh(W)) + b

    report = md.check_gradient(f, W, 1.0, argnums=(0, 1), max_elements=20)
    assert report
    assert len(calls) < 100
    first, second = report.arguments
    assert (first.n_elements, first.n_directions, first.size) == (20, 5, 10_000)
    assert (second.n_elements, second.n_directions) == (1, 0)
    assert "20 of 10000, 5 directions" in str(report)
    assert "Remark: W: large, so elements and directions were drawn at random." in str(report)


def test_directions_find_an_error_in_an_element_that_was_not_drawn(rng):
    W = rng.normal(size=1000)
    report = md.check_gradient(lambda W: np.sum(W**2) + doubled(W[537], 7.0), W, max_elements=5)
    assert not report
    assert report.worst.where.startswith("W along direction ")


def test_the_seed_chooses_the_sample(rng):
    W = rng.normal(size=300)

    def drawn(seed):
        return [probe.where for probe in md.check_gradient(np.sum, W, max_elements=5, seed=seed).probes]

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)


def test_directions_alone_can_be_asked_for(rng):
    report = md.check_gradient(lambda x: np.sum(np.sin(x)), rng.normal(size=4), max_elements=0)
    assert report
    assert len(report.probes) == 5


@pytest.mark.parametrize("x", [np.zeros(0), np.zeros((0, 3)), {}, []])
def test_nothing_to_check_passes(x):
    report = md.check_gradient(lambda x: 2.0, x)
    assert report
    assert report.error == 0.0


# What is not finite, or not a function


def test_a_value_that_is_not_finite_is_reported():
    report = md.check_gradient(lambda x: np.sum(np.log(x)), np.array([1.0, -1.0]))
    assert not report
    assert "Problem: the function gives nan at this point." in str(report)


def test_a_gradient_that_is_not_finite_is_reported_where_it_stands():
    report = md.check_gradient(lambda x: np.sum(np.sqrt(x)), np.array([4.0, 0.0]))
    assert not report
    assert "1 wrong:\n  x[1]: the derivative given is inf." in str(report)


def test_the_edge_of_the_domain_is_reported():
    report = md.check_gradient(lambda x: np.sum(np.log(x)), np.array([1e-12, 1.0]))
    assert not report
    assert "x[0]: the function is not finite beside this point; move away from the edge of its domain." in str(report)


def test_a_function_that_gives_different_values_is_reported():
    rng = np.random.default_rng(0)
    report = md.check_gradient(lambda x: np.sum(x * rng.normal(size=3)), np.ones(3))
    assert not report
    assert "at the same point. If it draws random numbers, draw them outside or from md.random" in str(report)


def test_a_function_that_is_another_one_when_traced_is_reported():
    report = md.check_gradient(lambda x: x**2 if isinstance(x, np.floating) else x**2 + 1.0, 3.0)
    assert not report
    assert "Problem: traced, the function gives 10; on plain arrays it gives 9." in str(report)


def test_differences_call_the_function_on_plain_arrays(rng):
    kinds = set()

    def f(x):
        kinds.add(type(x))
        return np.sum(x**2)

    md.check_gradient(f, np.ones(2))
    md.check_gradient(md.compile(f), np.ones(2))
    assert np.ndarray in kinds
    assert len(kinds) == 2  # arrays and traced values


def test_integers_are_refused_by_the_usual_text():
    with pytest.raises(DtypeError, match=re.escape("n has type int64, which has no derivative. Pass floats")):
        md.check_gradient(lambda n: n * 1.0, 3)
    with pytest.raises(DtypeError, match=re.escape("p['n'] has type int64")):
        md.check_gradient(lambda p: p["x"], {"x": 1.0, "n": np.arange(2)})
    with pytest.raises(DtypeError, match="The function gives a value of type int64, which has no derivative"):
        md.check_gradient(np.argmax, np.ones(3))


def test_it_cannot_be_used_inside_a_trace():
    with pytest.raises(TraceError, match="check_gradient needs numbers"):
        md.grad(lambda x: x * bool(md.check_gradient(np.sin, 1.0)))(2.0)


def test_a_negative_count_is_refused():
    with pytest.raises(ShapeError, match="max_elements=-1 is negative"):
        md.check_gradient(np.sin, 1.0, max_elements=-1)


SMOOTH = [p for p in PRIMITIVES if isinstance(p, Elementwise) and p.types in ("float", "number")]


@pytest.mark.parametrize("primitive", [p for p in SMOOTH if p.name != "stop_gradient"], ids=lambda p: p.name)
def test_every_elementwise_primitive_passes(primitive):
    for args, params in primitive.samples(np.random.default_rng(1)):
        known = (i for i in range(len(args)) if i not in primitive.without_derivative)
        floats = tuple(i for i in known if args[i].dtype.kind == "f")
        if floats:
            assert md.check_gradient(
                lambda *a, params=params: primitive(*a, **params), *args, argnums=floats, raise_error=True
            )


def test_a_gradient_that_is_zero_up_to_rounding_passes_at_a_minimum():
    """There the value and the gradient are nothing but rounding, and two ways of rounding never agree."""
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])

    def loss(w):
        return np.mean((np.tanh(x @ w["U"]) @ w["v"] - target) ** 2)

    w = {"U": np.array([[1.3, -0.7], [0.4, 0.9]]), "v": np.array([1.7, -2.3])}
    target = np.tanh(x @ w["U"]) @ w["v"] * (1 + 1e-16 * np.array([1.0, -3.0, 2.0, 5.0]))
    target = np.nextafter(target, np.array([1.0, -9.0, 9.0, -9.0]))
    report = md.check_gradient(loss, w)
    assert report, str(report)
