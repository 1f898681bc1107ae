"""Takes: tables with targets that are numbers. Hands on: estimators that know how sure they are.

Start with ``gaussian.py``; ``base.py`` is what all of them do alike.
"""
