"""What the doctor said about the runs of the clinic, and the numbers that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

INFO = {
    "norm_order", "small_validation", "linear_regime", "overconfident", "label_errors", "numeric_limits",
    "search_edge", "seed_noise",
}  # fmt: skip
"What the catalogue marks as information."
CONSEQUENCES = {"constant_prediction", "input_ignored", "cannot_overfit", "dead_units", "exploding_gradients"}
"What can only be planted by a cause that has a name of its own, so that it may be named as what the cause explains."


WORST = 1e6
"Highest loss that counts, in units of the variance of the target."


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
    explained: tuple[str, ...] = ()
    twin: float = 0.0
    noise: float = 0.0
    healed: float | None = None
    gains: tuple[float, ...] = ()
    diverged: bool = False
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def named(self) -> set[str]:
        """The planted faults that are named: as an alarm, as information, or, for a consequence, as explained."""
        counted = {*self.alarms, *(set(self.infos) & INFO), *(set(self.explained) & CONSEQUENCES)}
        return set(self.faults) & counted

    @property
    def is_first_right(self) -> bool:
        """Whether the first finding is a planted fault; for information and consequences, whether it is named."""
        if set(self.faults) <= INFO:
            return bool(self.named)
        return bool(self.alarms) and (self.alarms[0] in self.faults or bool(self.named & CONSEQUENCES))

    @property
    def right(self) -> set[str]:
        """Names that are right: planted, or a loss that is not finite in a run that diverged."""
        return set(self.faults) | ({"nonfinite_loss"} if self.diverged else set())


def measures(results: Sequence[Result]) -> dict[str, float]:
    """The numbers of the clinic."""
    sick = [r for r in results if r.kind == "sick" and r.is_sick]
    healthy = [r for r in results if r.kind == "healthy" and not r.is_sick]
    several = [r for r in sick if len(r.faults) > 1]
    healed = [r for r in sick if r.healed is not None]
    said = [r for r in (*sick, *healthy) if r.alarms]
    unfolded = [(len({*r.alarms, *r.explained} & r.right), len({*r.alarms, *r.explained})) for r in said]
    return {
        "sick": len(sick),
        "with several faults": len(several),
        "planted but not harmful": sum(r.kind == "sick" and not r.is_sick for r in results),
        "healthy": len(healthy),
        "meant to be healthy, but not": sum(r.kind == "healthy" and r.is_sick for r in results),
        "faults": sum(len(r.faults) for r in sick),
        "recall": _share(sum(len(r.named) for r in sick), sum(len(r.faults) for r in sick)),
        "recall, alarms only": _share(
            sum(len(set(r.faults) & {*r.alarms, *(set(r.infos) & INFO)}) for r in sick),
            sum(len(r.faults) for r in sick),
        ),
        "recall of several": _share(sum(len(r.named) for r in several), sum(len(r.faults) for r in several)),
        "detected": _share(sum(bool(r.alarms) or bool(r.named) for r in sick), len(sick)),
        "named first": _share(sum(r.is_first_right for r in sick), len(sick)),
        "precision": _share(sum(len(set(r.alarms) & r.right) for r in said), sum(len(r.alarms) for r in said)),
        "precision without folding": _share(sum(a for a, _ in unfolded), sum(b for _, b in unfolded)),
        "alarms of a sick run": _share(sum(len(r.alarms) for r in sick), len(sick)),
        "false alarms": _share(sum(bool(r.alarms) for r in healthy), len(healthy)),
        "repaired": _share(sum(is_repaired(r) for r in healed), len(healed)),
        "healed": len(healed),
        "median seconds": float(np.median([r.seconds for r in results])) if results else 0.0,
    }


def _share(part: float, whole: float) -> float:
    return part / max(whole, 1)


def is_repaired(r: Result) -> bool:
    """At least 80 % of the gap to the twin, or within twice its noise."""
    assert r.healed is not None
    gap = min(r.loss, WORST) - r.twin
    return r.healed <= r.twin + max(2 * r.noise, 0.2 * gap)


def remark(r: Result) -> str | None:
    """A line about a run that the doctor did not get entirely right."""
    missed = [name for name in r.faults if name not in r.named]
    if r.kind == "healthy":
        mark = "ok" if not r.alarms else "unsound" if r.is_sick else "FALSE"
    elif not r.is_sick:
        mark = "unharmed"
    else:
        mark = "MISSED" if missed else "ok" if r.is_first_right else "second"
    extra = set(r.alarms) - r.right if r.kind == "sick" else set()
    if mark == "ok" and not extra and (r.healed is None or is_repaired(r)):
        return None
    healed = "" if r.healed is None else f" healed {r.healed:.3g}{'' if is_repaired(r) else ' NOT REPAIRED'}"
    said = ", ".join(f"{name} {gain:g}" for name, gain in zip(r.alarms, r.gains, strict=True))
    losses = f"loss {r.loss:.3g} twin {r.twin:.3g}{healed}"
    explained = f" ({', '.join(r.explained)})" if r.explained else ""
    return f"{mark:8} {'+'.join(r.faults) or 'healthy'} | {r.label} | {said}{explained} | {losses} | {r.seconds:.1f}s"


def others_table(results: Sequence[Result]) -> str:
    """The doctor beside the published rules of others, as a table."""
    known = [r for r in results if r.others]
    rows = ["| tool | sick runs with an alarm | faults named | first name right | precision | alarms on healthy runs |",
            "| --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    tools = {"madaline": lambda r: r.alarms} | {name: _alarms_of(name) for name in (known[0].others if known else {})}
    for tool, alarms_of in tools.items():
        runs = [(r, tuple(alarms_of(r))) for r in known]
        sick = [(r, a) for r, a in runs if r.kind == "sick" and r.is_sick and not set(r.faults) <= INFO]
        healthy = [(r, a) for r, a in runs if r.kind == "healthy" and not r.is_sick]
        said = sum(len(a) for _, a in (*sick, *healthy))
        cells = [
            _share(sum(bool(a) for _, a in sick), len(sick)),
            _share(sum(len(set(a) & set(r.faults)) for r, a in sick), sum(len(r.faults) for r, _ in sick)),
            _share(sum(bool(a) and a[0] in r.faults for r, a in sick), len(sick)),
            _share(sum(len(set(a) & r.right) for r, a in sick), said),
            _share(sum(bool(a) for _, a in healthy), len(healthy)),
        ]
        rows.append(f"| {tool} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    return "\n".join(rows)


def _alarms_of(name: str) -> Callable[[Result], tuple[str, ...]]:
    return lambda r: r.others[name]
