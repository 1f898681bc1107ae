"""``python -m madaline``: the command line where the program is not on the path."""

from __future__ import annotations

from madaline.cli.__main__ import run

if __name__ == "__main__":
    run()
