"""Short names for ways to plant a fault, which the sick runs of the fifth half use."""

from __future__ import annotations

import outside_faults as bad
from broad_sick_plans import data
from fresh_sick_plans import plan, together
from sick_plans import Fault

import madaline as md


def inputs(change: object) -> Fault:
    return data(bad.inputs(change))


def target(factor: float, offset: float = 0.0) -> Fault:
    return data(bad.target(factor, offset))


def not_shuffled(**changes: object) -> Fault:
    return together(data(bad.blocks), plan(shuffle=False, validation=None, **changes))


def few(n: int, **changes: object) -> Fault:
    """A large net for the first rows of the table, trained for long."""
    return plan(widths=(n, n), **changes)


def stop(**changes: object) -> object:
    return md.EarlyStopping(**changes)
