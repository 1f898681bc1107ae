"""Variants of preset="best" beside the current recipe and other models, chosen on one half of the sets.

MADALINE_DATA=folder python benchmarks/recipe.py --run VARIANT ... [--half report] [--rows 2000] [--splits 1]
MADALINE_DATA=folder python benchmarks/recipe.py --compare recipe VARIANT ...

A variant is a set of parameters, which a preset keeps. It is tried on the development half; what is kept is measured
on the other half, on which nothing was chosen. Every set is split at random: a quarter is the test set, and at most
--rows of the others are the training set, the same for all. Runs are kept in results/recipe.json and are not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import harness
import numpy as np
import polars as pl
import table_peers
import tabular
from recipe_variants import VARIANTS
from table_ranks import ranks, scores
from table_sets import HALVES, LARGE, LARGE_REPORT, QUICK, REPORT, SMALL, SMALL_REPORT, WITH_FEW_ROWS

import madaline as md

NUMBERS = harness.RESULTS / "recipe.json"
KEEP = Path(os.environ["MADALINE_KEEP"]) if "MADALINE_KEEP" in os.environ else None
"A folder for the predictions of each run, out-of-fold and on the test set, to mix them without training again."

PEERS = table_peers.MODELS
MOST_TEST_ROWS = 10_000
PART = "net: "
"The names of variants of one net begin with it."


def fitted(who: str, data: tabular.Tabular, X: pl.DataFrame, y: np.ndarray, seed: int, folds: int | None) -> Any:
    """A fitted model: a variant of the preset, or a peer."""
    if who in PEERS:
        return PEERS[who](data, seed).fit(X, y)
    variant = VARIANTS[who]
    kind = md.MLPClassifier if data.is_classification else md.MLPRegressor
    estimator = kind(**{"preset": "best", "random_state": seed, "threads": 1} | variant.parameters)
    with variant.applied():
        return variant.around(estimator).fit(X, y, **({"cv": folds} if estimator.preset == "best" and folds else {}))


def measure(who: str, name: str, split: int, rows: int, folds: int | None) -> dict[str, float]:
    """Scores and processor seconds of one model on one split."""
    data = tabular.load(name)
    X, y, Z, truth = data.split(split, most_rows=rows, most_test_rows=MOST_TEST_ROWS)
    start = time.process_time()
    model = fitted(who, data, X, y, split, folds)
    found = {"cpu": time.process_time() - start}
    if KEEP is not None and who in VARIANTS:
        p = model.predict_proba(Z) if data.is_classification else model.predict(Z)
        file = KEEP / f"{who}--{name.replace('/', '-')}--{split}--{rows}--{folds}.npz"
        np.savez(file, oof=getattr(model, "oof_prediction_", 0), p=p, y=y, truth=truth)
    return found | scores(model, data, Z, truth)


def key(rows: int, folds: int | None) -> str:
    return f"{rows} rows" + (f", {folds} folds" if folds else "")


@dataclass(frozen=True)
class Change:
    """Relative change of an error against another model, over sets: mean in percent, its 90 % interval by bootstrap."""

    mean: float
    low: float
    high: float
    better: int
    worse: int

    @classmethod
    def of(cls, ratios: np.ndarray) -> Change:
        """From logarithms of the ratios of errors, one for each set."""
        draws = np.random.default_rng(0).choice(ratios, (2000, len(ratios))).mean(axis=1)
        mean, low, high = (100.0 * float(np.expm1(each)) for each in (ratios.mean(), *np.quantile(draws, (0.05, 0.95))))
        return cls(mean, low, high, int((ratios < -1e-9).sum()), int((ratios > 1e-9).sum()))

    def __str__(self) -> str:
        return f"{self.mean:+.1f} % ({self.low:+.1f} to {self.high:+.1f}), {self.better} : {self.worse}"


def changes(found: dict[str, Any], base: str, who: str, sets: Sequence[str], rows: int, folds: int | None) -> Any:
    """Changes of the error (RMSE or fraction of wrong rows) and of the log loss, and the ratio of times."""
    mine, theirs = (runs_of(found, name, rows, folds) for name in (who, base))
    pairs = [
        (mine[name][split], theirs[name][split])
        for name in sets
        for split in mine.get(name, {})
        if split in theirs.get(name, {})
    ]
    both = []
    for what in ("error", "log loss"):
        ratios = [np.log((a[what] + 1e-3) / (b[what] + 1e-3)) for a, b in pairs if what in a]
        both.append(Change.of(np.array(ratios)) if ratios else None)
    times = [np.log(a["cpu"] / b["cpu"]) for a, b in pairs if "cpu" in a and "cpu" in b]
    return (*both, float(np.exp(np.mean(times))) if times else None)


def runs_of(found: dict[str, Any], who: str, rows: int, folds: int | None) -> dict[str, Any]:
    """The runs of a model by set and split; other models have no folds."""
    runs: dict[str, Any] = found.get(key(rows, None if who in PEERS else folds), {}).get(who, {})
    return runs


def table_of_changes(found: dict[str, Any], base: str, others: Sequence[str], half: str, rows: int, folds: Any) -> str:
    """Each model against another one."""
    lines = [
        f"| against {base} | error: mean change, better : worse | log loss | time |",
        "| --- | --- | --- | ---: |",
    ]
    for who in others:
        error, loss, ratio = changes(found, base, who, HALVES[half], rows, folds)
        if error is not None:
            lines.append(f"| {who} | {error} | {loss or ''} | {'' if ratio is None else f'x {ratio:.2f}'} |")
    return "\n".join(lines)


def table_of_ranks(found: dict[str, Any], who: list[str], half: str, rows: int, folds: int | None) -> str:
    """Errors and log losses of all sets, and mean ranks."""
    lines = [f"| set | {' | '.join(who)} |", f"| --- |{' ---: |' * len(who)}"]
    scores: dict[str, list[list[float]]] = {"error": [], "log loss": []}
    for name in HALVES[half]:
        runs = [runs_of(found, each, rows, folds).get(name, {}) for each in who]
        splits = set.intersection(*(set(each) for each in runs))
        if not splits:
            continue
        cells = []
        for what, kept in scores.items():
            if all(what in each[split] for each in runs for split in splits):
                values = [float(np.mean([each[split][what] for split in splits])) for each in runs]
                kept.append([-value for value in values])
                cells.append([f"**{value:.4f}**" if value == min(values) else f"{value:.4f}" for value in values])
        lines.append(f"| {name} | {' | '.join(' / '.join(pair) for pair in zip(*cells, strict=True))} |")
    for what, kept in scores.items():
        if kept:
            means = ranks(np.array(kept)).mean(axis=0)
            lines.append(f"| **mean rank, {what}** ({len(kept)}) | {' | '.join(f'**{each:.2f}**' for each in means)} |")
    return "\n".join(lines)


SMALL_MIXTURES = (
    "nets, bagged",
    "more linear, bagged",
    "nets and firm nets, bagged",
    "nets and relu nets, bagged",
    "nets and plain nets, greedy",
    "nets and plain nets, bagged",
    "nets, firm and plain nets, bagged",
    "8 nets and 8 plain nets, bagged",
)
"Mixtures of benchmarks/members.py."

PAGE = """# The recipe of preset="best": what was tried

Written by `python benchmarks/recipe.py --page` from `recipe.json`. Every set is split at random: a quarter is the test
set (at most {most:,} rows), and at most {rows:,} of the other rows are the training set, the same for all models. The
error is the RMSE divided by the standard deviation of the target, or the fraction of wrong rows. Times are processor
seconds of training on a machine with other load, with one thread.

## Trials on the development half
Ensembles of {folds} folds on {n_quick} sets, one split. A change is the mean over sets of the logarithm of the ratio,
in percent, with a 90 % interval by bootstrap over sets; then the number of sets on which the variant is better and
worse. Negative changes are improvements. Seeds alone change the error of one set by 1 to 4 %, so that means below about
0.5 % say little.

`waves` is the recipe as it was before: 16 periodic functions of each number. `bins only` has 16 bins of each number in
their place, and `bins and additive` additive members besides. `recipe` has factors of features for regression besides.
The preset is now `recipe and waves`, with bins and waves, additive members, and factors for regression, and a kernel
machine, which the last section measures.

{trials}

{others}

## The other half
The waves were added to the recipe because without them it is worse on smooth functions of this half (kin8nm, fried) and
in log loss; nothing else was chosen on these {n_report} sets. Parameters that did not change were chosen earlier, on
tables of both halves. The same ensembles of {folds} folds, beside other models with their default
parameters (CatBoost and RealMLP-TD only where they are listed).

{report}

{pairs}

With its own number of folds (8, and two nets for each fold up to 1,000 rows), without waves, on every third set:

{full}

{full_pairs}

## Few rows
With up to 1,000 rows there were 16 nets of one kind in 8 folds, drawn twice (`nets`), and greedy weights. Mixtures
with other kinds of nets, by `benchmarks/members.py`, on {n_small} small sets, one split: firm nets have dropout 0.4 and
weight decay 0.3, plain nets no bins, waves and factors, relu nets 48 bins and no waves; every kind has 16 nets here.
Bagged weights are means of greedy weights over bootstrap samples of the rows.

{small}

With 5 folds in place of 8, and 5 nets of each kind:

{small_five}

On {n_small_report} other small sets, on which nothing was chosen, `shipped` is the recipe now: 8 nets and 8 plain nets,
one of each for a fold, with greedy weights. Plain nets are kept: log losses are lower on most of these sets, and
differences between errors are within noise with as many nets as before. Bagging brings nothing there and is not used.

{small_report}

{small_ranks}

Plain nets do not help at 2,000 rows, on the development half with 5 folds; there is one kind of net above 1,000 rows:

{plain_quick}

## As shipped, beside RealMLP-TD and CatBoost
`shipped` with its own number of folds, on the sets of the other half that were measured with all models, one split, at
most {rows:,} training rows:

{shipped}

{shipped_pairs}

## At 10,000 rows
Ensembles of {folds} folds on {n_large} sets of the development half with more rows, one split. `recipe and waves` is
the recipe above.

{large}

Gradient boosting was far ahead on adult, where two columns are zero in most rows and quantiles gave all their other
values one bin. `edges at ties` has edges at such values, and is the recipe now. It lowers the error of adult from
{adult[0]:.4f} to {adult[1]:.4f}; on the other sets the changes are as small as those by another seed:

{ties}

The same change on sets of the other half, at {rows:,} rows:

{ties_report}

It brings nothing there, and is kept for tables like adult: one set of the six at 10,000 rows has chosen it.

Other variants ("now, ..." has the edges at ties, too), each on the sets that were measured with both. None was adopted:
what helps one set by some percent hurts another, and there are too few sets to choose. The numbers of each set are in
`recipe.json`.

{large_trials}

## With a kernel machine
`with kernel` is the preset now: from 1,000 rows on it has a kernel machine among its members (docs/decisions/0016), and
5 folds from 4,000 rows on, where there were 8. `without kernel` is the same without that member. Both have their own
number of folds here, on one split, with at most 10,000 training rows. It was developed on the sets of the development
half:

{kernel_large}

{kernel_large_pairs}

The kernel machine was not developed on the following {n_large_report} sets, those of the other half with more than
2,000 training rows. Older parts of the recipe were chosen on some of them, as said above:

{kernel_report}

{kernel_report_pairs}

With at most {rows:,} training rows, on the sets of the other half with more than 1,000:

{kernel_few}

## More work
Whether more training or more nets would bring more, on the same {n_large} sets of the development half with at most
10,000 training rows. `faster` is `with kernel` with the machines computed in half the time, on another computer: the
ensemble gains next to nothing from twice the nets, and loses little with fewer epochs. Kernel machines of fewer rows
(measured on some of the sets) are worse.

{more}

One net by itself gains from more epochs and smaller batches, on all sets of the development half. `one net` is
`preset="auto"` now, with 1.5 times the epochs of members and batches of at most 128 rows; `one net, as members` is what
it was. Much of the mean comes from sets with very small errors.

{one_net}

## What each part of a net is worth
`preset="auto"`, a net by itself, with one change at a time, on {n_quick} sets of the development half with at most
10,000 training rows, one split; {n_few} of them have fewer than {few:,} training rows. The last column but one has the
number of sets that were measured. Changes as small as those by another seed say nothing. `eight views` and `four views`
are TabM-mini with so many nets, of which a random one sees each row in training, so that only validation takes longer;
in `four near views` and `four heads`, their inputs differ less. `PBLD`, `parametric mish`, `coslog4` and `flat_cos` are
those of RealMLP, the last two as the schedule of the learning rate.

{parts}

No change helps on most sets and in log loss by much more than another seed does. Deeper and shallower nets seem better
by the same 2 %, since this seed of `one net` is unlucky on few rows. What the net is given counts most: without bins,
waves and factors the error is 5 % higher, on small and large sets. Averaged weights are better on every set. Views and
heads lower the log loss of noisy classes, and views raise the error where the target is a smooth function of the
numbers; label smoothing raises the log loss. Transformed targets are worse by squared error. A validation set of a
tenth of the rows is better on 18 of the 26 sets of the whole development half, and on 11 of its 14 with at least 5,000
rows:

{tenth}

It is what `preset="auto"` has now from 5,000 rows on; with fewer rows, the changes of single sets are large and go both
ways. `one net` is the preset as it was before.

The presets as they are now, on more splits and with more models, are in [table_ranks.md](table_ranks.md).
"""


def table_of_parts(found: dict[str, Any], base: str, half: str, rows: int) -> str:
    """Variants of one net with one change each, on sets with few and with many rows, the best ones first."""
    lines = [
        "| change | error: mean change, better : worse | few rows | more rows | log loss | sets | time |",
        "| --- | --- | ---: | ---: | --- | ---: | ---: |",
    ]
    found_rows = []
    for who in found[key(rows, None)]:
        if not who.startswith(PART):
            continue
        error, loss, ratio = changes(found, base, who, HALVES[half], rows, None)
        if error is None or error.better + error.worse == 0:
            continue
        halves = [
            changes(found, base, who, [n for n in HALVES[half] if (n in WITH_FEW_ROWS) == few], rows, None)[0]
            for few in (True, False)
        ]
        few, many = ("" if each is None else f"{each.mean:+.1f} %" for each in halves)
        count = sum(name in runs_of(found, who, rows, None) for name in HALVES[half])
        line = f"| {who.removeprefix(PART)} | {error} | {few} | {many} | {loss or ''} | {count} | x {ratio:.2f} |"
        found_rows.append((error.mean, line))
    return "\n".join(lines + [line for _, line in sorted(found_rows)])


def page(found: dict[str, Any], rows: int = 2000, folds: int = 3) -> str:
    """The trials and the comparison with other models as Markdown."""
    early = ("waves", "waves std 0.3", "no features", "waves and bins")
    steps = {"bins only": (*early, "bins and additive"), "bins and additive": ("scale layer", "bins 48", "recipe")}
    steps["auto with waves"] = ("auto",)  # one net, before and now
    known = found.get(key(rows, folds), {})
    late = [
        who for who in known if who not in {"edges at ties", *early, *steps, "scale layer", "bins 48", "recipe", "auto"}
    ]
    trials = "\n\n".join(table_of_changes(found, base, others, "quick", rows, folds) for base, others in steps.items())
    peers = ("recipe and waves", "waves", *PEERS)
    large = sorted(who for who in found.get(key(10_000, folds), {}) if who not in ("recipe and waves", "edges at ties"))
    return PAGE.format(
        most=MOST_TEST_ROWS,
        rows=rows,
        folds=folds,
        n_quick=len(QUICK),
        n_report=len(REPORT),
        trials=trials,
        others=table_of_changes(found, "recipe", ["waves", "auto", *sorted(late), *PEERS], "quick", rows, folds),
        report=table_of_ranks(
            found,
            ["recipe and waves", "LightGBM", "HistGradientBoosting", "scikit-learn MLP", "linear"],
            "report",
            rows,
            folds,
        ),
        pairs=table_of_changes(found, "recipe", peers, "report", rows, folds),
        full=table_of_ranks(
            found, ["recipe", "LightGBM", "HistGradientBoosting", "scikit-learn MLP", "linear"], "report", rows, None
        ),
        n_small=len(SMALL),
        n_small_report=len(SMALL_REPORT),
        small=table_of_changes(found, "nets, greedy", SMALL_MIXTURES, "small", rows, None),
        small_five=table_of_changes(found, "nets, greedy", SMALL_MIXTURES, "small", rows, 5),
        small_report=table_of_changes(
            found, "nets, greedy", [*SMALL_MIXTURES, "shipped", "linear", "LightGBM"], "small report", rows, None
        ),
        plain_quick=table_of_changes(found, "nets, greedy", SMALL_MIXTURES, "quick", rows, 5),
        small_ranks=table_of_ranks(
            found, ["shipped", "nets, greedy", "LightGBM", "linear"], "small report", rows, None
        ),
        shipped=table_of_ranks(
            found,
            ["shipped", "RealMLP-TD", "LightGBM", "HistGradientBoosting", "scikit-learn MLP", "linear"],
            "report",
            rows,
            None,
        ),
        shipped_pairs=table_of_changes(found, "shipped", list(PEERS), "report", rows, None),
        n_large=len(LARGE),
        large=table_of_ranks(
            found, ["recipe and waves", "LightGBM", "HistGradientBoosting", "linear"], "large", 10_000, folds
        ),
        ties=table_of_changes(found, "recipe and waves", ["edges at ties"], "large", 10_000, folds),
        ties_report=table_of_changes(found, "recipe and waves", ["edges at ties"], "report", rows, folds),
        adult=[
            runs_of(found, who, 10_000, folds)["adult"]["0"]["error"] for who in ("recipe and waves", "edges at ties")
        ],
        large_trials="\n\n".join(
            table_of_changes(found, base, [who for who in large if who != base], "large", 10_000, folds)
            for base in ("edges at ties", "recipe and waves")
        ),
        full_pairs=table_of_changes(found, "recipe", list(PEERS), "report", rows, None),
        kernel_large=table_of_ranks(
            found, ["with kernel", "LightGBM", "HistGradientBoosting", "linear"], "large", 10_000, None
        ),
        kernel_large_pairs=table_of_changes(found, "with kernel", ["without kernel", *PEERS], "large", 10_000, None),
        n_large_report=len(LARGE_REPORT),
        kernel_report=table_of_ranks(
            found,
            ["with kernel", "RealMLP-TD", "LightGBM", "HistGradientBoosting", "scikit-learn MLP", "linear"],
            "large report",
            10_000,
            None,
        ),
        kernel_report_pairs=table_of_changes(
            found, "with kernel", ["without kernel", *PEERS], "large report", 10_000, None
        ),
        kernel_few=table_of_changes(
            found, "with kernel", ["shipped", "LightGBM", "CatBoost", "RealMLP-TD"], "report", rows, None
        ),
        more=table_of_changes(
            found,
            "faster",
            ["faster, two nets for a fold", "faster, 0.6 of the epochs", "kernel of 6,000 rows"],
            "large",
            10_000,
            None,
        ),
        parts=table_of_parts(found, "one net", "quick", 10_000),
        n_few=len(WITH_FEW_ROWS),
        tenth=table_of_changes(found, "one net", ["net: a tenth to validate"], "development", 10_000, None),
        few=5_000,
        one_net=table_of_changes(
            found,
            "one net, as members",
            ["one net, batch 128", "one net", "one net, twice the epochs"],
            "development",
            10_000,
            None,
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", nargs="+", default=(), help="variants and peers to measure")
    parser.add_argument("--compare", nargs="+", default=(), help="a model, and others to compare with it")
    parser.add_argument("--table", nargs="+", default=(), help="models for a table with ranks")
    parser.add_argument("--page", action="store_true", help="write results/recipe.md from what was measured")
    parser.add_argument("--half", choices=list(HALVES), default="development")
    parser.add_argument("--only", nargs="+", help="sets; by default all of the half")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--folds", type=int, help="folds of every variant; by default those of the preset")
    parser.add_argument("--again", action="store_true", help="measure again what was measured")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for split in range(given.splits):
        for who in given.run:
            for name in given.only or HALVES[given.half]:
                where = key(given.rows, None if who in PEERS else given.folds), who, name, str(split)
                if not given.again and _get(_read(), where) is not None:
                    continue
                runs = measure(who, name, split, given.rows, given.folds)
                keep(where, runs)
                print(who, name, split, {k: round(v, 4) for k, v in runs.items()}, flush=True)
    found = _read()
    if given.compare:
        base, *others = given.compare
        print(table_of_changes(found, base, others, given.half, given.rows, given.folds))
    if given.page:
        (harness.RESULTS / "recipe.md").write_text(page(found))
    if given.table:
        print(table_of_ranks(found, given.table, given.half, given.rows, given.folds))


def keep(where: tuple[str, ...], runs: dict[str, float]) -> None:
    """Write the result of a run; another process may have written since."""
    found = _read()
    _put(found, where, runs)
    NUMBERS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


def _read() -> dict[str, Any]:
    return json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}


def _get(found: Any, where: tuple[str, ...]) -> Any:
    for part in where:
        found = (found or {}).get(part)
    return found


def _put(found: dict[str, Any], where: tuple[str, ...], value: Any) -> None:
    for part in where[:-1]:
        found = found.setdefault(part, {})
    found[where[-1]] = value


if __name__ == "__main__":
    main()
