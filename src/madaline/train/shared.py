"""What nets that are trained side by side share: data that was read and checked, and programs that were planned."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from madaline.losses.loss import Loss
from madaline.nn.network import Network
from madaline.optim.schedule import Constant
from madaline.train.data import TrainingData, read
from madaline.train.programs import Programs
from madaline.train.recipe import Recipe
from madaline.train.weights import row_weights

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets


class SharedParts:
    """TrainingData and programs of several nets, whose sessions are prepared one at a time.

    If two threads prepared sessions at once, they would share Python's interpreter, both end late, and meet there again
    when their steps are done. One after the other, a thread prepares while the other one computes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._data: list[tuple[tuple[Any, ...], tuple[Any, ...], TrainingData]] = []
        self._weights: list[tuple[Any, np.dtype[Any], np.ndarray | None]] = []
        self._programs: dict[int, list[tuple[tuple[Any, ...], Programs]]] = {}

    def turn(self) -> Turn:
        """Context in which a thread may use the parts, alone."""
        return Turn(self._lock)

    def read(
        self,
        network: Network,
        loss: Loss | dict[str, Loss],
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        class_weight: Any = None,
        may_weigh_nothing: bool = False,
    ) -> TrainingData:
        """Like :func:`madaline.train.data.read`; data are read once for all nets with the same inputs and outputs."""
        data = self._plain(network, loss, X, y)
        if class_weight is not None:
            weight = row_weights(loss, network.out_shape, data.targets, data.n_rows, sample_weight, class_weight)
            return data if weight is None else replace(data, weight=weight.astype(network.dtype))
        for given, dtype, weight in self._weights:
            if given is sample_weight and dtype == network.dtype:
                return replace(data, weight=weight)
        weight = row_weights(loss, network.out_shape, data.targets, data.n_rows, sample_weight, None)
        weight = None if weight is None else weight.astype(network.dtype)
        self._weights.append((sample_weight, network.dtype, weight))
        return replace(data, weight=weight)

    def _plain(self, network: Network, loss: Loss | dict[str, Loss], X: Inputs, y: Targets) -> TrainingData:
        """The data without weights."""
        key = (network.inputs, network.out_shape, network.dtype, loss)
        for (known_X, known_y), known, data in self._data:
            if known_X is X and known_y is y and known == key:
                return data
        data = read(network, loss, X, y)
        self._data.append(((X, y), key, data))
        return data

    def programs(self, network: Network, recipe: Recipe) -> Programs:
        """Programs for a net: those of an equal net, if there is one, as a twin that can run at the same time."""
        structure = _structure(network, recipe)
        try:
            alike = self._programs.setdefault(hash(structure), [])
        except TypeError:  # it has a dict of inputs or losses, which can be compared, but has no hash
            alike = self._programs.setdefault(0, [])
        for known, programs in alike:
            if known == structure:
                return programs.twin(network, recipe)
        found = Programs(network, recipe)
        alike.append((structure, found))
        return found


class Turn:
    """Context in which one thread at a time is, or longer, if it keeps its turn."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock, self._is_kept, self._is_over = lock, False, False

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_kept:
            self.end()

    def keep(self) -> Callable[[], None]:
        """Stay beyond the end of the context, until the function that is returned is called."""
        self._is_kept = True
        return self.end

    def end(self) -> None:
        """Let the next thread in; to be called by the same thread, any number of times."""
        if not self._is_over:
            self._is_over = True
            self._lock.release()


def _structure(network: Network, recipe: Recipe) -> tuple[Any, ...]:
    """What two nets and their recipes must have in common to share programs. Schedules are not part of a program."""
    arrays = tuple(
        (entry.path, entry.shape, entry.offset, entry.decays, entry.frozen)
        for entries in (network.params, network.state)
        for entry in entries.values()
    )
    homes = tuple((row.path, row.home, row.frozen) for row in network.rows)
    return (arrays, homes, network.inputs, network.dtype, network.net, replace(recipe, schedule=Constant()))
