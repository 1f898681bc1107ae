"""Conversion of the parameters of an estimator to arguments of a trainer."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.description import description
from madaline.errors import ConfigError
from madaline.optim.adam import Adam
from madaline.optim.lbfgs import LBFGS
from madaline.optim.optimizer import Optimizer, as_optimizer, bias_correction
from madaline.optim.regularizers import L2
from madaline.optim.sgd import SGD
from madaline.train.recipe import as_solver
from madaline.train.sampling import Rows, Sampler

if TYPE_CHECKING:
    from madaline.estimators.parameters import NetParameters

VALUE_TOL = 2.220446049250313e-09
"The default of SciPy, which scikit-learn's L-BFGS uses."


def solver(estimator: NetParameters) -> Optimizer | LBFGS:
    """The update rule, or L-BFGS."""
    e = estimator
    if e.optimizer is not None:
        return _own(e)
    if e.solver == "lbfgs":
        return LBFGS(e.max_iter, tol=e.tol, value_tol=VALUE_TOL, max_evaluations=e.max_fun)
    if e.solver == "sgd":
        return SGD(
            e.learning_rate_init, momentum=e.momentum, nesterov=bool(e.nesterovs_momentum and e.momentum), **_decay(e)
        )
    epsilon = UncorrectedEpsilon(float(e.epsilon), float(e.beta_2))
    return Adam(e.learning_rate_init, beta1=e.beta_1, beta2=e.beta_2, eps=epsilon, **_decay(e))


@dataclass(frozen=True)
class UncorrectedEpsilon:
    r"""scikit-learn's ``epsilon``, which is added before the bias correction: :math:`\varepsilon/\sqrt{1-\beta_2^t}`.

    Kingma & Ba 2015, end of section 2.
    """

    epsilon: float
    beta2: float

    def __call__(self, t: Any) -> Any:
        return self.epsilon / np.sqrt(bias_correction(self.beta2, t))


def is_lbfgs(estimator: NetParameters) -> bool:
    """Whether the solver is L-BFGS, which uses all rows."""
    given = estimator.solver if estimator.optimizer is None else estimator.optimizer
    return given in ("lbfgs", LBFGS) or isinstance(given, LBFGS)


def can_continue(estimator: NetParameters) -> bool:
    """Whether ``partial_fit`` is available."""
    if is_lbfgs(estimator):
        given = estimator.solver if estimator.optimizer is None else estimator.optimizer
        raise AttributeError(f"partial_fit is only available for stochastic optimizers. {given} is not stochastic.")
    return True


def _own(e: Any) -> Optimizer | LBFGS:
    if isinstance(e.optimizer, (LBFGS, Optimizer)):
        found: Optimizer | LBFGS = e.optimizer
    elif e.optimizer in ("lbfgs", LBFGS):
        found = LBFGS(e.max_iter, tol=e.tol, value_tol=VALUE_TOL)
    elif isinstance(e.optimizer, dict):
        found = as_solver(e.optimizer)
    else:
        found = as_optimizer(e.optimizer, learning_rate=e.learning_rate_init)
    if e.weight_decay is not None:
        if not isinstance(found, Optimizer):
            raise ConfigError(
                f"weight_decay={e.weight_decay!r} cannot be combined with {found!r}: use alpha or regularizer."
            )
        return replace(found, **_decay(e))
    return found


def _decay(e: Any) -> dict[str, Any]:
    return {} if e.weight_decay is None else {"weight_decay": float(e.weight_decay), "decoupled": True}


def regularizer(estimator: NetParameters) -> Any:
    """The given regularizer, or scikit-learn's penalty: ``alpha / 2`` times the squares, divided by the batch size."""
    if estimator.regularizer is not None:
        return estimator.regularizer
    if estimator.weight_decay is not None or not estimator.alpha:
        return None
    return L2(0.5 * float(estimator.alpha), per_row=True)


def seed_of(rng: np.random.RandomState) -> int:
    """A seed from the state of a generator, without drawing from it, so that later draws match scikit-learn's."""
    _, key, position, *_ = rng.get_state()
    return zlib.crc32(np.append(key, np.uint32(position)).tobytes()) >> 1


@description
class SameOrder(Sampler):
    """The order of rows in scikit-learn: successive shuffles of the same array.

    It must be called exactly once per epoch, because every call advances the generator.
    """

    rng: np.random.RandomState
    _last: list[np.ndarray] = field(default_factory=list, compare=False)

    def order(self, rows: Rows, target: Any, rng: np.random.Generator) -> Rows:
        moves = np.arange(len(rows))
        self.rng.shuffle(moves)
        order = self._last[0][moves] if self._last else moves
        self._last[:] = [order]
        return rows[order]
