"""Takes values and parameters of probability distributions, gives densities and probabilities, also of traced values.

The distributions have SciPy's names; users find them as ``md.functional.stats``. Start with ``continuous.py``.
"""

from madaline.graph.stats.continuous import beta, chi2, expon, gamma, laplace, logistic, lognorm, norm, t
from madaline.graph.stats.discrete import bernoulli, binom, geom, nbinom, poisson
from madaline.graph.stats.tails import cauchy, gumbel_r, halfnorm, invgamma, pareto, rayleigh, uniform, weibull_min
from madaline.graph.stats.vectors import dirichlet, multivariate_normal

__all__ = [
    "bernoulli",
    "beta",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "geom",
    "gumbel_r",
    "halfnorm",
    "invgamma",
    "laplace",
    "logistic",
    "lognorm",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rayleigh",
    "t",
    "uniform",
    "weibull_min",
]
