"""Takes files of all kinds: CSV, Parquet, folders, standard input; hands on tables, and says what it assumed.

Start with ``table_file.py``: bytes (``text.py``) become records (``layout.py``), and these values (``format.py``).
"""
