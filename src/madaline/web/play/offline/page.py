"""One HTML file with the playground: page, native core, programs and data."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from madaline.errors import ConfigError
from madaline.web.play.about import about
from madaline.web.play.offline import catalogue as of
from madaline.web.play.offline.pack import Pack, data_sets
from madaline.web.play.settings import Settings

IMPORT = re.compile(r'(from |import\()"\./([a-z_]+\.js)"')
"Imports of modules beside a module; in the page they get a prefix that its import map knows."


def write_page(to: Path, nets: Iterable[Settings] | None = None) -> dict[str, int]:
    """Write the page; gives the number of training programs and the sizes of the parts in bytes.

    Parameters
    ----------
    to : Path
        The file.
    nets : iterable of Settings, optional
        Whose programs to plan; by default those of the catalogue.
    """
    core = files("madaline.web.play").joinpath("page", "core.wasm")
    if not core.is_file():
        raise ConfigError("page/core.wasm is missing. Build it with make wasm.")
    pack = Pack()
    for settings in of.catalogue() if nets is None else nets:
        pack.add(settings)
    index, programs = pack.parts()
    sets, numbers = data_sets()
    parts = {
        "about": _json(_about(pack)),
        "index": _json(index | {"data": sets}),
        "programs": programs,
        "data": numbers,
        "core": core.read_bytes(),
    }
    packed = {name: base64.b64encode(gzip.compress(part, 9, mtime=0)).decode() for name, part in parts.items()}
    page = _html(packed).encode()
    to.write_bytes(page)
    return {"training programs": len(pack), **{name: len(part) for name, part in packed.items()}, "page": len(page)}


def _about(pack: Pack) -> dict[str, Any]:
    """What can be set, without the choices that the page does not have."""
    limits = {
        "n": of.POINTS,
        "draw": of.DRAWS,
        "dropout": of.DROPOUTS,
        "momentum": of.MOMENTA,
        "strength": of.STRENGTHS,
    }
    found = about()
    fields = []
    for field in found["fields"]:
        name = field["name"]
        if name in of.LEFT_OUT:
            continue
        if name in limits:
            choices = [{"value": f"{value:g}", "title": field["help"]} for value in limits[name]]
            field |= {"kind": "choice", "choices": choices, "default": f"{field['default']:g}", "numeric": True}
        elif name == "data":
            field["choices"] = [choice for choice in field["choices"] if choice["kind"] != "table"]
        elif name == "schedule":
            field["choices"] = [choice for choice in field["choices"] if choice["value"] in of.SCHEDULES]
        elif field["kind"] == "choice":
            links = {choice["value"]: Settings(**{name: choice["value"]}).link() for choice in field["choices"]}
            field["choices"] = [choice for choice in field["choices"] if links[choice["value"]] not in pack.refused]
        fields.append(field)
    return found | {"fields": fields}


def _html(packed: dict[str, str]) -> str:
    folder = files("madaline.web.play").joinpath("page")
    read = {
        each.name: each.read_text("utf-8")
        for each in folder.iterdir()
        if each.name.endswith((".js", ".css", ".html", ".svg"))
    }
    modules = {
        f"play/{name}": _url("text/javascript", IMPORT.sub(r'\1"play/\2"', text))
        for name, text in read.items()
        if name.endswith(".js")
    }
    data = "".join(f'<script type="text/plain" id="offline-{name}">{text}</script>\n' for name, text in packed.items())
    head = (
        f"<style>\n{read['style.css']}</style>\n"
        f'<script type="importmap">{json.dumps({"imports": modules})}</script>\n'
        '<script type="module">import "play/main.js";</script>\n'
    )
    page = read["index.html"].replace("/page/icon.svg", _url("image/svg+xml", read["icon.svg"]))
    page = re.sub(r'<link rel="stylesheet".*\n<script type="module".*\n', lambda _: head, page)
    return page.replace("</body>", f"{data}</body>")


def _url(kind: str, text: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"


def _json(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
