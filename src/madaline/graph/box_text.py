"""What the boxes of a drawing say: a node in a few lines, as a formula, or as one line of a chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from madaline.graph.calculation import without_reshape
from madaline.graph.listing import constant_text, inline_text, is_inline, parameter_texts
from madaline.graph.node import CONSTANT, INPUT, Node
from madaline.graph.shapes import show

MAX_LINES = 14
"Longer chains in one box are shown by their first and last operations."
OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "matmul": "@", "negative": "-{}", "square": "{}**2",
}  # fmt: skip
"How formulas write these primitives."
WIDTH = 44


def described(node: Node, names: Mapping[int, str]) -> list[str]:
    """A node in several lines: its name, its arguments, its parameters and its shape."""
    if is_inline(node):
        return [inline_text(node), show(node.shape)]
    name, shape = names[id(node)], show(node.shape)
    if node.primitive is INPUT:
        return [f"{name} = {node.params['name'] or node.params['index']}", shape]
    if node.primitive is CONSTANT:
        return [
            f"{name} = constant",
            *(clip(text) for text in [constant_text(node)[len("constant ") :]] if text),
            shape,
        ]
    lines = [f"{name} = {node.primitive.name}"]
    arguments = [inline_text(item) if is_inline(item) else names[id(item)] for item in node.inputs]
    lines.append(clip(", ".join(arguments)))
    lines += [clip(f"{key}={text}") for key, text in parameter_texts(node).items()]
    return [*lines, shape]


def formula(node: Node, names: Mapping[int, str]) -> list[str]:
    """A node in one line, with operators, and with the names of what was reshaped."""
    return _assigned(node, names, [(without_reshape(item), "") for item in node.inputs])


def line(node: Node, names: Mapping[int, str]) -> list[str]:
    """A node in one line of a chain: a formula in which a transposed matrix is written ``W.T``."""
    return _assigned(node, names, [unwrapped(item) for item in node.inputs])


def _assigned(node: Node, names: Mapping[int, str], used: Sequence[tuple[Node, str]]) -> list[str]:
    if node.primitive is INPUT:
        return [names[id(node)]]
    if not node.inputs:
        first, *rest = described(node, names)
        return [first, *rest[:-1]]
    texts = [(inline_text(item) if is_inline(item) else names[id(item)]) + suffix for item, suffix in used]
    sign = OPERATORS.get(node.primitive.name)
    if sign is not None and len(texts) == 2:
        right = f"{texts[0]} {sign} {texts[1]}"
    elif sign is not None:
        right = sign.format(*texts)
    else:
        texts += [_option(key, text) for key, text in parameter_texts(node).items()]
        right = f"{node.primitive.name}({', '.join(texts)})"
    return [clip(f"{names[id(node)]} = {right}", WIDTH)]


def _option(key: str, text: str) -> str:
    """A parameter as NumPy's functions have it: one axis is a number."""
    return f"axis={text[1:-2]}" if key == "axes" and text.endswith(",)") else f"{key}={text}"


def unwrapped(node: Node) -> tuple[Node, str]:
    """The node that a chain names instead of this one, and what it writes behind the name.

    Reshapes that only add or remove axes of size 1 are left out, transposed matrices are written ``W.T``, and a number
    that is repeated is a number.
    """
    suffix = ""
    while True:
        before = without_reshape(node)
        if before.primitive.name == "transpose" and before.params.get("axes") == (1, 0):
            (before,) = before.inputs
            suffix = "" if suffix else ".T"
        elif before.primitive.name == "broadcast_to" and is_inline(unwrapped(before.inputs[0])[0]):
            (before,) = before.inputs
        if before is node:
            return node, suffix
        node = before


def used(node: Node) -> list[Node]:
    """The arguments of a node as chains have them, each once."""
    found = (unwrapped(item)[0] for item in node.inputs)
    return list({id(item): item for item in found}.values())


def shortened(lines: list[str]) -> list[str]:
    """The first and last lines of many."""
    if len(lines) <= MAX_LINES:
        return lines
    half = MAX_LINES // 2 - 1
    return [*lines[:half], f"... {len(lines) - 2 * half} more operations ...", *lines[-half:]]


def clip(text: str, most: int = 28) -> str:
    """A text, cut off if it is long."""
    return text if len(text) <= most else text[: most - 1] + "…"
