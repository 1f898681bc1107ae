"""A model of data-parallel training, fitted to the measurements: what a round costs, and what replicas cost in rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

BYTES = 12
"Bytes of a parameter of a replica with Adam: the parameter and two averages."
NETWORK = 1.25e9
"Bytes per second between the driver and all nodes: 10 Gbit/s."


@dataclass(frozen=True)
class RoundCost:
    """Seconds of a round, ``fixed + each * replicas + byte * bytes of all replicas``."""

    fixed: float
    each: float
    byte: float

    def seconds(self, parameters: float, replicas: float, *, network: bool = False) -> float:
        """Overhead of a round; with the time on the network, which a cluster on one machine does not have."""
        sent = BYTES * parameters * replicas
        return self.fixed + self.each * replicas + self.byte * sent + (2 * sent / NETWORK if network else 0.0)


def round_cost(rounds: list[dict[str, Any]]) -> RoundCost:
    """Fitted to the shortest round of each setting, by least squares of relative errors, without negative terms."""
    chosen = [each for each in rounds if each["where"] == "cluster"]
    seconds = np.array([each["least"] for each in chosen])
    terms = np.array([[1.0, each["replicas"], BYTES * each["parameters"] * each["replicas"]] for each in chosen])
    found, _ = nnls(terms / seconds[:, None], np.ones(len(seconds)))
    return RoundCost(*found)


def rows_to(losses: list[float], rows: float, target: float) -> float | None:
    """Rows until a validation loss is first reached, interpolated between two points."""
    each = rows / len(losses)
    best = np.minimum.accumulate(losses)
    if best[-1] > target:
        return None
    at = int(np.argmax(best <= target))
    if at == 0:
        return each
    share = (best[at - 1] - target) / (best[at - 1] - best[at])
    return float(each * (at + share))


def target_of(part: dict[str, Any]) -> float:
    """The loss that one process has after a quarter of the rows."""
    losses = part["curves"][0]["loss"]
    return float(np.min(losses[: len(losses) // 4]))


def factors(part: dict[str, Any]) -> list[dict[str, Any]]:
    """How many times the rows of one process each setting needs to reach the same loss."""
    target = target_of(part)
    alone = rows_to(part["curves"][0]["loss"], part["rows"], target)
    assert alone is not None
    found = []
    for each in part["curves"][1:]:
        rows = rows_to(each["loss"], part["rows"], target)
        found.append({**each, "factor": None if rows is None else rows / alone})
    return found


@dataclass(frozen=True)
class RowCost:
    """Rows relative to those of one process, ``replicas ** a * local_steps ** b``."""

    a: float
    b: float

    def factor(self, replicas: float, steps: float) -> float:
        """The factor; at least 1."""
        return float(max(1.0, replicas**self.a * steps**self.b))


def row_cost(parts: list[dict[str, Any]], way: str) -> RowCost:
    """Fitted to the logarithms of all factors of a way of training; a loss that was not reached is left out."""
    known = [each for part in parts for each in factors(part) if each["way"] == way and each["factor"] is not None]
    terms = np.log([[each["replicas"], each["local_steps"]] for each in known])
    logs = np.log([each["factor"] for each in known])
    found = np.linalg.lstsq(terms, logs, rcond=None)[0]
    return RowCost(float(found[0]), float(found[1]))


def throughput(cost: RoundCost, nodes: int, parameters: float, steps: int, step_seconds: float) -> float:
    """Rows per second relative to one node, with one replica on each node."""
    work = steps * step_seconds
    return nodes * work / (work + cost.seconds(parameters, nodes, network=True))
