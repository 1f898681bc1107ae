"""Takes: tables with targets, as scikit-learn's users have them. Hands on: fitted estimators that scikit-learn can use.

Start with ``classifier.py``; ``base.py`` is what all estimators do alike.
"""
