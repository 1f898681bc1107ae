"""CPU seconds of the tests by folder, beside tests/budget.toml: a pytest plugin that `make test-times` uses.

CPU seconds, those of child processes included, depend less than wall time on what else the machine is doing. No test
fails because of them: the table shows where to look when the suite has become slow.
"""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from pathlib import Path

import pytest

COLLECTION = "collection"
SLOWEST = 25
"Tests that are listed on their own."


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def folder_of(test: str) -> str:
    """The line of the table that counts a test: tests/cli, src/madaline, or tests for the files directly in it."""
    path = Path(test.split("::", maxsplit=1)[0])
    return "/".join(path.parts[: min(2, len(path.parts) - 1)]) or str(path)


class CpuTimes:
    """Measures each test where it runs, and adds up where results are reported."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.before = 0.0
        self.by_folder: Counter[str] = Counter()
        self.by_test: Counter[str] = Counter()

    def pytest_collection_finish(self) -> None:
        self.before = cpu_seconds()
        if hasattr(self.config, "workeroutput"):  # a worker of pytest-xdist
            self.config.workeroutput[COLLECTION] = self.before
        else:
            self.by_folder[COLLECTION] += self.before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        now = cpu_seconds()
        report.cpu_seconds = now - self.before  # pytest-xdist sends attributes of reports along
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.by_folder[folder_of(report.nodeid)] += report.cpu_seconds
        self.by_test[report.nodeid] += report.cpu_seconds

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        self.by_folder[COLLECTION] += getattr(node, "workeroutput", {}).get(COLLECTION, 0.0)

    def pytest_terminal_summary(self, terminalreporter) -> None:
        budget = tomllib.loads(Path(__file__).with_name("budget.toml").read_text())["cpu_seconds"]
        terminalreporter.section("CPU seconds")
        terminalreporter.line(f"{'':<24}{'taken':>8}{'budget':>8}")
        for folder, seconds in self.by_folder.most_common():
            above = "  above" if seconds > budget.get(folder, 0) else ""
            terminalreporter.line(f"{folder:<24}{seconds:>8.1f}{budget.get(folder, 0):>8}{above}")
        terminalreporter.line(f"{'together':<24}{self.by_folder.total():>8.1f}{sum(budget.values()):>8}")
        terminalreporter.section("slowest tests, in CPU seconds")
        for test, seconds in self.by_test.most_common(SLOWEST):
            terminalreporter.line(f"{seconds:>8.2f}  {test}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuTimes(config))
