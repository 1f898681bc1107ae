"""Arguments by the names that NumPy gives them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import madaline as md
from madaline.errors import TraceError
from madaline.graph.numpy_api.dispatch import FUNCTIONS, WITHOUT_EFFECT

A = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]])

CALLS = [
    lambda x: np.full_like(a=x, fill_value=x[0, 0]),
    lambda x: np.split(x, indices_or_sections=2)[0],
    lambda x: np.array_split(ary=x, indices_or_sections=2, axis=1)[0],
    lambda x: np.swapaxes(x, axis1=0, axis2=1),
    lambda x: np.cross(x, x[::-1], axisa=1, axisb=1),
    lambda x: np.vstack([x, x], casting="same_kind"),
    lambda x: np.vstack(tup=[x, x]),
    lambda x: np.concatenate([x, x], casting="same_kind"),
    lambda x: np.sum(a=x, axis=0),
    lambda x: np.mean(a=x, axis=1, keepdims=True),
    lambda x: np.clip(a=x, a_min=0.0, a_max=1.0),
    lambda x: np.diag(v=x[0]),
    lambda x: np.triu(m=x, k=1),
    lambda x: np.flip(m=x, axis=0),
    lambda x: np.roll(a=x, shift=1, axis=1),
    lambda x: np.select(condlist=[x > 0], choicelist=[x], default=-1.0),
    lambda x: np.median(x, axis=0, overwrite_input=True),
    lambda x: np.sort(x, kind="stable", order=None),
    lambda x: np.reshape(x, (3, 2), copy=False),
    lambda x: np.zeros_like(a=x, device=None) + x,
    lambda x: np.repeat(a=x, repeats=2, axis=0),
    lambda x: np.tile(A=x, reps=2),
    lambda x: np.pad(array=x, pad_width=1),
    lambda x: np.isclose(x, x + 1e-9, equal_nan=False) * x,
    lambda x: np.linalg.norm(x, ord=2, axis=None),
    lambda x: np.take(x, [4, 9], None, None, "wrap"),
    lambda x: np.sum(x, 0, None, None),
]


@pytest.mark.parametrize("call", CALLS)
def test_arguments_have_numpys_names(call):
    value, _ = md.jvp(call, (A,), (A,))
    np.testing.assert_allclose(value, call(A), rtol=1e-12)


def test_every_argument_of_every_function_is_taken_or_refused_by_name():
    """By name: no argument of NumPy's is mistaken for another one of ours."""
    for function, implementation in FUNCTIONS.items():
        numpys, ours = inspect.signature(function).parameters, inspect.signature(implementation).parameters
        if any(item.kind is item.VAR_KEYWORD for item in ours.values()):
            continue
        positional = [n for n, item in ours.items() if item.kind not in (item.KEYWORD_ONLY, item.VAR_POSITIONAL)]
        for position, name in enumerate(positional):
            if name in numpys and numpys[name].kind is not inspect.Parameter.KEYWORD_ONLY:
                places = [place for place in numpys if place != "out"]
                assert places[position] == name, f"{function.__name__}: {name} stands at another place in NumPy"


def test_an_option_that_changes_the_result_is_not_ignored():
    with pytest.raises(TraceError, match=r"np\.quantile\(\.\.\., weights=\) is not supported"):
        md.grad(lambda x: np.quantile(x, 0.5, weights=np.ones((2, 3)), method="inverted_cdf"))(A)
    assert "weights" not in WITHOUT_EFFECT
