"""Takes a trainer or an estimator and its data, hands on the result of one test, with a picture.

One test in each file; start with ``rate_range.py``.
"""
