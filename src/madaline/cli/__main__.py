"""``python -m madaline.cli``: as ``madaline``, where the program is not on the path."""

from madaline.cli.main import run

run()
