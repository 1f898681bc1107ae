"""Averages of parameters: closed forms, natively and by NumPy. Against PyTorch's: tests/oracles."""

from __future__ import annotations

import json

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.optim.averaging import AVERAGES, EMA, SWA, Average

RULES = [EMA(0.9), EMA(0.9, warmup=True), EMA(0.99, warmup=True), SWA(), SWA(start=7, every=5), SWA(every=4)]
every_rule = pytest.mark.parametrize("rule", RULES, ids=repr)


def path(rng, dtype=np.float64):
    return rng.normal(size=(31, 6)).astype(dtype)


def averages(update, walk):
    a, found = walk[0], []
    for t in range(1, len(walk)):
        a = update(a, walk[t], t)
        found.append(a)
    return np.array(found)


@every_rule
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_traced_rule_is_the_numpy_rule(rule, dtype, rng, executor):
    walk = path(rng, dtype)
    step = md.compile(lambda a, w, t: rule.update(a, w, t=t))
    native = averages(lambda a, w, t: step(a, w, float(t)), walk)
    by_numpy = averages(lambda a, w, t: rule.update(a, w, t=t), walk)
    assert native.dtype == by_numpy.dtype == dtype
    tolerance = 1e-13 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(native, by_numpy, rtol=tolerance, atol=tolerance)


@every_rule
def test_the_average_of_a_constant_is_that_constant(rule):
    found = averages(lambda a, w, t: rule.update(a, w, t=t), np.full((31, 3), 2.5))
    np.testing.assert_allclose(found, 2.5, rtol=1e-14)


def test_ema_is_the_sum_with_falling_weights(rng):
    walk = path(rng)
    weights = np.append(0.9**30, 0.1 * 0.9 ** np.arange(29.0, -1, -1))
    np.testing.assert_allclose(
        averages(lambda a, w, t: EMA(0.9).update(a, w, t=t), walk)[-1], weights @ walk, rtol=1e-12
    )


def test_ema_with_warmup_forgets_the_start_soon():
    walk = np.zeros((31, 1))
    walk[0] = 1.0
    plain = averages(lambda a, w, t: EMA(0.999).update(a, w, t=t), walk)[-1]
    warm = averages(lambda a, w, t: EMA(0.999, warmup=True).update(a, w, t=t), walk)
    assert plain > 0.97
    np.testing.assert_allclose(warm[:, 0], np.cumprod((1 + np.arange(1.0, 31)) / (10 + np.arange(1.0, 31))), rtol=1e-12)


def test_swa_is_the_mean_of_all_parameters(rng):
    walk = path(rng)
    found = averages(lambda a, w, t: SWA().update(a, w, t=t), walk)
    for t in (1, 2, 30):
        np.testing.assert_allclose(found[t - 1], walk[1 : t + 1].mean(axis=0), rtol=1e-12, atol=1e-14)


def test_swa_starts_late_and_samples_now_and_then(rng):
    walk = path(rng)
    found = averages(lambda a, w, t: SWA(start=7, every=5).update(a, w, t=t), walk)
    np.testing.assert_array_equal(found[:12], walk[1:13])  # until the first sample, after step 12
    np.testing.assert_array_equal(found[15], walk[12])
    np.testing.assert_allclose(found[16], walk[[12, 17]].mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(found[-1], walk[[12, 17, 22, 27]].mean(axis=0), rtol=1e-13, atol=1e-15)


@every_rule
def test_descriptions_survive_json(rule):
    assert Average.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


def test_names_and_wrong_parameters():
    assert AVERAGES.names() == ("ema", "swa")
    with pytest.raises(ConfigError, match=r"EMA: decay=1 must be a number in \[0, 1\)"):
        EMA(1)
