"""Takes calls of NumPy functions, operators and indexing on traced values; hands on nodes.

Start reading with ``dispatch.py``: the tables from NumPy's functions to ours. What is in neither raises an error.
"""
