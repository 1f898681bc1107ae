"""The parts of a training step, made from the arguments of the trainer."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.description import Description
from madaline.errors import ConfigError
from madaline.losses.custom import LossLike, as_loss
from madaline.losses.loss import Loss
from madaline.nn.network import Network
from madaline.optim.averaging import Average
from madaline.optim.clipping import ClipNorm, Clipping
from madaline.optim.constraints import Constraint
from madaline.optim.lbfgs import LBFGS
from madaline.optim.optimizer import Optimizer, OptimizerLike, as_optimizer
from madaline.optim.plateau import Plateau, ReduceOnPlateau
from madaline.optim.regularizers import Regularizer
from madaline.optim.schedule import Schedule, ScheduleLike, as_schedule

LossesLike = LossLike | Mapping[str, LossLike]
"A loss, or one for each named output."

SolverLike = OptimizerLike | LBFGS | type[LBFGS]
"An optimizer that takes steps, or L-BFGS."

OneRegularizer = str | Regularizer | type[Regularizer]
RegularizersLike = OneRegularizer | Sequence[OneRegularizer] | Mapping[str, Any]
"Penalties: one, several, or a dict that selects layers."

OneConstraint = str | Constraint | type[Constraint]
ConstraintsLike = OneConstraint | Sequence[OneConstraint] | Mapping[str, Any]
"Constraints: one, several, or a dict that selects layers."

ClippingLike = str | Clipping | type[Clipping] | Mapping[str, Any]
"A way to clip the gradient."

AverageLike = str | Average | type[Average] | Mapping[str, Any]
"An average of the parameters."

GroupsLike = Mapping[str, "Mapping[str, float] | ParameterGroup"]
"Factors of the rate and the decay by pattern of paths."

EVERYWHERE = "*"
"The pattern that means every layer."


@dataclass(frozen=True)
class ParameterGroup:
    """Factors of the learning rate and the weight decay of some parameters.

    Parameters
    ----------
    rate : float, default 1
        Factor of the learning rate; 0 freezes.
    decay : float, optional
        Factor of the weight decay; by default it is not changed.
    """

    rate: float = 1.0
    decay: float | None = None


@dataclass(frozen=True)
class Recipe:
    """How a net is trained: loss, optimizer and everything else of a step."""

    loss: Loss | dict[str, Loss]
    optimizer: Optimizer | LBFGS
    schedule: Schedule
    regularizers: tuple[tuple[str, Regularizer], ...] = ()
    clip: Clipping | None = None
    constraints: tuple[tuple[str, Constraint], ...] = ()
    average: Average | None = None
    groups: tuple[tuple[str, ParameterGroup], ...] = ()

    def start_plateau(self) -> Plateau | None:
        """The state of the part of the schedule that watches a metric, if there is one."""
        found = [(wait, part) for wait, part in self.schedule.watching() if isinstance(part, ReduceOnPlateau)]
        if len(found) > 1:
            raise ConfigError(f"schedule has {len(found)} parts that watch a metric. Keep one of them.")
        return found[0][1].start(wait=found[0][0]) if found else None

    @classmethod
    def of(
        cls,
        *,
        loss: LossesLike,
        optimizer: SolverLike,
        schedule: ScheduleLike | None = None,
        regularizer: RegularizersLike | None = None,
        clip: ClippingLike | None = None,
        clip_norm: float | None = None,
        constraint: ConstraintsLike | None = None,
        average: AverageLike | None = None,
        groups: GroupsLike | None = None,
    ) -> Recipe:
        """From names, descriptions, functions, lists and dicts of them."""
        if clip is not None and clip_norm is not None:
            raise ConfigError(f"clip={clip!r} and clip_norm={clip_norm!r} both clip the gradient. Give one of them.")
        return cls(
            as_losses(loss),
            as_solver(optimizer),
            as_schedule("constant" if schedule is None else schedule),
            by_pattern(Regularizer, regularizer),
            ClipNorm(clip_norm) if clip_norm is not None else None if clip is None else Clipping.of(clip),
            by_pattern(Constraint, constraint),
            None if average is None else Average.of(average),
            tuple(as_groups(groups)),
        )


def as_losses(what: LossesLike) -> Loss | dict[str, Loss]:
    """A loss, or one for each named output; plain data of a loss are recognised by their kind."""
    if isinstance(what, dict) and what.get("kind") != Loss.registry.kind:
        return {name: as_loss(item) for name, item in what.items()}
    return as_loss(what)


def as_solver(what: SolverLike) -> Optimizer | LBFGS:
    """An optimizer that takes steps, or L-BFGS."""
    is_solver = isinstance(what, Mapping) and what.get("kind") == LBFGS.registry.kind
    if isinstance(what, LBFGS) or what in ("lbfgs", LBFGS) or is_solver:
        return LBFGS.of(what)
    return as_optimizer(what)


def by_pattern(kind: type[Any], given: Any) -> tuple[tuple[str, Any], ...]:
    """Descriptions with the layers they are for: ``"l2"``, ``[L1(), L2()]``, ``{"0": "l1", "3.*": L2(1e-3)}``."""
    if given is None:
        return ()
    if isinstance(given, Mapping) and "name" not in given:
        return tuple((pattern, item) for pattern, items in given.items() for _, item in by_pattern(kind, items))
    if isinstance(given, (list, tuple)):
        return tuple(pair for item in given for pair in by_pattern(kind, item))
    return ((EVERYWHERE, kind.of(given)),)


def as_groups(given: GroupsLike | None) -> list[tuple[str, ParameterGroup]]:
    """Groups by pattern: ``{"0": {"rate": 0.1}, "*.b": Group(decay=0.0)}``."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise ConfigError(f"groups={given!r} must be a dict from patterns of paths to rate and decay.")
    found = []
    for pattern, item in given.items():
        if isinstance(item, Mapping) and item.keys() <= {"rate", "decay"}:
            item = ParameterGroup(**item)  # noqa: PLW2901 - the same group as an object
        if not isinstance(item, ParameterGroup):
            raise ConfigError(f"groups[{pattern!r}]={item!r} must be a dict with rate, decay, or both.")
        wrong = [value for value in (item.rate, item.decay) if value is not None and not _is_factor(value)]
        if wrong:
            raise ConfigError(f"groups[{pattern!r}]: {wrong[0]!r} must be a number of at least 0.")
        found.append((pattern, item))
    return found


def _is_factor(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and bool(0.0 <= value < np.inf)


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern selects the array or layer at this path: by name, as a part of a layer, or by wildcards."""
    return path == pattern or path.startswith(f"{pattern}.") or fnmatch.fnmatchcase(path, pattern)


def check_patterns(recipe: Recipe, network: Network) -> None:
    """Raise an error if a pattern selects no layer and no parameter."""
    paths = [*network.params, *(row.path for row in network.rows)]
    for argument in ("regularizers", "constraints", "groups"):
        for pattern, _ in getattr(recipe, argument):
            if not any(matches(pattern, path) for path in paths):
                raise ConfigError(
                    f"{argument}: {pattern!r} selects no layer and no parameter. Paths: {', '.join(network.params)}."
                )


def group_factors(recipe: Recipe, network: Network) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Factors of the rate and of the decay for every trainable parameter; None where all are 1.

    By default, decoupled weight decay does not change biases and norm parameters.
    """
    rate = np.ones(network.n_trainable, network.dtype)
    decay = np.ones(network.n_trainable, network.dtype)
    decoupled = isinstance(recipe.optimizer, Optimizer) and recipe.optimizer.decoupled
    for path, entry in network.params.items():
        if entry.frozen:
            continue
        part = slice(entry.offset, entry.offset + entry.size)
        if decoupled and not entry.decays:
            decay[part] = 0.0
        for pattern, group in recipe.groups:
            if matches(pattern, path):
                rate[part] = group.rate
                if group.decay is not None:
                    decay[part] = group.decay
    has_decay = isinstance(recipe.optimizer, Optimizer) and recipe.optimizer.weight_decay
    return (
        None if (rate == 1.0).all() else rate,
        None if not has_decay or (decay == 1.0).all() else decay,
    )


def to_plain(recipe: Recipe) -> dict[str, Any]:
    """The recipe as numbers, strings, lists and dicts."""

    def plain(value: Any) -> Any:
        return value.to_dict() if isinstance(value, Description) else value

    return {
        "loss": {name: plain(item) for name, item in recipe.loss.items()}
        if isinstance(recipe.loss, dict)
        else plain(recipe.loss),
        "optimizer": plain(recipe.optimizer),
        "schedule": plain(recipe.schedule),
        "regularizers": [[pattern, plain(item)] for pattern, item in recipe.regularizers],
        "clip": plain(recipe.clip),
        "constraints": [[pattern, plain(item)] for pattern, item in recipe.constraints],
        "average": plain(recipe.average),
        "groups": [[pattern, {"rate": item.rate, "decay": item.decay}] for pattern, item in recipe.groups],
    }
