"""A net as a table: layer, output shape, parameters, flops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from madaline.nn.context import show_all
from madaline.nn.layer import Layer
from madaline.nn.network import Network
from madaline.nn.summary import LayerRow

WIDEST = 60
"Longer descriptions of a layer are cut."


def table(network: Network) -> str:
    """One line per layer, in the order of the net; flops are for one row in evaluation mode."""
    rows = list(_outer_first(network.rows[:-1])) or list(network.rows)
    groups = {row.path.rpartition(".")[0] for row in rows}
    lines = [("layer", "kind", "output", "parameters", "flops")]
    for row in rows:
        is_group = row.path in groups
        kind = type(row.layer).__name__ if is_group else repr(row.layer)
        indent = "  " * row.path.count(".")
        lines.append(
            (
                row.path or "-",
                indent + (kind if len(kind) <= WIDEST else f"{kind[: WIDEST - 3]}..."),
                show_all(row.out_shape),
                "" if is_group else f"{row.n_params:,}" if row.home == row.path else f"as {row.home}",
                "" if is_group else f"{row.flops:,}",
            )
        )
    whole = network.rows[-1]
    lines.append(("total", "", "", f"{whole.n_params:,}", f"{whole.flops:,}"))
    if n_frozen := sum(entry.size for entry in network.params.values() if entry.frozen):
        lines.append(("frozen", "", "", f"{n_frozen:,}", ""))
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column > 2 else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def listing(layer: Layer, name: str = "", depth: int = 0) -> str:
    """A net whose inputs are unknown, one line per layer."""
    parts = layer.parts()
    title = type(layer).__name__ if parts else repr(layer)
    line = f"{'  ' * depth}{name}{': ' if name else ''}{title}"
    return "\n".join([line, *(listing(part, inner, depth + 1) for inner, part in parts)])


def _outer_first(rows: Sequence[LayerRow]) -> Iterator[LayerRow]:
    """Rows come with those inside another before it; a table reads better the other way round."""
    groups: list[list[LayerRow]] = []
    for row in rows:
        first = len(groups)
        while first and groups[first - 1][0].path.startswith(f"{row.path}."):
            first -= 1
        groups[first:] = [[row, *(item for group in groups[first:] for item in group)]]
    return (row for group in groups for row in group)
