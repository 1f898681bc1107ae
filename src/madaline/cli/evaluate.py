"""``madaline evaluate``: how good a model is on rows whose answers are known."""

from __future__ import annotations

from typing import Any

from madaline.cli import options as o
from madaline.cli.predict import Data, Model, load

MAX_CLASSES = 15
"Of more classes no table of confusions is shown."
OWN_ROWS = (
    "the model was trained on this table, and on rows that it has learned scores are too good. `madaline inspect` "
    "shows those of the rows that were kept for the test."
)


def evaluate(
    model: Model,
    data: Data,
    as_json: o.Json = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    header: o.Header = None,
    skip: o.Skip = None,
    missing: o.Missing = None,
    dates: o.Dates = None,
    ragged: o.Ragged = "auto",
    unnamed: o.Unnamed = "auto",
    max_unpacked: o.MaxUnpacked = None,
) -> None:
    """Score a model on a table that has the target, too.

    \b
    Examples:
      madaline evaluate run/model.madaline test.csv
      madaline evaluate run test.csv --json
    """
    import numpy as np

    from madaline.cli.results import show_meanings
    from madaline.cli.screen import Screen
    from madaline.cli.source import find_column, no_values, source_name
    from madaline.data.reading.assumption import counted
    from madaline.data.reading.table_file import open_table
    from madaline.data.target import NumberTarget
    from madaline.estimators.tabular.scores import score

    learned = load(model)
    reading = o.read_options(
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        header=header,
        skip=skip,
        missing=missing,
        dates=dates,
        ragged=ragged,
        unnamed=unnamed,
        max_unpacked=max_unpacked,
    )
    screen = Screen(as_json=as_json)
    truths, predictions = [], []
    with open_table(data, reading, format=learned.reading) as table:
        for name in learned.targets:
            find_column(name, table.names, "the target")
        said = table.assumptions
        for batch in table.batches():
            part = batch.drop_nulls(list(learned.targets))
            if not len(part):
                continue
            y = part[learned.targets[0]] if len(learned.targets) == 1 else part.select(learned.targets)
            is_number = isinstance(learned.target, NumberTarget)
            encoded = learned.target.encode(y)
            found = learned.outputs(part)
            truths.append(learned.target.decode(encoded).reshape(len(part), -1) if is_number else encoded)
            predictions.append(learned.answers(found).reshape(len(part), -1) if is_number else found)
        if not truths:
            raise no_values(learned.targets)
    truth, prediction = np.concatenate(truths), np.concatenate(predictions)
    scores = score(learned.target.task, truth, prediction)
    for assumption in said:
        screen.say(f"  {assumption.text}  [{assumption.flag}]")
    screen.title(f"On {counted(len(truth), 'row')} (in brackets: where 95% of resamples are)")
    screen.table(["score", "value"], [(each.name, str(each)) for each in scores], right=(1,))
    show_meanings(screen, scores)
    warnings = [OWN_ROWS] if learned.about.get("source") == source_name(data) != "-" else []
    for text in warnings:
        screen.say(f"\n  Warning: {text}", style="yellow")
    confusion = None
    if learned.target.task in ("binary", "multiclass"):
        confusion = _confusion(truth, prediction, learned.classes)
        if len(learned.classes) <= MAX_CLASSES:
            screen.title("How often a class (rows) was taken for another (columns)")
            rows = [(str(name), *map(str, counts)) for name, counts in zip(learned.classes, confusion, strict=True)]
            names = list(map(str, learned.classes))
            screen.table(["", *names], rows, right=range(1, len(names) + 1))
    screen.result(
        {
            "rows": len(truth),
            "task": learned.target.task,
            "scores": {each.name: vars(each) for each in scores},
            "classes": learned.classes,
            "confusion": confusion,
            "assumptions": o.said(said),
            "warnings": warnings,
        }
    )


def _confusion(truth: Any, probabilities: Any, classes: Any) -> Any:
    import numpy as np

    counts = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(counts, (truth, np.argmax(probabilities, axis=1)), 1)
    return counts
