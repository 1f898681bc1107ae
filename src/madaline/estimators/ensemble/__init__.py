"""``preset="best"``: several nets and a linear model, trained on folds and averaged.

For readers of the source: start with ``fitting.py``.
"""
