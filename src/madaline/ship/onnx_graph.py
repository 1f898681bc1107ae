"""A net as an ONNX file: each primitive as one or a few ONNX operators, for any number of rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.data.column import MISSING, UNSEEN
from madaline.errors import ExportError, MissingPackageError
from madaline.graph.node import Node, is_constant, topological_order
from madaline.graph.shapes import Rows, Shape, is_symbolic
from madaline.ship.escape import Untrusted
from madaline.ship.inference import InferenceGraph, Port
from madaline.ship.onnx_rules import RULES, TARGET

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

OPSET = 18
"Version of the default operator set; onnxruntime 1.14 and later support it."
ML_OPSET = 3
"Version of the operator set ``ai.onnx.ml``, which has operators for strings."
IR_VERSION = 8
"Version of the file format; the one that was released with the operator set."


class Builder:
    """Collect operators and constants; values are referred to by their names.

    Parameters
    ----------
    inference : InferenceGraph
        The graph.
    """

    def __init__(self, inference: InferenceGraph) -> None:
        self.inference = inference
        self.operators: list[Any] = []
        self.initializers: dict[str, np.ndarray] = {}
        self._constants: dict[Any, str] = {}
        self._n_rows = ""
        self._taken: set[str] = set()
        self.ports = {port.name: self._port_name(port) for port in (*inference.inputs, *inference.outputs)}

    def op(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its result."""
        from onnx import helper

        name = name or self.new(f"v{len(self.operators) + 1}")
        self.operators.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, dtype: DTypeLike | None = None) -> str:
        """Add a constant and return its name."""
        array = np.asarray(value, dtype=dtype)
        key = (array.dtype.name, array.shape, array.tobytes() if array.dtype != object else tuple(array))
        if key not in self._constants:
            self._constants[key] = self.new(f"c{len(self._constants) + 1}")
            self.initializers[self._constants[key]] = array
        return self._constants[key]

    def new(self, name: str) -> str:
        """The given name, or one like it if it is taken already."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _port_name(self, port: Port) -> str:
        """The name that users gave an input or output; without what ONNX and its C interface cannot hold."""
        return self.new(str(port.title.value).replace("\0", "").encode(errors="replace").decode() or port.name)

    def like(self, value: float, node: Node) -> str:
        """A number of the dtype of a node."""
        return self.constant(value, node.dtype)

    def cast(self, x: str, dtype: DTypeLike) -> str:
        """Convert to another dtype."""
        from onnx import helper

        return self.op("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def shape(self, of: Shape) -> str:
        """A shape as a vector of integers; it may depend on the number of rows."""
        if not is_symbolic(of):
            return self.constant(of, np.int64)
        return self.op("Concat", *(self._size(size) for size in of), axis=0)

    def rows(self, of: Rows) -> str:
        """A size that depends on the number of rows, as a vector of one integer."""
        if not self._n_rows:
            port = next(port for port in self.inference.inputs if is_symbolic(port.shape))
            self._n_rows = self.op("Shape", self.ports[port.name], start=0, end=1)
        size = self._n_rows
        if of.coefficient != 1:
            size = self.op("Mul", size, self.constant([of.coefficient], np.int64))
        return self.op("Add", size, self.constant([of.offset], np.int64)) if of.offset else size

    def _size(self, of: int | Rows) -> str:
        return self.rows(of) if isinstance(of, Rows) else self.constant([of], np.int64)


def onnx_files(inference: InferenceGraph, path: Path) -> dict[Path, bytes]:
    """The file and its content."""
    model = onnx_model(inference)
    return {path: model.SerializeToString()}


def onnx_model(inference: InferenceGraph) -> Any:
    """The model, checked by ONNX."""
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError as error:
        raise MissingPackageError(
            'Exporting to ONNX requires the package onnx. Install it: pip install "madaline[onnx]"'
        ) from error
    inference = inference.written_with(RULES, TARGET)
    builder = Builder(inference)
    names = {
        id(node): _index_of(builder, port) if port.kind == "category" else builder.ports[port.name]
        for port, node in zip(inference.inputs, inference.graph.inputs, strict=True)
    }
    for node in topological_order(inference.graph.outputs):
        if is_constant(node):
            name = inference.weights.get(id(node), "")
            name = builder.new(name) if name else ""
            names[id(node)] = name or builder.constant(node.params["value"])
            if name:
                builder.initializers[name] = node.params["value"]
    for node in inference.nodes:
        names[id(node)] = RULES[node.primitive.name](builder, node, [names[id(item)] for item in node.inputs])
    for port, node in zip(inference.outputs, inference.graph.outputs, strict=True):
        if port.kind == "label":
            classes = builder.constant(_classes_of(port))
            builder.op("Gather", classes, names[id(node)], axis=0, name=builder.ports[port.name])
        else:
            builder.op("Identity", names[id(node)], name=builder.ports[port.name])
    graph = helper.make_graph(
        builder.operators,
        "madaline",
        [_value(builder, port) for port in inference.inputs],
        [_value(builder, port) for port in inference.outputs],
        [numpy_helper.from_array(np.asarray(array, order="C"), name) for name, array in builder.initializers.items()],
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="madaline",
        doc_string=inference.title.shown(),
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def _index_of(builder: Builder, port: Port) -> str:
    """The index of a string among the categories; an empty string is missing."""
    keys, indices = [*map(_string, port.values), ""], [*range(len(port.values)), MISSING]
    options: Any = {"keys_strings": keys, "values_int64s": indices, "default_int64": UNSEEN}
    return builder.op("LabelEncoder", builder.ports[port.name], domain="ai.onnx.ml", **options)


def _string(given: Untrusted) -> str:
    """A category or class, if ONNX and its runtime can hold it."""
    text = str(given.value)
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ExportError(
            f"The category or class '{given.shown()}' cannot be written to an ONNX file: it contains a null character "
            "or is not valid Unicode."
        )
    return text


def _classes_of(port: Port) -> np.ndarray:
    """The classes as strings or numbers."""
    values = [given.value for given in port.values]
    if all(isinstance(value, str) for value in values):
        return np.array([*map(_string, port.values)], dtype=object)
    classes = np.array(values)
    if classes.dtype.kind not in "biuf":
        raise ExportError("ONNX files need classes of one type: strings, integers, floats or booleans.")
    return classes


def _value(builder: Builder, port: Port) -> Any:
    from onnx import TensorProto, helper

    dtype = _classes_of(port).dtype if port.kind == "label" else port.dtype
    is_text = port.kind == "category" or dtype.kind == "O"
    kind = TensorProto.STRING if is_text else helper.np_dtype_to_tensor_dtype(dtype)
    sizes = [repr(size) if isinstance(size, Rows) else size for size in port.shape]
    return helper.make_tensor_value_info(builder.ports[port.name], kind, sizes)
