"""What importing madaline does, and which room may import which."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import madaline as md

ROOT = Path(__file__).parents[1]
SOURCE = Path(md.__file__).parent


# An editable install answers `import madaline` before the search path does, so its finder has to go.
LINT = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
sys.path.insert(0, ".")
from importlinter.cli import lint_imports
sys.exit(lint_imports("pyproject.toml", cache_dir=None))
"""


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the contract of pyproject.toml on the package in ``folder``."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    return subprocess.run([sys.executable, "-c", LINT], cwd=folder, capture_output=True, text=True, check=False)


def test_imports_point_one_way(tmp_path):
    shutil.copytree(SOURCE, tmp_path / "madaline", ignore=shutil.ignore_patterns("__pycache__"))
    run = lint_imports(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("room", "imported"), [("graph", "plan"), ("plan", "kernels"), ("data", "graph"), ("train", "cli")]
)
def test_an_import_against_the_way_is_found(tmp_path, room, imported):
    for name in ("", room, imported):
        (tmp_path / "madaline" / name).mkdir()
        (tmp_path / "madaline" / name / "__init__.py").touch()
    (tmp_path / "madaline" / room / "__init__.py").write_text(f"import madaline.{imported}\n")
    run = lint_imports(tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    assert f"madaline.{room} is not allowed to import madaline.{imported}" in run.stdout


def test_every_room_has_its_place_in_the_order():
    """A new folder that the contract does not know could import anything unseen."""
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    contract = (ROOT / "pyproject.toml").read_text().split("[tool.importlinter]")[1]
    assert {room for room in rooms if f"({room})" not in contract} == set()


def test_import_madaline_loads_none_of_the_heavy_packages(run_python):
    code = """
import sys, madaline
heavy = {"numpy", "scipy", "sklearn", "rich", "torch", "jax", "polars", "narwhals", "plotly", "typer", "matplotlib"}
print(*sorted(heavy & set(sys.modules)))
"""
    run = run_python(code)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == ""


@pytest.mark.parametrize("name", ["Adam", "MSE", "FanScaled", "Cosine", "LBFGS", "as_activation", "schedules"])
def test_a_description_needs_no_package_but_numpy(run_python, name):
    """SciPy alone would take longer than a small fit."""
    code = f"""
import sys, madaline as md
md.{name}
print(*sorted({{"scipy", "sklearn", "rich", "matplotlib"}} & set(sys.modules)))
"""
    run = run_python(code)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == ""


@pytest.mark.parametrize("name", ["Trainer", "load", "integrated_gradients", "explain", "write_report"])
def test_who_asks_for_no_estimator_does_not_wait_for_scikit_learn(run_python, name):
    run = run_python(f"import sys, madaline as md; md.{name}; print('sklearn' in sys.modules)")
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize("name", [name for name in md.__all__ if name.isupper() and hasattr(getattr(md, name), "find")])
def test_a_registry_is_full_when_it_is_the_first_thing_asked_for(run_python, name):
    run = run_python(f"import madaline as md; print(*md.{name}.names())")
    assert run.returncode == 0, run.stderr
    assert tuple(run.stdout.split()) == getattr(md, name).names() != ()


def test_what_a_short_name_would_hide_is_found_in_its_module():
    assert md.schedules.Constant is not md.initializers.Constant
    assert md.schedules.Cosine is md.Cosine
    assert md.losses.Huber is md.Huber
    assert md.optim.Adam is md.Adam
    assert md.activations.mish(0.0) == 0.0


@pytest.mark.parametrize("name", md.__all__)
def test_every_public_name_can_be_loaded_and_explains_itself(name):
    value = getattr(md, name)
    assert value.__doc__
    assert name in dir(md)


def test_type_checkers_see_the_names_that_are_there():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == {(module, name) for name, module in md._MODULE_OF.items()}


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'madaline' has no attribute 'no_such_name'"):
        md.no_such_name  # noqa: B018  reading it is the test


def test_the_version_is_the_one_installed():
    from importlib.metadata import version

    assert version("madaline") == md.__version__
