"""``madaline export``: a model as a file that runs without madaline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from madaline.cli import options as o
from madaline.cli.model import ModelPath, load_any

SUFFIXES = {"onnx": ".onnx", "c": ".c", "torch": ".py", "python": ".py", "python-only": ".py", "html": ".html"}


def export(
    model: ModelPath,
    to: Annotated[str, typer.Option("--to", help="Format: python, python-only, c, onnx, torch or html.")] = "python",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file.", show_default="beside the model")
    ] = None,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Write a model as a file that runs without madaline.

    \b
    Examples:
      madaline export run/model.madaline --to python
      madaline export run --to c -o model.c
      madaline export run --to html -o form.html
    """
    from madaline.cli.run_folder import MODEL
    from madaline.cli.screen import Screen
    from madaline.ship.export import TARGETS
    from madaline.ship.export import export as write

    TARGETS.find(to, argument="--to")
    found = load_any(model)
    beside = (model / MODEL if model.is_dir() else model).with_suffix(SUFFIXES.get(to, ".txt"))
    path = beside if out is None else out
    o.check_free(path, force=force)
    files = write(found, path, to, overwrite=force)
    screen = Screen(as_json=as_json)
    screen.say(f"Written: {', '.join(map(str, files))}")
    screen.result({"to": to, "files": [str(file) for file in files]})
