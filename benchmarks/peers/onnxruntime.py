"""ONNX Runtime: the net as a graph of Gemm, Relu and Softmax; predictions only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper
from workloads import Array, Workload


def graph(workload: Workload) -> bytes:
    nodes, weights, name = [], [], "X"
    for position, (W, b) in enumerate(workload.start()):
        weights += [numpy_helper.from_array(W, f"W{position}"), numpy_helper.from_array(b, f"b{position}")]
        nodes.append(helper.make_node("Gemm", [name, f"W{position}", f"b{position}"], [f"z{position}"]))
        last = position == len(workload.layers) - 1
        name = "probabilities" if last else f"h{position}"
        nodes.append(helper.make_node("Softmax" if last else "Relu", [f"z{position}"], [name]))
    inputs = helper.make_tensor_value_info("X", TensorProto.FLOAT, ["rows", workload.widths[0]])
    outputs = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["rows", workload.widths[-1]])
    whole = helper.make_graph(nodes, "net", [inputs], [outputs], weights)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    return model.SerializeToString()


def predict(workload: Workload, threads: int) -> Callable[[Array], Array]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph(workload), options, providers=["CPUExecutionProvider"])
    return lambda X: session.run(None, {"X": X})[0]


TRAINERS: dict[str, Any] = {}
PREDICTORS = {"onnxruntime": predict}
