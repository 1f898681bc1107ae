"""Entry point of ``madaline``, ``python -m madaline`` and ``python -m madaline.cli``."""

from __future__ import annotations

import signal
import sys

from madaline.errors import MissingPackageError
from madaline.extras import EXTRAS, require


def run() -> None:
    """Entry point of the installed program. Ctrl-C gives a message and an exit code, also during imports."""
    try:
        for package, extra in EXTRAS.items():
            if extra == "tables":
                require(package, "The command line")
        from madaline.cli.main import main

        code = main()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command is complete: the exit of Python must not fail
    except MissingPackageError as error:
        print(f"madaline: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("madaline: Stopped.", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    run()
