"""Takes formulas, histories, models and predictions; hands on plots and pages.

Start reading with ``findings.py`` for reports and with ``curves.py`` for plots.
"""
