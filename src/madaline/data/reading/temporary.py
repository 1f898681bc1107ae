"""Temporary folders for tables that do not fit in memory. Those of processes that were killed are removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

PREFIX = "madaline-"
"""Names are ``madaline-<process>-<random letters>``."""


def temporary_folder(stack: ExitStack) -> Path:
    """A new folder that the stack removes; folders that killed processes of this user left are removed first."""
    remove_left(Path(tempfile.gettempdir()))
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-")))


def remove_left(parent: Path) -> None:
    """Remove the folders in ``parent`` whose process does not run any more."""
    for folder in parent.glob(f"{PREFIX}*-*"):
        process = folder.name.removeprefix(PREFIX).split("-", 1)[0]
        with contextlib.suppress(OSError):
            is_ours = folder.is_dir() and not folder.is_symlink() and _owner_is_this_user(folder)
            if process.isdecimal() and is_ours and not _is_running(int(process)):
                shutil.rmtree(folder, ignore_errors=True)


def _owner_is_this_user(folder: Path) -> bool:
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()


def _is_running(process: int) -> bool:
    """Whether there is a process with this number; where that cannot be told, yes."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
