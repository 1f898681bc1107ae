"""Tables and files as arrays for a net.

- ``read_table``, ``load_dataset``: tables
- ``TablePlan``: how columns become arrays
- ``TableStream``: tables larger than memory
- ``hash_categories``: columns with any number of categories as integers
- ``ColumnScaler``, ``ImageScaler``, ``PCA``, ``ZCA``: scikit-learn transformers

For readers of the source: start with ``encode.py``, from the columns of a table to arrays.
"""

from madaline.public import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline.data.datasets": ("DATASETS", "load_dataset"),
        "madaline.data.encode": ("TablePlan",),
        "madaline.data.hashed": ("hash_categories",),
        "madaline.data.reading.table_file": ("read_table",),
        "madaline.estimators.preprocessing": ("ColumnScaler", "ImageScaler", "PCA", "ZCA"),
        "madaline.estimators.table_stream": ("TableStream",),
    },
)
