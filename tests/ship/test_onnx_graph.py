"""ONNX files: checked by ONNX, run by onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

import madaline as md
from madaline.ship.inference import inference_of
from madaline.ship.onnx_graph import IR_VERSION, OPSET, onnx_files, onnx_model
from ship.cases import NETS, agree, integer_case, integer_primitives, net_case, primitive_case, primitive_samples

onnxruntime.set_default_logger_severity(3)


def session(content):
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def run(case, tmp_path):
    """The outputs by onnxruntime."""
    (content,) = onnx_files(case.inference, tmp_path / "model.onnx").values()
    names = [port.title.value for port in case.inference.inputs]
    return session(content).run(None, dict(zip(names, case.inputs, strict=True)))


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
    agree(run(case, tmp_path), case)


def test_the_number_of_rows_is_left_open_and_the_versions_are_those_documented():
    model = md.mlp(8, 3, norm="layer").init(5)
    exported = onnx_model(inference_of(model))
    assert [d.dim_param or d.dim_value for d in exported.graph.input[0].type.tensor_type.shape.dim] == ["n", 5]
    assert (exported.opset_import[0].version, exported.ir_version) == (OPSET, IR_VERSION)
    onnx.checker.check_model(exported, full_check=True)
    running = session(exported.SerializeToString())
    for n_rows in (1, 2, 100):
        X = np.random.default_rng(n_rows).normal(size=(n_rows, 5)).astype("float32")
        np.testing.assert_allclose(running.run(None, {"x": X})[0], model(X), rtol=1e-5, atol=1e-6)


def test_weights_keep_their_names():
    exported = onnx_model(inference_of(md.mlp(8, 3).init(5)))
    assert {"layer_0_W", "layer_0_b"} <= {array.name for array in exported.graph.initializer}
