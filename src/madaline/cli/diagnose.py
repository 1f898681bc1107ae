"""``madaline diagnose``: what was found about the training of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from madaline.cli import options as o

if TYPE_CHECKING:
    from madaline.cli.screen import Screen
    from madaline.doctor.diagnosis import Diagnosis

RunPath = Annotated[Path, typer.Argument(help="Run folder.", show_default=False)]


def diagnose(run: RunPath, as_json: o.Json = False) -> None:
    """Show what was found about the training of a run, with evidence and remedies.

    \b
    Examples:
      madaline diagnose run
      madaline diagnose run --json
    """
    from madaline.cli.screen import Screen
    from madaline.doctor.diagnose import of_run_folder

    screen = Screen(as_json=as_json)
    found = of_run_folder(run)
    for line in str(found).split("\n"):
        screen.say(line)
    screen.result(found.to_dict())


def show_diagnosis(screen: Screen, diagnosis: Diagnosis) -> None:
    """The alarms of a diagnosis in short, for the end of a training."""
    if diagnosis.is_healthy:
        screen.say("  The doctor found no problem.")
        return
    screen.title("The doctor found")
    for finding in diagnosis.alarms:
        screen.say(f"  {finding.title} ({finding.name}, confidence {finding.confidence:.0%})", style="yellow")
        for remedy in finding.remedies[:1]:
            screen.say(f"    {remedy.text}  [{remedy.options or 'in Python'}]")
