"""Takes findings; hands on one HTML file that needs nothing else: no network, no other files.

Start reading with ``write.py``.
"""
