"""The net of a report: drawn, and its first weights as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from madaline.functional.model import Model
from madaline.nn.layers.parallel import Parallel
from madaline.nn.summary import LayerRow
from madaline.report.html.chart import COLOURS, DIVERGING, Chart, named_axis, numbers, titled

WIDTH, ROW, TOP = 480, 84, 14
RADIUS = 6
MOST_UNITS = 12
"Of a layer that are drawn."
MOST_LAYERS = 24
LONGEST = 64
"Characters under a rank."
LONGEST_NAME, LONGEST_PATH = 14, 6
MOST_INPUTS, MOST_WEIGHTS = 30, 64
"Rows and columns of the heat map."


@dataclass
class Rank:
    """Units side by side: a layer with weights, and what follows it without changing the number of units."""

    width: int
    names: list[str] = field(default_factory=list)
    n_params: int = 0
    W: np.ndarray | None = None

    @property
    def text(self) -> str:
        """What stands under the units."""
        count = f"{self.n_params:,} parameters" if self.n_params else f"{self.width:,}"
        return f"{', '.join(self.names)}: {count}"


def layer_names(model: Model) -> dict[str, str]:
    """The layers of a net by path, named by path and description."""
    return {row.path: _name(row) for row in model.network.rows}


def _name(row: LayerRow) -> str:
    """A short one: without arguments if they are many, without where the layer is if that is far inside."""
    described = repr(row.layer)
    kind = described if len(described) <= LONGEST_NAME else type(row.layer).__name__
    return f"{row.path if len(row.path) <= LONGEST_PATH else row.path.rpartition('.')[2]} {kind}"


def first_weights(model: Model, inputs: Sequence[str]) -> Chart | None:
    """What the units of the first layer look at."""
    found = [entry for entry in model.network.params.values() if entry.path.rpartition(".")[2] == "W"]
    if not found or len(found[0].shape) != 2:
        return None
    W = np.asarray(model.params[found[0].path], np.float64)
    names = list(inputs) if len(inputs) == len(W) else [f"input {place + 1}" for place in range(len(W))]
    rows = np.sort(np.argsort(-np.linalg.norm(W, axis=1), kind="stable")[:MOST_INPUTS])
    columns = np.sort(np.argsort(-np.linalg.norm(W, axis=0), kind="stable")[:MOST_WEIGHTS])
    shown = W[np.ix_(rows, columns)]
    # Seriation by the first singular vector puts units that look at the same things side by side.
    order = np.argsort(np.linalg.svd(shown, full_matrices=False)[2][0], kind="stable")
    limit = float(np.quantile(np.abs(shown), 0.99)) or 1.0
    trace = {
        "type": "heatmap",
        "x": [f"unit {place}" for place in columns[order].tolist()],
        "y": list(range(len(rows))),
        "z": numbers(shown[:, order]),
        "zmin": -limit,
        "zmax": limit,
        "colorscale": DIVERGING,
        "colorbar": {"thickness": 10, "outlinewidth": 0},
        "hovertemplate": "%{x}: %{z}<extra></extra>",
    }
    layout = {
        "xaxis": titled("units", showticklabels=False, ticks=""),
        "yaxis": named_axis([names[place] for place in rows], autorange="reversed"),
    }
    parts = []
    if len(rows) < W.shape[0]:
        parts.append(f"the {len(rows)} inputs of {W.shape[0]:,} with the largest weights")
    if len(columns) < W.shape[1]:
        parts.append(f"the {len(columns)} units of {W.shape[1]:,} with the largest weights")
    more = f" Shown: {' and '.join(parts)}." if parts else ""
    if any(" wave " in names[place] for place in rows):
        more += " A wave is a cosine of a column, of a frequency that the net has learned."
    caption = f"Weights from inputs to units, those units side by side that look at the same inputs.{more}"
    return Chart("The first layer's weights", caption, [trace], layout, is_wide=True, height=120 + 18 * len(rows))


def drawing(model: Model, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """The net as a picture: units in ranks from the inputs above to the outputs below, ties by their weights."""
    ranks = _ranks(model)
    if len(ranks) < 2 or len(ranks) > MOST_LAYERS:
        return ""
    parts: list[str] = []
    for place, rank in enumerate(ranks):
        y = TOP + ROW * place
        if place:
            parts += _ties(ranks[place - 1], rank, y - ROW, y)
    for place, rank in enumerate(ranks):
        parts += _units(rank, TOP + ROW * place)
    height = TOP + ROW * (len(ranks) - 1) + 30
    ends = f"from {len(inputs):,} inputs " if inputs else ""
    ends += f"to {', '.join(outputs[:10])}{' ...' if len(outputs) > 10 else ''}" if outputs else ""
    title = escape(f"The net, {ends}".strip(", "))
    return (
        f'<svg class="net" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )


def _ranks(model: Model) -> list[Rank]:
    """The net's layers as ranks of units; what only holds other layers is none."""
    rows = list(model.network.rows)
    holders = {row.path.rpartition(".")[0] for row in rows if row.path} | {""}
    beside = tuple(f"{row.path}." for row in rows if isinstance(row.layer, Parallel))
    weights = {path.rpartition(".")[0]: path for path in model.network.params if path.rpartition(".")[2] == "W"}
    ranks: list[Rank] = []
    for row in rows:
        width = _width(row.out_shape)
        if row.path in holders or row.path.startswith(beside) or width is None:
            continue
        if not ranks:  # what branches give together is what the ranks begin with
            ranks.append(Rank(_width(getattr(row.inputs, "shape", None)) or width, ["inputs"]))
        if row.n_params:
            W = np.asarray(model.params[weights[row.path]]) if row.path in weights else None
            ranks.append(Rank(width, [repr(row.layer)], row.n_params, W))
        elif len(ranks) > 1 and ranks[-1].width == width:
            ranks[-1].names.append(repr(row.layer))
        elif ranks[-1].width != width:
            ranks.append(Rank(width, [repr(row.layer)]))
    return ranks


def _width(shape: object) -> int | None:
    """The last axis of a shape that is a tuple with a known end."""
    if not isinstance(shape, tuple) or not shape or not isinstance(shape[-1], int):
        return None
    return shape[-1]


def _places(width: int) -> list[tuple[int, float]]:
    """Units that are drawn, by number, and where; of many, those at the ends with a gap between."""
    count = min(width, MOST_UNITS)
    gap = 36.0
    slots = count + (width > MOST_UNITS)
    start = WIDTH / 2 - gap * (slots - 1) / 2
    half = count // 2 if width > MOST_UNITS else count
    return [
        (k if k < half else width - count + k, start + gap * (k + (width > MOST_UNITS and k >= half)))
        for k in range(count)
    ]


def _units(rank: Rank, y: float) -> list[str]:
    places = _places(rank.width)
    parts = [f'<circle class="unit" cx="{x:.1f}" cy="{y}" r="{RADIUS}"/>' for _, x in places]
    if rank.width > MOST_UNITS:
        parts.append(f'<text x="{WIDTH / 2}" y="{y + 4}" text-anchor="middle">…</text>')
    text = rank.text if len(rank.text) <= LONGEST else f"{rank.text[: LONGEST - 1]}…"
    parts.append(f'<text x="{WIDTH / 2}" y="{y + 22}" text-anchor="middle">{escape(text)}</text>')
    return parts


def _ties(upper: Rank, lower: Rank, top: float, bottom: float) -> list[str]:
    """A line for each weight between drawn units, as thick as the weight is large."""
    is_dense = lower.W is not None and lower.W.shape == (upper.width, lower.width)
    above, below = _places(upper.width), _places(lower.width)
    if not is_dense or lower.W is None:
        middle, end = WIDTH / 2, bottom - RADIUS - 2
        return [f'<line class="tie" x1="{middle}" y1="{top + RADIUS + 2}" x2="{middle}" y2="{end}" stroke-width="2"/>']
    largest = float(np.abs(lower.W).max()) or 1.0
    lines = []
    for i, x1 in above:
        for j, x2 in below:
            size = abs(float(lower.W[i, j])) / largest
            if size < 0.08:
                continue
            colour = COLOURS[1] if lower.W[i, j] > 0 else COLOURS[0]
            lines.append(
                f'<line x1="{x1:.0f}" y1="{top + RADIUS}" x2="{x2:.0f}" y2="{bottom - RADIUS}" stroke="{colour}" '
                f'stroke-width="{0.3 + 1.7 * size:.1f}" stroke-opacity="{0.15 + 0.75 * size:.2f}"/>'
            )
    return lines
