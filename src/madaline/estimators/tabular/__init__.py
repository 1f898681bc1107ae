"""Takes tables and a target; hands on a learned model with its file, scores against baselines, and advice.

Start with ``learned.py``: a net with all that stands between a table and its answers.
"""
