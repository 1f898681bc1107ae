"""``madaline gallery``: examples from the lectures, with pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from madaline.cli.options import Force, Json, check_free
from madaline.cli.screen import Screen


def gallery(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of an example, to run it or copy it, or a script FILE.py to run.", show_default=False
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the pictures.")] = Path("gallery"),
    copy: Annotated[bool, typer.Option("--copy", help="Write the script instead of running it, to change it.")] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """List the examples that come with madaline, or run one and write its pictures.

    \b
    Examples:
      madaline gallery
      madaline gallery momentum_map
      madaline gallery momentum_map --copy
      madaline gallery gallery/momentum_map.py --force
    """
    from madaline import container
    from madaline.gallery.runner import GALLERY, read

    screen = Screen(as_json=as_json)
    if name is None:
        screen.table(["name", "what it shows"], [(example.name, example.title) for example in GALLERY])
        screen.say("\nRun one by its name: madaline gallery momentum_map")
        screen.result({example.name: {"title": example.title, "rows": example.rows} for example in GALLERY})
        return
    example = read(Path(name)) if name.endswith(".py") else GALLERY.find(name, argument="")
    out.mkdir(parents=True, exist_ok=True)
    if copy:
        target = out / example.path.name
        check_free(target, force=force)
        container.write_whole(target, example.path.read_bytes())
        written = [target]
        screen.say(f"Change it, then run it: madaline gallery {target}")
    else:
        check_free(out / f"{example.name}.png", force=force)
        screen.say(f"{example.title} ...")
        written = example.run(out)
    screen.say(f"Written: {', '.join(map(str, written))}")
    screen.result({"written": [str(path) for path in written]})
