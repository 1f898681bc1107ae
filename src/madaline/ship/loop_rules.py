"""How to compute each primitive that is not elementwise for one row, with loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.graph.node import INT64, Node
from madaline.plan.views import stored_strides, width
from madaline.ship.language import Language
from madaline.ship.rowwise import is_number, moved, place_of, sizes
from madaline.ship.script import concatenated

if TYPE_CHECKING:
    from madaline.ship.loops import Loops

Combine = Callable[[Language, str, str, np.dtype[Any]], str]
"A function from the total so far and an element, of a dtype, to the new total of a reduction."


def _copy(loops: Loops, node: Node) -> None:
    """A reshape that cannot be expressed with strides: copy in the order of the old shape."""
    (x,) = node.inputs
    with loops.nest(sizes(x)) as at:
        loops.code.assign(f"{loops.name(node)}[{place_of(at, stored_strides(x.shape))}]", loops.load(x, at))


def _place(loops: Loops, node: Node) -> None:
    side_by_side = concatenated(node) is not None
    if not side_by_side:
        loops.zeros(node)
    base = stored_strides(node.shape)
    for piece, starts, steps in zip(node.inputs, node.params["starts"], node.params["steps"], strict=True):
        if not width(piece.shape):
            continue
        offset = sum(start * stride for start, stride in zip(starts, base, strict=True))
        strides = [step * stride for step, stride in zip(steps, base, strict=True)]
        with loops.nest(sizes(piece)) as at:
            target = f"{loops.name(node)}[{moved(offset, place_of(at, strides))}]"
            loops.code.assign(target, loops.load(piece, at), "" if side_by_side else "+")


def _matmul(loops: Loops, node: Node) -> None:
    x, W = node.inputs
    loops.zeros(node)
    *outer, n_out = sizes(node)
    if not width(x.shape):
        return
    views = loops.plan.views[id(x)], loops.plan.views[id(W)]
    if all(count == 1 for count in outer) and not any(is_number(view.root) for view in views):
        first, second = ((loops.name(view.root), view.offset) for view in views)
        strides = views[0].strides[-1], *views[1].strides[-2:]
        if loops.code.product(loops.name(node), first, second, strides, (sizes(x)[-1], n_out)):
            return
    with loops.nest(outer) as at, loops.nest([sizes(x)[-1]], "k", scope=True) as (k,):
        loops.code.constant("factor", node.dtype, loops.load(x, [*at, k]))
        with loops.nest([n_out], "j") as (j,):
            loops.code.assign(loops.store(node, [*at, j]), f"factor * {loops.load(W, [*at[:-1], k, j])}", "+")


def _axes(node: Node, axes: Sequence[int]) -> tuple[list[int], list[int]]:
    """The kept and the reduced axes of the argument."""
    return [axis for axis in range(node.inputs[0].ndim) if axis not in axes], list(axes)


def _arranged(kept: Sequence[int], at: Sequence[str], reduced: Sequence[int], inner: Sequence[str]) -> list[str]:
    places = dict(zip([*kept, *reduced], [*at, *inner], strict=True))
    return [places[axis] for axis in range(len(places))]


def _folding(start: float, combine: Combine) -> Callable[[Loops, Node], None]:
    """A reduction that starts with a number and combines it with one element after another."""

    def rule(loops: Loops, node: Node) -> None:
        (x,) = node.inputs
        kept, reduced = _axes(node, node.params["axes"])
        counts = sizes(x)
        with loops.nest([counts[axis] for axis in kept], scope=True) as at:
            loops.code.variable("total", node.dtype, loops.code.literal(start, node.dtype))
            if width(x.shape):
                with loops.nest([counts[axis] for axis in reduced], "k") as inner:
                    element = loops.load(x, _arranged(kept, at, reduced, inner))
                    loops.code.assign("total", combine(loops.code, "total", element, node.dtype))
            loops.code.assign(loops.store(node, at), "total")

    return rule


def _largest(code: Language, total: str, element: str, dtype: np.dtype[Any]) -> str:
    return code.choice(_goes_before(code, f"{element} > {total}", element, dtype), element, total)


def _smallest(code: Language, total: str, element: str, dtype: np.dtype[Any]) -> str:
    return code.choice(_goes_before(code, f"{element} < {total}", element, dtype), element, total)


def _goes_before(code: Language, compared: str, element: str, dtype: np.dtype[Any]) -> str:
    """A comparison that is also true if the element is NaN, so that NaN is the result; integers are never NaN."""
    return f"{compared} {code.either} {element} != {element}" if dtype.kind == "f" else compared


def _extreme(combine: Combine) -> Callable[[Loops, Node], None]:
    def rule(loops: Loops, node: Node) -> None:
        lowest = -np.inf if combine is _largest else np.inf
        if node.dtype.kind != "f":
            lowest = np.iinfo(np.int64).min + 1 if combine is _largest else np.iinfo(np.int64).max
        _folding(lowest, combine)(loops, node)

    return rule


def _logsumexp(loops: Loops, node: Node) -> None:
    (x,) = node.inputs
    kept, reduced = _axes(node, node.params["axes"])
    counts = sizes(x)
    code = loops.code
    with loops.nest([counts[axis] for axis in kept], scope=True) as at:
        code.variable("top", node.dtype, code.literal(-np.inf, node.dtype))
        code.variable("total", node.dtype, code.literal(0, node.dtype))
        inside = [counts[axis] for axis in reduced]
        if width(x.shape):
            with loops.nest(inside, "k") as inner:
                code.assign(
                    "top", _largest(code, "top", loops.load(x, _arranged(kept, at, reduced, inner)), node.dtype)
                )
            infinite = f"top - top != {code.literal(0, node.dtype)}"
            code.assign("top", code.choice(infinite, code.literal(0, node.dtype), "top"))
            with loops.nest(inside, "k") as inner:
                element = loops.load(x, _arranged(kept, at, reduced, inner))
                code.assign("total", code.function("exp", node.dtype, f"{element} - top"), "+")
            code.assign(loops.store(node, at), f"top + {code.function('log', node.dtype, 'total')}")
        else:
            code.assign(loops.store(node, at), "top")


def _argmax(loops: Loops, node: Node) -> None:
    (x,) = node.inputs
    kept, (axis,) = _axes(node, [node.params["axis"]])
    counts = sizes(x)
    code = loops.code
    with loops.nest([counts[each] for each in kept], scope=True) as at:
        code.variable("best", INT64, "0")
        with loops.nest([counts[axis]], "k") as (k,):
            element = loops.load(x, _arranged(kept, at, [axis], [k]))
            best = loops.load(x, _arranged(kept, at, [axis], [code.as_index("best")]))
            larger = f"{element} > {best}"
            if x.dtype.kind == "f":
                larger += f" {code.either} ({element} != {element} {code.both} {best} == {best})"
            code.assign("best", code.choice(larger, code.as_integer(k), "best"))
        code.assign(loops.store(node, at), "best")


def _argsort(loops: Loops, node: Node) -> None:
    """Insertion sort: each index goes before those of larger numbers; NaN goes last."""
    (x,) = node.inputs
    kept, (axis,) = _axes(node, [node.params["axis"]])
    counts = sizes(x)
    code = loops.code
    with (
        loops.nest([counts[each] for each in kept], scope=True) as at,
        loops.nest([counts[axis]], "k", scope=True) as (k,),
    ):

        def slot(index: str) -> str:
            return loops.store(node, _arranged(kept, at, [axis], [index]))

        element = loops.load(x, _arranged(kept, at, [axis], [k]))
        before = loops.load(x, _arranged(kept, at, [axis], [code.as_index(slot("(free - 1)"))]))
        smaller = f"{element} < {before}"
        if x.dtype.kind == "f":
            smaller = f"({smaller} {code.either} ({before} != {before} {code.both} {element} == {element}))"
        code.variable("free", np.dtype(np.uintp), k)
        with code.repeat_while(f"free > 0 {code.both} {smaller}"):
            code.assign(slot("free"), slot("(free - 1)"))
            code.assign("free", "1", "-")
        code.assign(slot("free"), code.as_integer(k))


def _cumsum(loops: Loops, node: Node) -> None:
    (x,) = node.inputs
    kept, (axis,) = _axes(node, [node.params["axis"]])
    counts = sizes(x)
    with loops.nest([counts[each] for each in kept], scope=True) as at:
        loops.code.variable("total", node.dtype, loops.code.literal(0, node.dtype))
        with loops.nest([counts[axis]], "k") as (k,):
            where = f"({counts[axis] - 1} - {k})" if node.params["reverse"] else k
            loops.code.assign("total", loops.load(x, _arranged(kept, at, [axis], [where])), "+")
            loops.code.assign(loops.store(node, _arranged(kept, at, [axis], [where])), "total")


def _take(loops: Loops, node: Node) -> None:
    x, indices = node.inputs
    axis, count = node.params["axis"], node.params["axis"] + indices.ndim
    with loops.nest(sizes(node), scope=True) as at:
        found = loops.code.position("at", loops.load(indices, at[axis:count]), sizes(x)[axis])
        loops.code.assign(loops.store(node, at), loops.load(x, [*at[:axis], found, *at[count:]]))


def _scatter_add(loops: Loops, node: Node) -> None:
    v, indices = node.inputs
    axis, count = node.params["axis"], node.params["axis"] + indices.ndim
    loops.zeros(node)
    with loops.nest(sizes(v), scope=True) as at:
        found = loops.code.position("at", loops.load(indices, at[axis:count]), sizes(node)[axis])
        loops.code.assign(loops.store(node, [*at[:axis], found, *at[count:]]), loops.load(v, at), "+")


def _take_along(loops: Loops, node: Node) -> None:
    x, indices = node.inputs
    with loops.nest(sizes(node), scope=True) as at:
        found = loops.code.position("at", loops.load(indices, at), sizes(x)[-1])
        loops.code.assign(loops.store(node, at), loops.load(x, [*at[:-1], found]))


def _scatter_along(loops: Loops, node: Node) -> None:
    v, indices = node.inputs
    loops.zeros(node)
    with loops.nest(sizes(v), scope=True) as at:
        found = loops.code.position("at", loops.load(indices, at), sizes(node)[-1])
        loops.code.assign(loops.store(node, [*at[:-1], found]), loops.load(v, at), "+")


def _is_a_view(loops: Loops, node: Node) -> None:
    raise AssertionError(f"{node!r} is a view, which is never computed")


RULES: dict[str, Callable[[Loops, Node], None]] = {
    "matmul": _matmul,
    "sum": _folding(0, lambda code, total, element, _: f"{total} + {element}"),
    "prod": _folding(1, lambda code, total, element, _: f"{total} * {element}"),
    "max": _extreme(_largest),
    "min": _extreme(_smallest),
    "logsumexp": _logsumexp,
    "argmax": _argmax,
    "argsort": _argsort,
    "cumsum": _cumsum,
    "reshape": _copy,
    "place": _place,
    "take": _take,
    "scatter_add": _scatter_add,
    "take_along": _take_along,
    "scatter_along": _scatter_along,
    **dict.fromkeys(("transpose", "broadcast_to", "slice", "flip"), _is_a_view),
}
"How to compute each primitive that is not elementwise."
