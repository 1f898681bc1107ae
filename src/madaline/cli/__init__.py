"""Takes what is typed in a terminal; hands on files, tables on the screen, and exit codes.

Start with ``main.py``: one command a file, errors in a line or two.
"""
