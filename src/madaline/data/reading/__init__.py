"""Reading of tables from CSV and Parquet files, folders and standard input, with a list of assumptions.

Start with ``table_file.py``. Bytes are decoded to text (``text.py``), text is split into records (``layout.py``), and
records are converted to values (``format.py``); ``writing.py`` writes a table in the dialect of another.
"""
