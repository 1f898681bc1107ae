"""The clinic: sick and healthy runs through the doctor, and how often it is right.

python tests/doctor/clinic/clinic.py [--half tune|report|both] [--sick 60] [--healthy 60] [--heal] [--seeds 1]
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from clinic_runs import Plan
from healthy_plans import healthy_plans
from sick_plans import Sick, sick_plans

import madaline as md

BY_CONSTRUCTION = {"target_leak", "split_duplicates", "split_shift", "no_signal", "class_imbalance"}
"Faults of data and split: their harm does not show as a higher loss of the same run."
INFO = {"norm_order", "small_validation", "linear_regime", "overconfident"}
SECONDS = 10.0


@dataclass(frozen=True)
class Result:
    """What the doctor said about a run."""

    kind: str
    label: str
    faults: tuple[str, ...]
    alarms: tuple[str, ...]
    infos: tuple[str, ...]
    is_sick: bool
    seconds: float
    loss: float
    twin: float = 0.0
    noise: float = 0.0
    healed: float | None = None
    gains: tuple[float, ...] = field(default=())


def label(plan: Plan) -> str:
    parts = [plan.data, "x".join(map(str, plan.widths)), str(plan.activation), f"{plan.optimizer} {plan.rate:g}"]
    return " ".join([*parts, f"e{plan.epochs} b{plan.batch} s{plan.seed}", "v" if plan.validation else ""])


def of_healthy(plan: Plan) -> Result:
    warnings.simplefilter("ignore")
    run = plan.run()
    # Sound by measurement: neither a longer training nor a higher rate does clearly better on test rows.
    others = [replace(plan, epochs=4 * plan.epochs).run().loss, replace(plan, rate=3 * plan.rate).run().loss]
    best, constant = min(others), constant_loss(run)
    started = time.perf_counter()
    found = md.diagnose(run.trainer, max_seconds=SECONDS)
    seconds = time.perf_counter() - started
    is_sick = run.loss - best > 0.1 * (constant - best)
    return replace(_result("healthy", plan, (), found, run.loss, seconds, is_sick=is_sick), twin=best)


def constant_loss(run: Any) -> float:
    """The loss of the best constant prediction on the test rows."""
    from madaline.doctor.baselines import constant_rows

    table = run.table
    return float(np.mean(constant_rows(run.trainer.recipe.loss, table.y, table.y_test, table.n_out)))


def of_sick(case: Sick, *, heals: bool = False) -> Result:
    warnings.simplefilter("ignore")
    twins = [replace(case.twin, seed=case.twin.seed + 100 * k).run().loss for k in range(3)]
    twin, noise = case.twin.run().loss, float(np.std(twins) + 0.02 * np.mean(twins))
    run = case.plan.run()
    factor = _unit(case) ** 2
    is_sick = bool(set(case.faults) & BY_CONSTRUCTION) or run.loss / factor > twin + 2 * noise
    started = time.perf_counter()
    found = md.diagnose(run.trainer, max_seconds=SECONDS)
    result = _result("sick", case.plan, case.faults, found, run.loss, time.perf_counter() - started, is_sick=is_sick)
    healed = None
    if heals and is_sick and not set(case.faults) & BY_CONSTRUCTION:
        healed = healed_loss(run) / factor
    return replace(result, twin=twin, noise=noise, healed=healed, loss=run.loss / factor)


def healed_loss(run: Any) -> float:
    """The test loss after healing."""
    from clinic_runs import test_loss

    healing = md.heal(run.trainer, run.table.X, run.table.y, max_seconds=20, **run.arguments)
    return test_loss(healing.thing, run.table)


def _unit(case: Sick) -> float:
    """The unit of the target, relative to that of the twin."""
    if "unscaled_target" not in case.faults:
        return 1.0
    return float(case.plan.table().y_test.std() / case.twin.table().y_test.std())


def _result(
    kind: str, plan: Plan, faults: tuple[str, ...], found: Any, loss: float, seconds: float, *, is_sick: bool
) -> Result:
    alarms = tuple(finding.name for finding in found.alarms)
    infos = tuple(finding.name for finding in found.findings if not finding.is_alarm)
    gains = tuple(round(finding.gain, 3) for finding in found.alarms)
    return Result(kind, label(plan), faults, alarms, infos, is_sick, seconds, loss, gains=gains)


def measures(results: list[Result]) -> dict[str, float]:
    """The numbers of the clinic."""
    sick = [r for r in results if r.kind == "sick" and r.is_sick]
    healthy = [r for r in results if r.kind == "healthy" and not r.is_sick]
    named = [name for r in sick for name in r.faults]
    hits = [name for r in sick for name in r.faults if name in (*r.alarms, *(set(r.infos) & INFO))]
    right = sum(len(set(r.alarms) & set(r.faults)) for r in sick)
    said = sum(len(r.alarms) for r in (*sick, *healthy))
    healed = [r for r in sick if r.healed is not None]
    repaired = [r for r in healed if is_repaired(r)]
    return {
        "sick": len(sick),
        "planted but not harmful": sum(r.kind == "sick" and not r.is_sick for r in results),
        "healthy": len(healthy),
        "meant to be healthy, but not": sum(r.kind == "healthy" and r.is_sick for r in results),
        "faults": len(named),
        "recall": len(hits) / max(len(named), 1),
        "detected": float(np.mean([bool(r.alarms) for r in sick])) if sick else 0.0,
        "named first": float(np.mean([bool(r.alarms) and r.alarms[0] in r.faults for r in sick])) if sick else 0.0,
        "precision": right / max(said, 1),
        "false alarms": float(np.mean([bool(r.alarms) for r in healthy])) if healthy else 0.0,
        "repaired": len(repaired) / max(len(healed), 1),
        "healed": len(healed),
        "median seconds": float(np.median([r.seconds for r in results])),
    }


def is_repaired(r: Result) -> bool:
    """At least 80 % of the gap to the twin, or within twice its noise."""
    assert r.healed is not None
    gap = min(r.loss, 1e6) - r.twin
    return r.healed <= r.twin + max(2 * r.noise, 0.2 * gap)


def chosen(items: list[Any], half: str, count: int | None) -> list[Any]:
    """Every second item, and a sample of them."""
    items = items if half == "both" else items[(half == "report") :: 2]
    if count is None or count >= len(items):
        return items
    return [items[i] for i in np.linspace(0, len(items) - 1, count).astype(int)]


def remark(r: Result) -> str | None:
    """A line about a run that the doctor did not get entirely right."""
    missed = [name for name in r.faults if name not in (*r.alarms, *r.infos)]
    if r.kind == "healthy":
        mark = "ok" if not r.alarms else "unsound" if r.is_sick else "FALSE"
    elif not r.is_sick:
        mark = "unharmed"
    else:
        mark = "MISSED" if missed else "second" if r.alarms[:1] and r.alarms[0] not in r.faults else "ok"
    if mark == "ok" and (r.healed is None or is_repaired(r)):
        return None
    healed = "" if r.healed is None else f" healed {r.healed:.3g}{'' if is_repaired(r) else ' NOT REPAIRED'}"
    said = ", ".join(f"{name} {gain:g}" for name, gain in zip(r.alarms, r.gains, strict=True))
    losses = f"loss {r.loss:.3g} twin {r.twin:.3g}{healed}"
    return f"{mark:8} {'+'.join(r.faults) or 'healthy'} | {r.label} | {said} | {losses} | {r.seconds:.1f}s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tune", "report", "both"), default="both")
    parser.add_argument("--sick", type=int)
    parser.add_argument("--healthy", type=int)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--heal", action="store_true")
    parser.add_argument("--only", default="", help="only faults with this name")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--recall", type=float, default=0.0, help="fail if the recall is lower")
    parser.add_argument("--false-alarms", type=float, default=1.0, help="fail if more healthy runs have alarms")
    options = parser.parse_args()
    sick = chosen(list(sick_plans(options.seeds)), options.half, options.sick)
    sick = [case for case in sick if options.only in ("", *case.faults)]
    healthy = [] if options.only else chosen(list(healthy_plans(options.seeds)), options.half, options.healthy)
    results = []
    with ProcessPoolExecutor(options.jobs) as pool:
        runs = (pool.map(functools.partial(of_sick, heals=options.heal), sick), pool.map(of_healthy, healthy))
        for result in itertools.chain(*runs):
            results.append(result)
            if (line := remark(result)) is not None:
                print(line, flush=True)
    found = measures(results)
    print(json.dumps({name: round(value, 3) for name, value in found.items()}, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if found["recall"] < options.recall or found["false alarms"] > options.false_alarms:
        sys.exit(f"The doctor misses too much: recall {found['recall']:.2f}, false alarms {found['false alarms']:.2f}.")


if __name__ == "__main__":
    main()
