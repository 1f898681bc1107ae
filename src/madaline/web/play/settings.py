"""Everything that can be set in the playground. A link holds the settings that differ from their defaults."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from madaline.errors import ConfigError
from madaline.web.play import choices

MOST_UNITS, MOST_LAYERS = 64, 8
OF_PAGE = ("at", "vs", "token")
"Parts of a link that are no settings: the moment that is shown, the run to compare with, and the token."
LAYER = re.compile(r"(\d+)([a-z_][a-z0-9_]*)")


def _number(default: float, label: str, group: str, low: float, high: float, text: str, **extra: Any) -> Any:
    return field(
        default=default,
        metadata={"kind": "number", "label": label, "group": group, "low": low, "high": high, "help": text, **extra},
    )


def _whole(default: int, label: str, group: str, low: int, high: int, text: str, **extra: Any) -> Any:
    return field(
        default=default,
        metadata={"kind": "whole", "label": label, "group": group, "low": low, "high": high, "help": text, **extra},
    )


def _choice(default: str, label: str, group: str, among: str, text: str, **extra: Any) -> Any:
    return field(
        default=default,
        metadata={"kind": "choice", "label": label, "group": group, "among": among, "help": text, **extra},
    )


def _text(default: str | bool, label: str, group: str, kind: str, text: str, **extra: Any) -> Any:
    return field(default=default, metadata={"kind": kind, "label": label, "group": group, "help": text, **extra})


GENERATED = ["shapes", "curves"]


@dataclass(frozen=True)
class Settings:
    """The settings. Each field knows its label, its limits and its help, which the page shows."""

    data: str = _choice("moons", "Data", "data", "sources", "What to learn.")
    n: int = _whole(400, "Points", "data", 10, 5000, "Number of points.", of=GENERATED)
    noise: float = _number(
        0.0,
        "Noise",
        "data",
        0,
        2,
        "Standard deviation of noise added to the inputs, or to the numbers of a curve.",
        step=0.05,
        of=GENERATED,
    )
    flip: float = _number(
        0.0,
        "Wrong labels",
        "data",
        0,
        0.5,
        "Fraction of the training points that get a random class.",
        step=0.05,
        of=["shapes", "points"],
    )
    test: float = _number(0.3, "Test fraction", "data", 0.1, 0.9, "Fraction of the rows in the test set.", step=0.05)
    draw: int = _whole(0, "Data seed", "data", 0, 10**9, "Random seed of the data.", of=[*GENERATED, "table"])
    points: str = _text("", "Points", "data", "points", "The points that were drawn.", of=["points"])
    table: str = _text("", "Table", "data", "hidden", "Name of the table.", of=["table"])
    digest: str = _text("", "Checksum", "data", "hidden", "Beginning of the SHA-256 of the file.", of=["table"])
    target: str = _text("", "Target", "data", "column", "The column to predict.", of=["table"])
    columns: str = _text("", "Columns", "data", "columns", "Feature columns; by default all.", of=["table"])
    axes: str = _text("", "Shown columns", "data", "axes", "The two inputs of the picture.", of=["table"])
    scaling: str = _choice(
        "standard", "Scaling", "data", "scalings", "How the numbers of the table are scaled.", of=["table"]
    )
    features: str = _text(
        "x1,x2",
        "Inputs",
        "inputs",
        "features",
        "Inputs of the net, made from the coordinates.",
        of=[*GENERATED, "points"],
    )
    standardize: bool = _text(
        False, "Standardize inputs", "inputs", "flag", "Scale every input to mean 0 and standard deviation 1."
    )
    layers: str = _text("6tanh,4tanh", "Hidden layers", "net", "layers", "Units and activation of each hidden layer.")
    norm: str = _choice("none", "Norm", "net", "norms", "Normalization between weights and activation.")
    dropout: float = _number(0.0, "Dropout", "net", 0, 0.9, "Drop probability of hidden units.", step=0.05)
    residual: bool = _text(False, "Residual", "net", "flag", "Skip connections around hidden layers after the first.")
    init: str = _choice(
        "auto", "Initial weights", "net", "initializers", "How the initial weights are drawn.", short="Init"
    )
    loss: str = _choice("auto", "Loss", "training", "losses", "What training minimises.")
    optimizer: str = _choice("adam", "Optimizer", "training", "optimizers", "The update rule.")
    rate: float = _number(0.01, "Learning rate", "training", 1e-6, 100, "Learning rate.", scale="log")
    momentum: float = _number(0.0, "Momentum", "training", 0, 0.999, "Momentum.", step=0.05, has="momentum")
    schedule: str = _choice("constant", "Schedule", "training", "schedules", "How the learning rate changes.")
    batch: int = _whole(16, "Batch size", "training", 1, 5000, "Mini-batch size.")
    regularizer: str = _choice("none", "Penalty", "training", "regularizers", "Penalty on the weights.")
    strength: float = _number(
        0.001, "Penalty strength", "training", 0, 10, "Factor of the penalty.", scale="log", has="penalty"
    )
    clip: float = _number(0.0, "Clip gradient", "training", 0, 1000, "Maximum gradient norm; 0 for no limit.", step=0.5)
    balance: bool = _text(
        False,
        "Balance classes",
        "training",
        "flag",
        "Weight the rows so that all classes count the same.",
        of=["shapes", "points", "table"],
    )
    patience: int = _whole(
        0, "Patience", "training", 0, 100_000, "Stop after this many epochs without a lower test loss; 0 to disable."
    )
    precision: str = _choice("float32", "Precision", "training", "precisions", "Type of all numbers of the net.")
    epochs: int = _whole(300, "Epochs", "training", 1, 100_000, "Number of epochs.")
    seed: int = _whole(0, "Seed", "training", 0, 10**9, "Random seed of weights, dropout and the order of rows.")

    def __post_init__(self) -> None:
        wrong = [problem for item in fields(self) if (problem := _problem(item, getattr(self, item.name)))]
        if wrong:
            raise ConfigError(" ".join(wrong))
        hidden = self.hidden
        if len(hidden) > MOST_LAYERS or any(not 1 <= units <= MOST_UNITS for units, _ in hidden):
            raise ConfigError(f"The net may have at most {MOST_LAYERS} hidden layers of 1 to {MOST_UNITS} units.")
        known = choices.names("activations")
        for _, activation in hidden:
            if activation not in known:
                raise ConfigError(f"{activation!r} is not a known activation.")

    @property
    def hidden(self) -> tuple[tuple[int, str], ...]:
        """Units and activation of each hidden layer."""
        found = []
        for part in filter(None, self.layers.split(",")):
            match = LAYER.fullmatch(part)
            if match is None:
                raise ConfigError(f"layers={self.layers!r} must be a list such as 8tanh,4relu.")
            found.append((int(match[1]), match[2]))
        return tuple(found)

    @property
    def kind(self) -> str:
        """The kind of the data: shapes, curves, points or table."""
        return choices.source_kind(self.data)

    def link(self) -> str:
        """The settings that differ from their defaults, as the part of a link after ``#``."""
        return urlencode({name: _written(value) for name, value in self.changes().items()}, safe=",:^*")

    def changes(self) -> dict[str, Any]:
        """The settings that differ from their defaults."""
        return {
            item.name: getattr(self, item.name) for item in fields(self) if getattr(self, item.name) != item.default
        }

    def to_plain(self) -> dict[str, Any]:
        """All settings by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def changed(self, **values: Any) -> Settings:
        """The same settings with other values."""
        return replace(self, **values)

    @classmethod
    def of_link(cls, link: str) -> Settings:
        """Settings from a link; an error names the part that is wrong."""
        parts = dict(parse_qsl(link.removeprefix("#"), keep_blank_values=True))
        return cls.of_plain({name: value for name, value in parts.items() if name not in OF_PAGE})

    @classmethod
    def of_plain(cls, given: dict[str, Any]) -> Settings:
        """Settings from texts or values by name."""
        known = {item.name: item for item in fields(cls)}
        if unknown := sorted(given.keys() - known.keys()):
            raise ConfigError(f"There is no setting {', '.join(map(repr, unknown))}.")
        return cls(**{name: _read(known[name], value) for name, value in given.items()})


def names_in(text: str) -> list[str]:
    """The names of a list in a setting; commas inside of names are written as ``%2C``.

    Examples
    --------
    >>> names_in("size,price%2C net")
    ['size', 'price, net']
    """
    return [unquote(name) for name in text.split(",") if name]


def schema() -> list[dict[str, Any]]:
    """What a page needs to show the settings."""
    found = []
    for item in fields(Settings):
        about = dict(item.metadata)
        if "among" in about:
            about["choices"] = choices.listed(about.pop("among"))
        found.append({"name": item.name, "default": item.default, **about})
    return found


def _read(item: Any, value: Any) -> Any:
    kind = item.metadata["kind"]
    label = item.metadata["label"]
    try:
        if kind == "number":
            return float(value)
        if kind == "whole":
            return int(value)
        if kind == "flag":
            return value if isinstance(value, bool) else {"1": True, "0": False}[value]
    except (ValueError, TypeError, KeyError, OverflowError):
        raise ConfigError(
            f"{label}: {str(value)[:40]!r} is not a {'number' if kind != 'flag' else 'yes or no'}."
        ) from None
    if not isinstance(value, str):
        raise ConfigError(f"{label} must be text.")
    return value


def _problem(item: Any, value: Any) -> str:
    """What is wrong with a value; nothing if it is right."""
    about = item.metadata
    if about["kind"] in ("number", "whole"):
        if not (math.isfinite(value) and about["low"] <= value <= about["high"]):
            return f"{about['label']} is {value:g} and must be from {about['low']:g} to {about['high']:g}."
    elif about["kind"] == "choice" and value not in choices.names(about["among"]):
        return f"{about['label']}: {value[:40]!r} is not known. Known: {', '.join(choices.names(about['among']))}."
    return ""


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
