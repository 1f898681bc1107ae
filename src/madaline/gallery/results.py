"""Results of long measurements, kept as data beside the scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import madaline as md

FOLDER = Path(__file__).parent / "results"


def kept(name: str, measure: Callable[[], Any]) -> Any:
    """The numbers of a long measurement: those that were kept, or new ones.

    ``python NAME.py --full`` measures again and writes ``NAME.json``: for a script of the package in the folder
    ``results`` of the gallery, for a copy beside the copy. A file beside a copy is preferred when reading.

    Parameters
    ----------
    name : str
        Name of the script.
    measure : callable
        The measurement. What it returns is written as JSON.
    """
    script = Path(sys.argv[0]).resolve()
    beside = script.with_name(f"{name}.json")
    is_copy = script.stem == name and script.parent != FOLDER.parent / "examples"
    if script.stem == name and "--full" in sys.argv[1:]:
        numbers = measure()
        target = beside if is_copy else FOLDER / f"{name}.json"
        content = {"command": f"python {name}.py --full", "version": md.__version__, "numbers": numbers}
        text = json.dumps(content, default=float).replace("]], ", "]],\n ").replace("}, ", "},\n ")
        target.write_text(f"{text}\n", encoding="utf-8")
        print(f"Written: {target}")
    path = beside if is_copy and beside.exists() else FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["numbers"]
