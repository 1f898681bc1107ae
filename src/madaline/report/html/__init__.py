"""The report as a single HTML file that needs no network and no other files.

Start with ``write.py``.
"""
