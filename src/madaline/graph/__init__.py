"""Takes Python functions written with NumPy; hands on graphs of primitives and their derivatives, graphs again.

Start reading with ``primitives/elementwise/``, then ``reverse_mode.py``.
"""

from madaline.graph import primitives

__all__ = ["primitives"]
