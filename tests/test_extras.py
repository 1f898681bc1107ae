"""The core without the packages of the extra `tables`: estimators work, and what needs them says what to install."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from madaline.extras import EXTRAS

PYPROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
WITHOUT = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {tuple(EXTRAS)!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
"""

CORE = """
import pickle, warnings
import numpy as np, pandas as pd, madaline as md
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = np.where(X[:, 0] > 0, "up", "down")
frame = pd.DataFrame({"a": X[:, 0], "city": np.array(["Rome", "Oslo"])[np.arange(80) % 2], "day": "2024-01-05"})
frame.loc[3, "a"] = None
for clf, rows in [
    (md.MLPClassifier((4,), max_iter=3), X),
    (md.MLPClassifier((4,), max_iter=3, data="auto"), frame),
    (md.MLPClassifier(preset="auto", max_iter=3), frame),
    (md.MLPClassifier(preset="auto", max_iter=3), {"a": X[:, 0].tolist(), "city": ["Rome", "Oslo"] * 40}),
]:
    clf.fit(rows, y)
    clf.save("model.madaline")
    assert (md.load("model.madaline").predict(rows) == clf.predict(rows)).all()
    assert (pickle.loads(pickle.dumps(clf)).predict(rows) == clf.predict(rows)).all()
md.MLPRegressor(hidden_layer_sizes=(4,), max_iter=3).fit(X, X[:, 0]).predict(X)
trainer = md.Trainer(md.mlp(4, 1), loss="mse")
print(trainer.fit(X, X[:, :1], epochs=2, progress=True))
md.export(trainer.model, "net.py", to="python")
"""


def test_estimators_and_trainers_need_no_extra(run_python, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = run_python(WITHOUT + CORE)
    assert run.returncode == 0, run.stderr


NEEDS = {
    "md.data.read_table('table.csv')": "Reading a table from a file needs the package polars",
    "md.data.load_dataset('penguins')": "The data set 'penguins' needs the package polars",
    "md.train.History({'loss': [1.0]}).frame()": "history.frame() needs the package polars",
    "md.Stream('rows.parquet', target='y')": "A Stream from a Parquet file needs the package polars",
    "md.write_report(md.MLPRegressor(max_iter=1).fit(X, X[:, 0]), X, X[:, 0], 'r')": "A report needs",
}


def test_a_missing_extra_is_one_sentence_with_the_command(run_python):
    code = (
        "import warnings\nimport numpy as np, madaline as md\nwarnings.simplefilter('ignore')\nX = np.ones((30, 3))\n"
    )
    for call in NEEDS:
        code += f"try:\n    {call}\nexcept md.errors.MissingPackageError as error:\n    print(error)\n"
    run = run_python(WITHOUT + code)
    assert run.returncode == 0, run.stderr
    for line, expected in zip(run.stdout.splitlines(), NEEDS.values(), strict=True):
        assert expected in line
        assert line.endswith('Install it: pip install "madaline[tables]".')


def test_the_command_line_without_its_packages_is_one_sentence(run_python):
    run = run_python(WITHOUT + "from madaline.cli.__main__ import run; run()")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("madaline: The command line needs the package")
    assert run.stderr.count("\n") == 1


def test_without_the_server_s_packages_only_serve_is_missing(run_python):
    web = tuple(package for package, extra in EXTRAS.items() if extra == "web")
    start = f"{WITHOUT.replace(repr(tuple(EXTRAS)), repr(web))}\nfrom madaline.cli.main import main\n"
    run = run_python(f"{start}print(main(['--version']), main(['serve', 'run']))")
    assert run.stdout.endswith("0 1\n")
    assert run.stderr.startswith("madaline: madaline serve needs the package starlette")
    assert run.stderr.endswith('pip install "madaline[web]".\n')


@pytest.mark.parametrize("package", EXTRAS)
def test_the_package_is_in_the_extra_that_is_named_and_not_in_the_core(package):
    extra = PYPROJECT["optional-dependencies"][EXTRAS[package]]
    assert any(entry.startswith(package) for entry in extra)
    assert not any(entry.startswith(package) for entry in PYPROJECT["dependencies"])
