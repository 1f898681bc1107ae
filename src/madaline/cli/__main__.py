"""Where the program starts, as ``madaline`` or as ``python -m madaline.cli``."""

from __future__ import annotations

import signal
import sys


def run() -> None:
    """What the installed program calls. Ctrl-C is a word and an exit code from the first module to the last."""
    try:
        from madaline.cli.main import main

        code = main()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: what Python does at its end must not fail
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("madaline: Stopped.", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    run()
