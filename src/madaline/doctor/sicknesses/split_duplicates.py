"""Rows of the validation set that are in the training set, too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.names import option_of
from madaline.doctor.near_rows import is_copied, near_copies, rounded_copies
from madaline.doctor.sample import Sample, row_keys
from madaline.doctor.sickness import Sickness, Symptom
from madaline.graph.tree import flatten

SHARE = 0.02
FEWEST = 3
FEWEST_OTHERS = 10
"With fewer validation rows that are new, there is nothing to compare with."
MANY = 0.25
"From this fraction on, shared rows are an error of the split, whether or not the net has memorized them."
MOST = 0.5
"From this fraction on, rows that are nearly copies are an error as well."
NEARLY = "fraction of validation rows that are nearly training rows"
COST = 0.03
"From this fraction of what can be learned on, the score counts as inflated."
STANDARD_ERRORS = 3.0
LARGE_PART = 0.1
"Where rows may repeat by chance, this fraction of the validation set must be shared beyond chance."


class SplitDuplicates(Sickness):
    """Rows of the validation set that are in the training set, too.

    Equal rows are common in tables of rounded numbers. They are an error only if they inflate the score: if the net
    is ahead of a linear model, which cannot memorize single rows, by clearly more on rows that it was trained on
    than on new ones, or if there are very many of them. Otherwise they are reported as information.
    """

    name = "split_duplicates"
    number = 10
    title = "The training and the validation set share rows."
    severity = "error"
    proof = "fact"
    cause = 0
    why = (
        "A validation row that was trained on can be memorized, so its loss does not estimate that of new "
        "rows. Early stopping and all comparisons can then be too optimistic."
    )

    def symptom(self, exam: Exam) -> Symptom | None:
        held = exam.problem.validation
        if held is None or not exam.columns.shape[1]:
            return None
        shared = exam.problem.repeated
        if shared is None:
            return None
        share = float(shared.mean())
        if share < SHARE or shared.sum() < FEWEST or share < _by_chance(exam, held):
            if any(leaf.dtype.kind != "f" for leaf in flatten(held.X)[0]):
                return None
            rounded = _but_for_rounding(exam, held)
            if rounded is None:
                return self._near(exam, held)
            shared, share = rounded, float(rounded.mean())
        found = Symptom(
            {"fraction of validation rows in the training set": min(share, 1.0)},
            f"validation rows {', '.join(map(str, np.flatnonzero(shared)[:5]))} ...",
            0.95,
            harm=0.9,
            rows=shared,
        )
        if np.sum(~shared) < FEWEST_OTHERS:
            return found  # no rows are left that show how good the net is
        cost, is_clear = _inflation(exam, held, shared)
        evidence = {**found.evidence, "part of the score that is due to them": cost}
        if is_clear or share >= MANY:
            return replace(found, evidence=evidence, harm=max(cost, COST))
        return replace(found, evidence=evidence, harm=0.0, severity="info")

    def _near(self, exam: Exam, held: Sample) -> Symptom | None:
        """Rows that are nearly copies, if they inflate the score or if hardly any other rows are left."""
        targets = np.asarray(exam.problem.train.y), np.asarray(held.y)
        near = near_copies(exam.columns, held.matrix, *targets)
        if near is None:
            return None
        share = float(near.mean())
        evidence = {NEARLY: share}
        if np.sum(~near) >= FEWEST_OTHERS:
            cost, is_clear = _inflation(exam, held, near)
            evidence["part of the score that is due to them"] = cost
            if not is_clear and share < MOST:
                return None
        where = f"validation rows {', '.join(map(str, np.flatnonzero(near)[:5]))} ..."
        return Symptom(evidence, where, 0.8, harm=share, rows=near)

    def remedies(self, exam: Exam, symptom: Symptom) -> list[Remedy]:
        if NEARLY in symptom.evidence:
            text = (
                "Put all versions and measurements of the same thing into the same set: split by group, and augment "
                "only the training rows, after the split."
            )
            return [Remedy(text, options="--group COLUMN")]
        text = "Drop repeated rows before the split (pandas: drop_duplicates(); polars: unique())."
        # Rows with different ids are not equal: the ids must be left out, too.
        ids = option_of("--ignore", exam.problem.names.ids)
        return [Remedy(text, options=f"--drop-duplicates {ids}".strip())]


def _by_chance(exam: Exam, held: Sample) -> float:
    """An upper bound of the fraction of validation rows that are training rows by chance.

    Tables with few possible rows repeat them. A validation row is then in the training set as often as a training row
    is there a second time. Copies that were made on purpose, as by oversampling, are told apart by how regular they
    are.
    """
    train = exam.columns
    distinct = [len(np.unique(train[:, j])) for j in range(train.shape[1])]
    if exam.classes is None:
        distinct.append(len(np.unique(np.asarray(exam.problem.train.y).reshape(len(train), -1)[:, 0])))
    if sum(np.log(distinct)) >= np.log(100.0 * len(train)) and max(distinct) >= 0.2 * len(train):
        return 0.0
    if not exam.problem.is_whole:
        return 1.0
    if is_copied(np.concatenate([row_keys(exam.problem.train), row_keys(held)])):
        return 0.0
    _, place, count = np.unique(row_keys(exam.problem.train), return_inverse=True, return_counts=True)
    return _beyond(float(np.mean(count[place] > 1)), len(held))


def _beyond(twice: float, n_held: int) -> float:
    """The fraction of validation rows that is beyond chance if this fraction of training rows occurs twice."""
    return twice + LARGE_PART + STANDARD_ERRORS * float(np.sqrt(twice * (1 - twice) / n_held))


def _but_for_rounding(exam: Exam, held: Sample) -> np.ndarray | None:
    """Whether each validation row is a training row but for rounding; None if no more are than by chance."""
    found = rounded_copies(exam.columns, held.matrix, np.asarray(exam.problem.train.y), np.asarray(held.y))
    if found is None or not exam.problem.is_whole:
        return None
    shared, twice = found
    return shared if shared.mean() > _beyond(float(twice.mean()), len(shared)) else None


def _inflation(exam: Exam, held: Sample, shared: np.ndarray) -> tuple[float, bool]:
    """How much of what the net learned its loss on shared rows pretends, and whether that is beyond chance.

    A net that is behind the linear model on the shared rows as well has not memorized them. Losses are bounded,
    because a few extreme rows, which are seldom copies, would make the difference otherwise.
    """
    if exam.model is None or held is not exam.problem.held:
        return 0.0, False
    reference = exam.linear if exam.linear is not None else exam.constant
    top = exam.constant_loss + 2 * abs(exam.constant_loss)
    lead = np.minimum(reference, top) - np.minimum(exam.losses_of(exam.model, held), top)
    gap = float(lead[shared].mean() - lead[~shared].mean())
    error = float(np.sqrt(lead[shared].var() / shared.sum() + lead[~shared].var() / np.sum(~shared)))
    cost = float(shared.mean()) * gap / exam.learnable
    is_known = lead[shared].mean() > 0
    return max(cost, 0.0), bool(is_known and cost > COST and gap > STANDARD_ERRORS * error)
