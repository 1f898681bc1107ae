"""From a graph to a program: simplify, type by rows, fuse, lower, place."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from madaline.graph.listing import node_flops
from madaline.graph.node import ROW_COUNT, Node, name_of
from madaline.graph.shapes import is_symbolic
from madaline.graph.trace import Graph
from madaline.plan.arena import Lifetime, place
from madaline.plan.donate import Donations, cannot_be_in_place, check_donated, clashes, needed_early, with_copies
from madaline.plan.epilogues import Epilogues
from madaline.plan.fuse import NodeGroup, computed_late, fuse, in_order
from madaline.plan.instructions.base import Instruction
from madaline.plan.instructions.class_loss import with_class_losses
from madaline.plan.instructions.rank_one import with_rank_one_steps
from madaline.plan.join import homes
from madaline.plan.lower import lower
from madaline.plan.lowering import Lowering
from madaline.plan.prepare import Prepared, prepared, with_stored_outputs
from madaline.plan.program import Combine, Program, Stage
from madaline.plan.rows import REDUCIBLE, Kind, kind_of, levels
from madaline.plan.simplify import simplify
from madaline.plan.views import width

TILE_BYTES = 512 * 1024
"Maximum bytes of all values of a tile: about the size of the second-level cache."
TILE_ROWS = (256, 128, 64, 32, 16)
SHARED_BYTES = 128 * 1024
"Maximum bytes of the matrices for tiling: beyond this, reading them for every tile costs more than tiles save."
WIDE = 128
"""Or at most this many times the widest product of a row: with few inputs of many units, as in radial basis function
networks, the values of a batch, which do not fit into the cache, cost more than the matrices."""
LANE_FLOPS = 4_000_000
"Work per lane that justifies its partial sums and its thread."
MAX_LANES = 8


def plan(graph: Graph, donated: Mapping[int, int] | None = None) -> Program:
    """The program of a graph.

    Arrays must be inputs: a program can contain only numbers as constants.

    Parameters
    ----------
    graph : Graph
        The graph to compute.
    donated : dict, optional
        Positions of outputs and of the inputs that they may overwrite: the program is also correct if both are the same
        array. These outputs are written last, from stage ``program.commit`` on.

    Raises
    ------
    NeedsRowCountError
        If the layout of a value depends on the number of rows; plan the graph for a fixed number of rows then.
    """
    donated = dict(donated or {})
    check_donated(graph, donated)
    graph = with_stored_outputs(with_rank_one_steps(with_class_losses(simplify(graph)), donated))
    copied = cannot_be_in_place(graph, donated)
    while True:
        planner = _Planner(prepared(with_copies(graph, copied)), donated, copied)
        clashing = planner.clashing()
        if not clashing:
            return planner.program()
        copied |= clashing


@dataclass(slots=True)
class _GroupInstructions:
    """The instructions of one group, with the buffers that they read and write."""

    instructions: list[Instruction]
    level: int
    combine: Combine | None = None


class _Planner:
    def __init__(self, prepared: Prepared, donated: dict[int, int], copied: AbstractSet[int]) -> None:
        self.inputs = prepared.inputs
        self.nodes = prepared.nodes
        self.outputs = prepared.outputs
        self.views = prepared.views
        self.kinds = {id(node): kind_of(node) for node in self.nodes}
        if not self._is_tiled():
            for node in self.nodes:
                if self.kinds[id(node)] in (Kind.TILED, Kind.REDUCING):
                    self.kinds[id(node)] = Kind.UNTILED
        self.donated = donated
        self.donations = Donations(
            {id(self.outputs[o]): self.inputs[i] for o, i in donated.items() if o not in copied},
            {id(self.outputs[o]): self.inputs[i] for o, i in donated.items() if o in copied},
        )
        self.kinds.update(dict.fromkeys(self.donations.copies, Kind.UNTILED))
        last = dict.fromkeys(self.donations.in_place, 0) | dict.fromkeys(self.donations.copies, 1)
        self.early = needed_early(self.nodes, self.kinds, self.views, self.outputs, self.donations) if last else set()
        self.level = levels(self.nodes, self.kinds, last, self.early)
        self.commit = min((self.level[key] for key in last), default=max(self.level.values(), default=0) + 1)
        self.users: dict[int, list[Node]] = {}
        for node in self.nodes:
            for item in node.inputs:
                self.users.setdefault(id(item), []).append(node)
        late = computed_late(self.nodes, self.users, self.views, self.outputs)
        for node in self.nodes:
            if id(node) in late:
                self.level[id(node)] = self.level[id(late[id(node)])]
        self.nodes = in_order(self.nodes, self.level, self.views, late)
        self.groups = fuse(self.nodes, self.level, self.views, late)
        self.row_counts = [node for node in self.nodes if node.primitive is ROW_COUNT]
        self.output_index = {id(node): index for index, node in enumerate(self.outputs)}
        self.epilogues = Epilogues(self.views, self.kinds, self.users, self.output_index)

    def _is_tiled(self) -> bool:
        """Whether the batch passes through all layers tile by tile; not if the matrices do not fit into the cache."""
        products = [node for node in self.nodes if node.primitive.name == "matmul" and is_symbolic(node.shape)]
        matrices = {
            id(item): width(item.shape) * item.dtype.itemsize
            for node in products
            for item in node.inputs
            if not is_symbolic(item.shape)
        }
        most = SHARED_BYTES
        if Kind.REDUCING not in self.kinds.values():  # partial sums for each lane cost more than tiles save
            most = max(most, WIDE * max((width(node.shape) * node.dtype.itemsize for node in products), default=0))
        return sum(matrices.values()) <= most

    def clashing(self) -> set[int]:
        """Positions of the donated outputs that must be copied at the end."""
        found = clashes(self.groups, self.commit, self.views, self.donations, self.early)
        return {self.output_index[key] for key in found}

    def program(self) -> Program:
        low = self._lowering(self.groups)
        steps = self._steps(self.groups, low)
        stages, times = self._stages(steps, low)
        arena = self._place(stages, times, low)
        return Program(
            self.inputs,
            self.row_counts,
            self.outputs,
            low.buffers,
            stages,
            arena,
            self.donated,
            len({step.level for step in steps if step.level < self.commit}),
        )

    def _lowering(self, groups: list[NodeGroup]) -> Lowering:
        tiled = {key for key, kind in self.kinds.items() if kind is Kind.TILED}
        reducing = {
            id(node): (self.level[id(node)], REDUCIBLE[node.primitive.name])
            for node in self.nodes
            if self.kinds[id(node)] is Kind.REDUCING
        }
        home = {id(node): position for position, group in enumerate(groups) for node in group.nodes}
        leaves = {id(node): index for index, node in enumerate([*self.inputs, *self.row_counts])}
        outside: set[int] = set()
        later: set[int] = set()
        for node in self.nodes:
            for item in node.inputs:
                root = self.views[id(item)].root
                if home.get(id(root)) != home.get(id(node)) or root is not item or id(node) not in home:
                    outside.add(id(root))
                if self.level[id(node)] != self.level[id(root)]:
                    later.add(id(root))

        def space_of(node: Node) -> str:
            if id(node) in leaves:
                return "input"
            if id(node) in self.output_index:
                return "output"
            if not is_symbolic(node.shape):
                return "shared"
            return "tile" if id(node) in tiled and id(node) not in later else "rows"

        low = Lowering(self.views, space_of, tiled, reducing, homes(self.nodes, self.views, self.outputs))
        for node in [*self.inputs, *self.row_counts]:
            low.buffers[low.buffer(node)].offset = leaves[id(node)]
        low.over = {key: low.buffer(given) for key, given in self.donations.in_place.items()}
        for group in groups:
            for node in group.nodes if group.chain else group.nodes[-1:]:
                if not group.chain or id(node) in outside or id(node) in self.output_index:
                    number = low.buffer(node)
                    if id(node) in self.output_index:
                        low.buffers[number].offset = self.output_index[id(node)]
        return low

    def _steps(self, groups: list[NodeGroup], low: Lowering) -> list[_GroupInstructions]:
        """Instructions in order; a chain that depends only on a product becomes its epilogue."""
        partner = self.epilogues.partners(groups)
        taken = set(partner.values())
        steps: list[_GroupInstructions] = []
        for position, group in enumerate(groups):
            if position in taken or width(group.shape) == 0:
                continue
            if position in partner:
                steps.append(
                    _GroupInstructions(
                        [self.epilogues.product(group.nodes[0], groups[partner[position]], low)], group.level
                    )
                )
                continue
            node = group.nodes[-1]
            step = _GroupInstructions(lower(group, low), group.level)
            if id(node) in low.reducing:
                _, op = low.reducing[id(node)]
                lane, offset = low.lane(node)
                step.combine = Combine(op, name_of(node.dtype), lane, low.buffer(node), width(node.shape), offset)
            steps.append(step)
        return steps

    def _stages(self, steps: list[_GroupInstructions], low: Lowering) -> tuple[list[Stage], dict[int, tuple[int, int]]]:
        """Stages by level, and the lifetime of each buffer."""
        stages: list[Stage] = []
        times: dict[int, tuple[int, int]] = {}
        time = 0

        def touch(buffer: int, first: int, last: int) -> None:
            if buffer in times:
                first, last = min(first, times[buffer][0]), max(last, times[buffer][1])
            times[buffer] = (first, last)

        by_level: dict[int, list[_GroupInstructions]] = {}
        for step in steps:
            by_level.setdefault(step.level, []).append(step)
        for level, members in sorted(by_level.items()):
            by_rows = level % 2 == 0
            stage = Stage(tile_rows=TILE_ROWS[0] if by_rows else 0)
            count = sum(len(step.instructions) for step in members)
            start, stop = time, time + count
            for step in members:
                for instruction in step.instructions:
                    for number in {operand.buffer for operand in instruction.operands()}:
                        # All tiles run all instructions, so buffers that no tile owns live during the whole stage.
                        whole = by_rows and low.buffers[number].space != "tile"
                        touch(number, start if whole else time, stop if whole else time)
                    stage.instructions.append(instruction)
                    time += 1
                if step.combine is not None:
                    stage.combines.append(step.combine)
                    touch(step.combine.lane_buffer, start, stop)
                    touch(step.combine.dst_buffer, start, stop)
            stage.combines = _joined(stage.combines)
            time = stop + 1
            stages.append(stage)
        return stages, times

    def _place(self, stages: list[Stage], times: dict[int, tuple[int, int]], low: Lowering) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for space, alignment in (("shared", 64), ("lane", 64), ("rows", 4), ("tile", 4)):
            numbers = [n for n, buffer in enumerate(low.buffers) if buffer.space == space and n in times]
            offsets, sizes[space] = place([Lifetime(low.buffers[n].bytes, *times[n]) for n in numbers], alignment)
            for number, offset in zip(numbers, offsets, strict=True):
                low.buffers[number].offset = offset
        self._choose_tiles(stages, sizes, low)
        return sizes

    def _choose_tiles(self, stages: list[Stage], sizes: dict[str, int], low: Lowering) -> None:
        per_row = max(sizes["tile"], 1)
        tile_rows = next((rows for rows in TILE_ROWS if rows * per_row <= TILE_BYTES), TILE_ROWS[-1])
        for stage in stages:
            if not stage.tile_rows:
                continue
            flops = sum(_flops_a_row(instruction) for instruction in stage.instructions)
            stage.tile_rows = tile_rows
            stage.lane_rows = -(-LANE_FLOPS // max(flops, 1))
            stage.max_lanes = MAX_LANES
        for buffer in low.buffers:
            if buffer.space == "tile" and buffer.offset >= 0:
                buffer.offset *= tile_rows
        sizes["tile"] *= tile_rows


def _joined(combines: list[Combine]) -> list[Combine]:
    """The same work with fewer combines: adjacent ranges in one lane buffer are combined together."""
    found: list[Combine] = []
    for combine in sorted(combines, key=lambda item: (item.lane_buffer, item.offset)):
        before = found[-1] if found else None
        if before and before.lane_buffer == combine.lane_buffer and before.offset + before.size == combine.offset:
            found[-1] = replace(before, size=before.size + combine.size)
        else:
            found.append(combine)
    return found


def _flops_a_row(instruction: Instruction) -> int:
    return sum(node_flops(node, 64) for node in instruction.nodes) // 64
