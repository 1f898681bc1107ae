"""The report of a training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from madaline.cli.run_folder import MODEL, RunFolder
from madaline.data.reading.assumption import counted
from madaline.doctor.diagnosis import Diagnosis
from madaline.estimators.base import NetEstimator
from madaline.estimators.report import findings_of
from madaline.estimators.tabular.predictions import called
from madaline.report.findings import Score
from madaline.report.html.write import write_report

REPORT = "report.html"


def write(
    folder: RunFolder,
    estimator: NetEstimator,
    parts: Mapping[str, tuple[Any, Any]],
    scores: Sequence[Score],
    baselines: Mapping[str, Sequence[Score]],
    row_numbers: np.ndarray,
    *,
    about: Mapping[str, Any],
    config: str,
) -> None:
    """Write the report of a run into its folder.

    Parameters
    ----------
    folder : RunFolder
    estimator : NetEstimator
        Fitted.
    parts : mapping
        Features and targets of the training, validation and test sets.
    scores : sequence of Score
        Scores of the net on the test set.
    baselines : mapping of str to sequences of Score
        The same scores of simpler models.
    row_numbers : array of int
        Numbers of the test rows in the table, from 1.
    about : mapping
        What the model file says about the run.
    config : str
        The settings.
    """
    rows, ended = about["rows"], about["ended"]
    file = quote(str(folder.path / MODEL))
    how = "all epochs" if ended["by"] == "finished" else ended["by"]
    members = getattr(estimator, "members_", None)
    if members is None:
        validation = {"Validation set": counted(rows["validation"], "row")}
        model = {"Ended": f"{how}, epoch {ended['epoch']}"}
    else:
        validation, model = {}, {"Members": f"{len(members):,}"}
    title = Path(about["source"]).name if about["source"] != "-" else "standard input"
    findings = replace(
        findings_of(
            estimator,
            *parts["test"],
            training=parts["train"],
            row_numbers=row_numbers,
            title=title,
            seed=about["seed"],
        ),
        facts={
            "Training set": counted(rows["train"], "row"),
            **validation,
            "Test set": f"{counted(rows['test'], 'row')}, split {about['split']}",
            **model,
            "Ensemble" if members else "Net": counted(estimator.model_.network.n_params, "parameter"),
            "Time": f"{about['seconds']:.1f} s",
        },
        scores={called(estimator): scores, **baselines},
        targets=about["target"],
        assumptions=[f"{each['text']}  [{each['option']}]" for each in about["assumptions"]],
        warnings=about["warnings"],
        diagnosis=Diagnosis.from_dict(about["diagnosis"]) if "diagnosis" in about else None,
        advice=[(each["text"], each["options"].replace("RUN", folder.typed)) for each in about["advice"]],
        usage=[
            f"madaline predict {file} new.csv -o scored.csv",
            f"madaline evaluate {file} test.csv",
            f"madaline explain {file} new.csv --row 1",
            f"madaline export {file} --to python",
            f'estimator = md.load("{folder.path / MODEL}")',
        ],
        config=config,
        made=f"{about['trained']}; " + ", ".join(f"{name} {version}" for name, version in about["versions"].items()),
    )
    write_report(folder.work / REPORT, findings)
