"""Takes numbers of units, names and seeds; hands on nets as formulas over the graph, and the values they start from.

Start reading with ``activations.py``, then ``initializers.py``.
"""
