"""A connection to a Ray cluster, and tasks on it that survive the loss of workers and nodes."""

from __future__ import annotations

import logging
import os
import platform
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madaline.errors import ConfigError, MadalineError
from madaline.extras import require
from madaline.kernels.core import isa
from madaline.kernels.execute import executor

LOOK_SECONDS = 0.05
"Seconds between two looks at Ctrl-C and the time limit."
CONNECT_SECONDS = 10.0
"Time limit for a connection to a head node."
PATIENT = -1
"Number of times that Ray repeats a task whose worker or node was lost: without a limit."


@dataclass(frozen=True)
class Versions:
    """What must be equal on all nodes, so that results do not depend on where they are computed."""

    madaline: str
    python: str
    numpy: str
    instructions: str

    @staticmethod
    def here() -> Versions:
        """The versions of this process."""
        from madaline import __version__  # the top level imports this package's names lazily

        instructions = "reference" if executor() == "reference" else str(isa())
        return Versions(__version__, platform.python_version(), np.__version__, instructions)


class Cluster:
    """A connection to a Ray cluster.

    Parameters
    ----------
    address : str
        ``"auto"`` for the cluster of this computer, ``"local"`` for a new one on this computer, or the address of a
        head node: ``"host:port"`` or ``"ray://host:port"``. If this process is connected already, that connection is
        used.
    """

    def __init__(self, address: str) -> None:
        require("ray", f"cluster={address!r}")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # the default of later versions, which warn
        import ray  # those who use a cluster wait for it

        self.address, self._ray = address, ray
        if not ray.is_initialized():
            _check_reachable(address)
            own: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
            try:
                ray.init(address, log_to_driver=False, logging_level=logging.WARNING, **own)
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
                raise ConfigError(
                    f"cluster={address!r} cannot be reached: {first} Start a cluster by `ray start --head`, or use "
                    "cluster='local'."
                ) from None

    def put(self, value: Any) -> Any:
        """Store a value on the cluster once, for many tasks; give its reference."""
        from ray import exceptions

        try:
            return self._ray.put(value)
        except (exceptions.ObjectStoreFullError, exceptions.OutOfDiskError):
            raise _store_is_full() from None

    def describe(self) -> str:
        """Number of nodes and CPUs, for messages."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        cpus = self._ray.cluster_resources().get("CPU", 0)
        return f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}, {cpus:g} CPUs"

    @property
    def n_cpus(self) -> int:
        """Number of CPUs of all nodes."""
        return int(self._ray.cluster_resources().get("CPU", 1))

    def run(
        self,
        function: Callable[..., Any],
        tasks: Sequence[tuple[Any, ...]],
        *,
        may_go_on: Callable[[], bool] = lambda: True,
    ) -> Iterator[tuple[int, Any]]:
        """Call a function for each task on the cluster; give number and result of each as it ends.

        A task is the tuple of the arguments. A reference of :meth:`put` among them becomes its value. If a worker or a
        node is lost, its tasks are repeated elsewhere. Errors of a task are raised here. What runs is cancelled if the
        caller stops looking, or if ``may_go_on()`` becomes False.
        """
        remote = self._ray.remote(num_cpus=1, max_retries=PATIENT, scheduling_strategy="SPREAD")(_checked)
        here = Versions.here()
        numbers = {remote.remote(here, function, *task): number for number, task in enumerate(tasks)}
        waiting = list(numbers)
        try:
            while waiting and may_go_on():
                done, waiting = self._ray.wait(waiting, num_returns=1, timeout=LOOK_SECONDS)
                for reference in done:
                    yield numbers[reference], self._value(reference)
        finally:
            for reference in waiting:
                self._ray.cancel(reference, force=False)

    def _value(self, reference: Any) -> Any:
        from ray import exceptions

        try:
            return self._ray.get(reference)
        except exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, MadalineError):
                raise cause from None
            if isinstance(cause, ModuleNotFoundError) or "No module named" in str(error):
                raise ConfigError(
                    f"A node of the cluster lacks a package: {cause}. Install the same version of madaline, and the "
                    "modules of custom functions, on all nodes."
                ) from None
            raise
        except (exceptions.ObjectStoreFullError, exceptions.OutOfDiskError):
            raise _store_is_full() from None


def _store_is_full() -> ConfigError:
    return ConfigError(
        "The object store of the cluster is full. Start the nodes with more memory for it (ray start "
        "--object-store-memory=BYTES), use fewer rows, or let the nodes read files: md.Stream('folder')."
    )


def _check_reachable(address: str) -> None:
    """Raise an error if nothing answers at the address of a head node; Ray would try for minutes."""
    if address in ("auto", "local"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise ConfigError(
            f"cluster={address!r} cannot be reached: {error}. Give the address of a head node, 'host:port', as "
            "`ray start --head` prints it, or use cluster='local'."
        ) from None


def _checked(expected: Versions, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run on a worker: the function, if the worker has the versions of the driver."""
    here = Versions.here()
    if here != expected:
        names = {"madaline": "madaline", "python": "Python", "numpy": "NumPy", "instructions": "instruction set"}
        name = next(name for name in names if getattr(here, name) != getattr(expected, name))
        remedy = (
            "Set MADALINE_ISA to one that all nodes have, for example MADALINE_ISA=avx2, on all of them."
            if name == "instructions"
            else "Install the same version on all nodes."
        )
        raise ConfigError(
            f"Node {platform.node()!r} has {names[name]} {getattr(here, name)}, this computer has "
            f"{getattr(expected, name)}; results would depend on where they are computed. {remedy}"
        )
    return function(*arguments)
