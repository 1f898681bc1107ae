"""Examples from the lectures, each a short script with pictures: run them, change a line, run them again.

It takes the name of an example and gives its figures. Start reading with ``runner.py``; the scripts are in
``examples/``.
"""
