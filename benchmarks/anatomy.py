"""Time of each instruction of a training step, compared with the limits of the machine.

python benchmarks/anatomy.py [--workloads tiny,small] [--repeats 2000]
"""

from __future__ import annotations

import argparse
from typing import Any

import harness
import numpy as np
from peers.madaline import OPTIMIZERS, net, started
from roofline import peaks
from workloads import WORKLOADS, Workload

import madaline as md
from madaline.kernels import native
from madaline.kernels.core import core
from madaline.plan.instructions.base import Instruction
from madaline.plan.instructions.product import MatrixProduct
from madaline.plan.program import Program

GROUPS = ("products", "update", "rest")
"Matrix products with the operations fused into them; the optimizer's update; losses, sums, normalisation, masks."
SECONDS = 8.0
"Time limit for a workload, in seconds."


def step_program(workload: Workload) -> Program:
    """The program of a training step with full mini-batches."""
    X, y = workload.data()
    optimizer = OPTIMIZERS[workload.optimizer](workload.rate)
    trainer = md.Trainer(started(net(workload), workload), loss=workload.loss, optimizer=optimizer, threads=1)
    rows = slice(0, 2 * workload.batch)
    trainer.partial_fit(X[rows], y[rows], epochs=1, batch_size=workload.batch)
    (loop,) = trainer.run.programs.loops()
    return loop._executable.program(workload.batch)


def arguments(program: Program, n_rows: int) -> list[np.ndarray]:
    """Arguments: small numbers, and class 0 for every row; the time of dense instructions does not depend on them."""
    rng = np.random.default_rng(0)
    found = []
    for node in program.inputs:
        shape = tuple(size if isinstance(size, int) else n_rows for size in node.shape)
        value = 1e-3 * np.ones(shape) if shape == () else np.abs(0.1 * rng.normal(size=shape))
        found.append(np.zeros(shape, node.dtype) if node.dtype.kind == "i" else value.astype(node.dtype))
    return found


def group_of(instruction: Instruction, stage: int, program: Program) -> str:
    if stage >= program.commit:
        return "update"
    return "products" if isinstance(instruction, MatrixProduct) else "rest"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=harness.words, default=list(WORKLOADS))
    parser.add_argument("--repeats", type=int, default=2000)
    options = parser.parse_args()
    peak = peaks(1).flops
    for name in options.workloads:
        workload = WORKLOADS[name]
        program = step_program(workload)
        values, compiled = arguments(program, workload.batch), native.compiled(program, core())
        once = compiled.profile(values, workload.batch, 3).sum(axis=1).min()
        seconds = compiled.profile(values, workload.batch, max(5, min(options.repeats, int(SECONDS / once))))
        groups = [
            group_of(instruction, number, program)
            for number, stage in enumerate(program.stages)
            for instruction in stage.instructions
        ]
        found: dict[str, Any] = {"instructions": len(groups), "at_peak": workload.flops() / peak}
        for group in GROUPS:
            mine = seconds[:, [of == group for of in groups]].sum(axis=1)
            found[group] = {"median": float(np.median(mine)), "least": float(mine.min())}
        print(name, {group: f"{1e6 * found[group]['median']:.1f} us" for group in GROUPS}, flush=True)
        harness.update("anatomy", name, found)


if __name__ == "__main__":
    main()
