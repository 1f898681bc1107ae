"""Help pages: the command and group classes of typer, without types of flags and lists."""

from __future__ import annotations

import functools
from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command whose help names a flag without ``<bool>``: it takes no value."""

    def get_params(self, ctx: Any) -> Any:
        return without_types(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands with the same help pages."""

    def get_params(self, ctx: Any) -> Any:
        return without_types(super().get_params(ctx))


def without_types(parameters: Any) -> Any:
    """The parameters; flags, such as ``--help``, which typer adds, show no type, and lists that of one element."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.nargs == -1:
            parameter.display_type_rich = functools.partial(_type_of_one, parameter)
    return parameters


def _type_of_one(parameter: Any, ctx: Any) -> str:
    """``<path>`` for ``<list[Path]>``."""
    return str(parameter.display_type(ctx)).replace("list[", "").replace("]", "").lower()
