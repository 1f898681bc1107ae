"""Help pages: the command and group classes of typer, without types of flags."""

from __future__ import annotations

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
    """The parameters; flags, such as ``--help``, which typer adds, show no type."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters
