"""Record what PyTorch and JAX answer, so that ``make test`` can compare with them where neither is installed.

Run it by ``make record-oracles`` after a change of the questions, and commit ``recorded/``. Names of families as
arguments record those alone.
"""

from __future__ import annotations

import gzip
import io
import json
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
import numpy as np
import optax
import questions
import torch
from graph_files import to_data

from random_graphs import STEPS, seeded_case

LARGEST = 50.0
"Expressions with larger values are left out: their rounding errors would hide mistakes."
STEPS_OF_BOTH = tuple(step for step in STEPS if step != "random")
"Our random numbers are not JAX's."


def new_expressions() -> list[tuple[int, dict]]:
    """Random expressions with a gradient."""
    found: list[tuple[int, dict]] = []
    seed = 0
    while len(found) < questions.N_EXPRESSIONS:
        seed += 1
        case = seeded_case(seed, only=STEPS_OF_BOTH)
        if case.gradient is None or (largest := questions.largest_in(case)) > LARGEST:
            continue
        found.append((seed, to_data(case.graph) | {"largest": largest}))
    return found


def write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    memory = io.BytesIO()
    np.savez_compressed(memory, **arrays)
    path.write_bytes(memory.getvalue())


def main() -> None:
    questions.RECORDED.mkdir(exist_ok=True)
    chosen = sys.argv[1:] or list(questions.FAMILIES)
    if "expressions" in chosen:
        text = json.dumps(new_expressions(), separators=(",", ":"))
        questions.EXPRESSIONS.write_bytes(gzip.compress(text.encode(), mtime=0))
    for family in chosen:
        answers = {}
        for question in questions.FAMILIES[family]():
            for number, answer in enumerate(question.oracle()):
                answers[f"{question.name}/{number}"] = answer
        write(questions.RECORDED / f"{family}.npz", answers)
        print(f"{family}: {len(answers)} arrays")
    versions = {"torch": torch.__version__, "jax": jax.__version__, "optax": optax.__version__}
    versions |= {"numpy": np.__version__, "python": platform.python_version(), "machine": platform.machine()}
    (questions.RECORDED / "versions.json").write_text(json.dumps(versions, indent=2) + "\n")


if __name__ == "__main__":
    main()
