"""Takes files and tables; returns arrays for a net. Start with ``encode.py``, which encodes the columns of a table."""
