"""The network of a report: a drawing of its units, and the weights of its first layer as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from madaline.functional.model import Model
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.parallel import Parallel
from madaline.nn.summary import LayerRow
from madaline.report.html.chart import COLOURS, DIVERGING, Chart, axis, named_axis, numbers

WIDTH, ROW, TOP = 480, 84, 14
RADIUS = 6
MOST_UNITS = 12
"Units of a layer that are drawn."
MOST_LAYERS = 24
LONGEST = 64
"Maximum length of the text under a rank."
LONGEST_NAME, LONGEST_PATH = 14, 6
MOST_INPUTS, MOST_WEIGHTS = 30, 64
"Maximum number of rows and columns of the heat map."


@dataclass
class Rank:
    """A row of units: a layer with weights and the layers after it that keep the number of units."""

    width: int
    names: list[str] = field(default_factory=list)
    n_params: int = 0
    W: np.ndarray | None = None

    @property
    def text(self) -> str:
        """The text under the units."""
        count = f"{self.n_params:,} parameters" if self.n_params else f"{self.width:,}"
        return f"{', '.join(self.names)}: {count}"


def layer_names(model: Model, inside: str = "") -> dict[str, str]:
    """Names of the layers by path: the path and the kind of layer; ``inside`` is the path of one part, with a dot."""
    rows = [(row.path.removeprefix(inside), row) for row in model.network.rows if row.path.startswith(inside)]
    return {path: _name(path, row) for path, row in rows}


def _name(path: str, row: LayerRow) -> str:
    """A short name: without long arguments, and without the outer part of a long path."""
    described = repr(row.layer)
    kind = described if len(described) <= LONGEST_NAME else type(row.layer).__name__
    return f"{path if len(path) <= LONGEST_PATH else path.rpartition('.')[2]} {kind}"


def first_weights(model: Model, inputs: Sequence[str]) -> Chart | None:
    """A heat map of the weights of the first layer that combines columns; None where its inputs have no names."""
    found = _first_linear(model)
    names = [] if found is None else _input_names(model, found, inputs)
    if found is None or not names:
        return None
    W = np.asarray(model.params[f"{found.home}.W" if found.home else "W"], np.float64)
    rows = np.sort(np.argsort(-np.linalg.norm(W, axis=1), kind="stable")[:MOST_INPUTS])
    columns = np.sort(np.argsort(-np.linalg.norm(W, axis=0), kind="stable")[:MOST_WEIGHTS])
    weights = W[np.ix_(rows, columns)]
    # Seriation by the first singular vector puts units with similar weights side by side.
    order = np.argsort(np.linalg.svd(weights, full_matrices=False)[2][0], kind="stable")
    limit = float(np.quantile(np.abs(weights), 0.99)) or 1.0
    trace = {
        "type": "heatmap",
        "x": [f"unit {place}" for place in columns[order].tolist()],
        "y": list(range(len(rows))),
        "z": numbers(weights[:, order]),
        "zmin": -limit,
        "zmax": limit,
        "colorscale": DIVERGING,
        "colorbar": {"thickness": 10, "outlinewidth": 0},
        "hovertemplate": "%{x}: %{z}<extra></extra>",
    }
    layout = {
        "xaxis": axis("units", showticklabels=False, ticks=""),
        "yaxis": named_axis([names[place] for place in rows], autorange="reversed"),
    }
    parts = []
    if len(rows) < W.shape[0]:
        parts.append(f"the {len(rows)} of {W.shape[0]:,} inputs with the largest weights")
    if len(columns) < W.shape[1]:
        parts.append(f"the {len(columns)} of {W.shape[1]:,} units with the largest weights")
    more = f" Shown: {' and '.join(parts)}." if parts else ""
    if any(" wave " in names[place] for place in rows):
        more += " A wave is a cosine of a column with a learned frequency."
    if any(names[place].endswith("]") for place in rows):
        more += " Numbers in brackets are the places in the embedding vector of a category."
    caption = f"Weight from each input (row) to each unit (column); units with similar weights are side by side.{more}"
    return Chart("Weights of the first layer", caption, [trace], layout, "wide", 120 + 18 * len(rows))


def _first_linear(model: Model) -> LayerRow | None:
    """The first linear layer, if all inputs go through it: it is not in one of several branches."""
    branches = tuple(f"{row.path}." for row in model.network.rows if isinstance(row.layer, Parallel))
    for row in model.network.rows:
        if isinstance(row.layer, Linear):
            return None if row.path.startswith(branches) else row
    return None


def _input_names(model: Model, first: LayerRow, inputs: Sequence[str]) -> list[str]:
    """Names of the inputs of the first linear layer; none if they are not known."""
    width = _width(getattr(first.inputs, "shape", None))
    if len(inputs) == width:
        return list(inputs)
    is_matrix = getattr(model.network.inputs, "shape", None) == (width,)
    return [f"input {place + 1}" for place in range(width or 0)] if is_matrix else []


def drawing(model: Model, inputs: Sequence[str], outputs: Sequence[str], inside: str = "") -> str:
    """The net as SVG: ranks of units from the inputs at the top to the outputs, connected by lines for weights.

    ``inside`` is the path of one part of the net, with a dot: only that part is drawn.
    """
    ranks = _ranks(model, inside)
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


def widths(model: Model, inside: str = "") -> list[int]:
    """Number of inputs, and of the units of each layer with weights."""
    ranks = _ranks(model, inside)
    return [rank.width for rank in ranks[:1] + [rank for rank in ranks[1:] if rank.n_params]]


def _ranks(model: Model, inside: str = "") -> list[Rank]:
    """The layers as ranks of units; layers that only contain other layers are left out."""
    rows = [row for row in model.network.rows if f"{row.path}.".startswith(inside)]
    holders = {row.path.rpartition(".")[0] for row in rows if row.path} | {""}
    beside = tuple(f"{row.path}." for row in rows if isinstance(row.layer, Parallel))
    weights = {path.rpartition(".")[0]: path for path in model.network.params if path.rpartition(".")[2] == "W"}
    ranks: list[Rank] = []
    for row in rows:
        width = _width(row.out_shape)
        if row.path in holders or row.path.startswith(beside) or width is None:
            continue
        if not ranks:  # the joined output of parallel branches is the first rank
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
    """The length of the last axis, if it is known."""
    if not isinstance(shape, tuple) or not shape or not isinstance(shape[-1], int):
        return None
    return shape[-1]


def _places(width: int) -> list[tuple[int, float]]:
    """Indices and positions of the drawn units; of many, the first and the last ones with a gap between them."""
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
    """A line for each weight between drawn units; thicker lines are larger weights."""
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
