"""A net as an ONNX file: each primitive as one or a few ONNX operators, the number of rows left open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madaline.data.column import MISSING, UNSEEN
from madaline.errors import MissingPackageError
from madaline.graph.node import Node, is_constant, topological_order
from madaline.graph.shapes import Rows, Shape, is_symbolic
from madaline.ship.inference import Inference, Port
from madaline.ship.onnx_rules import RULES, TARGET

OPSET = 18
"Of the operators of the default domain; onnxruntime 1.14 and later run it."
ML_OPSET = 3
"Of the operators for texts."
IR_VERSION = 8
"Of the file; that which came with the opset."


class Builder:
    """Collects operators and constants; values are known by their names.

    Parameters
    ----------
    inference : Inference
        The graph.
    """

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.operators: list[Any] = []
        self.initializers: dict[str, np.ndarray] = {}
        self._constants: dict[Any, str] = {}
        self._n_rows = ""
        self._taken = {name_of(port) for port in (*inference.inputs, *inference.outputs)}

    def op(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The result of an operator."""
        from onnx import helper

        name = name or self._new(f"v{len(self.operators) + 1}")
        self.operators.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = None) -> str:
        """A known array or number."""
        array = np.asarray(value, dtype=dtype)
        key = (array.dtype.name, array.shape, array.tobytes() if array.dtype != object else tuple(array))
        if key not in self._constants:
            self._constants[key] = self._new(f"c{len(self._constants) + 1}")
            self.initializers[self._constants[key]] = array
        return self._constants[key]

    def _new(self, name: str) -> str:
        """A name that no input or output has: those are as users call them."""
        while name in self._taken:
            name += "_"
        return name

    def like(self, value: float, node: Node) -> str:
        """A number of the type of a node."""
        return self.constant(value, node.dtype)

    def cast(self, x: str, dtype: Any) -> str:
        """Another type."""
        from onnx import helper

        return self.op("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def shape(self, of: Shape) -> str:
        """A shape as a vector of integers, by the number of rows if it depends on it."""
        if not is_symbolic(of):
            return self.constant(of, np.int64)
        return self.op("Concat", *(self._size(size) for size in of), axis=0)

    def rows(self, of: Rows) -> str:
        """A size that depends on the number of rows, as a vector of one integer."""
        if not self._n_rows:
            port = next(port for port in self.inference.inputs if is_symbolic(port.shape))
            self._n_rows = self.op("Shape", name_of(port), start=0, end=1)
        size = self._n_rows
        if of.coefficient != 1:
            size = self.op("Mul", size, self.constant([of.coefficient], np.int64))
        return self.op("Add", size, self.constant([of.offset], np.int64)) if of.offset else size

    def _size(self, of: int | Rows) -> str:
        return self.rows(of) if isinstance(of, Rows) else self.constant([of], np.int64)


def onnx_files(inference: Inference, path: Path) -> dict[Path, bytes]:
    """The file to be written."""
    model = onnx_model(inference)
    return {path: model.SerializeToString()}


def onnx_model(inference: Inference) -> Any:
    """The model, checked by ONNX itself."""
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError as error:
        raise MissingPackageError(
            'ONNX files need the package onnx. Install it: pip install "madaline[onnx]"'
        ) from error
    inference = inference.written_with(RULES, TARGET)
    builder = Builder(inference)
    names = {
        id(node): _place_of(builder, port) if port.kind == "category" else name_of(port)
        for port, node in zip(inference.inputs, inference.graph.inputs, strict=True)
    }
    for node in topological_order(inference.graph.outputs):
        if is_constant(node):
            name = inference.weights.get(id(node), "")
            name = builder._new(name) if name else ""
            names[id(node)] = name or builder.constant(node.params["value"])
            if name:
                builder.initializers[name] = node.params["value"]
    for node in inference.nodes:
        names[id(node)] = RULES[node.primitive.name](builder, node, [names[id(item)] for item in node.inputs])
    for port, node in zip(inference.outputs, inference.graph.outputs, strict=True):
        if port.kind == "label":
            classes = builder.constant(_classes_of(port))
            builder.op("Gather", classes, names[id(node)], axis=0, name=name_of(port))
        else:
            builder.op("Identity", names[id(node)], name=name_of(port))
    graph = helper.make_graph(
        builder.operators,
        "madaline",
        [_value(port) for port in inference.inputs],
        [_value(port) for port in inference.outputs],
        [numpy_helper.from_array(np.asarray(array, order="C"), name) for name, array in builder.initializers.items()],
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="madaline",
        doc_string=inference.title,
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def name_of(port: Port) -> str:
    """What users call it: any text will do here."""
    return port.title or port.name


def _place_of(builder: Builder, port: Port) -> str:
    """The place of a text among the categories; none is an empty text."""
    keys, places = [*port.values, ""], [*range(len(port.values)), MISSING]
    options: Any = {"keys_strings": keys, "values_int64s": places, "default_int64": UNSEEN}
    return builder.op("LabelEncoder", name_of(port), domain="ai.onnx.ml", **options)


def _classes_of(port: Port) -> np.ndarray:
    """Classes as texts or numbers, as they were."""
    classes = np.array(port.values)
    return classes.astype(object) if classes.dtype.kind == "U" else classes


def _value(port: Port) -> Any:
    from onnx import TensorProto, helper

    kind = helper.np_dtype_to_tensor_dtype(_classes_of(port).dtype if port.kind == "label" else port.dtype)
    if port.values and (port.kind == "category" or isinstance(port.values[0], str)):
        kind = TensorProto.STRING
    sizes = [repr(size) if isinstance(size, Rows) else size for size in port.shape]
    return helper.make_tensor_value_info(name_of(port), kind, sizes)
