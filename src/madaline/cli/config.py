"""The settings of a training run, as a TOML file that trains the same model again."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from madaline.annotations import fits, shown_hint
from madaline.data.reading.options import ReadOptions
from madaline.errors import ConfigError


@dataclass
class DataSettings:
    """The table; if it is streamed, ``sample`` rows are kept in memory (0: all, not streamed)."""

    source: str = ""
    target: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    drop_duplicates: bool = False
    rows: int | None = None
    memory: str | None = None
    sample: int | None = None


@dataclass
class SplitSettings:
    """How rows are split."""

    way: str | None = None
    by: str | None = None
    test: float = 0.2
    validation: float = 0.15


@dataclass
class TrainingSettings:
    """How to train; None is chosen by the size of the data. ``given`` are the options that the user chose."""

    task: str | None = None
    preset: str | None = None
    seed: int = 0
    threads: int | None = None
    cluster: str | None = None
    replicas: int = 1
    time: float | None = None
    class_weight: str | None = None
    hidden: tuple[int, ...] | None = None
    activation: str | None = None
    norm: str | None = None
    dropout: float | None = None
    learning_rate: float | None = None
    weight_decay: float | None = None
    batch_size: int | None = None
    epochs: int | None = None
    patience: int | None = None
    given: tuple[str, ...] = ()


@dataclass
class SearchSettings:
    """How hyperparameters are searched, if they are; ``space`` is a TOML file."""

    is_wanted: bool = False
    trials: int | None = None
    space: str | None = None
    storage: str | None = None
    sampler: str = "tpe"
    asynchronous: bool = False


@dataclass
class RunEnd:
    """How a run ended; one that a time limit ended is trained again up to that step."""

    by: str = ""
    epoch: int = 0
    step: int = 0


SECTIONS = {
    "data": DataSettings,
    "split": SplitSettings,
    "training": TrainingSettings,
    "search": SearchSettings,
    "ended": RunEnd,
}


@dataclass
class RunConfig:
    """All settings of a run."""

    data: DataSettings = field(default_factory=DataSettings)
    reading: ReadOptions = field(default_factory=ReadOptions)
    split: SplitSettings = field(default_factory=SplitSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    ended: RunEnd = field(default_factory=RunEnd)
    versions: dict[str, str] = field(default_factory=dict)

    def to_toml(self) -> str:
        """The settings as TOML; those that are not set are left out."""
        parts = ["# To train the same model again: madaline train --config config.toml"]
        parts += [
            _section(name, asdict(getattr(self, name)))
            for name in SECTIONS
            if name != "search" or self.search.is_wanted
        ]
        return "\n".join([*parts, _section("reading", self.reading.given()), _section("versions", self.versions)])

    @classmethod
    def read(cls, path: Path) -> RunConfig:
        """The settings of a file."""
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{str(path)!r} is not a TOML file: {error}.") from error
        unknown = sorted(document.keys() - {*SECTIONS, "reading", "versions"})
        if unknown:
            raise ConfigError(f"{str(path)!r} has an unknown section [{unknown[0]}].")
        found = {name: _checked(kind, document.get(name, {}), name, path) for name, kind in SECTIONS.items()}
        reading = _checked(ReadOptions, document.get("reading", {}), "reading", path)
        versions = document.get("versions", {})
        return cls(reading=reading, versions={str(k): str(v) for k, v in versions.items()}, **found)


def _section(name: str, values: dict[str, Any]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in values.items() if value is not None]
    return "\n".join([f"\n[{name}]", *lines])


def _value(value: Any) -> str:
    """A value in TOML syntax, which equals JSON for the types used here."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _checked(kind: Any, given: Any, section: str, path: Path) -> Any:
    """A section from the values of a file, with type checks."""
    hints = get_type_hints(kind)
    known = {each.name for each in fields(kind)}
    if not isinstance(given, dict):
        raise ConfigError(f"{str(path)!r}: {section} must be a section: [{section}].")
    values = {}
    for name, read in given.items():
        if name not in known:
            raise ConfigError(f"{str(path)!r}: [{section}] has an unknown setting {name!r}. Known: {', '.join(known)}.")
        value = tuple(read) if isinstance(read, list) else read
        if not fits(value, hints[name]):
            raise ConfigError(f"{str(path)!r}: {section}.{name} = {value!r} must be {shown_hint(hints[name])}.")
        values[name] = value
    return kind(**values)
