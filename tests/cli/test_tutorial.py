"""The tutorial: its commands and its Python run in their order, and give what the page shows."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SERVER = """
import sys
from madaline.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def blocks():
    """The kind and the text of each block, in the order of the page."""
    return re.findall(
        r"^```(console|python)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )


def commands(block):
    """Each command of a block with the output that follows it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def agrees(shown, got):
    """Whether the output is as the page shows it, apart from spaces; ``...`` stands for anything."""
    first, *others = ["".join(piece.split()) for piece in shown.split("...")]
    got = "".join(got.split())
    if not got.startswith(first):
        return False
    place = len(first)
    for piece in others:
        place = got.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return not shown or not (others or [first])[-1] or place == len(got)


@pytest.fixture
def serve():
    """Start the server of a command on a free port; returns its port."""
    started = []

    def start(arguments):
        arguments = [*arguments[: arguments.index("--port")], "--port", "0"]
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(process)
        for line in process.stdout:
            if port := re.search(r"127\.0\.0\.1:(\d+)|localhost:(\d+)", line):
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return int(port[1] or port[2])
        raise AssertionError("the server did not start")

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def ask(command, port):
    """What ``curl URL --json TEXT`` gets."""
    _, url, option, text = shlex.split(command)
    assert option == "--json"
    url = "http://" + re.sub(r"localhost:\d+", f"127.0.0.1:{port}", url)
    request = urllib.request.Request(url, text.encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.dumps(json.loads(answer.read()))


@pytest.mark.page
def test_the_tutorial_does_what_it_says(madaline, serve, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    names = {}
    port = None
    kinds = [kind for kind, _ in blocks()]
    assert kinds.count("console") >= 8
    assert kinds.count("python") >= 2
    for kind, block in blocks():
        if kind == "python":
            test = doctest.DocTestParser().get_doctest(block, names, "tutorial", str(PAGE), 0)
            runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
            said = []
            assert runner.run(test, out=said.append, clear_globs=False).failed == 0, "".join(said)
            names = test.globs
            continue
        for command, shown in commands(block):
            program, *arguments = shlex.split(command)
            if program == "head":
                n_rows, path = int(arguments[1]), tmp_path / arguments[2]
                got = "".join(path.read_text().splitlines(keepends=True)[:n_rows])
            elif program == "curl":
                got = ask(command, port)
            elif arguments[0] == "serve":
                port = serve(arguments)
                continue
            else:
                result = madaline(*arguments)
                assert result.code == 0, f"{command}\n{result.out}\n{result.err}"
                got = result.out
            assert agrees(shown, got), f"{command}\nshown:\n{shown}\ngot:\n{got}"
