"""``preset="best"``: several nets, linear models and a kernel machine, trained on folds and averaged.

For readers of the source: start with ``fitting.py``.
"""
