"""Charts of predicted numbers: true values, calibration, residuals and coverage of intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from madaline.report.findings import INTERVAL
from madaline.report.html.chart import COLOURS, EVEN, Chart, axis, numbers, whole
from madaline.report.html.shares import Z, share_points, wilson
from madaline.report.value_text import shown as shown_number

MOST_TARGETS = 3
MOST_POINTS = 1500
N_BINS = 10
"Bins of predictions with equally many rows."
BIN_ROWS = 10
"Minimum number of rows of a bin."


def number_charts(
    truth: np.ndarray, prediction: np.ndarray, covered: np.ndarray | None, targets: Sequence[str]
) -> Iterator[Chart]:
    """Charts of each target: true values by prediction, calibration, residuals, coverage of intervals.

    Parameters
    ----------
    truth, prediction : array of shape (n, k)
    covered : array of bool of shape (n, k), optional
        Whether the prediction interval of each row contains the true value.
    targets : sequence of str
        Names of the ``k`` columns.
    """
    rng = np.random.default_rng(0)
    shown = rng.permutation(len(truth))[:MOST_POINTS]
    sampled = f" A random sample of {len(shown):,} of {len(truth):,} rows." if len(shown) < len(truth) else ""
    marker = {"color": COLOURS[0], "size": 5, "opacity": 0.65}
    for k in range(min(truth.shape[1], MOST_TARGETS)):
        of = f" of {targets[k]}" if truth.shape[1] > 1 and k < len(targets) else ""
        y, guess = truth[:, k].astype(np.float64), prediction[:, k].astype(np.float64)
        ends = numbers([min(y.min(), guess.min()), max(y.max(), guess.max())])
        even = {"x": ends, "y": ends, "mode": "lines", "line": EVEN, "hoverinfo": "skip"}
        points = {"x": numbers(guess[shown]), "y": numbers(y[shown]), "mode": "markers", "marker": marker}
        yield Chart(
            f"Predicted and true values{of}",
            f"Each point is a test row. On the dotted line the prediction is exact.{sampled}",
            [points, even],
            {"xaxis": axis("predicted"), "yaxis": axis("true"), "showlegend": False},
        )
        places = _bins(guess)
        if len(places) > 1:
            yield _averages(y, guess, places, of)
        error = y - guess
        low, high, size = error.min(), error.max(), np.abs(error).max()
        if high - low <= 1e-9 * size:  # all errors are equal: a histogram needs a range
            low, high = low - 0.5 * size, high + 0.5 * size
        counts, edges = np.histogram(error, bins=min(40, max(8, int(np.sqrt(len(error))))), range=(low, high))
        bars = {"type": "bar", "x": numbers((edges[1:] + edges[:-1]) / 2), "y": counts.tolist()}
        bars |= {"marker": {"color": COLOURS[0]}, "width": float(edges[1] - edges[0]) * 0.92}
        half, most = np.quantile(np.abs(error), [0.5, 0.9])
        yield Chart(
            f"Residuals{of}",
            f"True minus predicted value. Half of the test rows are within {shown_number(half)} of the true value, 90% "
            f"within {shown_number(most)}.",
            [bars],
            {"xaxis": axis("residual"), "yaxis": axis("rows"), "showlegend": False},
        )
        yield Chart(
            f"Residuals{of} by prediction",
            "Errors by prediction. A slope means that some predictions are systematically too high or too low; a "
            f"funnel means that errors grow with the prediction.{sampled}",
            [
                {"x": numbers(guess[shown]), "y": numbers(error[shown]), "mode": "markers", "marker": marker},
                {"x": numbers([guess.min(), guess.max()]), "y": [0, 0], "mode": "lines", "line": EVEN},
            ],
            {"xaxis": axis("predicted"), "yaxis": axis("residual"), "showlegend": False},
        )
        if covered is not None and len(places) > 1:
            yield _coverage(covered[:, k], guess, places, of)


def _bins(guess: np.ndarray) -> list[np.ndarray]:
    """Rows in bins of similar predictions, from the smallest to the largest; equal predictions are in one bin."""
    count = min(N_BINS, len(guess) // BIN_ROWS)
    if count < 2:
        return []
    edges = np.unique(np.quantile(guess, np.linspace(0.0, 1.0, count + 1)[1:-1]))
    place = np.searchsorted(edges, guess, side="left")
    return [np.flatnonzero(place == k) for k in np.unique(place)]


def _averages(y: np.ndarray, guess: np.ndarray, bins: Sequence[np.ndarray], of: str) -> Chart:
    """Mean true value by mean prediction."""
    x, mean = np.array([guess[rows].mean() for rows in bins]), np.array([y[rows].mean() for rows in bins])
    bars = np.array([Z * y[rows].std(ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else 0.0 for rows in bins])
    points = {
        "x": numbers(x),
        "y": numbers(mean),
        "mode": "markers",
        "marker": {"color": COLOURS[0], "size": 8},
        "error_y": {"array": numbers(bars), "thickness": 1, "color": COLOURS[0]},
        "text": whole([len(rows) for rows in bins]),
        "hovertemplate": "mean prediction %{x}, mean true value %{y}, %{text} rows<extra></extra>",
    }
    ends = numbers([min(x.min(), mean.min()), max(x.max(), mean.max())])
    even = {"x": ends, "y": ends, "mode": "lines", "line": EVEN, "hoverinfo": "skip"}
    return Chart(
        f"Calibration{of}",
        "Mean true value of test rows with similar predictions. Above the dotted line predictions are too low on "
        "average, below it too high. Bars: 95% confidence interval.",
        [even, points],
        {"xaxis": axis("mean prediction"), "yaxis": axis("mean true value"), "showlegend": False},
    )


def _coverage(is_covered: np.ndarray, guess: np.ndarray, bins: Sequence[np.ndarray], of: str) -> Chart:
    """Coverage of prediction intervals, for small and for large predictions."""
    x = np.array([guess[rows].mean() for rows in bins])
    n = np.array([len(rows) for rows in bins])
    share = np.array([is_covered[rows].mean() for rows in bins])
    low = wilson(share, n)[0]
    points = share_points(x, share, n, hover="prediction near %{x}: %{y:.1%} of %{text} rows")
    ends = numbers([x.min(), x.max()])
    even = {"x": ends, "y": [INTERVAL, INTERVAL], "mode": "lines", "line": EVEN, "hoverinfo": "skip"}
    bottom = float(min(np.floor(10 * low.min()) / 10, 0.7))
    return Chart(
        f"Coverage of prediction intervals{of}",
        f"Fraction of test rows whose true value is in its {INTERVAL:.0%} prediction interval: {is_covered.mean():.1%} "
        "overall. The intervals come from the errors on other test rows. Above the dotted line they are wider than "
        "necessary, below it too narrow. Bars: 95% confidence interval.",
        [even, points],
        {
            "xaxis": axis("mean prediction"),
            "yaxis": axis("fraction in the interval", tickformat=".0%", range=[bottom, 1.02]),
            "showlegend": False,
        },
    )
