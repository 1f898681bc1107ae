"""Probability distributions by the names of ``scipy.stats``, on arrays and traced values.

``scipy.stats`` takes plain arrays only. Arguments are those of SciPy: the value, the shape parameters of the
distribution, then ``loc`` and ``scale``.

- ``norm``, ``lognorm``, ``expon``, ``laplace``, ``logistic``, ``gamma``, ``chi2``, ``beta``, ``t``: ``pdf``,
  ``logpdf``, ``cdf``, ``logcdf``, ``sf``, ``logsf``
- ``poisson``: ``pmf``, ``logpmf``, ``cdf``
- ``dirichlet``, ``multivariate_normal``: ``pdf``, ``logpdf``

Examples
--------
>>> import numpy as np, madaline as md
>>> heights = np.array([1.62, 1.71, 1.80])
>>> md.grad(lambda mean: np.sum(md.functional.stats.norm.logpdf(heights, mean, 0.1)))(1.7).round(6)
np.float64(3.0)

For readers of the source: this package takes values and parameters and returns probabilities. Start with
``continuous.py``.
"""

from madaline.functional.stats.continuous import beta, chi2, expon, gamma, laplace, logistic, lognorm, norm, t
from madaline.functional.stats.discrete import poisson
from madaline.functional.stats.vectors import dirichlet, multivariate_normal

__all__ = [
    "beta",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "laplace",
    "logistic",
    "lognorm",
    "multivariate_normal",
    "norm",
    "poisson",
    "t",
]
