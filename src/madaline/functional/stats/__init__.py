"""Probability distributions by the names of ``scipy.stats``, on arrays and traced values.

Arguments are those of SciPy: the value, the shape parameters of the distribution, then ``loc`` and ``scale``. Functions
that are traced may also call ``scipy.stats`` itself, which arrives here.

- ``beta``, ``cauchy``, ``chi2``, ``expon``, ``gamma``, ``gumbel_r``, ``halfnorm``, ``invgamma``, ``laplace``,
  ``logistic``, ``lognorm``, ``norm``, ``pareto``, ``rayleigh``, ``t``, ``uniform``, ``weibull_min``: ``pdf``,
  ``logpdf``, ``cdf``, ``logcdf``, ``sf``, ``logsf``; ``ppf`` and ``isf`` where the inverse has a formula
- ``bernoulli``, ``binom``, ``geom``, ``nbinom``, ``poisson``: ``pmf``, ``logpmf``, ``cdf``, ``sf``
- ``dirichlet``, ``multivariate_normal``: ``pdf``, ``logpdf``

Examples
--------
>>> import numpy as np, madaline as md
>>> heights = np.array([1.62, 1.71, 1.80])
>>> md.grad(lambda mean: np.sum(md.functional.stats.norm.logpdf(heights, mean, 0.1)))(1.7).round(6)
np.float64(3.0)

For readers of the source: the formulas are in ``madaline.graph.stats``.
"""

from madaline.graph.stats import *  # noqa: F403  # the list of names is there
from madaline.graph.stats import __all__ as __all__
