"""The picture of the home page: training steps per second of madaline and other libraries, from the benchmark."""

from __future__ import annotations

import io
import json

import matplotlib as mpl
from matplotlib.figure import Figure

from contents import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "train.json"
NETS = ("tiny", "small", "tabular", "mnist", "wide")
PEERS = {
    "madaline": "madaline",
    "jax": "JAX",
    "keras": "Keras on JAX",
    "torch.compile": "torch.compile",
    "torch": "PyTorch",
    "sklearn": "scikit-learn",
}
COLORS = {"light": ("#d55e00", "#9fb6c6", "#222832"), "dark": ("#ff8c42", "#5b7488", "#ced6dd")}


def speeds(net: str) -> dict[str, float]:
    """Steps per second by library, each with its best number of threads."""
    records = json.loads(RESULTS.read_text(encoding="utf-8"))["parts"][net]["contestants"]
    found: dict[str, float] = {}
    for record in records:
        if "median" in record:
            found[record["name"]] = max(found.get(record["name"], 0.0), record["median"])
    return {title: found[name] for name, title in PEERS.items() if name in found}


def svg(mode: str) -> bytes:
    """The picture for a light or dark page, without a background."""
    strong, weak, text = COLORS[mode]
    parts = json.loads(RESULTS.read_text(encoding="utf-8"))["parts"]
    settings = {
        "text.color": text,
        "axes.labelcolor": text,
        "ytick.color": text,
        "font.size": 10,
        "svg.hashsalt": "madaline",
    }
    with mpl.rc_context(settings):
        figure = Figure(figsize=(11.5, 2.5), layout="constrained")
        axes = figure.subplots(1, len(NETS), sharey=True)
        for ax, net in zip(axes, NETS, strict=True):
            found = speeds(net)
            bars = ax.barh(list(found), found.values(), color=[strong, *[weak] * (len(found) - 1)], height=0.72)
            ax.bar_label(
                bars,
                [f"{value:,.3g}" if value < 10 else f"{value:,.0f}" for value in found.values()],
                padding=3,
                fontsize=9,
            )
            ax.set_title(parts[net]["description"].replace(", ", ",\n", 1), fontsize=10, loc="left")
            ax.set(xlim=(0, 1.45 * max(found.values())), xticks=[])
            ax.spines[:].set_visible(False)
            ax.tick_params(length=0)
        axes[0].invert_yaxis()
        figure.suptitle(
            "Training steps per second, each library with its best number of threads (more is better)",
            fontsize=11,
            x=0.01,
            ha="left",
        )
        file = io.BytesIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return file.getvalue()
