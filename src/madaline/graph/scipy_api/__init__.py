"""Takes calls of SciPy with traced values, gives traced results: functions that SciPy offers no protocol for.

Start with ``replacement.py``, which says how a call arrives here.
"""
