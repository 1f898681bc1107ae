"""Takes an examination of a run, hands on symptoms and remedies: one sickness in each file, named like it.

Start with ``rate_too_high.py``; the base class is in ``madaline/doctor/sickness.py``.
"""
