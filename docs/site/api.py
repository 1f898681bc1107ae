"""The API reference: one page for every public name, from the public lists of the packages."""

from __future__ import annotations

import importlib
import inspect
import os
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import madaline as md
from contents import ROOT
from madaline.public import INDEXED


def public() -> dict[str, Any]:
    """Every public name after ``md.`` and what it is; of several names of one thing, the first is its page."""
    names = {name: getattr(md, name) for name in md.__all__}
    for short in INDEXED:
        module = importlib.import_module(f"madaline.{short}")
        names |= {f"{short}.{name}": getattr(module, name) for name in module.__all__}
    return {name: thing for name, thing in names.items() if name not in INDEXED}


def names() -> dict[str, str]:
    """The page of the site by public name; modules lead to their section of the index."""
    first: dict[int, str] = {}
    found = {}
    for name, thing in public().items():
        found[name] = f"api/{first.setdefault(id(thing), name)}.rst"
    return found | {short: f"api/index.md#md{short.replace('.', '')}" for short in INDEXED}


def documents() -> Iterator[tuple[str, str, Path | None]]:
    """Name, text in reStructuredText and source file of each page."""
    seen = set()
    for name, thing in public().items():
        if id(thing) not in seen:
            seen.add(id(thing))
            source = source_file(thing)
            yield name, document(name, thing, source), source


def document(name: str, thing: Any, source: Path | None) -> str:
    """The page of a public name."""
    title = f"md.{name}"
    lines = [title, "=" * len(title), ""]
    if isinstance(thing, types.ModuleType):
        listed = getattr(thing, "__all__", [each for each in dir(thing) if not each.startswith("_")])
        lines += [f".. automodule:: {thing.__name__}", f"   :members: {', '.join(listed)}"]
    elif inspect.isclass(thing):
        lines += [f".. autoclass:: madaline.{name}"]
        methods = members(thing)
        if methods:
            lines += [f"   :members: {', '.join(methods)}", "   :member-order: bysource"]
    elif inspect.isroutine(thing):
        lines += [f".. autofunction:: madaline.{name}"]
    else:
        lines += [f".. py:data:: madaline.{name}", ""]
        lines += [f"   {line}" for line in (inspect.getdoc(thing) or "").splitlines()] if own_text(thing) else []
    if source:
        path = source.relative_to(ROOT).as_posix()
        lines += ["", f"Source: :doc:`{path} </source/{path}>`"]
    return "\n".join(lines) + "\n"


def own_text(thing: Any) -> bool:
    """Whether an object has a description besides that of its type, or a type whose description is about it."""
    return type(thing).__module__.startswith("madaline.")


def members(kind: type) -> list[str]:
    """Public methods and properties that madaline defines and describes."""
    found = []
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        value = getattr(value, "fget", getattr(value, "__func__", value))
        home = getattr(value, "__module__", None) or ""
        if not name.startswith("_") and inspect.isfunction(value) and home.startswith("madaline.") and value.__doc__:
            found.append(name)
    return found


def source_file(thing: Any) -> Path | None:
    """The file that defines something, if it is Python code of the package."""
    try:
        path = Path(inspect.getsourcefile(inspect.unwrap(thing)) or "").resolve()
    except TypeError:
        return None
    return path if path.is_relative_to(ROOT / "src") and os.access(path, os.R_OK) else None
