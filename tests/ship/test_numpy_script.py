"""Python files that need NumPy alone."""

from __future__ import annotations

import pytest

from madaline.ship.numpy_script import python_files
from ship.cases import NETS, agree, integer_case, integer_primitives, net_case, primitive_case, primitive_samples


def run(case, tmp_path):
    """The outputs of the exported file, executed as it stands."""
    (content,) = python_files(case.inference, tmp_path / "model.py").values()
    names: dict = {}
    exec(compile(content, "model.py", "exec"), names)
    found = names["predict"](*case.inputs)
    return list(found.values()) if isinstance(found, dict) else [found]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("net", NETS, ids=lambda net: net.name)
def test_every_net_gives_what_the_model_gives(net, dtype, tmp_path):
    case = net_case(net, dtype)
    found = run(case, tmp_path)
    agree(found, case)
    assert [y.dtype for y in found] == [y.dtype for y in case.outputs]


@pytest.mark.parametrize("name", integer_primitives())
def test_whole_numbers_are_computed_as_such(name, tmp_path):
    case = integer_case(name)
    agree(run(case, tmp_path), case)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "number"), primitive_samples())
def test_every_primitive_is_written_right(name, number, dtype, tmp_path):
    case = primitive_case(name, number, dtype)
    found = run(case, tmp_path)
    agree(found, case)
    if case.inference.outputs[0].dtype.kind == "f":
        assert found[0].dtype == case.inference.outputs[0].dtype
