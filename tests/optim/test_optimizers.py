"""Every optimizer of the registry, asked the same questions. That each follows PyTorch or Optax: tests/oracles."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from optimizer_questions import BY_OPTAX, BY_TORCH, gradient

import madaline as md
from madaline.errors import ConfigError, DuplicateNameError, UnknownNameError
from madaline.optim.adam import Adam, AdamW
from madaline.optim.moments import AdaptiveMoments
from madaline.optim.optimizer import OPTIMIZERS, Optimizer, as_optimizer, bias_correction
from madaline.optim.rprop import Rprop
from madaline.optim.sgd import SGD

OWN = as_optimizer(lambda w, g, v, *, t, lr: (w - lr * (0.5 * v + g), 0.5 * v + g), learning_rate=0.02)
VARYING = AdaptiveMoments(0.01, gamma=lambda t: 2.0 / (t + 1.0), lam=lambda t: 1.0 / t)
RULES = {
    **{name: kind() for name, kind in OPTIMIZERS.items()},
    **{name: rule for name, (rule, _, _) in (BY_TORCH | BY_OPTAX).items()},
    "own rule": OWN,
    "varying": VARYING,
    "varying momentum": SGD(0.02, momentum=lambda t: t / (t + 3.0), nesterov=True),
}
every_rule = pytest.mark.parametrize("rule", [pytest.param(rule, id=name) for name, rule in RULES.items()])
every_kind = pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.name) for kind in OPTIMIZERS])
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def run(rule, w, n_steps, *, step=None, first=1, slots=None, **options):
    """Some steps on the bumpy valley of the oracles, in the type of ``w``."""
    step = rule.step if step is None else step
    slots = rule.state(w) if slots is None else slots
    for t in range(first, first + n_steps):
        w, slots = step(w, gradient(w, t).astype(w.dtype), slots, t=t, **options)
    return w, slots


@pytest.fixture
def w(rng):
    return rng.normal(size=12)


KNOWN = (
    *("adadelta", "adagrad", "adam", "adamax", "adamw", "adaptive_moments"),
    *("amsgrad", "lion", "nadam", "rmsprop", "rprop", "sgd"),
)


def test_the_names_are_those_of_the_lectures_and_of_other_libraries():  # A12, E9
    assert set(KNOWN) <= set(OPTIMIZERS.names())


@pytest.mark.parametrize("name", KNOWN)
def test_an_optimizer_that_other_libraries_have_is_compared_with_theirs(name):
    asked = {type(rule) for rule, _, _ in (BY_TORCH | BY_OPTAX).values()}
    assert OPTIMIZERS[name] in asked or name == "adaptive_moments"  # which is compared with those below


@every_rule
@dtypes
def test_the_traced_update_is_the_numpy_update(rule, dtype, w, executor):
    """The same rule, run natively, for forty steps with masks."""
    step = md.compile(
        lambda w, g, slots, t, decay, rate: rule.step(
            w, g, slots, t=t, lr=0.7 * rule.learning_rate, decay=decay, rate=rate
        )
    )
    masks = {"decay": (np.arange(12) % 2).astype(dtype), "rate": np.linspace(0, 2, 12).astype(dtype)}
    start = w.astype(dtype)
    native, slots = run(
        rule, start, 40, step=lambda w, g, slots, t, **masks: step(w, g, slots, float(t), **masks), **masks
    )
    by_numpy, numpy_slots = run(rule, start, 40, lr=0.7 * rule.learning_rate, **masks)
    tolerance = 1e-12 if dtype == np.float64 else 2e-4
    for found, expected in zip((native, *slots), (by_numpy, *numpy_slots), strict=True):
        assert np.asarray(found).dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@every_rule
def test_one_step_in_float32_is_right_to_the_last_digits(rule, w):
    """The first steps show what a bias correction loses."""
    step = md.compile(lambda w, g, slots, t: rule.step(w, g, slots, t=t))
    for t in (1, 2, 3, 500):
        g = gradient(w, t).astype(np.float32)
        slots = (
            [np.full_like(slot, 0.25 + 0.125 * i) for i, slot in enumerate(rule.state(w))] if t > 3 else rule.state(w)
        )
        exact, _ = rule.step(w.astype(np.float32).astype(float), g.astype(float), slots, t=t)
        found, _ = step(w.astype(np.float32), g, tuple(slot.astype(np.float32) for slot in slots), float(t))
        moved = np.abs(exact - w).max()
        np.testing.assert_allclose(found, exact, rtol=2e-7, atol=3e-6 * moved)


@every_rule
def test_float32_stays_float32_whatever_numbers_come_with_it(rule, w):
    start = w.astype(np.float32)
    found, slots = rule.step(start, start, rule.state(start), t=np.int64(3), lr=np.float64(0.1))
    assert {value.dtype for value in (found, *slots)} == {np.dtype(np.float32)}


@every_rule
def test_steps_change_no_array_they_are_given(rule, w):
    before, slots = w.copy(), rule.state(w)
    copies = [slot.copy() for slot in slots]
    rule.step(w, np.ones_like(w), slots, t=1)
    np.testing.assert_array_equal(w, before)
    for slot, copy in zip(slots, copies, strict=True):
        np.testing.assert_array_equal(slot, copy)


@every_rule
def test_a_frozen_parameter_keeps_its_bits_and_the_others_move_as_without_it(rule, w):
    rate = np.ones(12)
    rate[[2, 5]] = 0.0
    rule = replace(rule, weight_decay=0.1)
    g = [np.cos(t + np.arange(12.0)) for t in range(10)]
    found, free = (w, w)
    slots, free_slots = rule.state(w), rule.state(w)
    for t in range(10):
        found, slots = rule.step(found, g[t], slots, t=t + 1, rate=rate)
        free, free_slots = rule.step(free, g[t], free_slots, t=t + 1)
    np.testing.assert_array_equal(found[[2, 5]], w[[2, 5]])
    np.testing.assert_array_equal(found[rate > 0], free[rate > 0])
    assert (found[rate > 0] != w[rate > 0]).any()


@every_rule
def test_without_decay_a_zero_gradient_at_the_start_moves_nothing(rule, w):
    rule = replace(rule, weight_decay=0.0)
    if isinstance(rule, AdaptiveMoments) or getattr(rule, "eps", 1.0) > 0:
        found, _ = rule.step(w, np.zeros_like(w), rule.state(w), t=1)
        np.testing.assert_array_equal(found, w)


@every_rule
def test_every_rule_goes_down_a_slope(rule, w):
    g = np.sign(w) * (1.0 + w * w)
    found, _ = rule.step(w, g, rule.state(w), t=1, lr=1e-3)
    assert np.sum((found - w) * g) < 0


@every_rule
def test_a_run_in_two_parts_is_the_run_in_one(rule, w):
    whole, _ = run(rule, w, 20)
    half, slots = run(rule, w, 10)
    again, _ = run(rule, half, 10, first=11, slots=slots)
    np.testing.assert_array_equal(again, whole)


# Weight decay and rates of groups


def test_coupled_decay_is_the_gradient_of_half_the_square(w):
    g = np.cos(w)
    with_decay, _ = SGD(0.1, weight_decay=0.3).step(w, g, (), t=1)
    by_gradient, _ = SGD(0.1).step(w, g + md.grad(lambda w: 0.5 * 0.3 * np.sum(w**2))(w), (), t=1)
    np.testing.assert_allclose(with_decay, by_gradient, rtol=1e-14)


def test_decoupled_decay_shrinks_by_the_rate_and_is_none_of_adams_moments(w):
    g = np.cos(w)
    plain, slots = Adam(0.1).step(w, g, Adam().state(w), t=1)
    decayed, decayed_slots = AdamW(0.1, weight_decay=0.3).step(w, g, AdamW().state(w), t=1)
    np.testing.assert_allclose(decayed, plain - 0.1 * 0.3 * w, rtol=1e-14)
    np.testing.assert_array_equal(decayed_slots, slots)
    _, coupled_slots = Adam(0.1, weight_decay=0.3).step(w, g, Adam().state(w), t=1)
    assert not np.array_equal(coupled_slots, slots)


@pytest.mark.parametrize("decoupled", [False, True])
def test_the_decay_mask_spares_biases(decoupled, w):
    mask = (np.arange(12) < 8).astype(float)
    rule = SGD(0.1, weight_decay=0.3, decoupled=decoupled)
    found, _ = rule.step(w, np.zeros(12), (), t=1, decay=mask)
    np.testing.assert_allclose(found[:8], 0.97 * w[:8], rtol=1e-14)
    np.testing.assert_array_equal(found[8:], w[8:])


def test_rates_of_groups_multiply_the_scheduled_rate(w):
    g = np.cos(w)
    found, _ = SGD(5.0).step(w, g, (), t=1, lr=0.2, rate=np.arange(12.0))
    np.testing.assert_allclose(found, w - 0.2 * np.arange(12.0) * g, rtol=1e-14)


def test_a_schedule_scales_rprops_steps(w):
    g = np.cos(w)
    found, _ = Rprop(0.1).step(w, g, Rprop(0.1).state(w), t=1, lr=0.05)
    np.testing.assert_allclose(np.abs(found - w), 0.05, rtol=1e-12)


# Descriptions


@every_kind
def test_descriptions_survive_json(kind):
    rule = kind(0.123, weight_decay=0.5)
    again = Optimizer.from_dict(json.loads(json.dumps(rule.to_dict())))
    assert again == rule
    assert type(again) is kind
    assert hash(again) == hash(rule)


@every_kind
def test_the_rate_comes_first_and_the_rest_by_name(kind):
    assert kind(0.5).learning_rate == 0.5
    with pytest.raises(TypeError):
        kind(0.5, 0.9)
    with pytest.raises(FrozenInstanceError):
        kind().learning_rate = 1.0


def test_all_wrong_parameters_are_reported_at_once():
    message = r"Adam: learning_rate=-1 must be a number in \[0, inf\); beta1=1.5 must be a number in \[0, 1\)\."
    with pytest.raises(ConfigError, match=message):
        Adam(-1, beta1=1.5)
    with pytest.raises(ConfigError, match="learning_rate='fast'"):
        Adam("fast")
    with pytest.raises(ConfigError, match="learning_rate=nan"):
        Adam(float("nan"))


def test_nesterov_without_momentum_is_refused():
    with pytest.raises(ConfigError, match=r"nesterov=True needs momentum above 0 and dampening=0; momentum=0\.0"):
        SGD(0.1, nesterov=True)


def test_optimizers_are_found_by_name():
    assert as_optimizer("adamw", learning_rate=0.5) == AdamW(0.5)
    assert as_optimizer(AdamW) == AdamW()
    assert as_optimizer({"name": "adam", "learning_rate": 0.5}) == Adam(0.5)
    assert as_optimizer(rule := Adam()) is rule
    with pytest.raises(UnknownNameError, match=r"optimizer='Adam' is not a known optimizer. Did you mean 'adam'\?"):
        as_optimizer("Adam")
    with pytest.raises(ConfigError, match="learning_rate cannot be given together with Adam"):
        as_optimizer(Adam(), learning_rate=1.0)
    with pytest.raises(ConfigError, match=r"optimizer=3 must be a name, an object .* Known: adadelta, "):
        as_optimizer(3)
    with pytest.raises(ConfigError, match="Adam has no parameter momentum"):
        Optimizer.from_dict({"name": "adam", "momentum": 0.9})


def test_a_rule_of_ones_own_takes_three_lines(w):
    class SignDescent(Optimizer):
        def update(self, w, g, *, t, lr):
            return w - lr * np.sign(g)

    found, slots = SignDescent(0.5).step(w, w, (), t=1)
    np.testing.assert_array_equal(found, w - 0.5 * np.sign(w))
    assert slots == ()
    assert "signdescent" not in OPTIMIZERS
    with pytest.raises(ConfigError, match="SignDescent has no name"):
        SignDescent().to_dict()


def test_a_function_is_a_rule_whose_slots_are_its_arguments(w):
    assert OWN.slots == ("v",)
    found, _ = run(OWN, w, 30)
    expected, _ = run(SGD(0.02, momentum=0.5), w, 30)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_rule_that_loses_a_slot_is_told_so(w):
    rule = as_optimizer(lambda w, g, v, *, t, lr: w - lr * g)
    with pytest.raises(
        ConfigError, match=r"returned 0 slots instead of 1. It must return \(w, \*slots\) with the slots \('v',\)"
    ):
        rule.step(w, w, rule.state(w), t=1)


def test_a_name_is_given_once():
    with pytest.raises(DuplicateNameError):

        class Other(Optimizer):
            name = "adam"


# A12: coefficients that vary with t


def test_the_bias_correction_is_one_minus_the_power_and_keeps_its_digits_in_float32():
    for beta in (0.0, 0.5, 0.9, 0.999):
        for t in (1, 2, 10, 1000):
            assert bias_correction(beta, t) == pytest.approx(1 - beta**t, rel=1e-12)
            single = md.compile(lambda x, t, beta=beta: x * bias_correction(beta, t))(np.ones(1, np.float32), float(t))
            assert single[0] == pytest.approx(1 - beta**t, rel=3e-7)


def test_an_epsilon_that_varies_gives_the_other_form_of_adam(w):
    """Kingma & Ba 2015, end of section 2: the corrections in the rate, epsilon beside the uncorrected root."""
    rule = Adam(0.03, eps=lambda t: 1e-2 / np.sqrt(1 - 0.999**t))
    found, _ = run(rule, w, 20)
    expected, m, v = w, np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 21):
        g = gradient(expected, t)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        expected = expected - 0.03 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-2)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_constant_coefficients_give_adam(w):
    found, _ = run(AdaptiveMoments(0.03, gamma=0.2, lam=0.05), w, 50)
    expected, _ = run(Adam(0.03, beta1=0.8, beta2=0.95), w, 50)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_mean_of_all_squares_gives_adagrad_at_a_falling_rate(w):
    """lambda_t = 1/t averages all squared gradients alike: Adagrad's sum, over t."""
    means, state = w, AdaptiveMoments(0.03, gamma=1.0, lam=lambda t: 1.0 / t).state(w)
    rule, adagrad = AdaptiveMoments(0.03, gamma=1.0, lam=lambda t: 1.0 / t, eps=0.0), OPTIMIZERS["adagrad"](eps=0.0)
    sums, slots = w, adagrad.state(w)
    for t in range(1, 50):
        means, state = rule.step(means, gradient(means, t), state, t=t, lr=0.03 / np.sqrt(t))
        sums, slots = adagrad.step(sums, gradient(sums, t), slots, t=t, lr=0.03)
    np.testing.assert_allclose(means, sums, rtol=1e-11)


def test_the_general_bias_correction_is_the_lectures_sum(w):
    """And it retains a constant gradient, for which it was made."""
    lam = {t: 1.0 / (t + 1.5) for t in range(1, 30)}
    rule = AdaptiveMoments(1.0, gamma=lambda t: 0.5 / t, lam=lambda t: 1.0 / (t + 1.5), eps=0.0)
    slots = rule.state(w)
    for t in range(1, 30):
        before = w
        w, slots = rule.step(w, np.full(12, -3.0), slots, t=t)
        by_sum = sum(lam[k] * np.prod([1 - lam[l] for l in range(k + 1, t + 1)]) for k in range(1, t + 1))
        assert slots[3] == pytest.approx(by_sum, rel=1e-12)
        np.testing.assert_allclose(w - before, 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    "wrong", [lambda: Adam(beta1=lambda t: 0.9), lambda: SGD(lambda t: 0.1 / t)], ids=["beta", "rate"]
)
def test_functions_are_refused_where_only_numbers_are_known(wrong):
    with pytest.raises(ConfigError, match=r"(beta1|learning_rate)=<function .* must be a number in \[0, "):
        wrong()
    SGD(0.1, momentum=lambda t: t / (t + 3))
