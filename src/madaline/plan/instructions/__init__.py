"""The instructions of a program, one kind per file; ``plan/lower.py`` imports all of them.

Each file lowers graph nodes to instructions that both executors run.
Start with ``base.Instruction``, then ``scan.py``, the shortest kind.
"""
