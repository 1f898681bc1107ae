"""What is drawn: the right curves in the right colours, the ground grey where a unit is saturated."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import madaline as md
from madaline.errors import ConfigError
from madaline.report.curves import DERIVATIVE, SATURATED, VALUE

mpl.use("Agg")

ELEMENTWISE = sorted({thing.name for thing in md.nn.ACTIVATIONS if thing.elementwise})


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def curve(ax, color):
    (line,) = [line for line in ax.lines if line.get_color() == color]
    return line.get_data()


def grey(ax):
    """From where to where the ground is grey."""
    found = [patch for patch in ax.patches if mpl.colors.same_color(patch.get_facecolor()[:3], SATURATED)]
    return sorted((patch.get_x(), patch.get_x() + patch.get_width()) for patch in found)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_the_value_is_blue_and_the_derivative_green(name):  # E4
    activation = md.nn.as_activation(name)
    ax = activation.plot(low=-3.0, high=4.0)
    x, y = curve(ax, VALUE)
    drawn = ~np.isnan(y)
    assert (x[0], x[-1]) == (-3.0, 4.0)
    np.testing.assert_allclose(y[drawn], activation(x)[drawn], rtol=1e-13, atol=1e-15)
    _, slope = curve(ax, DERIVATIVE)
    drawn = ~np.isnan(slope)
    h = 1e-6
    smooth = drawn & (np.abs(x - np.round(2 * x) / 2) > 0.01)  # kinks are at whole numbers and halves
    numeric = (activation(x + h) - activation(x - h)) / (2 * h)
    np.testing.assert_allclose(slope[smooth], numeric[smooth], atol=1e-6)
    assert ax.get_title() == repr(activation)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relu", [(-5.0, 0.0)]),
        ("tanh", [(-5.0, -2.994), (2.994, 5.0)]),
        ("step", [(-5.0, 0.0), (0.0, 5.0)]),
        ("identity", []),
        ("sinc", []),  # saturated too far out to be seen
    ],
)
def test_the_ground_is_grey_where_the_unit_is_saturated(name, expected):
    found = grey(md.nn.as_activation(name).plot())
    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(("name", "value_jumps", "slope_jumps"), [("step", 1, 0), ("hardshrink", 2, 2), ("relu", 0, 1)])
def test_a_jump_is_a_gap_and_a_kink_is_not(name, value_jumps, slope_jumps):
    ax = md.nn.as_activation(name).plot()
    assert np.isnan(curve(ax, VALUE)[1]).sum() == value_jumps
    assert np.isnan(curve(ax, DERIVATIVE)[1]).sum() == slope_jumps


def test_a_function_of_yours_is_drawn_too():
    x, y = curve(md.nn.as_activation(lambda x: x * np.tanh(x)).plot(), VALUE)
    np.testing.assert_allclose(y, x * np.tanh(x))


def test_a_schedule_is_drawn_as_the_rates_of_its_run():
    ax = md.optim.schedules.Cosine().plot(50, learning_rate=0.1)
    x, y = curve(ax, VALUE)
    np.testing.assert_array_equal(x, np.arange(1, 51))
    np.testing.assert_array_equal(y, 0.1 * md.optim.schedules.Cosine().table(50))


def test_curves_go_where_they_are_told_to():
    _, (left, right) = plt.subplots(1, 2)
    assert md.nn.activations.relu.plot(ax=left) is left
    assert md.optim.schedules.Cosine().plot(ax=right) is right


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(ConfigError, match=r"softmax.* is not elementwise, so it has no curve"):
        md.nn.activations.softmax.plot()
    with pytest.raises(ConfigError, match=r"low=2.0 must be below high=1.0"):
        md.nn.activations.relu.plot(low=2.0, high=1.0)


@pytest.mark.parametrize("call", ["md.nn.activations.relu.plot()", "md.optim.schedules.Cosine().plot()"])
def test_without_matplotlib_the_error_says_how_to_get_it(run_python, call):
    code = f"""
import sys
sys.modules["matplotlib"] = None  # as if it were not installed
import madaline as md
try:
    {call}
except ImportError as error:
    print(type(error).__name__, error)
"""
    run = run_python(code)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("MissingPackageError Plots need matplotlib, which is not installed.")
    assert 'pip install "madaline[plot]"' in run.stdout
