"""The report of a training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from madaline.cli.run_folder import MODEL, RunFolder
from madaline.data.reading.assumption import counted
from madaline.data.target import ClassTarget, LabelTarget, NumberTarget
from madaline.estimators.tabular.baselines import Rows
from madaline.estimators.tabular.explain import explain
from madaline.estimators.tabular.intervals import covered, spread_of
from madaline.estimators.tabular.scores import Score
from madaline.estimators.tabular.training import Prepared, outputs
from madaline.report.features import input_names, table_features
from madaline.report.findings import INTERVAL, Findings
from madaline.report.html.write import write_report
from madaline.train.history import History

REPORT = "report.html"


def write(
    folder: RunFolder,
    prepared: Prepared,
    trainer: Any,
    history: History,
    scores: Sequence[Score],
    others: Mapping[str, Sequence[Score]],
    *,
    tested: Any,
    about: Mapping[str, Any],
    config: str,
) -> None:
    """Write the report of a run into its folder.

    Parameters
    ----------
    folder : RunFolder
    prepared, trainer, history
        What was trained, on what.
    scores : sequence of Score
        Of the net, on the test rows.
    others : mapping of str to sequences of Score
        The same of simpler models.
    tested : polars data frame
        The test rows as they were read.
    about : mapping
        What the model file says of the run.
    config : str
        The settings.
    """
    target, seed = prepared.target, about["seed"]
    test = prepared.in_units(prepared.test)
    rows, ended = about["rows"], about["ended"]
    effects = explain(
        target.task,
        lambda X: outputs(prepared, trainer, Rows(dict(X), test.y)),
        test.X,
        test.y,
        table_features(prepared.table, tested.drop(prepared.targets)),
        n_params=trainer.model.network.n_params,
        seed=seed,
    )
    prediction = outputs(prepared, trainer, prepared.test)
    has_intervals = isinstance(target, NumberTarget) and len(test.y) > 1
    classes = target.classes if isinstance(target, ClassTarget) else ()
    file = quote(str(folder.path / MODEL))
    how = "at the last" if ended["by"] == "finished" else f"by {ended['by']}"
    findings = Findings(
        title=Path(about["source"]).name if about["source"] != "-" else "standard input",
        task=target.task,
        facts={
            "Trained on": counted(rows["train"], "row"),
            "Validated on": counted(rows["validation"], "row"),
            "Tested on": f"{counted(rows['test'], 'row')}, split {about['split']}",
            "Ended": f"{how}, epoch {ended['epoch']}",
            "Net": counted(trainer.model.network.n_params, "parameter"),
            "Time": f"{about['seconds']:.1f} s",
        },
        scores={"this net": scores, **others},
        targets=prepared.targets,
        classes=target.labels if isinstance(target, LabelTarget) else classes,
        truth=test.y,
        prediction=prediction,
        covered=covered(test.y, prediction, INTERVAL, spread=spread_of(target), seed=seed) if has_intervals else None,
        history=history,
        model=trainer.model,
        inputs=input_names(prepared.table),
        effects=effects,
        columns=[(role.column, role.use, role.reason) for role in prepared.table.roles()],
        assumptions=[f"{each['text']}  [{each['option']}]" for each in about["assumptions"]],
        warnings=prepared.warnings,
        advice=[(each["text"], each["options"].replace("RUN", folder.typed)) for each in about["advice"]],
        usage=[
            f"madaline predict {file} new.csv -o scored.csv",
            f"madaline evaluate {file} test.csv",
            f"madaline export {file} --to onnx",
        ],
        config=config,
        made=f"{about['trained']}; " + ", ".join(f"{name} {version}" for name, version in about["versions"].items()),
    )
    write_report(folder.work / REPORT, findings)
