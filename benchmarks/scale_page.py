"""Writes results/scale.md, docs/scale.md and their pictures from results/scale.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import scale_model as model
import scale_plots
from harness import RESULTS, table

DOCS = Path(__file__).parents[1] / "docs"
TABLES = ("covertype", "adult", "synthetic")
NODES = (8, 64, 512)
NETS = {"small": "24,000 parameters, mini-batches of 64 rows", "wide": "176,000 parameters, mini-batches of 4,096 rows"}
WIDE_PARAMETERS = 429 * 256 + 256 + 256 * 256 + 256 + 257
CRITEO_ROWS = 4.3e9


def write() -> None:
    """Write both pages and all pictures."""
    data = json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))
    parts = data["parts"]
    curves = {name: parts[f"curves-{name}"] for name in TABLES}
    cost = model.round_cost(parts["rounds"]["rounds"])
    costs = {way: model.row_cost(list(curves.values()), way) for way in ("local SGD", "DiLoCo")}
    far = extrapolated(parts, cost, costs["local SGD"])
    scale_plots.stream(parts["stream"])
    scale_plots.curves(curves)
    scale_plots.rounds(parts["rounds"], cost)
    scale_plots.extrapolation(far)
    numbers = _numbers(parts, cost, costs, far)
    (DOCS / "scale.md").write_text(_template().format(**numbers), encoding="utf-8")
    (RESULTS / "scale.md").write_text(_results(data, curves), encoding="utf-8")


def _template() -> str:
    """The text of docs/scale.md, with the names of numbers in braces."""
    return Path(__file__).with_name("scale_page.txt").read_text(encoding="utf-8")


def extrapolated(parts: dict[str, Any], cost: model.RoundCost, rows: model.RowCost) -> list[dict[str, Any]]:
    """Rows per second and speed to the same loss, relative to one node, with one replica on each node."""
    alone = next(each for each in parts["workers"]["runs"] if each["replicas"] == 1)
    small = parts["workers"]["batch"] / alone["rows_per_second"]
    wide = parts["stream"]["batch"] / parts["stream"]["rows_per_cpu_second"]["compute"]
    sizes = {"small": (parts["curves-covertype"]["parameters"], small), "wide": (WIDE_PARAMETERS, wide)}
    found = []
    for net, (parameters, seconds) in sizes.items():
        for steps in (8, 64, 512):
            for nodes in (1, 2, 4, *NODES):
                speed = model.throughput(cost, nodes, parameters, steps, seconds) if nodes > 1 else 1.0
                record = {"net": net, "local_steps": steps, "nodes": nodes, "throughput": speed}
                factor = rows.factor(nodes, steps) if nodes > 1 else 1.0
                found.append(record | {"speedup": speed / factor, "seconds": seconds})
    return found


def _numbers(parts: dict[str, Any], cost: model.RoundCost, costs: dict[str, Any], far: list[Any]) -> dict[str, str]:
    stream, whole = parts["stream"], parts["whole"]
    speed, cpu = stream["rows_per_second"], stream["rows_per_cpu_second"]
    header = ["net", "H", *(f"{nodes} nodes: rows/s" for nodes in NODES), *(f"{nodes}: to the loss" for nodes in NODES)]
    rows = []
    for net in NETS:
        for steps in (8, 64, 512):
            own = {e["nodes"]: e for e in far if e["net"] == net and e["local_steps"] == steps}
            cells = [f"{_short(own[nodes][key])} x" for key in ("throughput", "speedup") for nodes in NODES]
            rows.append([net, str(steps), *cells])
    local = [each for each in model.factors(parts["curves-covertype"]) if each["way"] == "local SGD"]
    eight = next(each for each in local if each["replicas"] == 8 and each["local_steps"] == 8)
    seconds = [(each, cost.seconds(each["parameters"], each["replicas"])) for each in parts["rounds"]["rounds"]]
    ratios = [fitted / each["least"] for each, fitted in seconds if each["where"] == "cluster"]
    runs = {(e["workers"], e["replicas"], e["local_steps"]): e["rows_per_second"] for e in parts["workers"]["runs"]}
    return {
        "misfit": f"{max(*ratios, *(1 / ratio for ratio in ratios)):.1f}",
        "cluster_rows": f"{runs[2, 4, 64]:,.0f}",
        "process_rows": f"{runs[0, 4, 64]:,.0f}",
        "vectors": f"{stream['vectors']:,}",
        "read": f"{speed['read']:,.0f}",
        "compute": f"{speed['compute']:,.0f}",
        "both": f"{speed['both']:,.0f}",
        "share": f"{100 * min(stream['share'], 1):.0f}",
        "shares": ", ".join(f"{100 * each:.0f}" for each in stream["shares"]),
        "cpu_share": f"{100 * cpu['both'] / cpu['compute']:.0f}",
        "compared": f"{stream['compared_rows'] / 1e6:.1f} million",
        "cpu_compute": f"{cpu['compute']:,.0f}",
        "cpu_both": f"{cpu['both']:,.0f}",
        "cpu_read": f"{cpu['read']:,.0f}",
        "whole_rows": f"{whole['rows'] / 1e6:.0f} million",
        "whole_speed": f"{whole['rows_per_second']:,.0f}",
        "whole_minutes": f"{whole['seconds'] / 60:.0f}",
        "whole_gb": f"{whole['bytes'] / 1e9:.1f}",
        "peak": f"{whole['peak_bytes'] / 1e9:.1f}",
        "parameter_gb": f"{3 * whole['parameter_bytes'] / 1e9:.1f}",
        "val_loss": f"{whole['val_loss']:.4f}",
        "criteo_hours": f"{CRITEO_ROWS / whole['rows_per_second'] / 3600:.0f}",
        "criteo_cpu_hours": f"{CRITEO_ROWS / whole['rows_per_cpu_second'] / 3600:.0f}",
        "criteo_read_hours": f"{CRITEO_ROWS / cpu['read'] / 3600:.1f}",
        "criteo_gb": f"{CRITEO_ROWS * whole['bytes'] / whole['rows'] / 1e9:,.0f}",
        "fixed_ms": f"{1e3 * cost.fixed:.0f}",
        "each_ms": f"{1e3 * cost.each:.1f}",
        "ns_byte": f"{1e9 * cost.byte:.1f}",
        "a": f"{costs['local SGD'].a:.2f}",
        "b": f"{costs['local SGD'].b:.2f}",
        "diloco_a": f"{costs['DiLoCo'].a:.2f}",
        "diloco_b": f"{costs['DiLoCo'].b:.2f}",
        "eight": f"{eight['factor']:.1f}",
        "far": table("", header, rows).removeprefix("## \n\n").rstrip("\n"),
        "gain8": f"{8 ** (1 - costs['local SGD'].a):.1f}",
        "gain64": f"{64 ** (1 - costs['local SGD'].a):.0f}",
        "gain512": f"{512 ** (1 - costs['local SGD'].a):.0f}",
        "embedding_gb": f"{3 * whole['parameter_bytes'] * 8 / 1e9:.0f}",
        "embedding_seconds": f"{cost.seconds(whole['parameter_bytes'] / 4, 8, network=True):.0f}",
    }


def _short(value: float) -> str:
    """Two significant digits."""
    return f"{float(f'{value:.2g}'):g}"


def _results(data: dict[str, Any], curves: dict[str, Any]) -> str:
    parts = data["parts"]
    machine = data["machine"]
    text = (
        "# Training past one machine\n\n"
        "The measurements behind [Scale: what more machines give](../../docs/scale.md), by `benchmarks/scale.py`. All "
        "nodes of the cluster are processes of one machine with two CPUs, which other programs used at the same time: "
        "compare numbers within a table, and do not take them for those of idle computers.\n\n"
        f"Machine: {machine['cpu']}, {machine['cpus']} CPUs. Versions: madaline {machine['madaline']}, Python "
        f"{machine['python']}.\n\n![Rows per second of reading, training and both](scale-stream.png)\n\n"
    )
    stream = parts["stream"]
    rows = [
        [name, f"{stream['rows_per_second'][name]:,.0f}", f"{stream['rows_per_cpu_second'][name]:,.0f}"]
        for name in ("read", "compute", "both")
    ]
    text += table(f"One process, {stream['compared_rows']:,} rows", ["", "rows/s", "rows per CPU second"], rows)
    text += table(
        "A round of one step on two nodes, shortest of 24, in milliseconds",
        ["parameters", "replicas", "one process", "cluster", "cluster, median"],
        [
            [f"{a['parameters']:,}", str(a["replicas"])]
            + [f"{1e3 * value:.1f}" for value in (a["least"], b["least"], b["median"])]
            for a, b in zip(parts["rounds"]["rounds"][::2], parts["rounds"]["rounds"][1::2], strict=True)
        ],
    )
    text += table(
        f"Covertype: rows per second, and seconds to a validation loss of {parts['workers']['target']}",
        ["workers", "replicas", "H", "rows/s", "seconds", "last loss"],
        [
            [
                str(each["workers"] or "this process"),
                str(each["replicas"]),
                str(each["local_steps"]),
                f"{each['rows_per_second']:,.0f}",
                "not reached" if each["seconds_to_loss"] is None else f"{each['seconds_to_loss']:.1f}",
                f"{each['last_loss']:.4f}",
            ]
            for each in parts["workers"]["runs"]
        ],
    )
    text += "![Loss against rows seen](scale-curves.png)\n\n"
    rows = []
    for k, first in enumerate(curves["covertype"]["curves"][1:]):
        own = [model.factors(curves[name])[k] for name in TABLES]
        shown = ["not reached" if each["factor"] is None else f"{each['factor']:.2f}" for each in own]
        rows.append([first["way"], str(first["replicas"]), str(first["local_steps"]), *shown])
    title = "Rows to the loss that one process has after a quarter of the rows, relative to one process"
    return text + table(title, ["", "replicas", "H", *TABLES], rows).rstrip("\n") + "\n"
