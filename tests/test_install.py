"""Installing from source: what happens without a usable compiler, and the way out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = Path(sys.executable).parent

pytestmark = pytest.mark.skipif(
    not (TOOLS / "cmake").exists() or not (TOOLS / "ninja").exists(), reason="needs cmake and ninja beside Python"
)


@pytest.fixture
def sources(tmp_path):
    """A copy of what a source distribution holds; building in the clone would disturb its build folder."""
    for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("src", "native"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def build_wheel(sources: Path, **variables: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run pip as a user would, on a machine whose search path has no compiler; also gives its text on one line."""
    inherited = {k: v for k, v in os.environ.items() if k not in {"CC", "CXX"} and not k.startswith("MADALINE_")}
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(sources / "wheels")]
    run = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", str(sources), *options],
        env=inherited | {"PATH": str(TOOLS)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    return run, " ".join((run.stdout + run.stderr).split())


def test_without_a_compiler_the_installation_says_what_is_missing_and_what_to_do(sources):
    run, text = build_wheel(sources)
    assert run.returncode != 0
    assert "madaline needs a C++20 compiler to build its native core, and none was found" in text
    assert "Install g++ 11 or newer" in text
    assert "or set MADALINE_PURE_PYTHON=1 to install madaline without its native core." in text


def test_a_compiler_that_cannot_be_used_is_named(sources):
    run, text = build_wheel(sources, CXX="/nonexistent/c++")
    assert run.returncode != 0
    assert "and none was found (CXX is /nonexistent/c++)." in text


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_compiler_that_is_too_old_is_named_with_its_version(sources):
    old = sources / "g++"
    old.write_text(f'#!/bin/sh\nPATH={os.environ["PATH"]} exec {shutil.which("g++")} -U__GNUC__ -D__GNUC__=9 "$@"\n')
    old.chmod(0o755)
    run, text = build_wheel(sources, CXX=str(old))
    assert run.returncode != 0
    assert "is GNU 9." in text
    assert "which is too old. Install g++ 11 or newer" in text


def test_a_pure_python_wheel_needs_no_compiler_and_fits_every_platform(sources):
    run, text = build_wheel(sources, MADALINE_PURE_PYTHON="1")
    assert run.returncode == 0, text
    (wheel,) = (sources / "wheels").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    names = ZipFile(wheel).namelist()
    assert "madaline/kernels/core.py" in names
    assert "madaline/py.typed" in names
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
