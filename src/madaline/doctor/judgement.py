"""From an examination to findings: symptoms, trials, and remedies on top of remedies for combined faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Finding
from madaline.doctor.setup import Setup
from madaline.doctor.sickness import Sickness, all_sicknesses
from madaline.doctor.trials import NEARLY, ROUNDS, Candidate, Trial, is_confirmed, ranked, try_remedies


@dataclass
class Judgement:
    """What was found, and the setup with all remedies that helped."""

    findings: list[Finding] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    setup: Setup | None = None
    gain: float = 0.0


def judge(exam: Exam) -> Judgement:
    """Examine a run."""
    names: set[str] = set()
    candidates = candidates_of(exam, names)
    facts = [c for c in candidates if c.sickness.proof == "fact"]
    result = Judgement([finding_of_fact(c) for c in facts])
    names |= {c.name for c in facts}
    current, open_candidates = exam, [c for c in candidates if c.sickness.proof == "trial"]
    for number in range(ROUNDS):
        helped = _helpful(current, open_candidates)
        if not helped and number == 0:
            helped = _together(current, open_candidates)
        if not helped:
            break
        # Weaker remedies are tried again on top of the best one: they may treat another fault, or the same one worse.
        fresh = [trial for trial in helped if trial.gain >= NEARLY * helped[0].gain or trial is helped[0]]
        result.trials += fresh
        names |= {trial.candidate.name for trial in fresh}
        best = helped[0]
        result.setup = best.setup
        if exam.clock.left < 3 * exam.before.seconds:
            break
        current = Exam(best.setup, exam.problem, clock=exam.clock)
        open_candidates = [
            c for c in candidates_of(current, names) if c.sickness.proof == "trial" and c.name not in names
        ]
    result.findings += [finding_of(trial) for trial in result.trials]
    return result


def candidates_of(exam: Exam, known: set[str]) -> list[Candidate]:
    """Sicknesses with a symptom."""
    found = []
    for sickness in all_sicknesses():
        if sickness.name in known or not (exam.has_run or sickness.before_training or known):
            continue
        symptom = sickness.symptom(exam)
        if symptom is not None:
            found.append(Candidate(sickness, symptom, sickness.remedies(exam, symptom)))
    return found


def _helpful(exam: Exam, candidates: Sequence[Candidate]) -> list[Trial]:
    """The trials that help, the best first; the best is confirmed with another seed."""
    trials = [trial for c in candidates if (trial := try_remedies(exam, c)) is not None and trial.helps]
    return [trial for trial in ranked(trials) if is_confirmed(exam, trial)]


def _together(exam: Exam, candidates: Sequence[Candidate]) -> list[Trial]:
    """Remedies that help only together, as for unscaled inputs and a rate that is too low."""
    return []


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
    sickness: Sickness, candidate: Candidate, *, confidence: float, remedies: Sequence, gain: float
) -> Finding:  # type: ignore[type-arg]
    symptom = candidate.symptom
    return Finding(
        sickness.name,
        sickness.title,
        sickness.severity,
        confidence,
        symptom.where,
        dict(symptom.evidence),
        sickness.why,
        sickness.concept,
        tuple(remedies),
        gain,
        symptom.picture,
    )
