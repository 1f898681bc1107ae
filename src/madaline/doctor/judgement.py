"""From an examination to findings: symptoms, trials, and remedies on top of remedies for combined faults."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from madaline.doctor.exam import Exam, is_sure
from madaline.doctor.finding import Finding, Remedy
from madaline.doctor.leaks import without_columns
from madaline.doctor.sample import on_new_rows, split_off
from madaline.doctor.setup import Setup, python_change
from madaline.doctor.sickness import SICKNESSES, Sickness, all_sicknesses
from madaline.doctor.trials import (
    ROUNDS,
    SURE,
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
    "cannot_overfit",
    "constant_prediction",
    "input_ignored",
    "saturated_units",
    "vanishing_gradients",
    "exploding_gradients",
    "dead_units",
)
"What can be seen in a net that is harmed, whatever the cause."
OPPOSITES = (("vanishing_gradients", "exploding_gradients"),)
"If one of them is the cause, the other is not a consequence."
UNSURE = 0.5
SAME_EFFECT = {"not_converged": {"rate_too_low"}}
"Sicknesses whose remedies have the same effect as those of others."
SAME_WORDS = ("too_few_steps", "not_converged")
"""Only the one with the surer symptom is tried. If it is an alarm, the other is part of the picture, also if its remedy
helps on top."""
FOLLOWS = {"initial_loss": {"init_gain"}, "dead_units": {"unscaled_inputs", "symmetric_weights"}}
"Sicknesses that are not tried if one of these is certain, because they follow from it."
BAD, NOT_BAD = 0.5, 0.1
"A loss this far above that of a constant, as a fraction of it, is bad even where little can be learned."
SOMETHING = 0.1
"What usual settings must gain if nothing but facts about the rows was found; otherwise nothing harms training."
HALF, FAR, NOTABLY = 0.5, 0.1, 0.05
"""Faults of data and net are tried together, and others too if no remedy alone gains half of what is possible; together
they must then gain clearly more."""
FEWEST_ROWS = 100
"With fewer training rows none are split off."
OF_SPLIT = ("split_shift", "split_duplicates")
"Facts about the validation set, which decide on which rows remedies are compared."
FEW_SHARED = 0.25
"With a smaller fraction of shared validation rows, what inflates the score is that rows are learned by heart."
FEWEST_NEW = 40
"With fewer validation rows that are no training rows, training rows are held out instead."
OF_NET = 4
"Place of the last sickness of data or net."
OF_PREDICTIONS = ("class_imbalance",)
"Facts that another fault may cause: a net that hardly learns does not predict a rare class either."
WITHOUT_FAULT = "seed_noise"
"Sickness that is looked for only if no alarm was found: a run with a fault has nothing to compare yet."
COVERED = {
    "too_few_steps": {"not_converged"},
    "not_converged": {"too_few_steps"},
    "init_gain": {"symmetric_weights", "saturated_units"},
    "unscaled_inputs": {"heavy_tails"},
    "dead_units": {"init_gain", "symmetric_weights", "unscaled_inputs"},
}
"Sicknesses that say the same in other words; of columns, only if they are the same ones."
SEEN_AS = {"init_gain": "saturated_units"}
"Weights that are too large are named after what they do to bounded units, if those are saturated."


@dataclass
class Judgement:
    """What was found, and the setup with all remedies that helped."""

    findings: list[Finding] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    setup: Setup | None = None
    explained: dict[str, Trial] = field(default_factory=dict)
    "Remedies that helped, by sickness, but that were not needed on top of others."
    consequences: list[Finding] = field(default_factory=list)
    "Facts about predictions that are gone in the repaired run."
    remedies: list[Remedy] = field(default_factory=list)
    "Those of the setup, in the order in which they were applied."


def judge(exam: Exam) -> Judgement:
    """Examine a run: facts first, then remedies, each round on top of the best one of the round before."""
    names: set[str] = set()
    exam = _on_new_rows(exam)
    candidates = candidates_of(exam, names)
    minor = [c for c in candidates if c.is_minor]
    facts = [c for c in candidates if c.sickness.proof == "fact"]
    certain = [c for c in candidates if c.symptom.is_certain]
    columns = {c.name: set(c.symptom.columns) for c in candidates if c.symptom.columns}
    result = Judgement([finding_of_fact(c) for c in facts])
    names |= {c.name for c in facts}
    current = exam
    for number in range(ROUNDS):
        tried = [c for c in candidates if c.sickness.proof == "trial" and c.name not in names and not c.is_minor]
        helped = _helpful(current, tried)
        if number == 0:
            helped = _combined(current, tried, helped)
        if number == 0 and not helped and exam.clock.left > 0:
            helped = _helpful(current, candidates_of(current, names, consequences=True))
        if not helped:
            break
        # Other remedies are tried again on top of this one: they may treat another fault, or the same one otherwise.
        fresh = [trial for trial in helped if trial.setup is helped[0].setup]
        others = [trial for trial in helped if trial not in fresh]
        fresh = [_after(trial, result.trials) for trial in fresh]
        result.trials += fresh
        names |= {trial.candidate.name for trial in fresh}
        result.explained |= {
            trial.candidate.name: trial for trial in others if trial.candidate.name not in result.explained
        }
        result.setup = helped[0].setup
        result.remedies += [trial.remedy for trial in fresh]
        if exam.clock.left < 3 * exam.before.seconds:
            break
        current = Exam(result.setup, exam.problem, clock=exam.clock)
        current.caution = exam.caution
        candidates = candidates_of(current, names)
    if result.setup is not None and _learns(exam, result.setup):
        result.findings = [finding for finding in result.findings if finding.name != "no_signal"]
    if "no_signal" in {finding.name for finding in result.findings}:
        # Without a signal, whatever lowers the loss only predicts the mean more closely.
        result.trials, result.explained, result.setup, result.remedies = [], {}, None, []
        names = {c.name for c in facts}
    hidden = []
    if result.setup is not None:
        _explain_facts(current, result, facts)
        # Of a net that hardly learned, predictions say nothing about its classes: they are looked at again.
        hidden = [finding_of_fact(c) for c in candidates if c.name in OF_PREDICTIONS and c not in facts]
    if result.trials:
        folded = _folded(exam, result, names)  # which also changes the findings so far
        result.findings = _by_heart(result.findings, folded, facts) + hidden
    is_alarmed = any(finding.is_alarm for finding in result.findings)
    if is_alarmed or _is_harmed(exam):
        if certain and _is_harmed_besides(exam, result, facts):
            result.findings = _with_certain(result.findings, [_as_seen(exam, c) for c in certain], columns)
        if not any(finding.is_alarm for finding in result.findings):
            result.findings += _accompanying(exam, names)
    elif exam.is_complete:
        result.findings += [finding_of(trial) for trial in _helpful(exam, minor)[:1]]
        result.findings += [finding_of_fact(c) for c in _candidates(exam, [SICKNESSES[WITHOUT_FAULT]])]
    return result


def _after(trial: Trial, earlier: Sequence[Trial]) -> Trial:
    """The trial, which says what had been applied before."""
    names = tuple(each.candidate.name for each in earlier)
    return replace(trial, remedy=replace(trial.remedy, tried_after=names))


def _by_heart(of_rows: list[Finding], folded: list[Finding], facts: Sequence[Candidate]) -> list[Finding]:
    """All findings; a few shared validation rows come after what costs more than they do.

    They also come after overfitting, without which they do not inflate the score.
    """
    shared = next((c.symptom for c in facts if c.name == "split_duplicates"), None)
    if shared is None or shared.rows is None or shared.rows.mean() >= FEW_SHARED:
        return [*of_rows, *folded]
    is_late = any(each.is_alarm and (each.name == "overfitting" or each.gain > shared.harm) for each in folded)
    late = [finding for finding in of_rows if is_late and finding.name == "split_duplicates"]
    return [*(finding for finding in of_rows if finding not in late), *folded, *late]


def _explain_facts(repaired: Exam, result: Judgement, facts: Sequence[Candidate]) -> None:
    """Make facts about predictions that are gone in the repaired run consequences, which the first trial explains."""
    gone = {c.name: c for c in facts if c.name in OF_PREDICTIONS and c.sickness.symptom(repaired) is None}
    result.findings = [finding for finding in result.findings if finding.name not in gone]
    result.consequences = [finding_of_fact(c) for c in gone.values()]


def _is_harmed(exam: Exam) -> bool:
    """Whether a net with usual settings learns what this one does not, though no remedy alone helped.

    Also if the loss is far above that of a constant, which usual settings avoid: nothing can then be gained where even
    they learn little, but the predictions are bad.
    """
    if not exam.is_complete or exam.clock.left <= 0 or exam.reference.diverged:
        return False
    before, after = exam.held_losses(exam.before), exam.held_losses(exam.reference)
    constant, size = exam.constant_loss, abs(exam.constant_loss)
    excess = exam.before_losses - constant  # of all splits
    is_bad = excess.mean() > BAD * size and after.mean() < constant + NOT_BAD * size
    if is_bad and is_sure(excess, SURE):
        return True
    learned = constant - float(before.mean())
    return bool(
        learned < 0.1 * exam.learnable and exam.potential > HALF and is_sure(np.minimum(before, 3 * size) - after, SURE)
    )


def _on_new_rows(exam: Exam) -> Exam:
    """The examination on held-out rows that tell how good the net is.

    If the validation set differs from the training set, these are rows of the training set; if it shares rows with the
    training set, those that it does not share.
    """
    all_sicknesses()
    shift, shared = (SICKNESSES[name].symptom(exam) for name in OF_SPLIT)
    exam.known = {**exam.known, **dict(zip(OF_SPLIT, (shift, shared), strict=True))}
    problem = None
    if shift is not None and len(exam.problem.train) >= FEWEST_ROWS:
        problem = split_off(exam.problem)
    elif shared is not None and shared.severity != "info" and shared.rows is not None:
        problem = on_new_rows(exam.problem, shared.rows, FEWEST_NEW)
    return exam if problem is None else exam.with_problem(problem)


def _learns(exam: Exam, setup: Setup) -> bool:
    """Whether a net with this setup predicts held-out rows better than a constant does."""
    losses = exam.losses(setup)[: len(exam.constant)]
    d = exam.constant - np.minimum(losses, exam.constant + 10 * abs(exam.constant_loss))
    return bool(d.mean() > max(0.03 * abs(exam.constant_loss), d.std() / np.sqrt(len(d))))


def _is_harmed_besides(exam: Exam, result: Judgement, facts: Sequence[Candidate]) -> bool:
    """Whether there is harm to training, and not only a fact about the rows, such as rows that are in both sets.

    With a column that gives the target away nothing is left to gain, so that the run is examined without it. Without a
    signal nothing can show harm.
    """
    if result.trials or exam.clock.left <= 0:
        return True
    of_rows = {c.name: c for c in facts if c.cause == 0 and c.name not in OF_PREDICTIONS}
    if (
        not of_rows
        or "no_signal" in of_rows
        or any(finding.is_alarm and finding.name not in of_rows for finding in result.findings)
    ):
        return True
    leak = of_rows.get("target_leak")
    cleared = without_columns(exam.problem, leak.symptom.columns) if leak is not None else None
    if cleared is not None:
        other = Exam(replace(exam.setup, start=None), cleared, clock=exam.clock)
        return other.potential > SOMETHING
    return exam.potential > SOMETHING


def _with_certain(
    findings: list[Finding], certain: Sequence[Candidate], columns: Mapping[str, set[int]]
) -> list[Finding]:
    """The findings, and what is wrong by any standard besides: the run is harmed, and these are facts about it."""
    alarms = {finding.name for finding in findings if finding.is_alarm}
    more = [c for c in certain if c.name not in alarms and not _is_covered(c, alarms, columns)]
    kept = [finding for finding in findings if finding.name not in {c.name for c in more}]
    place = next((i for i, finding in enumerate(kept) if finding.explained_by), len(kept))
    own = [_finding(c.sickness, c, confidence=0.6, remedies=c.remedies, gain=0.0) for c in more]
    return [*kept[:place], *own, *kept[place:]]


def _is_covered(candidate: Candidate, alarms: Collection[str], columns: Mapping[str, set[int]]) -> bool:
    """Whether an alarm says the same in other words: if it is about columns, about the same ones."""
    others = COVERED.get(candidate.name, set()) & set(alarms)
    own = set(candidate.symptom.columns)
    return any(not own or own <= columns.get(name, own) for name in others)


def _as_seen(exam: Exam, candidate: Candidate) -> Candidate:
    """The candidate, or the sickness that shows what it does to the units."""
    other = SICKNESSES.get(SEEN_AS.get(candidate.name, ""))
    symptom = None if other is None else other.symptom(exam)
    if other is None or symptom is None:
        return candidate
    return Candidate(other, symptom, candidate.remedies)


def _combined(exam: Exam, tried: Sequence[Candidate], helped: list[Trial]) -> list[Trial]:
    """What helps, or several remedies at once if that helps clearly more, as for faults that hide each other."""
    gain = helped[0].gain if helped else 0.0
    wrong = [c for c in tried if c.cause <= OF_NET]
    if len(wrong) > 1:
        together = _together(exam, wrong)
        is_certain = all(trial.candidate.symptom.is_certain for trial in together)
        if len(together) > 1 and together[0].together > gain + (-NOTABLY if is_certain else NOTABLY):
            return together
    if not helped or gain < HALF * exam.potential:
        together = _together(exam, tried)
        if together and (not helped or together[0].together > gain + FAR):
            return together
    return helped


def _folded(exam: Exam, result: Judgement, names: set[str]) -> list[Finding]:
    """The findings of the trials; the first one explains what did no harm any more once its remedy was applied."""
    found = [finding_of(trial) for trial in result.trials]
    first = found[0].name
    result.findings = [
        replace(each, remedies=(Remedy(f"See the remedy of {first}, which was tried."),))
        if each.name == "nonfinite_loss"
        else each
        for each in result.findings
    ]
    said = {each.name for each in found}
    same = [each for place, each in enumerate(found) if place and _says_the_same(each, found[:place], said)]
    found = [each for each in found if each not in same]
    follow = same + [finding_of(trial) for name, trial in result.explained.items() if name not in names]
    follow += result.consequences
    follow += _accompanying(exam, names | set(result.explained), said)
    explains = tuple(finding.name for finding in follow)
    follow = [replace(finding, explained_by=first) for finding in follow]
    return [replace(found[0], explains=explains), *found[1:], *follow]


def _says_the_same(finding: Finding, earlier: Sequence[Finding], said: Collection[str]) -> bool:
    """Whether a finding is another word for one that came before it, or has the effect of any other."""
    words = set(SAME_WORDS) if finding.name in SAME_WORDS else set()
    return bool(words & {each.name for each in earlier} or SAME_EFFECT.get(finding.name, set()) & set(said))


def _accompanying(exam: Exam, names: set[str], said: Collection[str] = ()) -> list[Finding]:
    """What else is measured inside of a net whose training is harmed: not the cause, but part of the picture."""
    found = []
    names = names | {other for pair in OPPOSITES for other in pair if names & set(pair)}
    same = [name for name in SAME_WORDS if set(SAME_WORDS) & set(said)]
    for sickness in [SICKNESSES[name] for name in (*SEEN_INSIDE, *same) if name not in names and exam.is_complete]:
        symptom = sickness.symptom(exam)
        if symptom is not None:
            weaker = replace(symptom, confidence=UNSURE)
            found.append(finding_of_fact(Candidate(sickness, weaker, sickness.remedies(exam, symptom))))
    return found


def candidates_of(exam: Exam, known: set[str], *, consequences: bool = False) -> list[Candidate]:
    """Sicknesses with a symptom: causes, or mere consequences."""
    skipped = known | {WITHOUT_FAULT}
    return _candidates(
        exam,
        [
            sickness
            for sickness in all_sicknesses()
            if (sickness.cause >= CONSEQUENCE) == consequences
            and sickness.name not in skipped
            and (exam.is_complete or sickness.before_training or known)
        ],
    )


def _candidates(exam: Exam, sicknesses: Sequence[Sickness]) -> list[Candidate]:
    found = []
    for sickness in sicknesses:
        symptom = exam.known[sickness.name] if sickness.name in exam.known else sickness.symptom(exam)
        if symptom is not None:
            least = sickness.min_gain * symptom.min_gain_factor * exam.caution
            found.append(Candidate(sickness, symptom, sickness.remedies(exam, symptom), least))
    certain = {c.name for c in found if c.symptom.is_certain}
    found = [c for c in found if not certain & FOLLOWS.get(c.name, set())]
    same = [c for c in found if c.name in SAME_WORDS]
    weaker = min(same, key=lambda c: c.symptom.confidence) if len(same) > 1 else None
    return [c for c in found if c is not weaker]


def _helpful(exam: Exam, candidates: Sequence[Candidate]) -> list[Trial]:
    """The trials that help, the most likely cause first; the first one is confirmed with another seed."""
    best = {c.name: trial for c in candidates if (trial := try_remedies(exam, c)) is not None}
    rates: dict[str, Trial] = {}
    for c in candidates:
        if c.cause <= CERTAIN_CAUSE and c.name in best and not best[c.name].helps:
            trial, *rate = _with_rate(exam, c, candidates) or [_last_resort(exam, c, candidates) or best[c.name]]
            best[c.name] = trial
            if rate:
                rates[c.name] = rate[0]
    trials = ranked([trial for trial in best.values() if trial.helps])
    while trials and not is_confirmed(exam, trials[0]):
        first, trials = trials[0], trials[1:]
        other = try_later(exam, first)
        if other is not None and other.helps and is_confirmed(exam, other):
            return [other, *trials]
        if first.candidate.cause <= CERTAIN_CAUSE and first.candidate.name not in rates:
            both = _with_rate(exam, first.candidate, candidates)
            if both and is_confirmed(exam, both[0]):
                return _without_repeats([*both, *trials])
    if trials and trials[0].candidate.name in rates:
        return _without_repeats([trials[0], rates[trials[0].candidate.name], *trials[1:]])
    return trials


def _last_resort(exam: Exam, candidate: Candidate, candidates: Sequence[Candidate]) -> Trial | None:
    """The trial of a remedy that also changes the rate, if the rate is not a fault of its own."""
    has_rate = {c.name for c in candidates} & {"rate_too_low", "rate_too_high"}
    more = () if has_rate else candidate.sickness.last_resorts(exam, candidate.symptom)
    return try_remedies(exam, replace(candidate, remedies=more)) if more else None


def _with_rate(exam: Exam, candidate: Candidate, candidates: Sequence[Candidate]) -> list[Trial]:
    """The trial of a remedy that helps only with another rate; the rate is then a fault of its own, if it is one."""
    found = try_with_rates(exam, candidate)
    if found is None:
        return []
    both, remedy, factor = found
    name = "rate_too_low" if factor > 1 else "rate_too_high"
    rate = next((other for other in candidates if other.name == name), None)
    if rate is None:
        return [both]
    first = replace(both, remedy=_part_of(exam, both, candidate.remedies[0], both.gain, [name]))
    return [first, replace(both, candidate=rate, remedy=_part_of(exam, both, remedy, both.gain, [candidate.name]))]


def _without_repeats(trials: Sequence[Trial]) -> list[Trial]:
    """The first trial of each sickness."""
    return list({trial.candidate.name: trial for trial in reversed(trials)}.values())[::-1]


def _part_of(exam: Exam, whole: Trial, remedy: Remedy, gain: float, others: Sequence[str]) -> Remedy:
    """One of several remedies that were tried at once; ``others`` are the sicknesses of the others."""
    changed = exam.setup if remedy.change is None else remedy.change(exam.setup)
    python = python_change(exam.setup, changed)
    return replace(remedy, python=python, gain=gain, losses=whole.remedy.losses, tried_with=tuple(others))


def _together(exam: Exam, candidates: Sequence[Candidate]) -> list[Trial]:
    """Remedies that help only together, as for unscaled inputs and a rate that is too low."""
    chosen = [c for c in candidates if c.remedies and c.cause <= LENGTH and not _is_repeated(c, candidates)]
    ordered = sorted(chosen, key=lambda c: c.cause)
    for place in range(max((len(c.remedies) for c in ordered), default=0) if len(ordered) > 1 else 0):
        pairs = [(c, c.remedies[min(place, len(c.remedies) - 1)]) for c in ordered]
        whole = try_together(exam, pairs)
        if whole is None or not whole.helps:
            continue
        needed = []
        for pair in pairs:
            without = try_together(exam, [other for other in pairs if other is not pair])
            own = whole.gain - (0.0 if without is None else max(without.gain, 0.0))
            if own > pair[0].min_gain:
                others = [other[0].name for other in pairs if other is not pair]
                remedy = _part_of(exam, whole, pair[1], own, others)
                needed.append(replace(whole, candidate=pair[0], remedy=remedy, gain=own, together=whole.gain))
        if needed and is_confirmed(exam, whole):
            if len(needed) < len(pairs):  # only what is needed is kept
                parts = [(t.candidate, t.remedy) for t in needed]
                kept = try_together(exam, parts)
                if kept is not None and kept.helps:
                    needed = [_kept(t, needed, kept) for t in needed]
                elif whole.gain <= max(c.min_gain for c, _ in pairs):
                    continue  # the others are needed as well, and for them it is too little
            return ranked(needed)
    return []


def _kept(trial: Trial, needed: Sequence[Trial], kept: Trial) -> Trial:
    """A trial of several remedies without those that are not needed."""
    others = tuple(other.candidate.name for other in needed if other is not trial)
    remedy = replace(trial.remedy, losses=kept.remedy.losses, tried_with=others)
    return replace(trial, setup=kept.setup, remedy=remedy)


def _is_repeated(candidate: Candidate, candidates: Sequence[Candidate]) -> bool:
    """Whether another candidate has remedies with the same effect: a higher rate, or more steps."""
    names = {c.name for c in candidates}
    return bool(names & SAME_EFFECT.get(candidate.name, set()))


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
