"""Takes formulas, and what training left behind; hands on pictures and pages.

Start reading with ``curves.py``.
"""
