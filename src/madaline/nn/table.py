"""A net as a table: layer, output shape, parameters, flops."""

from __future__ import annotations

from typing import Any

from madaline.graph.shapes import show
from madaline.nn.network import Network

WIDEST = 60
"Longer descriptions of a layer are cut."


def table(network: Network) -> str:
    """One line a layer, in the order of the net; flops are those of one row, evaluation only."""
    rows = sorted(network.rows[:-1], key=lambda row: _order(row.path)) or list(network.rows)
    lines = [("layer", "kind", "output", "parameters", "flops")]
    for row in rows:
        is_group = any(other.path.startswith(f"{row.path}.") for other in rows)
        kind = type(row.layer).__name__ if is_group else repr(row.layer)
        indent = "  " * row.path.count(".")
        lines.append(
            (
                row.path or "-",
                indent + (kind if len(kind) <= WIDEST else f"{kind[: WIDEST - 3]}..."),
                _shapes(row.out_shape),
                "" if is_group else f"{row.n_params:,}",
                "" if is_group else f"{row.flops:,}",
            )
        )
    whole = network.rows[-1]
    lines.append(("total", "", "", f"{whole.n_params:,}", f"{whole.flops:,}"))
    if network.n_trainable != network.n_params:
        lines.append(("frozen", "", "", f"{network.n_params - network.n_trainable:,}", ""))
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column > 2 else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _order(path: str) -> tuple[Any, ...]:
    return tuple((0, int(part), "") if part.isdigit() else (-1, 0, part) for part in path.split("."))


def _shapes(shape: Any) -> str:
    if isinstance(shape, dict):
        return ", ".join(f"{name} {_shapes(item)}" for name, item in shape.items())
    if shape and isinstance(shape[0], tuple):
        return ", ".join(_shapes(item) for item in shape)
    return show(shape)
