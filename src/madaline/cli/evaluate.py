"""``madaline evaluate``: scores of a model on a table that has the target."""

from __future__ import annotations

from typing import Any

from madaline.cli import options as o
from madaline.cli.model import DataPath, ModelPath, load
from madaline.cli.reading_options import with_reading_options
from madaline.data.reading.options import ReadOptions
from madaline.errors import TargetError

MAX_CLASSES = 15
"Maximum number of classes for which the confusion matrix is shown."
OWN_ROWS = (
    "the model was trained on this table, so these scores are too good. `madaline inspect` shows the scores on its "
    "test set."
)


@with_reading_options
def evaluate(
    model: ModelPath,
    data: DataPath,
    as_json: o.Json = False,
    *,
    reading: ReadOptions,
) -> None:
    """Score a model on a table that has the target.

    \b
    Examples:
      madaline evaluate run/model.madaline test.csv
      madaline evaluate run test.csv --json
    """
    import numpy as np

    from madaline.cli.results import show_meanings
    from madaline.cli.screen import Screen
    from madaline.cli.source import find_column, source_name
    from madaline.data.reading.assumption import counted, named
    from madaline.data.reading.table_file import open_table
    from madaline.estimators.tabular.predictions import has_probabilities, scored_prediction, scored_truth
    from madaline.estimators.tabular.scores import score

    saved = load(model)
    screen = Screen(as_json=as_json)
    truths, predictions = [], []
    with open_table(data, reading, earlier_format=saved.reading) as table:
        for name in saved.targets:
            find_column(name, table.names, "")
        assumptions = table.assumptions
        for batch in table.batches():
            part = batch.drop_nulls(list(saved.targets))
            if not len(part):
                continue
            truths.append(scored_truth(saved.estimator, saved.truth(part)))
            predictions.append(scored_prediction(saved.estimator, saved.rows(part)))
        if not truths:
            raise TargetError(f"{named(list(saved.targets))} has no values: there is nothing to compare with.")
    truth, prediction = np.concatenate(truths), np.concatenate(predictions)
    scores = score(saved.task, truth, prediction, has_probabilities=has_probabilities(saved.estimator))
    for assumption in assumptions:
        screen.say(f"  {assumption.text}  [{assumption.flag}]")
    screen.title(f"Scores on {counted(len(truth), 'row')} (in brackets: 95% bootstrap interval)")
    screen.table(["score", "value"], [(each.name, str(each)) for each in scores], right=(1,))
    show_meanings(screen, scores, saved.classes)
    warnings = [OWN_ROWS] if saved.about.get("source") == source_name(data) != "-" else []
    for text in warnings:
        screen.say(f"\n  Warning: {text}", style="yellow")
    confusion = None
    if saved.task in ("binary", "multiclass"):
        confusion = _confusion(truth, prediction, saved.classes)
        if len(saved.classes) <= MAX_CLASSES:
            screen.title("Confusion matrix (rows: true class, columns: predicted class)")
            rows = [(str(name), *map(str, counts)) for name, counts in zip(saved.classes, confusion, strict=True)]
            names = list(map(str, saved.classes))
            screen.table(["", *names], rows, right=range(1, len(names) + 1))
    screen.result(
        {
            "rows": len(truth),
            "task": saved.task,
            "scores": {each.name: vars(each) for each in scores},
            "classes": saved.classes,
            "confusion": confusion,
            "assumptions": o.assumed(assumptions),
            "warnings": warnings,
        }
    )


def _confusion(truth: Any, probabilities: Any, classes: Any) -> Any:
    import numpy as np

    counts = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(counts, (truth, np.argmax(probabilities, axis=1)), 1)
    return counts
