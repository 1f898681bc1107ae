"""A playground in a process of its own, and what tests ask its page."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from typing import Self

STOP_SECONDS = 30


class PlayProcess:
    """``madaline play`` with some arguments, on a free port; ``url`` holds the token."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "madaline", "play", *arguments, "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        watch = threading.Timer(60, self.process.kill)
        watch.start()
        self.lines: list[str] = []
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(r"Playground at (http://\S+?)/#token=(\S+)", line):
                break
        else:
            raise AssertionError(f"The playground did not start: {self.lines}")
        watch.cancel()
        self.address, self.token = found[1], found[2]

    def link(self, hash_: str = "") -> str:
        """The address of a page with its token."""
        return f"{self.address}/#{hash_}{'&' if hash_ else ''}token={self.token}"

    def stop(self) -> int:
        """Press Ctrl-C; returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(STOP_SECONDS)
        self.lines += list(self.process.stdout)
        self.process.stdout.close()
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()
        assert not [line for line in self.lines if "Traceback" in line], self.lines


def status(page, *wanted):
    """Wait until the run has one of these states."""
    page.wait_for_function("wanted => wanted.includes(document.body.dataset.status)", arg=list(wanted))


def step(page):
    """The newest step."""
    return int(page.evaluate("document.body.dataset.step"))


def at(page, wanted):
    """Wait until a run rests at a step."""
    page.wait_for_function("step => document.body.dataset.step === String(step)", arg=wanted)
    status(page, "paused", "finished")


def scores(page):
    """Loss and metric as the page shows them; a run that has just been opened has none for a moment."""
    page.wait_for_function("() => !document.getElementById('scores').innerText.includes('\\u2013')")
    return page.locator("#scores").inner_text()


def full_speed(page):
    """Train as fast as possible."""
    page.locator("#speed").fill("6")
