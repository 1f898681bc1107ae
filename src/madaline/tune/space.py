"""The space of a search: for each hyperparameter a range of numbers or a list of values."""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from madaline.errors import ConfigError
from madaline.tune.optuna_package import optuna
from madaline.tune.parameters import NOT_SEARCHED, problem, searchable

if TYPE_CHECKING:
    from madaline.estimators.base import NetEstimator

EDGE = 0.02
"A value within this fraction of a range from its end is at the edge."
KEYS = ("low", "high", "log", "step", "choices")


@dataclass(frozen=True)
class Range:
    """Numbers between ``low`` and ``high``, which are included; whole ones if both ends and the step are whole.

    Attributes
    ----------
    low, high : int or float
    log : bool
        Whether numbers are drawn uniformly on a logarithmic scale.
    step : int or float, optional
        Distance between two values.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers."""
        return all(isinstance(each, int) for each in (self.low, self.high, 1 if self.step is None else self.step))

    def distribution(self) -> Any:
        """The distribution of Optuna."""
        if self.is_whole:
            step = 1 if self.step is None else int(self.step)
            return optuna().distributions.IntDistribution(int(self.low), int(self.high), log=self.log, step=step)
        return optuna().distributions.FloatDistribution(self.low, self.high, log=self.log, step=self.step)

    def holds(self, value: Any) -> bool:
        """Whether a value is in the range."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not self.low <= value <= self.high or (self.is_whole and value != int(value)):
            return False
        return self.step is None or math.isclose((value - self.low) / self.step % 1.0, 0.0, abs_tol=1e-9)

    def samples(self) -> list[Any]:
        """Values to try out: the ends."""
        return [self.low, self.high]

    def label(self, value: Any) -> Any:
        """A value as Optuna has it."""
        return value

    def value(self, label: Any) -> Any:
        """A value from what Optuna has."""
        return label

    def fraction(self, value: float) -> float:
        """The place of a value in the range, from 0 to 1."""
        low, high, x = (math.log(each) for each in (self.low, self.high, value)) if self.log else (
            self.low, self.high, value,
        )  # fmt: skip
        return (x - low) / (high - low) if high > low else 0.5

    def to_plain(self) -> dict[str, Any]:
        """The range as a dict of what was given."""
        return {name: value for name, value in vars(self).items() if value is not None and value is not False}


@dataclass(frozen=True)
class Choice:
    """One of several values of any kind."""

    values: tuple[Any, ...]

    def distribution(self) -> Any:
        """The distribution of Optuna."""
        return optuna().distributions.CategoricalDistribution([self.label(value) for value in self.values])

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        return self.label(value) in [self.label(each) for each in self.values]

    def samples(self) -> list[Any]:
        """Values to try out: all."""
        return list(self.values)

    def label(self, value: Any) -> Any:
        """A value as Optuna has it: its storages hold numbers and texts."""
        is_plain = value is None or isinstance(value, (bool, int, float, str))
        return value if is_plain else ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else repr(value)

    def value(self, label: Any) -> Any:
        """A value from what Optuna has."""
        return next(each for each in self.values if self.label(each) == label)

    def to_plain(self) -> dict[str, Any]:
        """The values as a dict."""
        return {"choices": [self.label(value) for value in self.values]}


Space = Mapping[str, Range | Choice]
SpaceLike = Mapping[str, Mapping[str, object] | Sequence[object]] | str | os.PathLike[str]
"A space as users give it: ranges and lists of values by name, or a TOML file with them."


def read_space(given: Any, estimator: NetEstimator) -> dict[str, Range | Choice]:
    """The space that a dict or a TOML file describes.

    Raises
    ------
    ConfigError
        With everything that is wrong in the space, not only the first error.
    """
    where = "space"
    if isinstance(given, (str, os.PathLike)):
        where, given = f"The space {os.fspath(given)!r}", _read_file(Path(given))
    if not isinstance(given, Mapping) or not given:
        raise ConfigError(
            f"{where} must be a dict or a TOML file with ranges and lists by name, for example "
            '{"learning_rate_init": {"low": 1e-4, "high": 1e-2, "log": True}, "activation": ["relu", "mish"]}.'
        )
    found: dict[str, Range | Choice] = {}
    wrong: list[str] = []
    for name, spec in given.items():
        try:
            found[str(name)] = _part(estimator, str(name), spec)
        except ConfigError as error:
            wrong.append(str(error))
    if "hidden_layer_sizes" in found and {"layers", "width"} & found.keys():
        wrong.append("hidden_layer_sizes and layers or width say the same thing: give one of them.")
    if wrong:
        listed = f" {wrong[0]}" if len(wrong) == 1 else "".join(f"\n  - {each}" for each in wrong)
        raise ConfigError(f"{where}:{listed}")
    return found


def _read_file(path: Path) -> Any:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The space {str(path)!r} is not a TOML file: {error}.") from None


def _part(estimator: NetEstimator, name: str, spec: Any) -> Range | Choice:
    known = searchable(estimator)
    if name not in known:
        if name in NOT_SEARCHED:
            raise ConfigError(f"{name} cannot be searched: {NOT_SEARCHED[name]}.")
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(known)}."
        raise ConfigError(f"{name!r} is not a hyperparameter of {type(estimator).__name__}.{hint}")
    found = _read_part(name, spec)
    texts = dict.fromkeys(text for value in found.samples() if (text := problem(estimator, name, value)))
    if texts:
        raise ConfigError(" ".join(texts))
    return found


def _read_part(name: str, spec: Any) -> Range | Choice:
    if isinstance(spec, (Range, Choice)):
        return spec
    if isinstance(spec, Mapping) and "choices" in spec and len(spec) == 1:
        spec = spec["choices"]
    if isinstance(spec, Sequence) and not isinstance(spec, str):
        values = tuple(tuple(each) if isinstance(each, list) else each for each in spec)
        found = Choice(values)
        if not values:
            raise ConfigError(f"{name}=[] has no values.")
        if len({str(found.label(value)) for value in values}) < len(values):
            raise ConfigError(f"{name}={list(values)!r} has a value twice.")
        return found
    if not isinstance(spec, Mapping) or not {"low", "high"} <= spec.keys():
        raise ConfigError(f"{name}={spec!r} must be a list of values, or a dict with low and high.")
    if unknown := [str(key) for key in spec if key not in KEYS[:-1]]:
        near = difflib.get_close_matches(unknown[0], KEYS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{name} has an unknown key {unknown[0]!r}.{hint} Known: {', '.join(KEYS)}.")
    return _range(name, spec)


def _range(name: str, spec: Mapping[str, Any]) -> Range:
    for key in ("low", "high", "step"):
        value = spec.get(key)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number and (key != "step" or value is not None):
            raise ConfigError(f"{name}: {key}={value!r} must be a number.")
    found = Range(spec["low"], spec["high"], spec.get("log", False), spec.get("step"))
    if not isinstance(found.log, bool):
        raise ConfigError(f"{name}: log={found.log!r} must be true or false.")
    if found.low >= found.high:
        raise ConfigError(f"{name}: low={found.low!r} must be below high={found.high!r}.")
    if found.log and found.low <= 0:
        raise ConfigError(f"{name}: low={found.low!r} must be above 0 for a logarithmic scale.")
    if found.step is not None and (found.log or not 0 < found.step <= found.high - found.low):
        raise ConfigError(
            f"{name}: step={found.step!r} must fit between low and high, on a scale that is not logarithmic."
        )
    return found


def at_edges(estimator: NetEstimator, space: Space, labels: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The parameters whose value is at the end of its range where it could go further, and which end that is."""
    found = []
    for name, part in space.items():
        if name not in labels or not isinstance(part, Range):
            continue
        place = part.fraction(labels[name])
        end = "low" if place <= EDGE else "high" if place >= 1.0 - EDGE else ""
        if end:
            beyond = _beyond(part, end)
            if not problem(estimator, name, beyond):
                found.append((name, end))
    return found


def _beyond(part: Range, end: str) -> float:
    """A number a little outside the range."""
    step = part.step or (1 if part.is_whole else 0.1 * (part.high - part.low))
    if part.log:
        factor = 2
        return (part.low // factor if part.is_whole else part.low / factor) if end == "low" else part.high * factor
    return part.low - step if end == "low" else part.high + step
