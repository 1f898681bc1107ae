"""From an examination to findings: symptoms, trials, and remedies on top of remedies for combined faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Finding, Remedy
from madaline.doctor.setup import Setup
from madaline.doctor.sickness import SICKNESSES, Sickness, all_sicknesses
from madaline.doctor.trials import (
    NEARLY,
    ROUNDS,
    Candidate,
    Trial,
    is_confirmed,
    ranked,
    try_later,
    try_remedies,
    try_together,
    try_with_rates,
)

CERTAIN_CAUSE = 2
"Sicknesses up to this place are wrong by construction, or faults of the data."
LENGTH = 6
"Place of sicknesses that concern the length of training."
CONSEQUENCE = 8
"Sicknesses with this place or a later one are mere consequences of others."


SEEN_INSIDE = (
    "constant_prediction",
    "input_ignored",
    "saturated_units",
    "vanishing_gradients",
    "exploding_gradients",
    "dead_units",
)
"What can be seen in a net that is harmed, whatever the cause."
MOST_SEEN, UNSURE = 3, 0.5
HALF, FAR = 0.5, 0.1
"Remedies are tried together if none alone gains half of what is possible; they must then gain clearly more."


@dataclass
class Judgement:
    """What was found, and the setup with all remedies that helped."""

    findings: list[Finding] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    setup: Setup | None = None
    remedies: list[Remedy] = field(default_factory=list)
    "Those of the setup, in the order in which they were applied."


def judge(exam: Exam) -> Judgement:
    """Examine a run: facts first, then remedies, each round on top of the best one of the round before."""
    names: set[str] = set()
    candidates = candidates_of(exam, names)
    facts = [c for c in candidates if c.sickness.proof == "fact"]
    result = Judgement([finding_of_fact(c) for c in facts])
    names |= {c.name for c in facts}
    current = exam
    for number in range(ROUNDS):
        tried = [c for c in candidates if c.sickness.proof == "trial" and c.name not in names]
        helped = _helpful(current, tried)
        if number == 0 and (not helped or helped[0].gain < HALF * current.potential):
            together = _together(current, tried)
            if together and (not helped or together[0].gain > helped[0].gain + FAR):
                helped = together
        if number == 0 and not helped and exam.clock.left > 0:
            helped = _helpful(current, candidates_of(current, names, consequences=True))
        if not helped:
            break
        # Weaker remedies are tried again on top of the best one: they may treat another fault, or the same one worse.
        fresh = [trial for trial in helped if trial.gain >= NEARLY * helped[0].gain or trial is helped[0]]
        result.trials += fresh
        names |= {trial.candidate.name for trial in fresh}
        best = max(fresh, key=lambda trial: trial.gain)
        result.setup = best.setup
        result.remedies += [trial.remedy for trial in fresh if trial.setup is best.setup]
        if exam.clock.left < 3 * exam.before.seconds:
            break
        current = Exam(result.setup, exam.problem, clock=exam.clock)
        current.caution = exam.caution
        candidates = candidates_of(current, names)
    if result.trials:  # a remedy that helps shows that there is something to learn
        result.findings = [finding for finding in result.findings if finding.name != "no_signal"]
    result.findings += [finding_of(trial) for trial in result.trials]
    if result.trials:
        result.findings += _accompanying(exam, names)
    return result


def _accompanying(exam: Exam, names: set[str]) -> list[Finding]:
    """What else is measured inside of a net whose training is harmed: not the cause, but part of the picture."""
    found = []
    for sickness in [SICKNESSES[name] for name in SEEN_INSIDE if name not in names and exam.is_complete]:
        symptom = sickness.symptom(exam)
        if symptom is not None:
            weaker = replace(symptom, confidence=UNSURE)
            found.append(finding_of_fact(Candidate(sickness, weaker, sickness.remedies(exam, symptom))))
    return found[:MOST_SEEN]


def candidates_of(exam: Exam, known: set[str], *, consequences: bool = False) -> list[Candidate]:
    """Sicknesses with a symptom: causes, or mere consequences."""
    found = []
    for sickness in all_sicknesses():
        if (sickness.cause >= CONSEQUENCE) != consequences:
            continue
        if sickness.name in known or not (exam.is_complete or sickness.before_training or known):
            continue
        symptom = sickness.symptom(exam)
        if symptom is not None:
            least = sickness.min_gain * exam.caution
            found.append(Candidate(sickness, symptom, sickness.remedies(exam, symptom), least))
    return found


def _helpful(exam: Exam, candidates: Sequence[Candidate]) -> list[Trial]:
    """The trials that help, the most likely cause first; the first one is confirmed with another seed."""
    best = {c.name: trial for c in candidates if (trial := try_remedies(exam, c)) is not None}
    for c in candidates:
        if c.sickness.cause <= CERTAIN_CAUSE and c.name in best and not best[c.name].helps:
            best[c.name] = try_with_rates(exam, c) or best[c.name]
    trials = ranked([trial for trial in best.values() if trial.helps])
    while trials and not is_confirmed(exam, trials[0]):
        other = try_later(exam, trials[0])
        if other is not None and other.helps and is_confirmed(exam, other):
            return [other, *trials[1:]]
        trials = trials[1:]
    return trials


def _together(exam: Exam, candidates: Sequence[Candidate]) -> list[Trial]:
    """Remedies that help only together, as for unscaled inputs and a rate that is too low."""
    chosen = [c for c in candidates if c.remedies and c.sickness.cause <= LENGTH and not _is_repeated(c, candidates)]
    ordered = sorted(chosen, key=lambda c: c.sickness.cause)
    for place in range(max((len(c.remedies) for c in ordered), default=0) if len(ordered) > 1 else 0):
        pairs = [(c, c.remedies[min(place, len(c.remedies) - 1)]) for c in ordered]
        whole = try_together(exam, pairs)
        if whole is None or not whole.helps:
            continue
        needed = []
        for pair in pairs:
            without = try_together(exam, [other for other in pairs if other is not pair])
            if without is None or without.gain < whole.gain - pair[0].min_gain:
                needed.append(replace(whole, candidate=pair[0], remedy=replace(pair[1], gain=whole.gain)))
        if needed and is_confirmed(exam, whole):
            return needed
    return []


def _is_repeated(candidate: Candidate, candidates: Sequence[Candidate]) -> bool:
    """Whether another candidate has the same remedies."""
    return candidate.name == "not_converged" and any(c.name == "too_few_steps" for c in candidates)


def finding_of(trial: Trial) -> Finding:
    """The finding of a sickness whose remedy helped."""
    sickness, symptom = trial.candidate.sickness, trial.candidate.symptom
    others = [remedy for remedy in trial.candidate.remedies if remedy.text != trial.remedy.text]
    return _finding(
        sickness,
        trial.candidate,
        confidence=min(0.99, 0.5 + 0.5 * symptom.confidence),
        remedies=[trial.remedy, *others],
        gain=trial.gain,
    )


def finding_of_fact(candidate: Candidate) -> Finding:
    """The finding of something that is true by measurement."""
    symptom = candidate.symptom
    return _finding(
        candidate.sickness, candidate, confidence=symptom.confidence, remedies=candidate.remedies, gain=symptom.harm
    )


def _finding(
    sickness: Sickness, candidate: Candidate, *, confidence: float, remedies: Sequence[Remedy], gain: float
) -> Finding:
    symptom = candidate.symptom
    return Finding(
        sickness.name,
        sickness.title,
        symptom.severity or sickness.severity,
        confidence,
        symptom.where,
        dict(symptom.evidence),
        sickness.why,
        sickness.concept,
        tuple(remedies),
        gain,
        symptom.picture,
    )
