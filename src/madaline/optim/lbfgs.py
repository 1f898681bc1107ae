"""A quasi-Newton method for full batches, run by SciPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from madaline.description import Description, description
from madaline.registry import Registry

SOLVERS: Registry[type[Description]] = Registry("solver")


@dataclass(frozen=True)
class SolverResult:
    """The result of a solver: parameters, loss, and numbers of iterations and evaluations."""

    w: np.ndarray
    value: float
    n_iter: int
    n_evaluations: int
    converged: bool
    message: str


@description
class LBFGS(Description):
    r"""Limited-memory BFGS: Newton steps with the curvature estimated from the last gradients.

    It is not an update rule: its line search evaluates the loss of all rows several times, so it takes the loss
    function itself.

    Parameters
    ----------
    max_iter : int, default 200
        Maximum number of iterations; the line search may evaluate the loss several times in one of them.
    history : int, default 10
        Number of steps from which the curvature is estimated.
    tol : float, default 1e-5
        Stop when no element of the gradient is larger (SciPy's ``gtol``).
    value_tol : float, default 2e-9
        Stop when the relative decrease of the loss is smaller (SciPy's ``ftol``).
    max_evaluations : int, default 15000

    Notes
    -----
    Liu & Nocedal (1989); SciPy's ``minimize(method="L-BFGS-B")``, in float64. Lecture rows E9, E11.

    Examples
    --------
    >>> found = LBFGS().minimize(lambda w: (float(np.sum((w - 3) ** 2)), 2 * (w - 3)), np.zeros(2))
    >>> found.w, found.converged
    (array([3., 3.]), True)
    """

    registry: ClassVar[Registry[Any]] = SOLVERS
    name: ClassVar[str] = "lbfgs"
    ranges: ClassVar[Mapping[str, str]] = {
        "max_iter": "[1, inf)",
        "history": "[1, inf)",
        "tol": "[0, inf)",
        "value_tol": "[0, inf)",
        "max_evaluations": "[1, inf)",
    }
    max_iter: int = 200
    _: KW_ONLY
    history: int = 10
    tol: float = 1e-5
    value_tol: float = 2e-9
    max_evaluations: int = 15_000

    def minimize(
        self,
        value_and_grad: Callable[[np.ndarray], tuple[Any, Any]],
        w: np.ndarray,
        *,
        callback: Callable[[np.ndarray], None] | None = None,
    ) -> SolverResult:
        """Minimize a function, starting at ``w``.

        Parameters
        ----------
        value_and_grad : callable
            Function of a vector with the type of ``w`` that returns the loss and its gradient.
        w : array of shape (n,)
            Initial parameters. They are not modified.
        callback : callable, optional
            Function that is called with the parameters after every iteration.
        """
        from scipy.optimize import minimize  # SciPy takes long to import, and few runs need it

        w = np.asarray(w)

        def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, g = value_and_grad(x.astype(w.dtype))
            return float(value), np.asarray(g, dtype=np.float64)

        options = {
            "maxiter": self.max_iter,
            "maxcor": self.history,
            "gtol": self.tol,
            "ftol": self.value_tol,
            "maxfun": self.max_evaluations,
        }
        start = w.astype(np.float64)
        result = minimize(objective, start, jac=True, method="L-BFGS-B", callback=callback, options=options)
        return SolverResult(
            result.x.astype(w.dtype),
            float(result.fun),
            int(result.nit),
            int(result.nfev),
            bool(result.success),
            str(result.message),
        )
