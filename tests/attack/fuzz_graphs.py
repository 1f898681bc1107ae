"""Random graphs, values and gradients: what can be traced runs, with the same results by the native core and NumPy."""

from __future__ import annotations

import collections
import itertools
import time
import warnings

import numpy as np

from agreement import assert_executors_agree
from attack.campaign import GOOD, failure_of, no_longer_than
from graph_values import largest_value
from madaline.errors import MadalineError, ShapeError, TraceError
from madaline.kernels.execute import with_rows
from random_graphs import INDEXING, seeded_case

SECONDS = 30.0
"A graph of a few nodes that takes more processor time hangs."
ROWS = (0, 1, 2, 7, 64, 65, 257)


def attack(seed, how, *, isas=None):
    """Make a graph and run it by all executors."""
    rng = np.random.default_rng(seed)
    wide, only, batch = how != "batch", INDEXING if how == "indexing" else None, how == "batch"
    case = seeded_case(seed, dtype=("float32", "float64")[rng.integers(2)], wide=wide, only=only, batch=batch)
    graphs = [case.graph]
    if how != "indexing":
        try:
            graphs.append(case.gradient)
        except (TraceError, ShapeError):
            return "refused"  # a product of a batch, whose derivative needs the number of rows
    n_rows = int(rng.choice(ROWS)) if batch else 0
    for graph in graphs:
        if graph is None:
            continue
        try:
            if batch and not n_rows:
                with_rows(graph, 0)  # as every call does: the largest of no rows is refused
            arguments = case.arguments(n_rows)
            if not np.isfinite(largest_value(graph, arguments, n_rows)):
                return "not comparable"
            assert_executors_agree(graph, arguments, n_rows, **({} if isas is None else {"isas": isas}))
        except MadalineError as error:
            return "refused" if batch and not n_rows else f"{type(error).__name__}: {error}"[:160]
    return "used"


def run(*, seed=0, seconds=60.0, most=None, isas=None):
    """Run random graphs; the counts of outcomes, and the failures with their seeds."""
    counts, failures = collections.Counter(), {}
    started = time.monotonic()
    for k in itertools.count():
        if time.monotonic() - started > seconds or k == most:
            break
        for how in ("wide", "indexing", "batch"):
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"), no_longer_than(SECONDS):
                    warnings.simplefilter("ignore")
                    found = attack([seed, k], how, isas=isas)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is counted
                found = failure_of(error)
            is_good = found in (*GOOD, "not comparable")
            counts[f"graphs, {how}: {found if is_good else 'FAILED'}"] += 1
            if not is_good:
                failures.setdefault(found, []).append((f"graph {how}", [seed, k]))
    return counts, failures
