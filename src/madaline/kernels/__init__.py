"""Run a program: two executors that must agree.

Takes a flat program from ``plan``; hands arrays to whoever called it.
Start reading at ``reference.py`` (NumPy); ``core.py`` finds the compiled core that ``native.py`` drives.
"""
