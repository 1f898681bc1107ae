"""The instructions of a program, one kind in each file; ``plan/lower.py`` imports all of them.

Takes graph nodes; hands on instructions that both executors run.
Start reading with ``base.Instruction``, then ``scan.py``, the shortest kind.
"""
