"""Python files that need nothing but Python, one row at a time."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.graph.shapes import is_symbolic
from madaline.ship.inference import inference_of
from madaline.ship.python_only import python_only_files
from ship.cases import NETS, agree, integer_case, integer_primitives, net_case, primitive_case, primitive_samples


def run(case, path):
    """The outputs of the exported file, executed as it stands, row by row."""
    (content,) = python_only_files(case.inference, path / "model.py").values()
    names: dict = {}
    exec(compile(content, "model.py", "exec"), names)
    has_rows = is_symbolic(case.inference.inputs[0].shape)
    n_rows = len(case.inputs[0]) if has_rows else 1
    inputs = [x.reshape(n_rows, -1).tolist() for x in case.inputs]
    rows = [names["predict_row"](*(x[row] for x in inputs)) for row in range(n_rows)]
    ports = case.inference.outputs
    found = []
    for port in ports:
        values = [row[port.title.value] if len(ports) > 1 else row for row in rows]
        found.append(np.array(values).reshape((n_rows, *port.shape[1:]) if has_rows else port.shape))
    return found


@pytest.mark.parametrize("net", NETS, ids=lambda net: net.name)
def test_every_net_gives_what_the_model_gives(net, tmp_path):
    case = net_case(net, "float32")
    agree(run(case, tmp_path), case)


@pytest.mark.parametrize("name", integer_primitives())
def test_whole_numbers_are_computed_as_such(name, tmp_path):
    case = integer_case(name)
    agree(run(case, tmp_path), case)


@pytest.mark.parametrize(("name", "number"), primitive_samples())
def test_every_primitive_is_written_right(name, number, tmp_path):
    case = primitive_case(name, number, "float64")
    agree(run(case, tmp_path), case)


def test_numbers_that_python_has_no_value_for_are_what_numpy_makes_of_them(tmp_path):
    """Python raises where NumPy gives inf or NaN."""
    functions = [
        np.exp,
        np.log,
        np.reciprocal,
        np.sqrt,
        np.floor,
        np.sinh,
        np.expm1,
        np.sin,
        np.log1p,
        md.functional.sigmoid,
    ]
    names = [f"f{k}" for k, _ in enumerate(functions)]
    layers = {name: md.nn.Activation(lambda x, f=f: f(x)) for name, f in zip(names, functions, strict=True)}
    model = md.Parallel(**layers).init(1)
    (content,) = python_only_files(inference_of(model), tmp_path / "model.py").values()
    space: dict = {}
    exec(compile(content, "model.py", "exec"), space)
    X = np.array([[0.0], [-1000.0], [1000.0], [np.inf], [-np.inf], [np.nan]], dtype="float32")
    with np.errstate(all="ignore"):
        expected = model(X)
    for row, x in enumerate(X):
        found = space["predict_row"](x.tolist())
        for name in names:
            np.testing.assert_allclose(found[name], expected[name][row], rtol=1e-5, err_msg=f"{name}({x})")
