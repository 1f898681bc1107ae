"""Executors of programs: the native core and the NumPy reference, which must agree.

Both take a flat program from ``plan`` and return arrays.
Start with ``reference.py`` (NumPy); ``core.py`` finds the compiled core that ``native.py`` uses.
"""
