"""Takes formulas, and what training left behind; hands on pictures and pages.

Start reading with ``findings.py`` for reports, with ``curves.py`` for pictures.
"""
