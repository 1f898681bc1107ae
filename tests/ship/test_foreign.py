"""Nets from scikit-learn, PyTorch and Keras: the same outputs, and clear words where a file is not right."""

from __future__ import annotations

import contextlib
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from foreign_models import FOREIGN
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neural_network import MLPClassifier, MLPRegressor

import madaline as md
from madaline.errors import ConfigError, FileFormatError, MadalineError, MissingPackageError
from madaline.ship.torch_layers import net_of

pytestmark = pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
SHAPES = {"units": (2, 3)}


def recorded(name):
    with np.load(FOREIGN / f"{name}.npz") as found:
        return found["X"], found["y"]


@pytest.mark.parametrize("name", ["plain", "norms", "units"])
def test_a_net_of_pytorch_gives_what_it_gave_there(name):
    text = (FOREIGN / f"torch_{name}.txt").read_text()
    model = md.ship.from_torch(FOREIGN / f"torch_{name}.safetensors", text, inputs=SHAPES.get(name))
    X, y = recorded(f"torch_{name}")
    np.testing.assert_allclose(model(X), y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["plain", "norms", "units"])
def test_a_net_of_keras_gives_what_it_gave_there(name):
    X, y = recorded(f"keras_{name}")
    np.testing.assert_allclose(md.ship.from_keras(FOREIGN / f"keras_{name}.keras")(X), y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_regressor_of_scikit_learn_gives_what_it_gives_there(activation, dtype, rng):
    X, y = rng.normal(size=(60, 4)).astype(dtype), rng.normal(size=(60, 2))
    theirs = MLPRegressor(hidden_layer_sizes=(7, 5), activation=activation, solver="lbfgs", max_iter=15).fit(X, y)
    model = md.ship.from_sklearn(theirs)
    assert model.network.dtype == theirs.coefs_[0].dtype
    np.testing.assert_allclose(model(X), theirs.predict(X), rtol=1e-5, atol=1e-6)


def test_a_regressor_of_counts_gives_the_logarithm_of_what_it_gives_there(rng):
    X = rng.normal(size=(60, 4))
    theirs = MLPRegressor(loss="poisson", hidden_layer_sizes=(5,), max_iter=15, solver="lbfgs").fit(
        X, rng.poisson(2.0, 60)
    )
    found = md.losses.Poisson().predict(md.ship.from_sklearn(theirs)(X))
    np.testing.assert_allclose(found[:, 0], theirs.predict(X), rtol=1e-6)


@pytest.mark.parametrize("kind", ["binary", "classes", "labels"])
def test_a_classifier_of_scikit_learn_gives_its_probabilities(kind, rng):
    X = rng.normal(size=(90, 4))
    y = {"binary": X[:, 0] > 0, "classes": rng.integers(0, 3, size=90), "labels": X[:, :3] > 0}[kind]
    theirs = MLPClassifier(hidden_layer_sizes=(6,), solver="lbfgs", max_iter=15).fit(X, y)
    loss = md.CrossEntropy() if kind == "classes" else md.BinaryCrossEntropy()
    found = loss.predict(md.ship.from_sklearn(theirs)(X))
    expected = theirs.predict_proba(X)
    np.testing.assert_allclose(
        found[:, 0] if kind == "binary" else found, expected[:, 1] if kind == "binary" else expected
    )


def test_what_scikit_learn_has_not_fitted_is_refused():
    for thing in (MLPClassifier(), object()):
        with pytest.raises(ConfigError, match="has no coefs_ and intercepts_"):
            md.ship.from_sklearn(thing)


STATE = {"0.weight": np.ones((2, 3), np.float32), "0.bias": np.zeros(2, np.float32)}
TEXT = "Sequential(\n  (0): Linear(in_features=3, out_features=2, bias=True)\n)"


def test_a_net_of_ours_may_say_the_layers_and_names_may_have_a_prefix():
    model = md.ship.from_torch({f"net.{k}": v for k, v in STATE.items()}, md.Sequential(md.Linear(2)), prefix="net.")
    assert model(np.ones((1, 3))).tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a layer"),
        ("Linear(in_features=3, out_features=2, bias=True)", "an nn.Sequential is needed"),
        ("Sequential((0): Conv2d(1, 2))", r"Conv2d\(1, 2\) is not supported"),
        ("Sequential((1): ReLU())", r"Layer \(1\) was found where \(0\) is expected"),
        ("Sequential((0): ReLU(", "ends inside a layer"),
        ("Sequential((0): ReLU()) and more", "is not the end"),
        ("Sequential((0): Linear(__import__('os'), 2))", "unsupported arguments"),
        ("Sequential((0): Linear(in_features=3, out_features=2, bias=5))", "True or False"),
        ("Sequential((0): Hardtanh(min_val=0.0, max_val=2.0))", "must have the bounds"),
        ("Sequential((0): Embedding(4, 3))", "followed by Flatten"),
        ("Sequential((0): " * 100, "nested more than"),
        ("Sequential(" + "(" * 200_000, "is not the number of a layer"),
        (f"Sequential((0): ReLU({'(' * 200_000}{')' * 200_000}))", "unsupported arguments"),
        ("x" * 2_000_000, "characters"),
    ],
)
def test_a_text_that_is_no_net_is_refused(text, message):
    with pytest.raises(MadalineError, match=message):
        net_of(text)


@given(st.text("Sequntial()0123: \nRLU=,TrueFase.'\"", max_size=60))
def test_any_text_gives_a_net_or_an_error_that_says_so(text):
    with contextlib.suppress(MadalineError):
        assert isinstance(net_of(f"Sequential({text}"), md.Sequential)


def test_weights_that_do_not_fit_are_named(tmp_path):
    cases = [
        ({"0.weight": STATE["0.weight"]}, "no weights for '0.b'"),
        ({"0.bias": STATE["0.bias"]}, r"'0\.weight', are missing or not a matrix"),
        (STATE | {"0.weight": np.ones(6, np.float32)}, r"'0\.weight', are missing or not a matrix"),
        (STATE | {"2.weight": np.ones(2, np.float32)}, "'2.weight' have no place"),
        (STATE | {"0.bias": np.zeros(5, np.float32)}, r"'0.b' have shape \(5,\); it needs \(2,\)"),
        (STATE | {"0.bias": np.zeros(2, np.int64)}, "must be floats; these are int64"),
    ]
    for state, message in cases:
        with pytest.raises(FileFormatError, match=message):
            md.ship.from_torch(state, TEXT)
    with pytest.raises(ConfigError, match="needs the net"):
        md.ship.from_torch(STATE)
    with pytest.raises(ConfigError, match="inputs=20"):
        md.ship.from_torch({}, "Sequential((0): ReLU())")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        md.ship.from_torch(tmp_path / "none.pt", TEXT)
    (tmp_path / "damaged").write_bytes(b"hello")
    with pytest.raises(FileFormatError, match=r"is damaged or not a file of safetensors or torch\.save"):
        md.ship.from_torch(tmp_path / "damaged", TEXT)


def test_a_pickle_is_never_unpickled_here(tmp_path):
    """Only torch may read it, and without running its code."""
    trap = tmp_path / "trap"

    class Evil:
        def __reduce__(self):
            return Path.touch, (trap,)

    (tmp_path / "evil.pt").write_bytes(pickle.dumps({"0.weight": Evil()}, protocol=2))
    with pytest.raises((MissingPackageError, FileFormatError), match="torch"):
        md.ship.from_torch(tmp_path / "evil.pt", TEXT)
    assert not trap.exists()


def changed_keras(tmp_path, change):
    """The recorded file with another description."""
    path = tmp_path / "changed.keras"
    with zipfile.ZipFile(FOREIGN / "keras_plain.keras") as old, zipfile.ZipFile(path, "w") as new:
        document = json.loads(old.read("config.json"))
        change(document)
        new.writestr("config.json", json.dumps(document))
        new.writestr("model.weights.h5", old.read("model.weights.h5"))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(class_name="Functional"), "'Functional'; a Sequential is needed"),
        (lambda d: d["config"]["layers"][1].update(class_name="LSTM"), "The layer LSTM is not supported"),
        (
            lambda d: d["config"]["layers"][1]["config"].update(activation="mine"),
            r"'dense' \(Dense\).*'mine' is not supported",
        ),
        (lambda d: d["config"]["layers"][1]["config"].update(units=2**40), "have shape"),
        (lambda d: d["config"]["layers"][1]["config"].update(units="many"), "n_out='many'"),
        (lambda d: d["config"]["layers"][1]["config"].update(use_bias=False), "has 2 arrays; it needs 1"),
        (lambda d: d["config"]["layers"].insert(3, d["config"]["layers"][3]), "has 0 arrays; it needs 1"),
        (lambda d: d["config"]["layers"].pop(0), "lacks the shape of a row"),
        (lambda d: d["config"]["layers"][0]["config"].update(batch_shape=[None, None]), "must be a list of integers"),
        (lambda d: d.update(config=None), "is damaged or not a Keras 3 file"),
    ],
)
def test_a_keras_file_that_does_not_fit_is_refused(change, message, tmp_path):
    with pytest.raises(FileFormatError, match=message):
        md.ship.from_keras(changed_keras(tmp_path, change))


def test_a_damaged_keras_file_is_refused(tmp_path):
    content = (FOREIGN / "keras_plain.keras").read_bytes()
    path = tmp_path / "damaged.keras"
    with pytest.raises(FileNotFoundError):
        md.ship.from_keras(path)
    for damaged in (b"", b"hello", content[:1000], content[:-300], content.replace(b"dense", b"dunce")):
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError):
            md.ship.from_keras(path)


def test_weights_alone_need_a_description(tmp_path):
    with zipfile.ZipFile(FOREIGN / "keras_plain.keras") as archive:
        (tmp_path / "net.weights.h5").write_bytes(archive.read("model.weights.h5"))
        config = archive.read("config.json").decode()
    with pytest.raises(ConfigError, match=r"Pass config=model\.to_json\(\)"):
        md.ship.from_keras(tmp_path / "net.weights.h5")
    X, y = recorded("keras_plain")
    for given_config in (config, json.loads(config)):
        np.testing.assert_allclose(md.ship.from_keras(tmp_path / "net.weights.h5", given_config)(X), y, rtol=1e-5)
