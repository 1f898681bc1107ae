"""Chains that run on the rows of a matrix product while they are in cache: bias, relu, gate, and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from madaline.graph.node import Node, name_of
from madaline.graph.shapes import Rows, is_symbolic
from madaline.plan.fuse import NodeGroup
from madaline.plan.instructions.elementwise import Chain, lower_chain
from madaline.plan.instructions.product import MatrixProduct, lower_product
from madaline.plan.lowering import Lowering
from madaline.plan.rows import Kind
from madaline.plan.views import View, broadcast_strides, is_scalar_constant, width


@dataclass(frozen=True, slots=True)
class Epilogues:
    """Finds the chains that products can run, and lowers both together.

    Attributes
    ----------
    views, kinds, users : dict
        Views, kinds and users of the nodes, by id.
    output_index : dict
        Positions of the outputs, by id.
    """

    views: Mapping[int, View]
    kinds: Mapping[int, Kind]
    users: Mapping[int, list[Node]]
    output_index: Mapping[int, int]

    def partners(self, groups: list[NodeGroup]) -> dict[int, int]:
        """Products (by position) and the chains that can be run on their rows as they are finished."""
        home = {id(node): position for position, group in enumerate(groups) for node in group.nodes}
        partner: dict[int, int] = {}
        for position, group in enumerate(groups):
            if not group.chain:
                continue
            reads = [self.views[id(item)].root for node in group.nodes for item in node.inputs]
            latest = max((home.get(id(root), -1) for root in reads if home.get(id(root)) != position), default=-1)
            if latest < 0 or latest in partner:
                continue
            product = groups[latest].nodes[0]
            direct = any(item is product for node in group.nodes for item in node.inputs)
            if (
                product.primitive.name == "matmul"
                and product.ndim == 2
                and direct
                and groups[latest].level == group.level
                and self.kinds[id(product)] is not Kind.REDUCING
                and product.shape == group.shape
                and name_of(product.dtype) == group.dtype
                and not isinstance(product.shape[1], Rows)
                and width(product.shape) > 0
                and all(
                    root is not product or item is product
                    for node in group.nodes
                    for item in node.inputs
                    for root in [self.views[id(item)].root]
                )
            ):
                partner[latest] = position
        return partner

    def product(self, product: Node, chain: NodeGroup, low: Lowering) -> MatrixProduct:
        """A product with the chain as its epilogue; what the product can do itself right behind it goes into it."""
        inside = {id(node) for node in chain.nodes}

        def only_user(node: Node) -> Node | None:
            found = self.users.get(id(node), [])
            alone = len(found) == 1 and id(found[0]) in inside and id(node) not in self.output_index
            return found[0] if alone else None

        stored, bias, relu, gate, skip = product, None, False, None, set()
        following = only_user(product)
        if following is not None and following.primitive.name == "add":
            other = following.inputs[1] if following.inputs[0] is product else following.inputs[0]
            if other is not product and id(other) not in inside and self._is_bias(other, product):
                stored, bias = following, other
                skip.add(id(following))
                following = only_user(stored)
        if following is not None and following.primitive.name == "relu":
            stored, relu = following, True
            skip.add(id(following))
            following = only_user(stored)
        mask = self._gate(following, stored) if following is not None else None
        if (
            following is not None
            and mask is not None
            and only_user(mask) is following
            and id(mask.inputs[0]) not in inside
        ):
            gate, stored = mask.inputs[0], following
            skip |= {id(mask), id(following)}
        if stored is not product:
            low.buffer_of.pop(id(product), None)
            number = low.buffer(stored)
            if id(stored) in self.output_index:
                low.buffers[number].offset = self.output_index[id(stored)]
        rest = [node for node in chain.nodes if id(node) not in skip]
        epilogue: Chain | None = None
        if rest:
            epilogue = lower_chain(chain, low, frozenset(skip))
        return lower_product(product, stored, low, bias=bias, relu=relu, gate=gate, epilogue=epilogue)

    def _gate(self, node: Node, passed: Node) -> Node | None:
        """The mask ``y > 0``, if the node is ``where(y > 0, passed, 0)`` with ``y`` stored row by row."""
        if node.primitive.name != "where" or node.inputs[1] is not passed or not self._is_zero(node.inputs[2]):
            return None
        mask = node.inputs[0]
        if mask.primitive.name != "greater" or not self._is_zero(mask.inputs[1]):
            return None
        y = mask.inputs[0]
        fits = y.shape == passed.shape and y.dtype == passed.dtype and passed.dtype.kind == "f"
        return mask if fits and self.views[id(y)].strides[1] == 1 else None

    def _is_zero(self, node: Node) -> bool:
        root = self.views[id(node)].root
        return is_scalar_constant(root) and str(float(root.params["value"])) == "0.0"

    def _is_bias(self, node: Node, product: Node) -> bool:
        """Whether the node is one row, added to every row of the product."""
        if is_symbolic(node.shape) or is_scalar_constant(self.views[id(node)].root):
            return False
        strides = broadcast_strides(self.views[id(node)].strides, node.shape, product.shape)
        return strides[0] == 0 and (strides[1] in (0, 1))
