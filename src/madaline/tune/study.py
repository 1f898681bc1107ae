"""The trials of a search: asked for with Optuna's samplers, and kept in a storage of Optuna.

A round is sampled in memory, from the trials of the rounds before it and a random seed of its own. So it does not
depend on whether the search was resumed, and a storage only ever has trials that have ended.
"""

from __future__ import annotations

import importlib.util
import secrets
from collections.abc import Mapping
from typing import Any

from madaline.errors import ConfigError, FileFormatError, MissingPackageError
from madaline.tune.optuna_package import optuna, quiet
from madaline.tune.record import TrialRecord
from madaline.tune.space import Space

NAME = "madaline"
"Name of the study in a storage."
ABOUT = {"estimator": "estimator", "space": "space", "n_rows": "number of rows"}
"What searches that share a storage have in common."
SAMPLERS = {"tpe": "TPESampler", "random": "RandomSampler", "gp": "GPSampler"}
"Samplers of Optuna by name."


class SearchStudy:
    """Trials, and the storage that has them.

    Parameters
    ----------
    space : Space
    storage : str, Optuna storage, or None
        Where trials are kept in addition to memory.
    is_shared : bool
        Whether others may add trials to the storage, so that it is read before every round.
    sampler : str
    name : str
        Name of the study in the storage.
    """

    def __init__(
        self, space: Space, storage: Any = None, *, is_shared: bool = False, sampler: str = "tpe", name: str = NAME
    ) -> None:
        if sampler not in SAMPLERS:
            raise ConfigError(f"sampler={sampler!r} is not known. Known: {', '.join(SAMPLERS)}.")
        if sampler == "gp" and importlib.util.find_spec("torch") is None:
            raise MissingPackageError(
                "sampler='gp' needs PyTorch, which is not installed. Install it: pip install torch"
            )
        self.distributions = {key: part.distribution() for key, part in space.items()}
        self.records: list[TrialRecord] = []
        self.is_shared, self.sampler = is_shared, sampler
        self._worker = secrets.token_hex(4) if is_shared else ""
        self._study: Any = None
        if storage is not None:
            self._study = self._opened(storage, name)

    def _opened(self, storage: Any, name: str) -> Any:
        with quiet():
            try:
                return optuna().create_study(storage=storage, study_name=name, load_if_exists=True)
            except (optuna().exceptions.OptunaError, ImportError, ValueError) as error:
                raise ConfigError(f"storage={str(storage)!r} cannot be opened: {error}") from None
            except Exception as error:
                if type(error).__module__.startswith("sqlalchemy"):
                    raise ConfigError(f"storage={str(storage)!r} cannot be opened: {error}") from None
                raise

    def known(self) -> dict[str, Any] | None:
        """What the storage says about the search; None if it is new."""
        if self._study is None:
            return None
        found: dict[str, Any] | None = self._study.user_attrs.get("search")
        if found is None and self._study.get_trials(deepcopy=False):
            raise ConfigError("The study in the storage was not created by madaline. Choose another study_name.")
        return found

    def agree(self, about: Mapping[str, Any]) -> None:
        """Write down what the search is about.

        Raises
        ------
        ConfigError
            If the storage has a search of something else.
        """
        known = self.known()
        if known is None:
            if self._study is not None:
                self._study.set_user_attr("search", dict(about))
            return
        for key, words in ABOUT.items():
            if known.get(key) != about[key]:
                raise ConfigError(
                    f"The storage has a search with another {words}. Use the same, or another storage or study_name."
                )

    def load(self) -> None:
        """Read the trials of the storage; those of a round that was not complete are left out."""
        if self._study is None:
            return
        found: dict[tuple[str, int], TrialRecord] = {}
        try:
            for trial in self._study.get_trials(deepcopy=False):
                found[trial.user_attrs["worker"], trial.user_attrs["number"]] = TrialRecord.of(trial)
        except (KeyError, TypeError, ValueError):
            raise FileFormatError("The storage has trials that were not created by madaline.") from None
        complete = self._study.user_attrs.get("rounds", 0)
        self.records = [each for each in found.values() if self.is_shared or each.round < complete]

    @property
    def next_round(self) -> int:
        """Number of the next round."""
        return max((each.round for each in self.records), default=-1) + 1

    def ask(self, count: int, *, seed: int) -> list[dict[str, Any]]:
        """Values of new trials."""
        with quiet():
            sampler = getattr(optuna().samplers, SAMPLERS[self.sampler])(seed=seed)
            study = optuna().create_study(sampler=sampler)
            study.add_trials([each.frozen(self.distributions) for each in self.records])
            return [dict(study.ask(self.distributions).params) for _ in range(count)]

    def add(self, records: list[TrialRecord]) -> None:
        """Add the trials of a round."""
        self.records += records
        if self._study is not None:
            with quiet():
                self._study.add_trials([each.frozen(self.distributions, self._worker) for each in records])
                self._study.set_user_attr("rounds", self.next_round)

    def importances(self) -> dict[str, float]:
        """How much of the differences in loss each hyperparameter explains (PED-ANOVA, Watanabe et al. 2023).

        Nets after the first rung are compared, because all trials have them.
        """
        with quiet():
            study = optuna().create_study()
            first = min((rung for each in self.records for rung in each.losses), default=0)
            study.add_trials(
                [
                    optuna().create_trial(
                        value=each.losses[first], params=dict(each.labels), distributions=self.distributions
                    )
                    for each in self.records
                    if first in each.losses and each.labels.keys() == self.distributions.keys()
                ]
            )
            if len(study.trials) < 4:
                return {}
            found = optuna().importance.get_param_importances(study)
        return {name: float(value) for name, value in found.items()}
