"""Takes files: CSV, Parquet, folders, standard input; returns tables and a list of what was assumed about them.

Start with ``table_file.py``. Bytes become text (``text.py``), text records (``layout.py``), records values
(``format.py``); ``writing.py`` writes a table in the dialect of another.
"""
