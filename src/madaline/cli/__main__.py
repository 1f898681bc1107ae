"""Entry point of the command line: ``madaline``, ``python -m madaline`` or ``python -m madaline.cli``."""

from __future__ import annotations

import signal
import sys


def run() -> None:
    """Run the command line; Ctrl-C gives a message and exit code 130 at any time."""
    try:
        from madaline.cli.main import main

        code = main()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done; the shutdown of Python must not fail
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("madaline: Stopped.", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    run()
