"""The pages of the catalogue, made from the registries: ``python docs/catalogue.py`` writes them, a test compares."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md
from docstrings import cell, explain, markdown
from introductions import ACTIVATIONS, API, INITIALIZERS, LAYERS, LOSSES, OPTIMIZERS, REGULARIZERS, SCHEDULES
from madaline.nn.activation_function import ActivationFunction
from madaline.nn.layer import Layer
from madaline.nn.layers.norm import NORMS
from madaline.optim import averaging, clipping, constraints, lbfgs, optimizer
from madaline.public import INDEXED
from madaline.registry import Registry

HERE = Path(__file__).parent
no_default = object()
MODULES = frozenset(short.partition(".")[0] for short in INDEXED)


def table(header: str, rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; the cells of the header are separated by bars."""
    lines = [header.split(" | "), ["---"] * len(header.split(" | ")), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def public(kind: type) -> str:
    """The shortest public name of a class, such as ``md.nn.Linear``."""
    name = kind.__name__
    modules = ["madaline", *(f"madaline.{short}" for short in INDEXED)]
    found = [module for module in modules if vars(importlib.import_module(module)).get(name) is kind]
    if name in md.__all__ and getattr(md, name) is kind:
        return f"md.{name}"
    return f"{found[0].replace('madaline', 'md', 1)}.{name}"


def defaults(kind: type) -> str:
    """Parameters with their defaults, without those that all optimizers or layers have (unless the default differs)."""
    base = next((base for base in (optimizer.Optimizer, Layer) if issubclass(kind, base)), None)
    common = {field.name: field.default for field in fields(base) if field.name != "learning_rate"} if base else {}
    own = [field for field in fields(kind) if common.get(field.name, no_default) != field.default]
    called = getattr(kind, "arguments", {})
    return ", ".join(f"{called.get(field.name, field.name)} = {shown(field.default)}" for field in own)


def shown(value: Any) -> str:
    """A default value as source code."""
    if value is MISSING:
        return "required"
    if isinstance(value, float):
        return f"{value:g}"
    return repr(value) if isinstance(value, tuple) else repr(value).removesuffix("()")


def section(kind: type) -> str:
    """A section with the contents of the docstring."""
    said = explain(kind)
    parameters = [f"- `{name}`: {text}" for name, text in said.parameters]
    parts = [f"### {kind.__name__}", said.summary, *said.body, "\n".join(parameters), *said.notes]
    return "\n\n".join(part for part in parts if part) + "\n\n"


def kinds(registry: Iterable[type], *, formulas: bool = True) -> str:
    """A table of classes and a section for each; without ``formulas``, formulas are only in the sections."""
    found = [kind for kind in registry if kind.__module__.startswith("madaline.")]
    rows = []
    for kind in found:
        formula = [cell(f"${explain(kind).formula}$")] if formulas else []
        rows.append([f"[`{kind.name}`](#{kind.__name__.lower()})", f"`{public(kind)}`", *formula, defaults(kind)])
    header = "name | class | formula | parameters" if formulas else "name | class | parameters"
    return table(header, rows) + "\n" + "".join(map(section, found))


def names(registry: Registry[Any], name: str) -> str:
    """A name and its aliases."""
    return ", ".join(f"`{each}`" for each in (name, *registry.aliases(name)))


def shipped() -> list[ActivationFunction]:
    """The activations of madaline, without custom ones."""
    return [thing for name, thing in md.nn.ACTIVATIONS.items() if getattr(md.nn.activations, name, None) is thing]


def activations() -> str:
    """The page of activations: formulas, ranges, gains and sources."""
    rows = []
    for thing in shipped():
        low, high = thing.saturation or (-math.inf, math.inf)
        rows.append(
            [
                names(md.nn.ACTIVATIONS, thing.name),
                *formula_and_text(thing),
                ", ".join(f"{name} = {value}" for name, value in thing.parameters),
                f"{low:.3g} to {high:.3g}".replace("inf", "∞") if low < high else "none",
                output_range(thing),
                f"{thing.gain:.3f}" if thing.elementwise else "",
                backward_gain(thing),
                f"`{thing.init}`",
            ]
        )
    functions = [md.nn.activations.prelu, md.nn.activations.shifted_rectifier, md.nn.activations.maxout]
    learned = [[f"`{function.__name__}`", *formula_and_text(function)] for function in functions]
    header = "name | formula | description and source | parameters"
    header += " | live range | output range | gain | backward gain | recommended initializer"
    return ACTIVATIONS.format(
        table=table(header, rows), learned=table("function | formula | description and source", learned)
    )


def output_range(thing: ActivationFunction) -> str:
    """The smallest and the largest output; values beyond 1e5 count as infinite."""
    sizes = np.concatenate([np.linspace(0.0, 20.0, 200_001), np.geomspace(20.0, 1e6, 1000)])
    x = np.concatenate([-sizes, sizes])
    y = thing(x) if thing.elementwise else thing(np.column_stack([x, 0.0 * x]))
    ends = [end if abs(end) < 1e5 else math.copysign(math.inf, end) for end in (y.min(), y.max())]
    return " to ".join(f"{round(end, 3) + 0.0:.3g}".replace("inf", "∞") for end in ends)


def backward_gain(thing: ActivationFunction) -> str:
    """The gain that keeps the variance of gradients, if the slope is not 0 everywhere."""
    if not thing.elementwise:
        return ""
    step = 1e-3
    z = np.arange(-12.0 + step / 2, 12.0, step)
    slope = md.jvp(thing, (z,), (np.ones_like(z),))[1]
    moment = float(np.sum(slope**2 * np.exp(-0.5 * z * z)) * step / math.sqrt(2 * math.pi))
    return f"{moment**-0.5:.3f}" if moment > 0.0 else "none"


def formula_and_text(thing: Any) -> list[str]:
    """Two cells: the formula, and the rest of the docstring."""
    said = explain(thing)
    formula = f"${said.formula}$"
    return [cell(formula), cell(" ".join([said.summary.replace(f", {formula}", ""), *said.body]))]


def initializers() -> str:
    """The page of initializers: distributions, and the activations they are recommended for."""
    rows = [
        [
            names(md.nn.initializers.INITIALIZERS, name),
            f"`{thing!r}`",
            cell(f"${distribution(thing)}$"),
            ", ".join(activation.name for activation in shipped() if activation.init == name),
        ]
        for name, thing in md.nn.initializers.INITIALIZERS.items()
    ]
    types = sorted({type(thing) for thing in md.nn.initializers.INITIALIZERS}, key=lambda kind: kind.__name__)
    header = "name | object | distribution | recommended for weights before"
    return INITIALIZERS.format(table=table(header, rows), sections="".join(map(section, types)))


def distribution(thing: Any) -> str:
    """The distribution of an initializer as a formula, with the numbers of a registered object."""
    if not isinstance(thing, md.nn.initializers.FanScaled):
        return explain(type(thing)).formula
    divisor = {"in": r"n_\text{in}", "mean": r"(n_\text{in}+n_\text{out})"}[thing.fan]
    scale = thing.scale * (2.0 if thing.fan == "mean" else 1.0)
    if thing.form == "uniform":
        return rf"w \sim U(-a, a),\ a = \sqrt{{{3 * scale:g}/{divisor}}}"
    cut = r"\text{ within two deviations}" if thing.form == "truncated" else ""
    return rf"w \sim N(0, {scale:g}/{divisor}){cut}"


def regularizers() -> str:
    """The page of regularizers, clipping, constraints and averages."""
    return REGULARIZERS.format(
        regularizers=kinds(md.optim.REGULARIZERS),
        clippings=kinds(clipping.CLIPPINGS),
        constraints=kinds(constraints.CONSTRAINTS),
        averages=kinds(averaging.AVERAGES),
    )


def optimizers() -> str:
    """The page of optimizers: update rules and solvers."""
    common = [f"- `{name}`: {text}" for name, text in explain(optimizer.Optimizer).parameters]
    return OPTIMIZERS.format(
        common="\n".join(common),
        rules=kinds(md.optim.OPTIMIZERS, formulas=False),
        solvers=kinds(lbfgs.SOLVERS, formulas=False),
    )


def losses() -> str:
    """The page of losses: formulas and predictions."""
    rows = [
        [f"`{kind.name}`", f"`{kind.out_activation}`", markdown(inspect.getdoc(kind.predict) or "")]
        for kind in md.losses.LOSSES
        if kind.__module__.startswith("madaline.")
    ]
    return LOSSES.format(rules=kinds(md.losses.LOSSES), outputs=table("name | output activation | prediction", rows))


def schedules() -> str:
    """The page of schedules."""
    return SCHEDULES.format(rules=kinds(md.optim.schedules.SCHEDULES))


def layers() -> str:
    """The page of layers."""
    titles = [f"`md.nn.{thing.title}`" for thing in shipped()]
    return LAYERS.format(
        rules=kinds(md.nn.LAYERS),
        activations=", ".join(titles),
        mlp="\n".join(f"- `{name}`: {text}" for name, text in explain(md.mlp).parameters),
        norms=", ".join(f"`{name}`" for name in NORMS.names()),
    )


def api() -> str:
    """The page of public names: those of ``md`` with a description, and those of each module."""
    rows = [[f"`md.{name}`", cell(summary(getattr(md, name)))] for name in md.__all__ if name not in MODULES]
    parts = []
    for short in INDEXED:
        module = importlib.import_module(f"madaline.{short}")
        listed = ", ".join(f"`{name}`" for name in module.__all__)
        parts.append(f"### md.{short}\n{summary(module)}\n\n{listed}\n")
    return API.format(count=len(md.__all__), table=table("name | description", rows), modules="\n".join(parts))


def summary(thing: Any) -> str:
    """The first sentence of a docstring."""
    return re.split(r"(?<=[.:;])\s", explain(thing).summary)[0].rstrip(":;,")


PAGES: dict[str, Callable[[], str]] = {
    "activations.md": activations,
    "api.md": api,
    "initializers.md": initializers,
    "layers.md": layers,
    "losses.md": losses,
    "optimizers.md": optimizers,
    "regularizers.md": regularizers,
    "schedules.md": schedules,
}


def page(name: str) -> str:
    """The text of a page, ending in one newline."""
    return PAGES[name]().rstrip("\n") + "\n"


if __name__ == "__main__":
    for name in PAGES:
        (HERE / name).write_text(page(name), encoding="utf-8")
