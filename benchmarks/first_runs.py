"""`madaline train TABLE --target COLUMN` with default options on public tables, as CSV and as Parquet.

MADALINE_DATA=folder python benchmarks/first_runs.py [--only SET ...] [--most-rows 60000] [--formats csv parquet]

Each run is a process of its own, as a new user would start it. The table of results shows whether it ended with a
result, its main score beside the linear baseline on the same test rows, every warning and every alarm of the doctor. A
run counts as worse than the linear baseline if the baseline's score lies outside the 95 % bootstrap interval of the
net's score, on its worse side. Results are written to results/first_runs.json and results/first_runs.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import harness
import polars as pl
import tabular

NUMBERS = harness.RESULTS / "first_runs.json"


def write(frame: pl.DataFrame, path: Path) -> None:
    """Write the table in the format that the file name asks for."""
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)


def run(table: Path, targets: list[str], folder: Path) -> dict[str, Any]:
    """Train with default options; return what a user sees of it."""
    command = [sys.executable, "-m", "madaline", "train", str(table), "--out", str(folder)]
    for target in targets:
        command += ["--target", target]
    start = time.perf_counter()
    process = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    seen: dict[str, Any] = {"seconds": round(time.perf_counter() - start, 1), "exit": process.returncode}
    if process.returncode:
        return seen | {"error": process.stderr.strip()[-500:]}
    result = json.loads((folder / "result.json").read_text())
    name, score = next(iter(result["scores"].items()))
    linear = result["baselines"]["linear model"][name]["value"]
    is_worse = linear > score["high"] if score["larger_is_better"] else linear < score["low"]
    return seen | {
        "task": result["task"],
        "score": name,
        "net": score["value"],
        "low": score["low"],
        "high": score["high"],
        "linear": linear,
        "others": {other: scores[name]["value"] for other, scores in result["baselines"].items()},
        "is_worse_than_linear": is_worse,
        "warnings": result["warnings"],
        "alarms": [alarm(each) for each in result["diagnosis"]["findings"] if each["severity"] != "info"],
        "advice": [f"{entry['text']}  [{entry['options']}]" for entry in result["advice"]],
    }


def alarm(finding: dict[str, Any]) -> str:
    """A finding of the doctor that asks for action, with its first remedy."""
    options = finding["remedies"][0]["options"] if finding["remedies"] else ""
    return f"{finding['title']} ({finding['name']})" + (f" [{options}]" if options else "")


def lines(numbers: dict[str, dict[str, Any]]) -> list[str]:
    """Return the page of results."""
    text = [
        "# First runs: `madaline train TABLE --target COLUMN`, default options",
        "",
        "Written by `benchmarks/first_runs.py`. Interval: 95 % bootstrap over the test rows.",
        "Seconds: the whole command, with baselines and report, on a machine with other work.",
        "",
        "| table | format | score | net | interval | linear model | gradient boosting | seconds | warnings |",
        "| --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for key, seen in numbers.items():
        table, kind = key.split(".")
        if seen["exit"]:
            text.append(f"| {table} | {kind} | exit code {seen['exit']} | | | | | {seen['seconds']} | |")
            continue
        mark = " (below linear)" if seen["is_worse_than_linear"] else ""
        boosting = seen["others"].get("gradient boosting")
        text.append(
            f"| {table} | {kind} | {seen['score']} | {seen['net']:.3f}{mark} | {seen['low']:.3f} to {seen['high']:.3f} "
            f"| {seen['linear']:.3f} | {'' if boosting is None else f'{boosting:.3f}'} | {seen['seconds']:.0f} "
            f"| {len(seen['warnings'])} |"
        )
    text += ["", "## Warnings", ""]
    for key, seen in numbers.items():
        text += [f"- {key}: {warning}" for warning in seen.get("warnings", ())]
    text += ["", "## Alarms of the doctor", ""]
    for key, seen in numbers.items():
        text += [f"- {key}: {found}" for found in seen.get("alarms", ())]
    failed = [key for key, seen in numbers.items() if seen["exit"]]
    below = [key for key, seen in numbers.items() if seen.get("is_worse_than_linear")]
    text += ["", f"{len(numbers)} runs; {len(failed)} without a result, {len(below)} below the linear baseline."]
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="names of tables")
    parser.add_argument("--most-rows", type=int, default=60_000, help="leave out larger tables (default 60000)")
    parser.add_argument("--formats", nargs="+", default=["csv", "parquet"])
    options = parser.parse_args()
    numbers = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    for name in options.only or tabular.names():
        card = json.loads((tabular.FOLDER / f"{name}.json").read_text())
        if not options.only and card["rows"] > options.most_rows:
            continue
        targets = card["target"] if isinstance(card["target"], list) else [card["target"]]
        frame = pl.read_parquet(tabular.FOLDER / f"{name}.parquet").drop(card["not_features"])
        with tempfile.TemporaryDirectory() as folder:
            for kind in options.formats:
                table = Path(folder) / f"{name}.{kind}"
                write(frame, table)
                seen = numbers[table.name] = run(table, targets, Path(folder) / f"run-{kind}")
                print(table.name, {key: value for key, value in seen.items() if key != "advice"}, flush=True)
                NUMBERS.write_text(json.dumps(dict(sorted(numbers.items())), indent=1) + "\n")
                NUMBERS.with_suffix(".md").write_text("\n".join(lines(dict(sorted(numbers.items())))) + "\n")


if __name__ == "__main__":
    main()
