"""Regressors that predict a density, quantiles or intervals.

Start with ``gaussian.py``; ``base.py`` is the common base class.
"""
