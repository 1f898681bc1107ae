"""Primitives that a target has no rule for: written by their formula where they have one, refused by name otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from madaline.errors import ExportError
from madaline.graph.node import new_input
from madaline.graph.primitives.elementwise import Elementwise
from madaline.ship.inference import completed
from ship import test_numpy_script, test_onnx_graph, test_python_only
from ship.cases import Exported, agree

X = np.linspace(-20.0, 20.0, 12).reshape(4, 3)


class LogCosh(Elementwise, registered=False):
    """Computed by functions that can be traced."""

    name = "log_cosh"

    def value(self, x):
        size = np.abs(x)
        return size + np.log1p(np.exp(-2.0 * size)) - np.log(x.dtype.type(2.0))


class Opaque(Elementwise, registered=False):
    """Computed by a function that cannot be traced."""

    name = "opaque"

    def value(self, x):
        return np.vectorize(float)(x)


def case(primitive, dtype):
    x = X.astype(dtype)
    node = new_input(0, x.shape, x.dtype, "x")
    twice = primitive(2.0 * primitive(node))
    inference = completed([node], {"y": twice}, primitive.name)
    return Exported(primitive.name, inference, [x], [primitive.value(2.0 * primitive.value(x))])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("target", [test_numpy_script, test_python_only, test_onnx_graph])
def test_a_primitive_without_a_rule_is_written_by_its_formula(target, dtype, tmp_path):
    wanted = case(LogCosh(), dtype)
    agree(target.run(wanted, tmp_path), wanted)


@pytest.mark.parametrize("target", [test_numpy_script, test_python_only, test_onnx_graph])
def test_a_primitive_without_rule_and_formula_is_refused_by_name(target, tmp_path):
    with pytest.raises(ExportError, match=r"its primitive 'opaque'.* is not supported there"):
        target.run(case(Opaque(), "float64"), tmp_path)
