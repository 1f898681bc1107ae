"""Where the program starts, as ``madaline`` or as ``python -m madaline.cli``."""

from __future__ import annotations

import sys


def run() -> None:
    """What the installed program calls. Ctrl-C is a word and an exit code while modules are loaded, too."""
    try:
        from madaline.cli.main import main

        code = main()
    except KeyboardInterrupt:
        print("madaline: Stopped.", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    run()
