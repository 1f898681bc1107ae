"""Pictures of the results of scale.py."""

from __future__ import annotations

from typing import Any

import harness
import matplotlib as mpl
import numpy as np
import scale_model as model

mpl.use("Agg")

import matplotlib.pyplot as plt

RED, BLUE, GREEN, GREY = "#c0392b", "#2471a3", "#229954", "#7f8c8d"
COLORS = {"one process": "black", "local SGD": BLUE, "DiLoCo": RED}
LINES = {("small", 8): "--", ("small", 64): "-", ("wide", 64): "-", ("wide", 512): ":"}
"Lines of the extrapolation, by net and number of local steps."
TITLES = {"covertype": "covertype", "adult": "adult, three passes", "synthetic": "synthetic day"}


def _save(figure: Any, name: str) -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(harness.RESULTS / f"{name}.png", dpi=110, bbox_inches="tight")
    plt.close(figure)


def stream(part: dict[str, Any]) -> None:
    """Rows per CPU second and per second."""
    figure, axes = plt.subplots(figsize=(7, 2.2))
    names = {"read": "reading alone", "compute": "training, rows in memory", "both": "training while reading"}
    values = [part["rows_per_second"][name] for name in names]
    bars = axes.barh(list(names.values()), values, color=[GREY, BLUE, RED])
    axes.bar_label(bars, [f"{value:,.0f} rows/s" for value in values], padding=4)
    axes.set_xscale("log")
    axes.set_xlim(1e4, 8e6)
    axes.invert_yaxis()
    axes.set_xlabel("rows per second (logarithmic)")
    _save(figure, "scale-stream")


def curves(parts: dict[str, dict[str, Any]]) -> None:
    """Validation loss against rows seen."""
    figure, several = plt.subplots(1, len(parts), figsize=(4.6 * len(parts), 3.6))
    shown = {("one process", 1, 1): "-", ("local SGD", 4, 8): "-", ("local SGD", 8, 64): ":"}
    shown |= {("DiLoCo", 4, 8): "-", ("DiLoCo", 8, 64): ":"}
    for axes, (name, part) in zip(np.atleast_1d(several), parts.items(), strict=True):
        for each in part["curves"]:
            key = each["way"], each["replicas"], each["local_steps"]
            if key in shown:
                rows = np.arange(1, len(each["loss"]) + 1) * part["rows"] / len(each["loss"]) / 1000
                label = key[0] if key[1] == 1 else f"{key[0]}, {key[1]} replicas, H = {key[2]}"
                axes.plot(rows, each["loss"], shown[key], color=COLORS[key[0]], label=label)
        axes.axhline(model.target_of(part), color=GREY, lw=0.6)
        axes.set_title(TITLES[name])
        axes.set_xlabel("thousand rows seen")
    np.atleast_1d(several)[0].set_ylabel("validation loss")
    np.atleast_1d(several)[0].legend(fontsize=7, frameon=False)
    _save(figure, "scale-curves")


def rounds(part: dict[str, Any], cost: model.RoundCost) -> None:
    """Overhead of a round against parameters: measured, and the model."""
    figure, axes = plt.subplots(figsize=(6, 3.6))
    counts = sorted({each["replicas"] for each in part["rounds"]})
    for replicas, color in zip(counts, (GREEN, BLUE, RED), strict=False):
        own = [each for each in part["rounds"] if each["replicas"] == replicas and each["where"] == "cluster"]
        parameters = np.geomspace(own[0]["parameters"], own[-1]["parameters"], 50)
        axes.plot([each["parameters"] for each in own], [1e3 * each["least"] for each in own], "o", color=color)
        label = f"{replicas} replicas"
        axes.plot(parameters, [1e3 * cost.seconds(p, replicas) for p in parameters], color=color, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_yticks([10, 30, 100, 300], ["10", "30", "100", "300"])
    axes.minorticks_off()
    axes.set_xlabel("parameters of the net")
    axes.set_ylabel("milliseconds of a round")
    axes.legend(frameon=False)
    _save(figure, "scale-rounds")


def extrapolation(table: list[dict[str, Any]]) -> None:
    """Rows per second, and speed to the same loss, against nodes."""
    figure, several = plt.subplots(1, 2, figsize=(10, 3.6))
    nodes = sorted({each["nodes"] for each in table})
    for axes, key, title in zip(
        several, ("throughput", "speedup"), ("rows per second", "speed to the same loss"), strict=True
    ):
        axes.plot(nodes, nodes, color=GREY, lw=0.8, label="ideal")
        for (net, steps), style in {
            ("small", 8): "--",
            ("small", 64): "-",
            ("wide", 64): "-",
            ("wide", 512): ":",
        }.items():
            own = [each for each in table if each["net"] == net and each["local_steps"] == steps]
            color = BLUE if net == "small" else RED
            axes.plot(
                nodes,
                [each[key] for each in own],
                style,
                color=color,
                marker="o",
                ms=3,
                label=f"{net} net, H = {steps}",
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(nodes, [str(count) for count in nodes])
        axes.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
        axes.set_title(f"{title}, relative to one node")
        axes.set_xlabel("nodes")
    several[0].legend(frameon=False, fontsize=8)
    _save(figure, "scale-nodes")
