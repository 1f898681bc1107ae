"""Training with a solver that needs the loss of all rows at once: L-BFGS."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from madaline.errors import ConfigError
from madaline.kernels.loop import Loop
from madaline.optim.lbfgs import LBFGS
from madaline.optim.schedule import Constant
from madaline.train.blocks import ArrayBlocks
from madaline.train.divergence import explained
from madaline.train.sampling import Batches
from madaline.train.step import gradient_step

if TYPE_CHECKING:
    from madaline.train.session import Session


class FullBatch:
    """The loss of all rows and its gradient as a function of the parameters, and the solver that minimizes it.

    Each iteration of the solver is a row of the history.
    """

    def __init__(self, session: Session) -> None:
        recipe = session.recipe
        unused = {
            "clip": recipe.clip,
            "constraint": recipe.constraints,
            "average": recipe.average,
            "groups": recipe.groups,
            "schedule": None if isinstance(recipe.schedule, Constant) else recipe.schedule,
        }
        wrong = [name for name, value in unused.items() if value]
        if wrong:
            raise ConfigError(f"{' and '.join(wrong)} cannot be used with {recipe.optimizer!r}, which takes no steps.")
        assert isinstance(session.source, ArrayBlocks)
        self.session, rows = session, session.source.rows
        self.step = gradient_step(
            session.model.network, recipe, session.data.target_specs, weighted=session.data.weight is not None
        )
        self.loop = Loop(self.step.graph, carried=self.step.carried())
        self.w = session.model.params.flat[: session.model.network.n_trainable]
        self.batches = Batches(np.ascontiguousarray(rows, dtype=np.int64), np.array([0, len(rows)]))
        self._last = (float("nan"), float("nan"))

    def value_and_grad(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Objective and gradient at ``w``, which is copied to the model."""
        network, at = self.session.model.network, self.step.inputs
        self.w[...] = w
        inputs = {"w": self.w}
        if network.n_state:
            inputs["state"] = self.session.model.state.flat
        if network.n_trainable < network.n_params:
            inputs["frozen"] = self.session.model.params.flat[network.n_trainable :]
        emitted = {name: np.zeros((1, *(self.w.shape if name == "g" else ())), network.dtype) for name in self._names()}
        self.loop.run(
            {at[name]: value for name, value in inputs.items()},
            gathered={at[name]: source for name, source in self.session.data.gathered().items()},
            tables={at["key"]: np.array([[self.session.seed, 1]])},
            emitted={self.step.outputs[name]: value for name, value in emitted.items()},
            order=self.batches.order,
            starts=self.batches.starts,
            threads=self.session.threads,
        )
        objective = float(emitted["objective"][0])
        self._last = (objective, float(emitted.get("loss", emitted["objective"])[0]))
        return objective, emitted["g"][0]

    def _names(self) -> list[str]:
        return [name for name in self.step.outputs if name not in self.step.inputs]

    def go(self) -> None:
        """Minimize until the solver converges, or something ends it."""
        session, solver = self.session, self.session.recipe.optimizer
        assert isinstance(solver, LBFGS)
        started = time.perf_counter()
        objective, _ = self.value_and_grad(self.w.copy())
        if not np.isfinite(objective):
            raise explained(session, self.batches, step=1)

        iterate = self.w.copy()

        def after_iteration(w: np.ndarray) -> None:
            nonlocal started
            self.w[...] = iterate[...] = w
            session.progress.t += 1
            objective, loss = self._last
            session.progress.sums = {"weight": 1.0, "objective": objective, "loss": loss}
            session.progress.seconds = time.perf_counter() - started
            started = time.perf_counter()
            session.end_epoch()
            session.tick()
            session.check_time()
            if session.stop_reason:
                raise StopIteration  # which SciPy takes as a request to end

        try:
            found = solver.minimize(self.value_and_grad, self.w.copy(), callback=after_iteration)
        except BaseException:  # Ctrl-C, too, leaves the last iterate instead of a point of the line search
            self.w[...] = iterate
            raise
        self.w[...] = found.w
        session.history.converged = found.converged
