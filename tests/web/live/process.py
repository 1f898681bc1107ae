"""A server in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

START_SECONDS, STOP_SECONDS = 120, 60


class ServerProcess:
    """``madaline serve`` with some arguments, on a free port."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        command = [sys.executable, "-m", "madaline", "serve", *arguments, "--port", "0"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        self.errors: list[str] = []
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()
        watch = threading.Timer(START_SECONDS, self.process.kill)
        watch.start()
        for line in self.process.stdout:
            found = re.search(r"Serving at (http://\S+)", line)
            if found:
                break
        else:
            watch.cancel()
            self._close()
            raise AssertionError(f"The server did not start: {self.errors}")
        watch.cancel()
        self.url = found[1]
        self.port = int(self.url.rpartition(":")[2])

    def _read_errors(self) -> None:
        self.errors += list(self.process.stderr)

    def _close(self) -> None:
        self.process.wait(STOP_SECONDS)
        self._reader.join()
        self.process.stdout.close()
        self.process.stderr.close()

    def connect(self) -> socket.socket:
        """A new connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=STOP_SECONDS)

    def open_files(self) -> int:
        """Number of open files of the process."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def memory(self) -> float:
        """Memory of the process in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1000

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._close()
        assert not [line for line in self.errors if "Traceback" in line], self.errors
