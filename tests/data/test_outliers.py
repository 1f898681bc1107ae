"""Values far from all others, and the limits that keep them from spoiling a scale."""

from __future__ import annotations

import json

import numpy as np
import pytest

import madaline as md
from madaline.data.outliers import is_outlier, limits, worst_outlier
from madaline.errors import ConfigError, DataWarning, InputError


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_value_far_from_all_others_is_found(rng, sign):
    x = rng.gamma(1.0, 8.0, 600)
    x[3] = sign * 9831.3
    assert np.flatnonzero(is_outlier(x)).tolist() == [3]
    worst = worst_outlier(x)
    assert (worst.place, worst.value) == (3, sign * 9831.3)
    assert worst.times > 50.0


@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(0).normal(size=2000),
        np.random.default_rng(0).standard_t(3, 2000),
        np.random.default_rng(0).lognormal(0.0, 1.5, 2000),
        np.r_[np.zeros(990), np.ones(10)],
        np.r_[np.zeros(999), 1.0],
        np.r_[np.zeros(1960), np.random.default_rng(0).lognormal(9.0, 2.0, 40)],
        np.r_[np.random.default_rng(0).normal(size=900), np.full(100, 1e6)],
        np.ones(20),
        np.array([1.0, 2.0, 1e9]),
    ],
    ids=["normal", "heavy tails", "skewed", "rarely one", "once one", "mostly zero", "two groups", "constant", "few"],
)
def test_long_tails_are_no_outliers(x):
    assert not is_outlier(x).any()
    assert worst_outlier(x) is None
    low, high = limits(x)
    assert low <= x.min() <= x.max() <= high


def test_some_values_far_from_all_others_are_found(rng):
    x = rng.normal(size=1000)
    x[:4] = [1e4, -2e4, 3e4, 4e4]
    assert np.flatnonzero(is_outlier(x)).tolist() == [0, 1, 2, 3]
    assert limits(x) == pytest.approx((x[4:].min(), x[4:].max()))


def test_limits_leave_room_where_nothing_is_wrong(rng):
    x = rng.uniform(0.0, 10.0, 500)
    low, high = limits(x)
    assert (low, high) == pytest.approx((x.min() - np.ptp(x), x.max() + np.ptp(x)))
    assert limits(np.append(x, 1e6)) == pytest.approx((low, x.max()))
    assert limits(np.append(x, [1e6, -1e6])) == pytest.approx((x.min(), x.max()))


def test_a_plan_with_limits_scales_as_if_the_outlier_were_not_there(rng):
    x = rng.gamma(1.0, 8.0, 600)
    wrong = x.copy()
    wrong[3] = 9831.3
    with pytest.warns(
        DataWarning, match=r"Column 'rain' has the value 9831.3, \d+ times its usual range; it is used as"
    ):
        plan = md.TablePlan.fit({"rain": wrong}, scaling="standard", limit=True)
    clean = md.TablePlan.fit({"rain": np.where(np.arange(600) == 3, x.max(), x)}, scaling="standard", limit=True)
    found, expected = (each.encode({"rain": wrong})["numbers"] for each in (plan, clean))
    np.testing.assert_allclose(np.delete(found, 3, axis=0), np.delete(expected, 3, axis=0), rtol=0.02, atol=0.02)
    assert found[3] == found.max()
    assert np.abs(plan.encode({"rain": [1e6, -1e300]})["numbers"]).max() < 30.0
    with pytest.raises(InputError, match="row 0 holds inf"):
        plan.encode({"rain": [np.inf]})
    free = md.TablePlan.fit({"rain": wrong}, scaling="standard")
    assert free.encode({"rain": wrong})["numbers"].max() > 20.0
    assert md.TablePlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


@pytest.mark.parametrize("wrong", [(1.0,), (2.0, 1.0), (0.0, np.inf), (0.0, 1.0, 2.0)])
def test_limits_that_are_none_are_refused(wrong):
    plain = md.TablePlan.fit({"x": np.arange(20.0) % 7}, limit=True).to_dict()
    plain["columns"][0]["limits"] = list(wrong)
    with pytest.raises(ConfigError):
        md.TablePlan.from_dict(plain)
