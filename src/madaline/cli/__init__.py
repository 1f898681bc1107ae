"""The command line: commands that write files and print tables.

Start with ``main.py``; each command has its own file.
"""
