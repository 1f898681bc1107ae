"""Every command of the guide runs, in its order."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "command-line.md"


@pytest.mark.page
def test_every_command_of_the_guide_runs(madaline, tmp_path):
    """Lines that need a shell run in one, with the installed program; the others run here, without imports for each."""
    blocks = re.findall(r"```console\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    assert len(lines) >= 12
    program = Path(sys.executable).with_name("madaline")
    in_shell = 0
    for line in lines:
        first, *arguments = shlex.split(line)
        if first == "madaline" and not re.search(r"[|<>;&$*]", line):
            result = madaline(*arguments)
            assert result.code == 0, f"{line}\n{result.out}\n{result.err}"
            continue
        in_shell += 1
        command = re.sub(r"(?<![\w./])madaline (?=[a-z-])", f"'{program}' ", line)
        run = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{line}\n{run.stdout}\n{run.stderr}"
    assert in_shell, "the installed program itself runs, too"
    assert {"run", "again", "cars", "scored.csv", "scored.parquet", "explained.csv", "compare.html", "model.py"} <= {
        file.name for file in tmp_path.iterdir()
    }
