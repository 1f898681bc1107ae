"""Loops over the numbers of one row, in any language: elementwise nodes here, other nodes in ``loop_rules.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from madaline.graph.node import Node
from madaline.graph.primitives.elementwise import Elementwise
from madaline.plan.collapse import join
from madaline.plan.views import broadcast_strides, stored_strides, width
from madaline.ship.inference import InferenceGraph
from madaline.ship.language import Language
from madaline.ship.loop_rules import RULES
from madaline.ship.rowwise import RowLoop, RowwisePlan, Strides, is_number, moved, place_of, plan_of, sizes


class Loops:
    """Write the statements that compute the outputs of one row from its inputs.

    Parameters
    ----------
    inference : InferenceGraph
        The graph.
    code : Language
        The language of the statements.

    Attributes
    ----------
    used : set
        Names of the values that statements refer to.
    """

    def __init__(self, inference: InferenceGraph, code: Language) -> None:
        self.inference = inference = inference.written_with({**code.rules, **RULES}, code.target)
        self.code = code
        self.used: set[str] = set()
        self.plan: RowwisePlan = plan_of(inference, code.target)
        self._names = dict(inference.weights)
        for port, node in zip(inference.inputs, inference.graph.inputs, strict=True):
            self._names[id(node)] = port.name
        for number, node in enumerate(inference.nodes, start=1):
            self._names[id(node)] = self.plan.outputs.get(id(node), f"v{number}")

    def write(self) -> None:
        """Write all statements."""
        layer = None
        for step in self.plan.steps:
            own = self.inference.layers.get(id(step.result))
            if own != layer and own is not None:
                self.code.comment(own.shown())
                layer = own
            self._step(step)
        for name, node in self.plan.copies:
            if not width(node.shape):
                continue
            self.code.comment(f"Output {name}")
            self.used.add(name)
            with self.nest(sizes(node)) as at:
                self.code.assign(f"{name}[{place_of(at, stored_strides(node.shape))}]", self.load(node, at))

    def _step(self, step: RowLoop) -> None:
        node = step.result
        if id(node) in self.plan.offsets:
            offset = self.plan.offsets[id(node)]
            self.code.buffer(self.name(node), node.dtype, max(width(node.shape), 1), offset)
        if width(node.shape) == 0:
            return
        if isinstance(node.primitive, Elementwise):
            self._elementwise(step)
        else:
            RULES[node.primitive.name](self, node)

    def _elementwise(self, step: RowLoop) -> None:
        """Write one loop; intermediate values are named constants inside it."""
        inside = {id(node) for node in step.nodes}
        operands = list({id(x): x for node in step.nodes for x in node.inputs if id(x) not in inside}.values())
        shape = step.result.shape
        strides = [broadcast_strides(self.plan.views[id(x)].strides, x.shape, shape) for x in operands]

        def body(at: list[str]) -> None:
            loads = {id(x): self._load(x, place) for x, place in zip(operands, at, strict=False)}
            for node in step.nodes:
                args = [loads[id(x)] if id(x) in loads else self.name(x) for x in node.inputs]
                value = self.code.expression(node, args)
                if node is step.result:
                    self.code.assign(f"{self.name(node)}[{at[-1]}]", value)
                else:
                    self.code.constant(self.name(node), node.dtype, value)

        self.walk(sizes(step.result), [*strides, stored_strides(shape)], body)

    def walk(self, counts: Sequence[int], strides: Sequence[Strides], body: Callable[[list[str]], None]) -> None:
        """Write as few nested loops over all elements as possible; ``body`` gets the position for each stride."""
        dims, joined = join([(count, False) for count in counts], [tuple(each) for each in strides])
        with self.nest([count for count, _ in dims]) as indices:
            body([place_of(indices, each) for each in joined])

    @contextmanager
    def nest(self, counts: Sequence[int], letter: str = "i", *, scope: bool = False) -> Iterator[list[str]]:
        """Write nested loops and yield their indices, 0 for an axis of one element.

        With ``scope``, names defined inside are not visible outside, even if no loop is needed.
        """
        with ExitStack() as stack:
            if scope and all(count == 1 for count in counts):
                stack.enter_context(self.code.scope())
            indices = []
            single = sum(count != 1 for count in counts) == 1
            for number, count in enumerate(counts):
                name = letter if single else f"{letter}{number}"
                indices.append("0" if count == 1 else name)
                if count != 1:
                    stack.enter_context(self.code.loop(name, count))
            yield indices

    def name(self, node: Node) -> str:
        """The name of a value."""
        name = self._names[id(node)]
        self.used.add(name)
        return name

    def load(self, node: Node, indices: Sequence[str]) -> str:
        """An expression for the element of a value at these indices."""
        return self._load(node, place_of(indices, self.plan.views[id(node)].strides))

    def _load(self, node: Node, at: str) -> str:
        view = self.plan.views[id(node)]
        if is_number(view.root):
            return self.code.literal(view.root.params["value"], view.root.dtype)
        return f"{self.name(view.root)}[{moved(view.offset, at)}]"

    def store(self, node: Node, indices: Sequence[str]) -> str:
        """The place of the element of a result at these indices."""
        return f"{self.name(node)}[{place_of(indices, stored_strides(node.shape))}]"

    def zeros(self, node: Node) -> None:
        """Fill a result with zeros."""
        with self.nest([width(node.shape)]) as (i,):
            self.code.assign(f"{self.name(node)}[{i}]", self.code.literal(0, node.dtype))
