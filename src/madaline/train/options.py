"""The options of ``fit`` and ``partial_fit``."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from madaline.cached import cached_property
from madaline.errors import ConfigError
from madaline.train.arguments import check_all, check_new_file, check_path, check_seconds, check_whole
from madaline.train.events import Callback, CallbackLike, as_callbacks
from madaline.train.sampling import Sampler, SamplerLike, as_sampler
from madaline.train.stopping import EarlyStopping, EarlyStoppingLike, as_early_stopping
from madaline.train.stream import Stream

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from madaline.data.data_types import ClassWeights
    from madaline.train.metrics import MetricLike

ValidationLike = float | tuple[Any, ...] | list[Any]
"A validation set: a fraction of the rows, or (X, y) or (X, y, sample_weight)."

ON_DIVERGENCE = ("raise", "stop", "skip")
OUTER_STEPS = ("mean", "nesterov")
ONLY_FIT = {"only_fit": True}
"Marks options that partial_fit does not have."


@dataclass(frozen=True, eq=False)
class FitOptions:
    """Options of :meth:`Trainer.fit`, which describes them. An object is valid: all wrong values are one error."""

    epochs: int = 20
    batch_size: int | None = 64
    validation: ValidationLike | None = field(default=None, metadata=ONLY_FIT)
    sample_weight: ArrayLike | None = None
    class_weight: ClassWeights | None = None
    metrics: MetricLike | Sequence[MetricLike] | None = None
    early_stopping: EarlyStoppingLike | None = field(default=None, metadata=ONLY_FIT)
    callbacks: CallbackLike | Sequence[CallbackLike] | None = None
    shuffle: bool = True
    sampler: SamplerLike | None = None
    drop_last: bool = False
    accumulate: int = field(default=1, metadata=ONLY_FIT)
    probes: bool | Sequence[str] = field(default=False, metadata=ONLY_FIT)
    probe_every: int | None = field(default=None, metadata=ONLY_FIT)
    doctor: bool = field(default=False, metadata=ONLY_FIT)
    record_steps: bool = field(default=False, metadata=ONLY_FIT)
    max_seconds: float | None = field(default=None, metadata=ONLY_FIT)
    on_divergence: str = "raise"
    progress: bool | None = field(default=None, metadata=ONLY_FIT)
    checkpoint: str | os.PathLike[str] | None = field(default=None, metadata=ONLY_FIT)
    checkpoint_epochs: int | None = field(default=1, metadata=ONLY_FIT)
    checkpoint_seconds: float | None = field(default=None, metadata=ONLY_FIT)
    resume: str | os.PathLike[str] | None = field(default=None, metadata=ONLY_FIT)
    replicas: int = field(default=1, metadata=ONLY_FIT)
    local_steps: int = field(default=50, metadata=ONLY_FIT)
    outer: str = field(default="mean", metadata=ONLY_FIT)
    cluster: str | None = field(default=None, metadata=ONLY_FIT)

    def __post_init__(self) -> None:
        check_all(self._checks())

    @classmethod
    def of_fit(cls, arguments: Mapping[str, Any]) -> Self:
        """From the local variables of ``fit``, so that its signature is the only other place that names the options."""
        return cls(**{option.name: arguments[option.name] for option in fields(cls)})

    @classmethod
    def of_partial_fit(cls, arguments: Mapping[str, Any]) -> Self:
        """From the keyword arguments of ``partial_fit``, which shows no progress bar."""
        known = cls.partial_fit_defaults()
        for name in arguments:
            if name not in known:
                raise TypeError(f"partial_fit has no option {name!r}. Options: {', '.join(known)}.")
        return cls(**known | dict(arguments), progress=False)

    @classmethod
    @cache
    def partial_fit_defaults(cls) -> dict[str, Any]:
        """The options of ``partial_fit`` and their defaults."""
        shared = {option.name: option.default for option in fields(cls) if not option.metadata.get("only_fit")}
        return shared | {"epochs": 1}

    @classmethod
    def partial_fit_signature(cls) -> inspect.Signature:
        """The signature of ``partial_fit`` for ``help`` and editors; its options are the fields of this class."""
        kinds, types = inspect.Parameter, cls.__annotations__
        positional = [kinds("self", kinds.POSITIONAL_OR_KEYWORD), kinds("X", kinds.POSITIONAL_OR_KEYWORD)]
        options = [
            kinds(name, kinds.KEYWORD_ONLY, default=default, annotation=types[name])
            for name, default in cls.partial_fit_defaults().items()
        ]
        y = kinds("y", kinds.POSITIONAL_OR_KEYWORD, default=None)
        return inspect.Signature([*positional, y, *options], return_annotation="History")

    @cached_property
    def row_sampler(self) -> Sampler:
        """The rule for the order of the rows."""
        return as_sampler(self.sampler, shuffle=self.shuffle)

    @cached_property
    def stopping_rule(self) -> EarlyStopping | None:
        """The rule for early stopping."""
        return as_early_stopping(self.early_stopping)

    @cached_property
    def listeners(self) -> list[Callback]:
        """The callbacks as objects, with the doctor if it is to watch."""
        if not self.doctor:
            return as_callbacks(self.callbacks)
        from madaline.doctor.watch import Doctor  # loaded only when needed

        return [*as_callbacks(self.callbacks), Doctor()]

    @property
    def resumes(self) -> bool:
        """Whether there is a checkpoint to resume: one that this run itself would write may not exist yet."""
        if self.resume is None:
            return False
        is_own = self.checkpoint is not None and Path(self.resume) == Path(self.checkpoint)
        return not is_own or Path(self.resume).exists()

    def _checks(self) -> Iterator[Callable[[], Any]]:
        for name in ("epochs", "accumulate", "replicas", "local_steps"):
            yield partial(check_whole, name, getattr(self, name))
        for name in ("batch_size", "probe_every", "checkpoint_epochs"):
            if getattr(self, name) is not None:
                yield partial(check_whole, name, getattr(self, name))
        for name in ("max_seconds", "checkpoint_seconds"):
            yield partial(check_seconds, name, getattr(self, name))
        if self.checkpoint is not None:
            yield partial(check_new_file, "checkpoint", self.checkpoint)
        if self.resume is not None:
            yield partial(check_path, "resume", self.resume)
        yield from (self._check_probes, self._check_divergence, self._check_validation, self._check_cluster)
        yield from (lambda: self.row_sampler, lambda: self.stopping_rule, lambda: self.listeners)

    def _check_probes(self) -> None:
        if not isinstance(self.probes, (bool, str, list, tuple)):
            raise ConfigError(f"probes={self.probes!r} must be True, or the paths of layers: probes=['0', '2'].")

    def _check_divergence(self) -> None:
        if self.on_divergence not in ON_DIVERGENCE:
            known = ", ".join(map(repr, ON_DIVERGENCE))
            raise ConfigError(f"on_divergence={self.on_divergence!r} must be one of {known}.")

    def _check_cluster(self) -> None:
        if self.outer not in OUTER_STEPS:
            raise ConfigError(f"outer={self.outer!r} must be one of {', '.join(map(repr, OUTER_STEPS))}.")
        if self.cluster is not None and not isinstance(self.cluster, str):
            raise ConfigError(f"cluster={self.cluster!r} must be 'auto', 'local' or the address of a Ray cluster.")
        if self.cluster is not None and self.replicas == 1:
            raise ConfigError(
                f"cluster={self.cluster!r} needs replicas=, for example the number of CPUs of the cluster. The result "
                "depends on the number of replicas, and not on where they run."
            )

    def _check_validation(self) -> None:
        given = self.validation
        if isinstance(given, Stream):
            raise ConfigError("validation is a stream; it must be arrays: validation=(X, y).")
        if isinstance(given, (tuple, list)):
            if len(given) not in (2, 3):
                raise ConfigError("validation must be a fraction, (X, y) or (X, y, sample_weight).")
        elif given is not None and not isinstance(given, (int, float, np.number)):
            raise ConfigError(
                f"validation is {type(given).__name__}; it must be a fraction between 0 and 1, or data: "
                "validation=(X, y)."
            )
