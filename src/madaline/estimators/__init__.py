"""Estimators with the interface of scikit-learn, fitted to arrays or tables with targets.

Start with ``classifier.py``; ``base.py`` is the common base class.
"""
