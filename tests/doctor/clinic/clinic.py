"""The clinic: sick and healthy runs through the doctor, and how often it is right.

python tests/doctor/clinic/clinic.py [--half NAME] [--sick 60] [--healthy 60] [--heal] [--out FILE]

Thresholds are chosen on the half ``tune`` only. The half ``report`` has other data sets, other values of the faults and
other random seeds.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from broad_healthy_plans import broad_healthy_plans
from broad_sick_plans import broad_sick_plans
from clinic_measures import Result, measures, others_table, remark
from clinic_runs import Plan, test_loss
from estimator_runs import EstimatorPlan, estimator_loss
from fresh_healthy_plans import fresh_healthy_plans
from fresh_sick_plans import fresh_sick_plans
from healthy_plans import BASES, healthy_plans
from more_healthy_plans import more_healthy_plans
from more_sick_plans import more_sick_plans
from others import OTHERS
from outside_c_plans import healthy_plans_c, sick_plans_c
from outside_d_healthy_plans import healthy_plans_d
from outside_d_sick_plans import sick_plans_d
from outside_e_healthy_plans import healthy_plans_e
from outside_e_sick_plans import sick_plans_e
from outside_f_healthy_plans import healthy_plans_f
from outside_f_sick_plans import sick_plans_f
from outside_healthy_plans import outside_healthy_plans
from outside_sick_plans import outside_sick_plans
from real_pairs import real_pairs
from sick_plans import Sick, sick_plans

import madaline as md

BY_CONSTRUCTION = {
    "target_leak", "split_duplicates", "split_shift", "no_signal", "class_imbalance", "label_errors",
    "norm_order", "small_validation", "nonfinite_data",
}  # fmt: skip
"Faults of data and split, and information: their harm does not show as a higher loss of the same run."
BEFORE_TRAINING = {"nonfinite_data"}
"What training refuses; the doctor looks at it before training."
SECONDS = 10.0
HALVES = (
    *("tune", "report", "fresh", "broad-a", "broad-b"),
    *("outside-a", "outside-b", "outside-c", "outside-d", "outside-e", "outside-f"),
)


def label(plan: Plan | EstimatorPlan) -> str:
    if isinstance(plan, EstimatorPlan):
        return plan.label()
    optimizer = plan.optimizer if isinstance(plan.optimizer, str) else type(plan.optimizer).__name__
    activation = getattr(plan.activation, "__name__", str(plan.activation))
    parts = [plan.data, "x".join(map(str, plan.widths)), activation, f"{optimizer} {plan.rate:g}"]
    parts += [f"[{plan.style}]"] if plan.style else []
    return " ".join([*parts, f"e{plan.epochs} b{plan.batch} s{plan.seed}", "v" if plan.validation else ""])


def _variants(plan: Plan | EstimatorPlan) -> list[Any]:
    """Other lengths and rates of a plan."""
    if isinstance(plan, EstimatorPlan):
        return plan.variants()
    others = [
        replace(plan, epochs=4 * plan.epochs),
        replace(plan, rate=3 * plan.rate),
        replace(plan, rate=plan.rate / 3),
    ]
    return others + ([] if plan.stopping is not None else [replace(plan, epochs=max(plan.epochs // 3, 1))])


def of_healthy(plan: Plan | EstimatorPlan) -> Result:
    """A run that should be healthy: better than a constant, and no other length or rate is clearly better."""
    warnings.simplefilter("ignore")
    run = plan.run()
    others = [other.run().loss for other in _variants(plan)]
    best, constant = min(others, default=run.loss), constant_loss(run)
    is_sick = not (run.loss < constant and run.loss - best <= 0.1 * (constant - best))
    return replace(_examined("healthy", plan, (), run, is_sick=is_sick), twin=best)


def constant_loss(run: Any) -> float:
    """The loss of the best constant prediction on the test rows."""
    from madaline.doctor.baselines import constant_rows

    table = run.table
    if isinstance(run.plan, EstimatorPlan):
        if table.task == "regression":
            return float(np.mean((table.y_test - table.y.mean(axis=0)) ** 2))
        if table.task == "labels":
            p = np.clip(table.y.mean(axis=0), 1e-6, 1 - 1e-6)
            return float(-np.mean(np.log(np.where(table.y_test > 0, p, 1 - p))))
        shares = np.bincount(table.y, minlength=int(table.y.max()) + 1) / len(table.y)
        return float(-np.mean(np.log(shares[table.y_test])))
    return float(np.mean(constant_rows(run.trainer.recipe.loss, table.y, table.y_test, table.n_out)))


def of_sick(case: Sick, *, heals: bool = False) -> Result:
    """A run with planted faults: harmed, if it is worse than its twin by more than twice the noise over seeds."""
    warnings.simplefilter("ignore")
    if set(case.faults) & BEFORE_TRAINING:
        return _before_training(case)
    twins = [replace(case.twin, seed=case.twin.seed + 100 * k).run().loss for k in range(3)]
    twin, noise = case.twin.run().loss, float(np.std(twins) + 0.02 * np.mean(twins))
    run = case.plan.run()
    factor = _unit(case) ** 2
    is_sick = bool(set(case.faults) & BY_CONSTRUCTION) or run.loss / factor > twin + 2 * noise
    result = _examined("sick", case.plan, case.faults, run, is_sick=is_sick)
    healed = None
    if heals and is_sick and not set(case.faults) & BY_CONSTRUCTION:
        healing = md.heal(run.trainer, run.table.X, run.table.y, max_seconds=20, **run.arguments)
        is_estimator = isinstance(case.plan, EstimatorPlan)
        healed = (estimator_loss if is_estimator else test_loss)(healing.thing, run.table) / factor
    return replace(result, twin=twin, noise=noise, healed=healed, loss=run.loss / factor)


def _before_training(case: Sick) -> Result:
    table = case.plan.table()
    started = time.perf_counter()
    found = md.checkup(case.plan.trainer(table), table.X, table.y, epochs=case.plan.epochs, batch_size=case.plan.batch)
    return _result("sick", case.plan, case.faults, found, np.inf, time.perf_counter() - started, is_sick=True)


def _unit(case: Sick) -> float:
    """The unit of the target, relative to that of the twin."""
    if "unscaled_target" not in case.faults:
        return 1.0
    return float(case.plan.table().y_test.std() / case.twin.table().y_test.std())


def _examined(kind: str, plan: Plan | EstimatorPlan, faults: tuple[str, ...], run: Any, *, is_sick: bool) -> Result:
    started = time.perf_counter()
    found = md.diagnose(run.trainer, max_seconds=SECONDS)
    seconds = time.perf_counter() - started
    result = _result(kind, plan, faults, found, run.loss, seconds, is_sick=is_sick)
    if isinstance(plan, EstimatorPlan):
        return replace(result, diverged=not np.isfinite(run.loss))
    others = {name: tuple(rule(run)) for name, rule in OTHERS.items()}
    return replace(result, others=others, diverged=run.trainer.history.stopped == "diverged")


def _result(
    kind: str, plan: Plan, faults: tuple[str, ...], found: Any, loss: float, seconds: float, *, is_sick: bool
) -> Result:
    return Result(
        kind,
        label(plan),
        faults,
        alarms=tuple(finding.name for finding in found.alarms),
        infos=tuple(finding.name for finding in found.findings if finding.severity == "info"),
        explained=tuple(finding.name for finding in found.findings if finding.explained_by),
        is_sick=is_sick,
        seconds=seconds,
        loss=loss,
        gains=tuple(round(finding.gain, 3) for finding in found.alarms),
    )


def chosen(items: Sequence[Any], count: int | None) -> list[Any]:
    """A sample of the items."""
    if count is None or count >= len(items):
        return list(items)
    return [items[i] for i in np.linspace(0, len(items) - 1, count).astype(int)]


def left_out(items: Sequence[Any], count: int | None) -> list[Any]:
    """The items that a sample of this size leaves out."""
    sample = {id(item) for item in chosen(items, count)}
    return [item for item in items if id(item) not in sample]


def plans(half: str, seeds: int, first: int = 0) -> tuple[list[Sick], list[Any]]:
    """The sick and the healthy plans of a half; ``first`` is the first random seed of the half that is reported."""
    if half == "tune":
        bases = {plan.data: plan for plan in BASES}
        return [*sick_plans(seeds), *real_pairs(bases, 40, odd=False)], list(healthy_plans(seeds))
    if half == "fresh":
        return list(fresh_sick_plans(seeds, first)), list(fresh_healthy_plans(seeds, first))
    if half.startswith("broad"):
        part = half[-1]
        return list(broad_sick_plans(part, seeds, first)), list(broad_healthy_plans(part, seeds, first))
    if half == "outside-c":
        return list(sick_plans_c(seeds, first)), list(healthy_plans_c(seeds, first))
    if half == "outside-d":
        return list(sick_plans_d(seeds, first)), list(healthy_plans_d(seeds, first))
    if half == "outside-e":
        return list(sick_plans_e(seeds, first)), list(healthy_plans_e(seeds, first))
    if half == "outside-f":
        return list(sick_plans_f(seeds, first)), list(healthy_plans_f(seeds, first))
    if half.startswith("outside"):
        part = half[-1]
        return list(outside_sick_plans(part, seeds, first)), list(outside_healthy_plans(part, seeds, first))
    return list(more_sick_plans(seeds, first)), list(more_healthy_plans(seeds, first))


def _in_turn(sick: Sequence[Any], healthy: Sequence[Any]) -> list[tuple[Any, str]]:
    """Sick and healthy runs in random order, so that a clinic that is ended early has some of all."""
    runs = [*((case, "sick") for case in sick), *((plan, "healthy") for plan in healthy)]
    return [runs[i] for i in np.random.default_rng(0).permutation(len(runs))]


def examined(item: tuple[Any, str], *, heals: bool) -> Result:
    """The result of a run."""
    return of_healthy(item[0]) if item[1] == "healthy" else of_sick(item[0], heals=heals)


def write(path: Path, results: Sequence[Result]) -> None:
    """The numbers, and a line for each run."""
    lines = ",\n".join(json.dumps(asdict(result)) for result in results)
    text = json.dumps(measures(results), indent=1)
    path.write_text(f'{{"measures": {text},\n"runs": [\n{lines}\n]}}\n', encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES, default="tune")
    parser.add_argument("--sick", type=int)
    parser.add_argument("--healthy", type=int)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--healthy-seeds", type=int, help="seeds of the healthy runs, if not the same")
    parser.add_argument("--first-seed", type=int, default=0, help="first random seed of the half that is reported")
    parser.add_argument("--left-out", action="store_true", help="sick runs that a sample of --sick leaves out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--heal", action="store_true")
    parser.add_argument("--only", default="", help="only faults with this name")
    parser.add_argument("--out", type=Path, help="write the results of all runs")
    parser.add_argument("--recall", type=float, default=0.0, help="fail if the recall is lower")
    parser.add_argument("--false-alarms", type=float, default=1.0, help="fail if more healthy runs have alarms")
    options = parser.parse_args()
    first = options.first_seed
    pick = left_out if options.left_out else chosen
    sick = [
        case
        for case in pick(plans(options.half, options.seeds, first)[0], options.sick)
        if options.only in ("", *case.faults)
    ]
    healthy = chosen(plans(options.half, options.healthy_seeds or options.seeds, first)[1], options.healthy)
    runs = _in_turn(sick, [] if options.only else healthy)
    results: list[Result] = []
    # A fork of a process that has read tables with polars waits for threads that it does not have.
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for result in pool.map(functools.partial(examined, heals=options.heal), runs):
            results.append(result)
            if options.out is not None and len(results) % 10 == 0:
                write(options.out, results)
            if (line := remark(result)) is not None:
                print(line, flush=True)
    found = measures(results)
    print(json.dumps({name: round(value, 3) for name, value in found.items()}, indent=1))
    print(others_table(results))
    if options.out is not None:
        write(options.out, results)
    if found["recall"] < options.recall or found["false alarms"] > options.false_alarms:
        sys.exit(f"The doctor misses too much: recall {found['recall']:.2f}, false alarms {found['false alarms']:.2f}.")


if __name__ == "__main__":
    main()
