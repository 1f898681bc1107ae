"""Entry point of ``madaline``, ``python -m madaline`` and ``python -m madaline.cli``."""

from __future__ import annotations

import signal
import sys


def run() -> None:
    """Entry point of the installed program. Ctrl-C gives a message and an exit code, also during imports."""
    try:
        from madaline.cli.main import main

        code = main()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command is complete: the exit of Python must not fail
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("madaline: Stopped.", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    run()
