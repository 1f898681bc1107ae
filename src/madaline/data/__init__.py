"""Takes files; hands on tables. Start with ``datasets.py``: small real data sets that come with the package."""
