"""What importing madaline does, and which room may import which."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import madaline as md
import stubs
from madaline.description import Description
from madaline.nn.activation_function import ActivationFunction
from madaline.public import INDEXED
from madaline.registry import Registry
from madaline.train.metrics import METRICS
from madaline.train.sampling import SAMPLERS

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


@pytest.mark.parametrize(
    "name", ["Adam", "MSE", "nn.initializers.FanScaled", "optim.schedules.Cosine", "LBFGS", "nn.as_activation", "nn"]
)
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


@pytest.mark.parametrize("name", ["Trainer", "load", "report.integrated_gradients", "explain", "write_report"])
def test_who_asks_for_no_estimator_does_not_wait_for_scikit_learn(run_python, name):
    run = run_python(f"import sys, madaline as md; md.{name}; print('sklearn' in sys.modules)")
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "False"


PUBLIC = [("madaline", name) for name in md.__all__] + [
    (f"madaline.{short}", name) for short in INDEXED for name in importlib.import_module(f"madaline.{short}").__all__
]
REGISTRIES = [(module, name) for module, name in PUBLIC if isinstance(getattr(sys.modules[module], name), Registry)]


@pytest.mark.parametrize(("module", "name"), REGISTRIES)
def test_a_registry_is_full_when_it_is_the_first_thing_asked_for(run_forked, module, name):
    run = run_forked(f"from {module} import {name}; print(*{name}.names())")
    assert run.returncode == 0, run.stderr
    assert tuple(run.stdout.split()) == getattr(sys.modules[module], name).names() != ()


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_public_name_can_be_loaded_and_explains_itself(module, name):
    value = getattr(sys.modules[module], name)
    assert value.__doc__
    assert name in dir(sys.modules[module])


def test_there_are_few_names_at_the_top_and_room_for_some_more():
    assert len(md.__all__) <= 77
    assert md.__all__ == sorted(set(md.__all__))


@pytest.mark.parametrize("module", ["madaline", *(f"madaline.{short}" for short in INDEXED)])
def test_everything_can_be_imported_at_once(run_forked, module):
    run = run_forked(f"from {module} import *; import {module} as m; print(set(m.__all__) - set(globals()))")
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "set()"


def registered():
    """Every class that a registry of the package holds, with the module in which users find it."""
    for module, name in REGISTRIES:
        for thing in getattr(sys.modules[module], name):
            kind = thing if isinstance(thing, type) else type(thing)
            if kind.__module__.startswith("madaline.") and issubclass(kind, Description):
                yield module, kind


@pytest.mark.parametrize(("module", "kind"), sorted(set(registered()), key=str))
def test_what_is_registered_is_public_in_the_module_of_its_registry(module, kind):
    if kind in (
        ActivationFunction,
        *METRICS,
        *SAMPLERS,
    ):  # formulas are objects; metrics and samplers are given by name
        return
    assert getattr(sys.modules[module], kind.__name__) is kind
    assert kind.__name__ in sys.modules[module].__all__


@pytest.mark.parametrize("name", ["from_keras", "from_torch", "from_sklearn", "export"])
def test_a_function_is_found_though_a_module_has_its_name(run_forked, name):
    for first in ("", f"import madaline.ship.{name}\n", f"from madaline.ship.{name} import {name}\n"):
        run = run_forked(f"{first}import madaline as md; print(type(md.ship.{name}).__name__)")
        assert run.returncode == 0, run.stderr
        assert run.stdout.strip() == "function"


@pytest.mark.parametrize("module", stubs.STUBBED)
def test_type_checkers_see_the_names_that_are_there(module):
    written = stubs.path_of(module).read_text(encoding="utf-8")
    assert written == stubs.stub(module), "run python docs/stubs.py"


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("Swish", "md.nn.Swish"),
        ("Cosine", "md.optim.schedules.Cosine"),
        ("FanScaled", "md.nn.initializers.FanScaled"),
        ("Quantile", "md.losses.Quantile"),
        ("Perceptron", "md.classical.Perceptron"),
        ("from_torch", "md.ship.from_torch"),
        ("ShapeError", "md.errors.ShapeError"),
        ("Traner", "md.Trainer"),
    ],
)
def test_a_name_that_is_elsewhere_is_an_error_that_says_where(name, suggestion):
    with pytest.raises(AttributeError) as caught:
        getattr(md, name)
    assert str(caught.value) == f"madaline has no attribute {name!r}. Did you mean {suggestion}?"
    value = md
    for part in suggestion.split(".")[1:]:
        value = getattr(value, part)


def test_asking_whether_a_name_is_there_imports_nothing(run_python):
    run = run_python("import sys, madaline as md; print(hasattr(md, 'Swish'), 'numpy' in sys.modules)")
    assert run.stdout.split() == ["False", "False"], run.stderr


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"madaline has no attribute 'no_such_name'\.$"):
        md.no_such_name  # noqa: B018  reading it is the test


def test_the_version_is_the_one_installed():
    from importlib.metadata import version

    assert version("madaline") == md.__version__


def test_packages_are_pickled_by_name():
    """cloudpickle sends functions that use ``md`` to the workers of Ray, Spark and Dask."""
    import pickle

    import madaline as md

    for package in (md, md.data, md.train):
        assert pickle.loads(pickle.dumps(package)) is package
