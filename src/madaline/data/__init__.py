"""Takes files and tables; hands on arrays for a net. Start with ``encode.py``: from a table's columns to arrays."""
