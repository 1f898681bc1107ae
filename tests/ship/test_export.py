"""md.export: what it writes, what it refuses, and that no primitive is forgotten."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, ExportError, UnknownNameError
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise
from madaline.ship import c_language, js_language, loop_rules, numpy_script, onnx_rules, python_only, torch_script
from madaline.ship.export import GRAPH_TARGETS, TARGETS
from ship.cases import NOT_EXPORTED

FILES = {
    "c": ("model.c", "model.h"),
    "onnx": ("model.onnx",),
    "python": ("model.py",),
    "python-only": ("model.py",),
    "torch": ("model.py", "model.safetensors"),
}
MODEL = md.mlp(8, 3).init(5)

each_target = pytest.mark.parametrize("to", GRAPH_TARGETS.names())


def compile_c(path):
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *options, "-c", path, "-o", path.with_suffix(".o")], check=True)


def test_every_target_is_tried_here():
    assert set(FILES) == set(GRAPH_TARGETS.names())
    assert {*FILES, "html"} == set(TARGETS.names())  # test_html_page.py tries it


@each_target
def test_the_files_are_written_and_their_paths_given(to, tmp_path):
    paths = md.export(MODEL, tmp_path / FILES[to][0], to=to)
    assert [path.name for path in paths] == list(FILES[to])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES[to])
    assert all(path.stat().st_size for path in paths)


@each_target
def test_an_existing_file_is_not_overwritten_by_default(to, tmp_path):
    last = tmp_path / FILES[to][-1]
    last.write_text("mine")
    with pytest.raises(FileExistsError, match=r"The file .* already exists\. Pass overwrite=True"):
        md.export(MODEL, tmp_path / FILES[to][0], to=to)
    assert last.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1
    md.export(MODEL, str(tmp_path / FILES[to][0]), to=to, overwrite=True)
    assert last.read_bytes() != b"mine"


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.py"
    path.write_text("mine")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        md.export(MODEL, path, to="python", overwrite=True)
    assert path.read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.py"]


def test_what_cannot_be_asked_for_is_said(tmp_path):
    with pytest.raises(UnknownNameError, match=r"to='onxn' is not a known target\. Did you mean 'onnx'\?"):
        md.export(MODEL, tmp_path / "model", to="onxn")
    with pytest.raises(TypeError, match="export needs a model"):
        md.export(MODEL.net, tmp_path / "model", to="c")
    with pytest.raises(ConfigError, match=r"dtype='int8' must be 'float32' or 'float64'"):
        md.export(MODEL, tmp_path / "model", to="c", dtype="int8")


def test_another_type_can_be_asked_for(tmp_path):
    (path,) = md.export(md.mlp(8, 3).init(5, dtype="float64"), tmp_path / "a.py", to="python", dtype="float32")
    assert "float64" not in path.read_text()
    model = md.mlp(8, 3).init(5, dtype="float64")
    (path,) = md.export(model, tmp_path / "b.py", to="python")
    names: dict[str, Any] = {}
    exec(path.read_text(), names)
    X = np.ones((2, 5))
    np.testing.assert_allclose(names["predict"](X), model(X), rtol=1e-14)


@pytest.mark.parametrize(
    ("to", "known"),
    [
        ("python", numpy_script.RULES),
        ("torch", torch_script.RULES),
        ("onnx", onnx_rules.RULES),
        ("c", {**c_language.CLanguage.rules, **loop_rules.RULES}),
        ("python-only", {**python_only.PythonLanguage.rules, **loop_rules.RULES}),
        ("html", {**js_language.JavaScriptLanguage.rules, **loop_rules.RULES}),
    ],
)
def test_every_primitive_has_a_rule_or_a_reason_to_have_none(to, known):
    missing = {primitive.name for primitive in PRIMITIVES} - {"input", "constant"} - set(known)
    by_row = {"row_count"} if to in ("c", "python-only", "html") else set()
    assert missing == set(NOT_EXPORTED) | by_row
    assert all(isinstance(PRIMITIVES[name], Elementwise) for name in python_only.PythonLanguage.rules)


@dataclass(frozen=True, repr=False)
class Noise(md.nn.Layer):
    """Random outside of training, too. Without a name, so that it is in no registry."""

    def __call__(self, x, p, context):
        return x + context.uniform(x.shape)


@dataclass(frozen=True, repr=False)
class Centred(md.nn.Layer):
    """Brings rows together."""

    def __call__(self, x, p, context):
        return x - x.mean(axis=0)


@each_target
def test_a_primitive_without_a_rule_is_an_error_that_names_layer_and_primitive(to, tmp_path):
    model = md.Sequential(md.Linear(2), Noise()).init(3)
    text = r"Layer '1' \(Noise\(\)\) cannot be exported to .*'random_uniform'.*\(n, 2\).*model\[:k\]"
    with pytest.raises(ExportError, match=text):
        md.export(model, tmp_path / "model", to=to)
    assert not list(tmp_path.iterdir())
    md.export(model[:1], tmp_path / FILES[to][0], to=to)


@each_target
def test_rows_that_meet_can_be_exported_where_rows_come_together(to, tmp_path):
    model = md.Sequential(md.Linear(2), Centred()).init(3)
    if to in ("c", "python-only"):
        with pytest.raises(ExportError, match=r"Layer '1' \(Centred\(\)\) cannot be exported to .*'row_count'"):
            md.export(model, tmp_path / "model", to=to)
        return
    (path, *_) = md.export(model, tmp_path / FILES[to][0], to=to)
    X = np.random.default_rng(0).normal(size=(7, 3)).astype("float32")
    if to == "python":
        names: dict[str, Any] = {}
        exec(path.read_text(), names)
        np.testing.assert_allclose(names["predict"](X), model(X), rtol=1e-5, atol=1e-6)
    if to == "onnx":
        import onnxruntime

        found = onnxruntime.InferenceSession(path).run(None, {"x": X})[0]
        np.testing.assert_allclose(found, model(X), rtol=1e-5, atol=1e-6)


def test_a_category_that_is_not_known_stops_each_of_them(tmp_path):
    import onnxruntime

    model = md.Embedding(4, 2).init(np.array([[1]]))
    python, only, onnx = (
        md.export(model, tmp_path / f"{to}.x", to=to)[0] for to in ("python", "python-only", "onnx")
    )  # fmt: skip
    onnxruntime.set_default_logger_severity(4)
    for category in (4, -1):
        for path, function in ((python, "predict"), (only, "predict_row")):
            names: dict[str, Any] = {}
            exec(path.read_text(), names)
            with pytest.raises(IndexError):
                names[function]([[category]] if function == "predict" else [category])
        with pytest.raises(Exception, match="out of data bounds"):
            onnxruntime.InferenceSession(onnx).run(None, {"x": np.array([[category]])})


def test_names_of_inputs_may_be_anything(tmp_path):
    names = ["int", "n", "a b", "a_b", "1st", "layer_0_W", "x", "für"]
    net = md.Sequential(md.Parallel(**dict.fromkeys(names, md.nn.Identity())), md.Concat(), md.Linear(2))
    X = {name: np.full((2, 1), float(k), dtype="float32") for k, name in enumerate(names)}
    model = net.init(X)
    (path,) = md.export(model, tmp_path / "model.py", to="python")
    space: dict[str, Any] = {}
    exec(path.read_text(), space)
    np.testing.assert_allclose(space["predict"](*X.values()), model(X), rtol=1e-6)
    (path, _) = md.export(model, tmp_path / "model.c", to="c")
    subprocess.run(
        ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", path, "-o", tmp_path / "model.o"], check=True
    )
    md.export(model, tmp_path / "model.onnx", to="onnx")


def test_a_title_does_no_harm_within_a_comment(tmp_path):
    def bad(x):
        return np.tanh(x)

    bad.__name__ = '*/ """ ??/ \\ \n'
    model = md.Sequential(md.Linear(2), md.nn.Activation(bad)).init(3)
    (path,) = md.export(model, tmp_path / "model.py", to="python")
    compile(path.read_text(), "model.py", "exec")
    (path, _) = md.export(model, tmp_path / "model.c", to="c")
    subprocess.run(
        ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", path, "-o", tmp_path / "model.o"], check=True
    )


def test_the_same_model_gives_the_same_files(tmp_path):
    for to, (name, *_) in FILES.items():
        first = [path.read_bytes() for path in md.export(MODEL, tmp_path / name, to=to, overwrite=True)]
        assert first == [path.read_bytes() for path in md.export(MODEL, tmp_path / name, to=to, overwrite=True)]


def test_a_python_file_runs_without_madaline(tmp_path):
    for to in ("python", "python-only"):
        (path,) = md.export(MODEL, tmp_path / "model.py", to=to, overwrite=True)
        allowed = {"base64", "numpy"} if to == "python" else {"base64", "math", "struct"}
        assert set(re.findall(r"^import (\w+)", path.read_text(), flags=re.MULTILINE)) <= allowed
        call = "predict([[1.0] * 5])" if to == "python" else "predict_row([1.0] * 5)"
        run = subprocess.run(
            [sys.executable, "-I", "-c", f"exec(open({str(path)!r}).read()); print({call})"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        found = np.array(re.findall(r"-?\d+\.\d+(?:e-?\d+)?", run.stdout), dtype=float)
        np.testing.assert_allclose(found, MODEL(np.ones((1, 5)))[0], rtol=1e-5)


def test_the_torch_script_can_be_read_by_python(tmp_path):
    script, weights = md.export(MODEL, tmp_path / "model.py", to="torch")
    compile(script.read_text(), "model.py", "exec")
    from safetensors.numpy import load_file

    arrays = load_file(weights)
    np.testing.assert_array_equal(arrays["layer_0_W"], MODEL.params["0.W"])
