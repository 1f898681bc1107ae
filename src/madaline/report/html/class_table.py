"""A table with precision, recall and F1 of each class or label."""

from __future__ import annotations

import numpy as np

from madaline.report.class_scores import class_scores
from madaline.report.findings import Findings
from madaline.report.html import tables

UNDEFINED = "-"


def class_table(findings: Findings) -> list[str]:
    """The table with its title and an explanation; nothing for numbers."""
    truth, prediction = findings.truth, findings.prediction
    if truth is None or prediction is None or not len(truth) or not len(findings.classes):
        return []
    rows = [
        (
            each.name,
            f"{each.precision:.1%}" if np.isfinite(each.precision) else UNDEFINED,
            f"{each.recall:.1%}" if np.isfinite(each.recall) else UNDEFINED,
            f"{each.f1:.3f}" if np.isfinite(each.f1) else UNDEFINED,
            f"{each.n_rows:,}",
        )
        for each in class_scores(truth, prediction, findings.classes)
    ]
    kind, several = ("label", "labels") if findings.task == "multilabel" else ("class", "classes")
    text = (
        f"Precision: fraction of the predictions of a {kind} that are right. Recall: fraction of its rows for which it "
        f"is predicted. F1: their harmonic mean. A dash means that no test row has the {kind}, "
        "or that it is never predicted."
    )
    names = [kind, "precision", "recall", "F1", "rows"]
    more = f"{len(rows) - tables.SHOWN_ROWS:,} more {several}"
    return [
        f"<h3>Scores of each {kind}</h3>",
        tables.table(names, rows, right=range(1, len(names)), more=more),
        tables.paragraph(text, "quiet"),
    ]
