"""Tables and plots of all measurements: reads ``results/*.json``, writes ``results/*.md`` and pictures.

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
"Workloads with a target speedup of 1.7 for two threads."


def read(name: str) -> dict[str, Any] | None:
    path = harness.RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def mark(value: float, target: float) -> str:
    """The target, and whether it was reached."""
    return f"{target:g} {'met' if value >= target else '**missed**'}"


def ratio(ours: Record, theirs: Record) -> tuple[float, float, float]:
    """Speedup of madaline, round by round: median and interquartile range."""
    mine, other = (_speeds(record) for record in (ours, theirs))
    each = sorted(a / b for a, b in zip(mine, other, strict=False))  # slow contestants have fewer rounds
    quarter = len(each) // 4
    return statistics.median(each), each[quarter], each[-1 - quarter]


def _speeds(record: Record) -> list[float]:
    return record.get("steps_per_second") or [1 / seconds for seconds in record["seconds"]]


def speed(record: Record) -> float:
    return statistics.median(_speeds(record))


def share(workload: str, record: Record) -> float:
    """Training speed as a fraction of the roofline."""
    return speed(record) * kept_peaks(record["threads"]).step(WORKLOADS[workload])


def done(part: Record, name: str = "", threads: int = 0) -> list[Record]:
    """Measured records of a part, optionally only of one contestant or number of threads."""
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
        "Steps per second over whole epochs with shuffled rows. Every library runs in a separate process, and the "
        "processes are measured alternately, in rounds; all start with the same weights. Peers use their fastest "
        "settings: PyTorch with fused optimizers and with torch.compile, JAX with a compiled scan over the epoch, "
        "Keras on JAX with 32 steps per execution. Ratios above 1 mean that madaline is faster; in brackets is the "
        "interquartile range of the rounds. Made by `make bench`.",
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
    header = ["workload", "madaline, steps/s (threads)", "best peer", "ratio", "target", "fraction of roofline"]
    text += harness.table("Compared with the best peer, each with its best number of threads", header, rows)
    text += "The page [Time of the instructions of a step](anatomy.md) shows why targets are missed.\n\n"
    for threads in (1, 2):
        text += all_contestants(parts, threads)
    return text + scaling(parts) + other_targets(parts) + agreement(parts)


def not_measured(parts: dict[str, Record]) -> str:
    """Workloads, and peers on some workloads, that were neither measured nor rejected."""
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
    title = f"All contestants, threads: {threads}; steps/s (and the speedup of madaline)"
    return harness.table(title, ["workload", *(TITLES[name] for name in names), "fraction of roofline"], rows)


def scaling(parts: dict[str, Record]) -> str:
    rows = []
    for name, part in parts.items():
        one, two = (done(part, "madaline", threads)[0] for threads in (1, 2))
        found = ratio(two, one)
        rows.append([name, harness.show_ratio(found), mark(found[0], 1.7 if name in SCALING else 1.0)])
    text = "![One and two threads](scaling.png)\n\n"
    return text + harness.table("Speedup of madaline with two threads", ["workload", "speedup", "target"], rows)


def other_targets(parts: dict[str, Record]) -> str:
    rows = []
    if "tiny" in parts:
        found = ratio(best(parts["tiny"], ours=True), max(done(parts["tiny"], "torch"), key=speed))
        rows.append(["tiny: relative to PyTorch eager", harness.show_ratio(found), mark(found[0], 50)])
    for name, least in (("wide", 0.85), ("simplechains", 0.4)):
        if name in parts:
            ours = best(parts[name], ours=True)
            part = share(name, ours)
            rows.append(
                [
                    f"{name}: fraction of FMA peak, {1e6 / speed(ours):,.0f} us per step",
                    f"{part:.2f}",
                    mark(part, least),
                ]
            )
    slower = [
        f"{name} (threads: {record['threads']}, {TITLES[record['name']]})"
        for name, part in parts.items()
        for record in done(part)
        if ratio(done(part, "madaline", record["threads"])[0], record)[0] < 1 and record["name"] != "madaline"
    ]
    rows.append(["slower than a peer with as many threads", "; ".join(slower) or "none", mark(-len(slower), 0)])
    return harness.table("Other targets", ["", "found", "target"], rows)


def agreement(parts: dict[str, Record]) -> str:
    """Losses of the contestants in the epochs that are compared."""
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
    title = "Agreement: losses from equal weights, without shuffling and dropout"
    return harness.table(title, header, rows)


def inference_page(data: Record) -> str:
    text = heading(
        "Predictions",
        data,
        "From NumPy arrays to probabilities; all contestants have the same weights and return the same probabilities. "
        "Times are for one call, with the best number of threads of each contestant, measured alternately. Ratios "
        "above 1 mean that madaline is faster.",
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
            verdict = (
                mark(times, 3.0) if net in ("tiny", "small") else f"{mark(part_of_limit, 0.75)} (fraction of roofline)"
            )
        else:
            verdict = mark(max(times, 1.3 if part_of_limit >= 0.85 else 0), 1.3)
        peers = [f"{1e6 / speed(theirs):,.1f} ({ratio(ours, theirs)[0]:.2f}x)" for theirs in by_name.values()]
        rows.append([net, n_rows, f"{1e6 / speed(ours):,.1f}", *peers[1:], verdict, f"{part_of_limit:.0%}"])
    header = ["net", "rows", *(f"{TITLES[name]}, us" for name in names), "target", "fraction of roofline"]
    return text + harness.table("One row and 1,024 rows", header, rows)


def startup_page(data: Record) -> str:
    parts = data["parts"]
    shares = {name: part["median"] / parts["sklearn"]["median"] for name, part in parts.items()}
    share, through = shares["madaline"], ""
    if "estimator" in shares:
        verdict = "met" if shares["estimator"] <= 1 else "**missed**"
        through = (
            f" `md.MLPClassifier`, which imports scikit-learn, takes {shares['estimator']:.2f} of it; the limit of 1 "
            f"is {verdict}."
        )
    rows = []
    for name, part in parts.items():
        middle = {key: statistics.median(run[key] for run in part["runs"]) for key in ("import", "fit", "accuracy")}
        rows.append([TITLES[name], *(f"{value:.3f}" for value in middle.values()), f"{part['median']:.3f}"])
    text = heading(
        "Time from import to a trained model",
        data,
        "Iris, one hidden layer of 100 units, 100 epochs of Adam, in new processes, measured alternately; medians. "
        f"madaline takes {share:.2f} of scikit-learn's time; the limit of 0.33 is "
        f"{'met' if share < 1 / 3 else '**missed**'}.{through}",
    )
    text += "![From import to a trained model](startup.png)\n\n"
    return text + harness.table("Seconds", ["", "import", "fit", "accuracy", "import and fit"], rows)


def growth_page(data: Record) -> str:
    rows = [
        [key, part["what"], f"{part['exponent']:.2f}", f"{part['exponent_of_flops']:.2f}"]
        for key, part in data["parts"].items()
    ]
    text = heading(
        "Scaling of the training time",
        data,
        "The exponents with which the time and the flops grow over the three largest sizes. If the exponent of the "
        "time is smaller, fixed costs still matter; if it is larger, the data no longer fits into a cache.",
    )
    header = ["varied", "time of one", "exponent of the time", "exponent of the flops"]
    return text + "![Growth](growth.png)\n\n" + harness.table("Exponents", header, rows)


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
        "Custom formulas",
        data,
        "Activation, loss and Adam as a few lines of NumPy (`benchmarks/custom.py`), compared with the built-in ones.",
    )
    header = ["workload", "built-in, steps/s", "custom, steps/s", "ratio", "target"]
    return text + "![Custom formulas](custom.png)\n\n" + harness.table("Speed", header, rows)


def derivatives_page(data: Record) -> str:
    text = heading(
        "Gradients of small programs",
        data,
        "CPU time of one call of `md.grad(f)(x)`, which traces `f` at every call, and of its counterparts in autograd, "
        "JAX (without jit) and PyTorch; and of the first call of a compiled gradient, `md.compile(md.grad(f))` and "
        "`jax.jit(jax.grad(f))`. All run in one process on one thread, alternately in short bursts, so that other load "
        "affects all of them. Numbers to compare are ratios of CPU times: those above 1 mean that madaline is faster; "
        "in brackets is the interquartile range of the rounds. Most of a call is spent in Python, on tracing and on "
        "the key under which the gradient's program is kept; running the program takes a few microseconds. Arrays may "
        "differ from call to call; a call with other Python numbers takes about as long as the first call below. Made "
        "by `benchmarks/derivatives.py`.",
    )
    rows, first = [], []
    for name, part in data["parts"].items():
        call, compiled = part["call"], part["first_compiled_call"]
        ratios = [call["ratios"].get(peer) for peer in ("autograd", "torch", "jax")]
        rows.append(
            [
                name,
                f"{call['seconds']['madaline'] * 1e6:,.0f} us",
                *(harness.show_ratio(r) if r else "-" for r in ratios),
            ]
        )
        ratio = compiled["ratios"].get("jax")
        first.append(
            [name, f"{compiled['seconds']['madaline'] * 1e3:,.1f} ms", harness.show_ratio(ratio) if ratio else "-"]
        )
    header = ["program", "madaline", "over autograd", "over PyTorch", "over JAX without jit"]
    text += harness.table("One call without compilation", header, rows)
    return text + harness.table("First call of a compiled gradient", ["program", "madaline", "over jax.jit"], first)


def probes_page(data: Record) -> str:
    rows = [
        [
            key,
            f"{part['steps']:,}",
            str(part["samples"]),
            harness.show_ratio(part["ratio"]),
            harness.show_ratio(part["doctor"]) if "doctor" in part else "not measured",
            f"{part['limit']:.2f} {'met' if part['ratio'][0] <= part['limit'] else 'missed'}",
        ]
        for key, part in data["parts"].items()
    ]
    text = heading(
        "Cost of probes",
        data,
        "CPU time of `fit` with `probes=True`, and with `doctor=True`, relative to `fit` without "
        "(`benchmarks/probes.py`), on one thread: the median of interleaved pairs, and quartiles. Tracing the program "
        "of the probes is included. Planning is not, because the first `fit`, which is not timed, leaves the plan in "
        "the cache.",
    )
    text += "![Cost of probes](probes.png)\n\n"
    return text + harness.table("Time", ["workload", "steps", "samples", "with probes", "with a doctor", "limit"], rows)


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
        "Time of the instructions of a step",
        data,
        "The time of each instruction of a training step on one thread (`benchmarks/anatomy.py`): medians over many "
        "steps, which include the effect of other load. *Products* are matrix products with the operations that are "
        "fused into them, *update* is the optimizer, and *rest* are losses, sums, normalisation and masks.",
    )
    text += "![Where the time goes](anatomy.png)\n\n"
    header = [
        "workload",
        "instructions",
        "us",
        "products",
        "update",
        "rest",
        "products, fraction of the FMA peak (at best)",
    ]
    text += harness.table("Fractions of the time", header, shares)
    header = [
        "workload",
        "step of the best peer, us",
        "all instructions",
        "without the rest",
        "only products at the FMA peak and the fastest update",
        "the same on two threads",
        "target",
    ]
    text += harness.table("Possible speedups relative to the best peer", header, limits)
    return text + (
        "If the products at the FMA peak and the update alone do not reach the target on one thread, only a second "
        "thread can. If all instructions together do not reach it, the largest fraction in the first table shows what "
        "would have to be faster. A run takes longer than its instructions because of Python code between epochs, the "
        "gathering of rows and, on two threads, waiting for the slower one. The peers were measured by `train.py`, at "
        "a different time.\n"
    )


PAGES = {
    "train": train_page,
    "inference": inference_page,
    "startup": startup_page,
    "growth": growth_page,
    "custom": custom_page,
    "derivatives": derivatives_page,
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
