"""Pictures of the results, one per page."""

from __future__ import annotations

import statistics
from typing import Any

import harness
import matplotlib as mpl
from peers import TITLES
from roofline import kept_peaks
from workloads import WORKLOADS

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

Data = dict[str, Any]
COLORS = {
    "madaline": "#c0392b",
    "estimator": "#e6b0aa",
    "torch": "#e67e22",
    "torch.compile": "#f5b041",
    "jax": "#2471a3",
    "keras": "#7fb3d5",
    "sklearn": "#7f8c8d",
    "onnxruntime": "#229954",
}


def draw(name: str, data: Data) -> None:
    """Draw the picture or pictures of a page."""
    pictures = {
        "train": {"train": _speeds, "scaling": _scaling},
        "inference": {"inference": _inference},
        "startup": {"startup": _startup},
        "growth": {"growth": _growth},
        "custom": {"custom": _custom},
        "probes": {"probes": _probes},
        "anatomy": {"anatomy": _anatomy},
    }
    for file, picture in pictures.get(name, {}).items():
        figure = picture(data["parts"])
        figure.savefig(harness.RESULTS / f"{file}.png", dpi=110, bbox_inches="tight")
        plt.close(figure)


def _fastest(part: Data, name: str, key: str) -> float | None:
    """The best result of a contestant over its numbers of threads: most steps, or fewest seconds."""
    found = [record["median"] for record in part["contestants"] if record["name"] == name and "median" in record]
    return (max if key == "most" else min)(found) if found else None


def _bars(axes: Axes, groups: list[str], series: dict[str, list[float | None]]) -> None:
    """Grouped bars on a logarithmic axis."""
    width = 0.8 / len(series)
    for position, (name, values) in enumerate(series.items()):
        places = [group + (position - (len(series) - 1) / 2) * width for group in range(len(groups))]
        shown = [(place, value) for place, value in zip(places, values, strict=True) if value is not None]
        axes.bar(*zip(*shown, strict=True), width=width, color=COLORS[name], label=TITLES[name])
    axes.set_yscale("log")
    axes.set_xticks(range(len(groups)), groups)
    axes.spines[["top", "right"]].set_visible(False)


def _speeds(parts: Data) -> Any:
    """The speed of every contestant relative to the best peer."""
    groups = [name for name in WORKLOADS if name in parts]
    peers = [name for name in TITLES if any(_fastest(parts[group], name, "most") for group in groups)]
    best = {
        group: max(_fastest(parts[group], name, "most") or 0.0 for name in peers if name != "madaline")
        for group in groups
    }
    series = {}
    for name in peers:
        found = {group: _fastest(parts[group], name, "most") for group in groups}
        series[name] = [value and value / best[group] for group, value in found.items()]
    figure, axes = plt.subplots(figsize=(12, 4.5))
    _bars(axes, groups, series)
    axes.axhline(1.0, color="black", linewidth=0.8)
    for place, group in enumerate(groups):
        axes.hlines(WORKLOADS[group].target, place - 0.45, place + 0.45, color=COLORS["madaline"], linestyle=":")
    axes.set_ylabel("speed relative to the best peer")
    axes.set_title("Training: each with its best number of threads; dotted: madaline's target")
    axes.tick_params(axis="x", rotation=20)
    axes.legend(ncols=len(series), loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False)
    return figure


def _scaling(parts: Data) -> Any:
    """Steps per second of madaline with one and two threads, relative to the roofline of one thread."""
    groups = [name for name in WORKLOADS if name in parts]
    figure, axes = plt.subplots(figsize=(10, 3.8))
    for threads, shade in ((1, 0.5), (2, 1.0)):
        values = []
        for group in groups:
            records = [r for r in parts[group]["contestants"] if (r["name"], r["threads"]) == ("madaline", threads)]
            values.append(records[0]["median"] * kept_peaks(1).step(WORKLOADS[group]))
        places = [place + 0.4 * (threads - 1.5) for place in range(len(groups))]
        axes.bar(places, values, width=0.38, color=COLORS["madaline"], alpha=shade, label=f"threads: {threads}")
    axes.set_xticks(range(len(groups)), groups, rotation=20)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_ylabel("speed relative to the roofline of one thread")
    axes.set_title("madaline with one and two threads")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def _inference(parts: Data) -> Any:
    figure, both = plt.subplots(1, 2, figsize=(12, 4))
    for axes, n_rows in zip(both, ("1", "1024"), strict=True):
        keys = [key for key in parts if key.split()[1] == n_rows]
        names = [name for name in TITLES if any(_fastest(parts[key], name, "least") for key in keys)]
        times = {name: [_fastest(parts[key], name, "least") for key in keys] for name in names}
        series = {name: [value and 1e6 * value for value in values] for name, values in times.items()}
        _bars(axes, [key.split()[0] for key in keys], series)
        axes.set_ylabel("microseconds")
        axes.set_title(f"{int(n_rows):,} row{'' if n_rows == '1' else 's'}, NumPy arrays to probabilities")
    handles = both[0].get_legend_handles_labels()
    figure.legend(*handles, ncols=len(handles[0]), loc="lower center", bbox_to_anchor=(0.5, -0.06), frameon=False)
    return figure


def _startup(parts: Data) -> Any:
    figure, axes = plt.subplots(figsize=(8, 2.2))
    for place, (name, part) in enumerate(parts.items()):
        imports, fits = (statistics.median(run[key] for run in part["runs"]) for key in ("import", "fit"))
        axes.barh(place, imports, color=COLORS[name], alpha=0.5)
        axes.barh(place, fits, left=imports, color=COLORS[name])
    axes.set_yticks(range(len(parts)), [TITLES[name] for name in parts])
    axes.invert_yaxis()
    axes.set_xlabel("seconds: import (pale), fit")
    axes.set_title("Time from import to a trained model (iris, new process)")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _growth(parts: Data) -> Any:
    sweeps = list(dict.fromkeys(key.split(",")[0] for key in parts))
    figure, grid = plt.subplots(1, len(sweeps), figsize=(4 * len(sweeps), 3.6), layout="constrained")
    for axes, sweep in zip(grid, sweeps, strict=True):
        for part in (part for key, part in parts.items() if key.split(",")[0] == sweep):
            micro = [1e6 * cost for cost in part["seconds"]]
            look = {"color": COLORS["madaline"], "alpha": {1: 0.5, 2: 1.0}[part["threads"]]}
            axes.loglog(part["sizes"], micro, "o-", label=f"threads: {part['threads']}", **look)
            sizes, flops, what = part["sizes"], part["flops"], part["what"]
        axes.loglog(sizes, [micro[-1] * n / flops[-1] for n in flops], ":", color="gray", label="proportional to flops")
        axes.set_xlabel(sweep)
        axes.set_ylabel(f"microseconds per {what}")
        axes.spines[["top", "right"]].set_visible(False)
    grid[0].legend(frameon=False)
    return figure


def _custom(parts: Data) -> Any:
    figure, axes = plt.subplots(figsize=(7, 3))
    for place, part in enumerate(parts.values()):
        median, low, high = part["ratio"]
        axes.bar(place, median, color=COLORS["madaline"], width=0.6, yerr=[[median - low], [high - median]], capsize=4)
        axes.hlines(part["target"], place - 0.4, place + 0.4, color="black", linestyle=":")
    axes.set_xticks(range(len(parts)), list(parts))
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_ylabel("speed relative to built-in formulas")
    axes.set_title("Custom activation, loss and Adam; dotted: target")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _probes(parts: Data) -> Any:
    figure, axes = plt.subplots(figsize=(7, 3))
    for place, part in enumerate(parts.values()):
        median, low, high = (100.0 * (value - 1.0) for value in part["ratio"])
        spread = [[median - low], [high - median]]
        axes.bar(place, median, color=COLORS["madaline"], width=0.6, yerr=spread, capsize=4)
        axes.hlines(100.0 * (part["limit"] - 1.0), place - 0.4, place + 0.4, color="black", linestyle=":")
    axes.set_xticks(range(len(parts)), list(parts))
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_ylabel("additional time, %")
    axes.set_title("Cost of probes; dotted: limit")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _anatomy(parts: Data) -> Any:
    figure, axes = plt.subplots(figsize=(7, 0.4 * len(parts) + 1.2))
    colors = {"products at the FMA peak": "#7b241c", "products beyond that": "#c0392b", "update": "#2471a3"}
    colors["rest"] = "#b3b6b7"
    for place, part in enumerate(parts.values()):
        products, update, rest = (part[group]["median"] for group in ("products", "update", "rest"))
        total = products + update + rest
        left = 0.0
        lengths = (part["at_peak"], products - part["at_peak"], update, rest)
        for (label, color), length in zip(colors.items(), lengths, strict=True):
            axes.barh(place, 100 * length / total, left=left, color=color, label=label if place == 0 else None)
            left += 100 * length / total
    axes.set_yticks(range(len(parts)), list(parts))
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the time of all instructions of a step, one thread")
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=4, frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
