"""CPU seconds of the tests by folder beside their budget: a pytest plugin, used by `make test-times`.

CPU seconds, those of child processes included, depend much less than wall time on what else the machine does.
Nothing fails because of them: the budget says where to look when the suite has become slow.
"""

from __future__ import annotations

import os
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

BUDGET = Path(__file__).with_name("budget.toml")
COLLECTION = "collection"


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def folder_of(path: str) -> str:
    """The line of the table that a test file belongs to: tests/cli, src/madaline, or a file directly in tests."""
    parts = path.split("/")
    return "/".join(parts[:2])


class Times:
    """Measures each test where it runs, and sums up where results are reported."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.mark = cpu_seconds()
        self.seconds: dict[str, float] = defaultdict(float)
        self.tests: dict[str, float] = defaultdict(float)

    def pytest_collection_finish(self) -> None:
        self.mark = cpu_seconds()
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput[COLLECTION] = self.mark
        else:
            self.seconds[COLLECTION] += self.mark

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        now = cpu_seconds()
        report.cpu_seconds = now - self.mark
        self.mark = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[folder_of(report.nodeid.split("::")[0])] += report.cpu_seconds
        self.tests[report.nodeid] += report.cpu_seconds

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        self.seconds[COLLECTION] += getattr(node, "workeroutput", {}).get(COLLECTION, 0)

    def pytest_terminal_summary(self, terminalreporter) -> None:
        budget = tomllib.loads(BUDGET.read_text())["cpu_seconds"]
        terminalreporter.section("CPU seconds by folder")
        for folder in sorted(self.seconds, key=self.seconds.__getitem__, reverse=True):
            line = f"{folder:<40}{self.seconds[folder]:>8.1f}{budget.get(folder, 0):>8}"
            terminalreporter.line(line)
        total = sum(self.seconds.values())
        terminalreporter.line(f"{'total':<40}{total:>8.1f}{sum(budget.values()):>8}")
        terminalreporter.section("slowest tests, CPU seconds")
        for name in sorted(self.tests, key=self.tests.__getitem__, reverse=True)[:60]:
            terminalreporter.line(f"{self.tests[name]:>8.2f} {name}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Times(config))
    import json
    import os as _os
    if _os.environ.get("TIMES_OUT"):
        class Dump:
            def pytest_unconfigure(self):
                for p in config.pluginmanager.get_plugins():
                    if isinstance(p, Times):
                        Path(_os.environ["TIMES_OUT"]).write_text(json.dumps(p.tests))
        config.pluginmanager.register(Dump())
