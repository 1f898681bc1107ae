"""Evaluation of estimators on tables: scores, baselines, effects of columns, and advice.

Start with ``scores.py``.
"""
