"""Tables and plots of everything that was measured: reads ``results/*.json``, writes ``results/*.md`` and pictures.

python benchmarks/report.py
"""

from __future__ import annotations

import json
import statistics
from typing import Any

import harness
import plots
from peers import PEERS, TITLES
from roofline import kept_peaks
from workloads import WORKLOADS

Record = dict[str, Any]
SCALING = ("tabular", "tabular_bn_do", "mnist", "dropout_paper", "wide")
"Workloads that two threads have to make 1.7 times faster."


def read(name: str) -> dict[str, Any] | None:
    path = harness.RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def mark(value: float, target: float) -> str:
    """The target, and whether it was reached."""
    return f"{target:g} {'met' if value >= target else '**missed**'}"


def ratio(ours: Record, theirs: Record) -> tuple[float, float, float]:
    """How many times faster ours is, round by round: median and middle half."""
    mine, other = (_speeds(record) for record in (ours, theirs))
    each = sorted(a / b for a, b in zip(mine, other, strict=False))  # slow ones have fewer rounds
    quarter = len(each) // 4
    return statistics.median(each), each[quarter], each[-1 - quarter]


def _speeds(record: Record) -> list[float]:
    return record.get("steps_per_second") or [1 / seconds for seconds in record["seconds"]]


def speed(record: Record) -> float:
    return statistics.median(_speeds(record))


def share(workload: str, record: Record) -> float:
    """The fraction of the roofline that a training speed is."""
    return speed(record) * kept_peaks(record["threads"]).step(WORKLOADS[workload])


def done(part: Record, name: str = "", threads: int = 0) -> list[Record]:
    """Records of a part that were measured, of one contestant or number of threads if told."""
    return [
        record
        for record in part["contestants"]
        if "cannot" not in record and name in ("", record["name"]) and threads in (0, record["threads"])
    ]


def best(part: Record, *, ours: bool) -> Record:
    """The fastest record: madaline's, or that of any peer."""
    return max((record for record in done(part) if (record["name"] == "madaline") == ours), key=speed)


def heading(title: str, data: Record, text: str) -> str:
    machine = data["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    loads = [part["load"] for part in data["parts"].values() if "load" in part]
    shared = f" Load average of the machine while measuring: up to {max(loads):.1f}." if loads else ""
    return (
        f"# {title}\n\n{text}\n\nMachine: {machine['cpu']}, {machine['cpus']} CPUs. Versions: madaline "
        f"{machine['madaline']}, Python {machine['python']}, {versions}.{shared}\n\n"
    )


def train_page(data: Record) -> str:
    parts = {name: data["parts"][name] for name in WORKLOADS if name in data["parts"]}
    text = heading(
        "Training",
        data,
        "Steps a second of whole epochs, rows shuffled. Every library in a process of its own, in turn, round after "
        "round; all begin with the same weights. Peers as fast as they go: PyTorch with fused optimizers and with "
        "torch.compile, JAX with a compiled scan over the epoch, Keras on JAX with 32 steps an execution. Ratios above "
        "1: madaline is faster; in brackets the middle half of the rounds. Made by `make bench`.",
    )
    if missing := not_measured(parts):
        text += f"Not measured yet: {missing}.\n\n"
    text += "![Ratios](train.png)\n\n"
    rows = []
    for name, part in parts.items():
        ours, theirs = best(part, ours=True), best(part, ours=False)
        found = ratio(ours, theirs)
        rows.append(
            [
                f"{name}: {part['description']}",
                f"{speed(ours):,.0f} ({ours['threads']})",
                f"{TITLES[theirs['name']]} {speed(theirs):,.0f} ({theirs['threads']})",
                harness.show_ratio(found),
                mark(found[0], WORKLOADS[name].target),
                f"{share(name, ours):.0%}",
            ]
        )
    header = ["workload", "madaline, steps/s (threads)", "best peer", "ratio", "target", "of the roofline"]
    text += harness.table("Against the best peer, each with its best number of threads", header, rows)
    text += "What stands in the way where a target is missed: [where the time of a step goes](anatomy.md).\n\n"
    for threads in (1, 2):
        text += all_contestants(parts, threads)
    return text + scaling(parts) + other_targets(parts) + agreement(parts)


def not_measured(parts: dict[str, Record]) -> str:
    """Workloads, and peers on some of them, that were neither measured nor refused."""
    found = [name for name in WORKLOADS if name not in parts]
    for peer in PEERS:
        without = [name for name, part in parts.items() if peer not in [r["name"] for r in part["contestants"]]]
        if without:
            found.append(f"{TITLES[peer]} on {'all' if len(without) == len(parts) else ', '.join(without)}")
    return "; ".join(found)


def all_contestants(parts: dict[str, Record], threads: int) -> str:
    names = [name for name in TITLES if any(done(part, name, threads) for part in parts.values())]
    rows = []
    for workload, part in parts.items():
        ours = done(part, "madaline", threads)[0]
        row = [workload, f"{speed(ours):,.0f}"]
        for name in names[1:]:
            found = done(part, name, threads)
            row.append(f"{speed(found[0]):,.0f} ({ratio(ours, found[0])[0]:.2f}x)" if found else "-")
        rows.append([*row, f"{share(workload, ours):.0%}"])
    title = f"All contestants, threads: {threads}; steps/s (and how many times faster madaline is)"
    return harness.table(title, ["workload", *(TITLES[name] for name in names), "of the roofline"], rows)


def scaling(parts: dict[str, Record]) -> str:
    rows = []
    for name, part in parts.items():
        one, two = (done(part, "madaline", threads)[0] for threads in (1, 2))
        found = ratio(two, one)
        rows.append([name, harness.show_ratio(found), mark(found[0], 1.7 if name in SCALING else 1.0)])
    text = "![From one thread to two](scaling.png)\n\n"
    return text + harness.table("madaline from one thread to two", ["workload", "times faster", "target"], rows)


def other_targets(parts: dict[str, Record]) -> str:
    rows = []
    if "tiny" in parts:
        found = ratio(best(parts["tiny"], ours=True), max(done(parts["tiny"], "torch"), key=speed))
        rows.append(["tiny: times PyTorch eager", harness.show_ratio(found), mark(found[0], 50)])
    for name, least in (("wide", 0.85), ("simplechains", 0.4)):
        if name in parts:
            ours = best(parts[name], ours=True)
            part = share(name, ours)
            rows.append(
                [f"{name}: of FMA peak, at {1e6 / speed(ours):,.0f} us a step", f"{part:.2f}", mark(part, least)]
            )
    slower = [
        f"{name} (threads: {record['threads']}, {TITLES[record['name']]})"
        for name, part in parts.items()
        for record in done(part)
        if ratio(done(part, "madaline", record["threads"])[0], record)[0] < 1 and record["name"] != "madaline"
    ]
    rows.append(["slower than a peer with as many threads", "; ".join(slower) or "nowhere", mark(-len(slower), 0)])
    return harness.table("Other targets", ["", "found", "target"], rows)


def agreement(parts: dict[str, Record]) -> str:
    """What the contestants learned in the epochs that are compared."""
    rows = []
    for name, part in parts.items():
        compared = [record for record in done(part) if isinstance(record.get("first_losses"), list)]
        losses = [record["first_losses"][-1] for record in compared]
        spread = (max(losses) - min(losses)) / abs(losses[0])
        rest = {TITLES[r["name"]]: r["first_losses"] for r in done(part) if isinstance(r.get("first_losses"), str)}
        notes = [f"{who}: {reason}" for who, reason in rest.items()]
        notes += [f"{who} **differs** by {size:.2g}" for who, size in part["different"].items()]
        rows.append([name, f"{losses[0]:.5f}", f"{spread:.1e}", str(len(compared)), "; ".join(notes)])
    header = ["workload", "loss of the second epoch", "relative spread", "contestants", ""]
    title = "All learn the same: losses from equal weights, rows in order, without dropout"
    return harness.table(title, header, rows)


def inference_page(data: Record) -> str:
    text = heading(
        "Predictions",
        data,
        "NumPy in, probabilities out; all have the same weights and give the same probabilities. Times of one call, "
        "each contestant with its best number of threads, in turn; ratios above 1: madaline is faster.",
    )
    text += "![Predictions](inference.png)\n\n"
    names = [name for name in TITLES if any(done(part, name) for part in data["parts"].values())]
    rows = []
    for key, part in data["parts"].items():
        net, n_rows = key.split()
        ours = best(part, ours=True)
        by_name = {name: max(done(part, name), key=speed) for name in names if done(part, name)}
        part_of_limit = speed(ours) * kept_peaks(ours["threads"]).prediction(WORKLOADS[net], int(n_rows))
        times = ratio(ours, by_name["onnxruntime"])[0]
        if n_rows == "1":
            verdict = mark(times, 3.0) if net in ("tiny", "small") else f"{mark(part_of_limit, 0.75)}, of the roofline"
        else:
            verdict = mark(max(times, 1.3 if part_of_limit >= 0.85 else 0), 1.3)
        peers = [f"{1e6 / speed(theirs):,.1f} ({ratio(ours, theirs)[0]:.2f}x)" for theirs in by_name.values()]
        rows.append([net, n_rows, f"{1e6 / speed(ours):,.1f}", *peers[1:], verdict, f"{part_of_limit:.0%}"])
    header = ["net", "rows", *(f"{TITLES[name]}, us" for name in names), "target", "of the roofline"]
    return text + harness.table("One row and 1,024 rows", header, rows)


def startup_page(data: Record) -> str:
    parts = data["parts"]
    shares = {name: part["median"] / parts["sklearn"]["median"] for name, part in parts.items()}
    share, through = shares["madaline"], ""
    if "estimator" in shares:
        verdict = "met" if shares["estimator"] <= 1 else "**missed**"
        through = (
            f" Through `md.MLPClassifier`, with scikit-learn's import, {shares['estimator']:.2f}; at most 1: {verdict}."
        )
    rows = []
    for name, part in parts.items():
        middle = {key: statistics.median(run[key] for run in part["runs"]) for key in ("import", "fit", "accuracy")}
        rows.append([TITLES[name], *(f"{value:.3f}" for value in middle.values()), f"{part['median']:.3f}"])
    text = heading(
        "From import to a trained model",
        data,
        "Iris, one hidden layer of 100, 100 epochs of Adam, in fresh processes in turn; medians. madaline takes "
        f"{share:.2f} of scikit-learn's time; at most 0.33: {'met' if share < 1 / 3 else '**missed**'}.{through}",
    )
    text += "![From import to a trained model](startup.png)\n\n"
    return text + harness.table("Seconds", ["", "import", "fit", "share of rows right", "import and fit"], rows)


def growth_page(data: Record) -> str:
    rows = [
        [key, part["what"], f"{part['exponent']:.2f}", f"{part['exponent_of_flops']:.2f}"]
        for key, part in data["parts"].items()
    ]
    text = heading(
        "How the cost grows",
        data,
        "The power with which time grows over the three largest sizes, and that of the flops. A smaller power than the "
        "flops' means that fixed costs still count; a larger one, that a cache is full.",
    )
    header = ["what grows", "time of one", "time grows with the power", "flops with"]
    return text + "![Growth](growth.png)\n\n" + harness.table("Powers", header, rows)


def custom_page(data: Record) -> str:
    rows = [
        [
            key,
            *(f"{part['steps_per_second'][kind]:,.0f}" for kind in ("built in", "one's own")),
            harness.show_ratio(part["ratio"]),
            mark(part["ratio"][0], part["target"]),
        ]
        for key, part in data["parts"].items()
    ]
    text = heading(
        "Formulas of one's own",
        data,
        "Activation, loss and Adam as a few lines of NumPy (`benchmarks/custom.py`) against the built-in ones.",
    )
    header = ["workload", "built in, steps/s", "one's own", "ratio", "target"]
    return text + "![Formulas of one's own](custom.png)\n\n" + harness.table("Speed", header, rows)


def probes_page(data: Record) -> str:
    rows = [
        [
            key,
            f"{part['steps']:,}",
            str(part["samples"]),
            harness.show_ratio(part["ratio"]),
            f"{part['limit']:.2f} {'met' if part['ratio'][0] <= part['limit'] else 'missed'}",
        ]
        for key, part in data["parts"].items()
    ]
    text = heading(
        "What watching costs",
        data,
        "A fit with `probes=True`, everything else as it is, against one without (`benchmarks/probes.py`). Tracing "
        "the second program is counted; planning it is not, since the first fit of each, which is not timed, has left "
        "it in the cache. One thread.",
    )
    text += "![What watching costs](probes.png)\n\n"
    return text + harness.table(
        "Time", ["workload", "steps of a fit", "samples", "time, times that without", "at most"], rows
    )


def population_page(data: Record) -> str:
    rows = []
    for key, part in data["parts"].items():
        ratio, vmap = part["ratios"]["one after another"], part["ratios"].get("jax.vmap")
        shown = "not measured" if vmap is None else harness.show_ratio(vmap)
        milliseconds = f"{1e3 * part['seconds']['population']:.0f} ms"
        target = mark(ratio[0], part["target"])
        rows.append([key, str(part["epochs"]), milliseconds, harness.show_ratio(ratio), target, shown])
    first = next(iter(data["parts"].values()))
    text = heading(
        "Several nets side by side",
        data,
        f"`md.Population` of {first['members']} nets on {first['threads']} threads against the same nets one after "
        "another on one thread, and against `jax.vmap` over whole epochs (`benchmarks/population.py`). The time of "
        "madaline includes everything from the making of the nets; that of JAX does not include compilation.",
    )
    header = ["net", "epochs", "population", "times faster than one after another", "target", "than jax.vmap"]
    return text + harness.table("Speed", header, rows)


def anatomy_page(data: Record) -> str:
    trained = (read("train") or {"parts": {}})["parts"]
    shares, limits = [], []
    for name, part in data["parts"].items():
        products, update, rest = (part[group]["median"] for group in ("products", "update", "rest"))
        total = products + update + rest
        shares.append(
            [
                name,
                str(part["instructions"]),
                f"{1e6 * total:,.1f}",
                f"{products / total:.0%}",
                f"{update / total:.0%}",
                f"{rest / total:.0%}",
                f"{part['at_peak'] / products:.0%} ({part['at_peak'] / part['products']['least']:.0%})",
            ]
        )
        if name not in trained:
            continue
        peer = 1.0 / speed(best(trained[name], ours=False))
        least = part["at_peak"] + part["update"]["least"]
        limits.append(
            [
                name,
                f"{1e6 * peer:,.1f}",
                f"{peer / total:.2f}",
                f"{peer / (products + update):.2f}",
                f"{peer / least:.2f}",
                f"{2 * peer / least:.2f}",
                f"{WORKLOADS[name].target:g}",
            ]
        )
    text = heading(
        "Where the time of a step goes",
        data,
        "The instructions of one training step, each timed on one thread, many steps (`benchmarks/anatomy.py`): "
        "medians, which hold what neighbours on the machine take. *Products* are matrix products with what is fused "
        "into them, *update* is the optimizer, *rest* are losses, sums, normalisation and masks.",
    )
    text += "![Where the time goes](anatomy.png)\n\n"
    header = ["workload", "instructions", "us", "products", "update", "rest", "products, of the FMA peak (at best)"]
    text += harness.table("Shares", header, shares)
    header = [
        "workload",
        "best peer's step, us",
        "all instructions, as they are",
        "without the rest",
        "products at the FMA peak, update at its best, nothing else",
        "the same on two threads",
        "target",
    ]
    text += harness.table("How many times faster than the best peer a step could be", header, limits)
    return text + (
        "How to read it: where the products at the FMA peak and the update alone are slower than the target on one "
        "thread, only a second thread can reach it. Where all instructions as they are stay below the target, the "
        "largest share above says what would have to shrink; what a run is slower than the instructions is Python "
        "between epochs, gathering of rows, and on two threads waiting for the slower one. The peers were timed in "
        "`train.py`, at another time than the instructions.\n"
    )


PAGES = {
    "train": train_page,
    "inference": inference_page,
    "startup": startup_page,
    "growth": growth_page,
    "custom": custom_page,
    "probes": probes_page,
    "population": population_page,
    "anatomy": anatomy_page,
}


def main() -> None:
    for name, page in PAGES.items():
        data = read(name)
        if data is None:
            continue
        text = page(data)
        (harness.RESULTS / f"{name}.md").write_text(text.rstrip() + "\n", encoding="utf-8")
        print(text)
        plots.draw(name, data)


if __name__ == "__main__":
    main()
