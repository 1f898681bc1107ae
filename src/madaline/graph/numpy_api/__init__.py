"""Takes calls of NumPy functions, operators and indexing on traced values; hands on nodes.

Start reading with ``dispatch.py``: the tables from NumPy's functions to ours. A function that is in neither table raises an error.
"""
