"""A JupyterLab server in a process of its own, and notebooks for it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

START_SECONDS, STOP_SECONDS = 120, 30
TOKEN = "token-of-a-test"
ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/")

SETTINGS = {"apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False}}
"Settings of JupyterLab: nothing is asked or looked up."


def write_notebook(file: Path, *cells: str) -> None:
    """A notebook with these cells of code."""
    made = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": text,
        }
        for number, text in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    file.write_text(json.dumps(document), "utf-8")


class JupyterProcess:
    """JupyterLab on the notebooks of a folder. Its settings are in a folder of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "HOME")
        environment = os.environ | {name: str(home / name.lower()) for name in names}
        for name, values in SETTINGS.items():
            file = home / "jupyter_config_dir" / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values), "utf-8")
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
        command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        )
        watch = threading.Timer(START_SECONDS, self.process.kill)
        watch.start()
        self.lines: list[str] = []
        for line in self.process.stderr:
            self.lines.append(line)
            if found := ADDRESS.search(line):
                self.address = found[1]
                break
        else:
            raise AssertionError(f"JupyterLab did not start: {self.lines}")
        watch.cancel()
        self._rest = threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True)
        self._rest.start()

    def link(self, name: str) -> str:
        """The address of a notebook."""
        return f"{self.address}/lab/tree/{name}?token={TOKEN}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:  # it waits for connections of the browser; kernels end with it
            self.process.kill()
            self.process.wait()
        self._rest.join(STOP_SECONDS)
        self.process.stderr.close()
