"""Charts of numbers that were predicted: beside the truth, on average, and how far they are off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from madaline.report.findings import INTERVAL
from madaline.report.html.chart import COLOURS, EVEN, Chart, numbers, titled, whole

MOST_TARGETS = 3
MOST_POINTS = 1500
N_BINS = 10
"Of predictions, each with as many rows."
BIN_ROWS = 10
"Rows of a bin at least."
Z = 1.96
"Standard deviations in which 95% are."


def number_charts(
    truth: np.ndarray, prediction: np.ndarray, covered: np.ndarray | None, targets: Sequence[str]
) -> Iterator[Chart]:
    """What fits numbers: the truth by prediction, whether they agree on average, how often intervals hold, residuals.

    Parameters
    ----------
    truth, prediction : array of shape (n, k)
    covered : array of bool of shape (n, k), optional
        Whether the interval of each row holds its truth.
    targets : sequence of str
        Names of the ``k`` columns.
    """
    rng = np.random.default_rng(0)
    shown = rng.permutation(len(truth))[:MOST_POINTS]
    sampled = f" {len(shown):,} of {len(truth):,} rows." if len(shown) < len(truth) else ""
    marker = {"color": COLOURS[0], "size": 5, "opacity": 0.65}
    for k in range(min(truth.shape[1], MOST_TARGETS)):
        of = f" of {targets[k]}" if truth.shape[1] > 1 and k < len(targets) else ""
        y, guess = truth[:, k].astype(np.float64), prediction[:, k].astype(np.float64)
        ends = numbers([min(y.min(), guess.min()), max(y.max(), guess.max())])
        even = {"x": ends, "y": ends, "mode": "lines", "line": EVEN, "hoverinfo": "skip"}
        points = {"x": numbers(guess[shown]), "y": numbers(y[shown]), "mode": "markers", "marker": marker}
        yield Chart(
            f"Predictions{of} and the truth",
            f"On the dotted line they are the same.{sampled}",
            [points, even],
            {"xaxis": titled("predicted"), "yaxis": titled("true"), "showlegend": False},
        )
        places = _bins(guess)
        if len(places) > 1:
            yield _averages(y, guess, places, of)
        error = y - guess
        low, high, size = error.min(), error.max(), np.abs(error).max()
        if high - low <= 1e-9 * size:  # all the same: too close together to be parted
            low, high = low - 0.5 * size, high + 0.5 * size
        counts, edges = np.histogram(error, bins=min(40, max(8, int(np.sqrt(len(error))))), range=(low, high))
        bars = {"type": "bar", "x": numbers((edges[1:] + edges[:-1]) / 2), "y": counts.tolist()}
        bars |= {"marker": {"color": COLOURS[0]}, "width": float(edges[1] - edges[0]) * 0.92}
        half, most = np.quantile(np.abs(error), [0.5, 0.9])
        yield Chart(
            f"Residuals{of}",
            f"True minus predicted. Half of them are within {half:.3g}, nine of ten within {most:.3g}.",
            [bars],
            {"xaxis": titled("residual"), "yaxis": titled("rows"), "showlegend": False},
        )
        yield Chart(
            f"Residuals{of} by prediction",
            f"A slope or a funnel says that the net errs more for some predictions than for others.{sampled}",
            [
                {"x": numbers(guess[shown]), "y": numbers(error[shown]), "mode": "markers", "marker": marker},
                {"x": numbers([guess.min(), guess.max()]), "y": [0, 0], "mode": "lines", "line": EVEN},
            ],
            {"xaxis": titled("predicted"), "yaxis": titled("residual"), "showlegend": False},
        )
        if covered is not None and len(places) > 1:
            yield _coverage(covered[:, k], guess, places, of)


def wilson(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the true share may be, given so few rows; 95%. Wilson 1927."""
    centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    return centre - half, centre + half


def _bins(guess: np.ndarray) -> list[np.ndarray]:
    """The rows of each of some bins of predictions, from the smallest on; equal predictions are in one bin."""
    count = min(N_BINS, len(guess) // BIN_ROWS)
    if count < 2:
        return []
    edges = np.unique(np.quantile(guess, np.linspace(0.0, 1.0, count + 1)[1:-1]))
    place = np.searchsorted(edges, guess, side="left")
    return [np.flatnonzero(place == k) for k in np.unique(place)]


def _averages(y: np.ndarray, guess: np.ndarray, bins: Sequence[np.ndarray], of: str) -> Chart:
    """Whether the truth is on average what was predicted."""
    x, mean = np.array([guess[rows].mean() for rows in bins]), np.array([y[rows].mean() for rows in bins])
    bars = np.array([Z * y[rows].std(ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else 0.0 for rows in bins])
    points = {
        "x": numbers(x),
        "y": numbers(mean),
        "mode": "markers",
        "marker": {"color": COLOURS[0], "size": 8},
        "error_y": {"array": numbers(bars), "thickness": 1, "color": COLOURS[0]},
        "text": whole([len(rows) for rows in bins]),
        "hovertemplate": "predicted %{x}, true %{y} on average of %{text} rows<extra></extra>",
    }
    ends = numbers([min(x.min(), mean.min()), max(x.max(), mean.max())])
    even = {"x": ends, "y": ends, "mode": "lines", "line": EVEN, "hoverinfo": "skip"}
    return Chart(
        f"On average{of}",
        "Means of rows with predictions alike. Off the dotted line the net is too high or too low there. Bars: 95%.",
        [even, points],
        {"xaxis": titled("mean prediction"), "yaxis": titled("mean truth"), "showlegend": False},
    )


def _coverage(is_covered: np.ndarray, guess: np.ndarray, bins: Sequence[np.ndarray], of: str) -> Chart:
    """How often intervals hold the truth, for small and for large predictions."""
    x = np.array([guess[rows].mean() for rows in bins])
    n = np.array([len(rows) for rows in bins])
    share = np.array([is_covered[rows].mean() for rows in bins])
    low, high = wilson(share, n)
    points = {
        "x": numbers(x),
        "y": numbers(share),
        "mode": "markers",
        "marker": {"color": COLOURS[0], "size": 8},
        "error_y": {
            "symmetric": False,
            "array": numbers(high - share),
            "arrayminus": numbers(share - low),
            "thickness": 1,
            "color": COLOURS[0],
        },
        "text": whole(n),
        "hovertemplate": "near %{x} in %{y:.1%} of %{text} rows<extra></extra>",
    }
    ends = numbers([x.min(), x.max()])
    even = {"x": ends, "y": [INTERVAL, INTERVAL], "mode": "lines", "line": EVEN, "hoverinfo": "skip"}
    bottom = float(min(np.floor(10 * low.min()) / 10, 0.7))
    return Chart(
        f"How far to believe intervals{of}",
        f"How often the truth is in an interval of {INTERVAL:.0%}, from errors on other rows: {is_covered.mean():.1%} "
        "in all. Above the dotted line intervals are wider than they need be, below too narrow. Bars: 95%.",
        [even, points],
        {
            "xaxis": titled("mean prediction"),
            "yaxis": titled("truth in the interval", tickformat=".0%", range=[bottom, 1.02]),
            "showlegend": False,
        },
    )
