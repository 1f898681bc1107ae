"""A net with its arrays."""

from __future__ import annotations

import copy
import io
import pickle
import threading

import joblib
import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, DtypeError, ShapeError, UnknownNameError

NET = md.Sequential(
    md.Linear(6), md.BatchNorm(), "relu", md.Dropout(0.5), md.Residual(md.Linear(6), "tanh", norm="layer"), md.Linear(2)
)


@pytest.fixture
def model():
    return NET.init(4, seed=1, dtype="float64")


@pytest.fixture
def X(rng):  # noqa: N802 - as in the formulas
    return rng.normal(size=(9, 4))


# Arrays


def test_named_arrays_are_writable_views_of_one_vector(model):
    assert sum(model.params[path].size for path in model.params) == model.params.flat.size == len(model.params.flat)
    model.params["5.b"][...] = [1.0, 2.0]
    np.testing.assert_array_equal(model.params.flat[-2:], [1.0, 2.0])
    model.params.flat[...] = 0.0
    assert not any(value.any() for value in model.params.values())
    assert np.shares_memory(model.params["0.W"], model.params.flat)


def test_copies_are_no_views(model):
    saved = model.params.to_dict()
    before = saved["0.W"].copy()
    model.params.flat[...] = 9.0
    np.testing.assert_array_equal(saved["0.W"], before)


def test_arrays_say_what_they_are_and_refuse_wrong_paths_and_shapes(model):
    assert repr(model.state) == "{'1.mean': (6,), '1.variance': (6,)}"
    with pytest.raises(UnknownNameError, match=r"'0\.w' is not the path of an array\. Known: '0\.W', '0\.b'"):
        model.params["0.w"]
    with pytest.raises(ShapeError, match=r"'5\.b' has shape \(2,\) and cannot be set to an array of shape \(3,\)\."):
        model.params["5.b"] = np.ones(3)
    with pytest.raises(ShapeError, match=r"cannot be set to an array of shape \(\)"):
        model.params["5.b"] = 1.0
    assert "0.W" in model.params
    assert "0.w" not in model.params
    assert dict(md.ReLU().init(2).params) == {}


def batch_norm_model():
    return md.Sequential(md.Linear(4), md.BatchNorm(), md.ReLU(), md.Linear(2)).init(3, seed=1)


@pytest.mark.parametrize("called_before", [False, True])
def test_a_new_flat_vector_is_copied_into_the_arrays_of_the_model(called_before, rng):
    """Wholly: for the outputs, the activations, a part of the model and a pickled copy of it."""
    model, X = batch_norm_model(), rng.normal(size=(5, 3)).astype(np.float32)
    part, buffers = model[:2], (model.params.flat, model.state.flat)
    if called_before:
        model(X), model.activations(X), part(X)
    params, state = rng.normal(size=model.params.flat.shape), rng.uniform(0.5, 2.0, size=model.state.flat.shape)
    model.params.flat = params
    model.state.flat = state
    assert model.params.flat is buffers[0]
    assert model.state.flat is buffers[1]
    fresh = batch_norm_model()
    fresh.params.flat[...], fresh.state.flat[...] = params, state
    for one in (model, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(one(X), fresh(X))
        np.testing.assert_array_equal(one.activations(X)["1"], fresh.activations(X)["1"])
    np.testing.assert_array_equal(part(X), fresh[:2](X))
    params[...] = 0.0  # copied, not kept
    np.testing.assert_array_equal(model(X), fresh(X))


@pytest.mark.parametrize("name", ["params", "state"])
def test_a_flat_vector_of_another_shape_or_type_is_refused(name):
    arrays = getattr(batch_norm_model(), name)
    before = arrays.flat.copy()
    with pytest.raises(ShapeError, match=rf"flat has shape \({len(before)},\) and cannot be set to .* shape \(2,\)"):
        arrays.flat = np.ones(2)
    with pytest.raises(ShapeError, match=r"shape \(\)"):
        arrays.flat = 1.0
    with pytest.raises(DtypeError, match="flat holds float32 numbers and cannot be set to an array of type complex128"):
        arrays.flat = np.ones(len(before)) * 1j
    with pytest.raises(DtypeError, match="type <U1"):
        arrays.flat = ["a"] * len(before)
    np.testing.assert_array_equal(arrays.flat, before)


@pytest.mark.parametrize("called_before", [False, True])
def test_a_new_array_is_copied_into_its_place(called_before, rng):
    model, X = batch_norm_model(), rng.normal(size=(5, 3)).astype(np.float32)
    if called_before:
        model(X)
    W, mean = rng.normal(size=(3, 4)), rng.normal(size=4)
    model.params["0.W"], model.state["1.mean"] = W, mean
    fresh = batch_norm_model()
    fresh.params["0.W"][...], fresh.state["1.mean"][...] = W, mean
    np.testing.assert_array_equal(model(X), fresh(X))
    with pytest.raises(
        DtypeError, match=r"'0\.W' holds float32 numbers and cannot be set to an array of type complex128"
    ):
        model.params["0.W"] = W * 1j


@pytest.mark.parametrize("name", ["params", "state"])
def test_the_arrays_of_a_model_are_not_replaced(name):
    model = batch_norm_model()
    with pytest.raises(AttributeError, match=rf"model\.{name} cannot be replaced. Set model\.{name}\.flat"):
        setattr(model, name, {})


# Running


def test_the_mode_is_an_argument_and_nothing_is_changed_by_running(model, X):
    before = copy.deepcopy(model)
    one, again = model(X, train=True, seed=3), model(X, train=True, seed=3)
    np.testing.assert_array_equal(one, again)
    assert np.any(one != model(X))
    assert np.any(one != model(X, train=True, seed=4))
    assert np.any(one != model(X, train=True, seed=3, step=1))
    np.testing.assert_array_equal(model.params.flat, before.params.flat)
    np.testing.assert_array_equal(model.state.flat, before.state.flat)


def test_changed_parameters_are_seen_at_the_next_call(model, X):
    first = model(X)
    model.params["5.b"][...] += 1.0
    np.testing.assert_allclose(model(X), first + 1.0, rtol=1e-12)


def test_activations_are_those_of_every_layer(model, X):
    inside = model.activations(X)
    assert list(inside) == ["0", "1", "2", "3", "4.norm", "4.0", "4.1", "4", "5", ""]
    np.testing.assert_array_equal(inside[""], model(X))
    np.testing.assert_allclose(inside["0"], X @ model.params["0.W"] + model.params["0.b"], rtol=1e-12)
    np.testing.assert_array_equal(inside["2"], np.maximum(inside["1"], 0.0))
    assert model.activations(X[0])["4"].shape == (6,)
    assert (model.activations(X, train=True)["3"] == 0.0).mean() > 0.5


def test_data_may_be_a_list_or_what_numpy_makes_an_array_of(model, X):
    class Frame:
        def __array__(self, dtype=None, copy=None):
            return X

    for given in (X.tolist(), list(X), Frame()):
        np.testing.assert_array_equal(model(given), model(X))


def test_seeds_and_steps_are_integers(model, X):
    with pytest.raises(DtypeError, match=r"seed=0\.5 is not a 64-bit integer"):
        model(X, train=True, seed=0.5)
    with pytest.raises(ValueError, match="seed=-1 must be a non-negative integer"):
        NET.init(4, seed=-1)


# Parts


@pytest.mark.parametrize("index", [slice(3), slice(1, 5), slice(-2, None), slice(2, 3), 0, 4, -1])
def test_a_part_gives_what_the_whole_gives_there(model, X, index):
    inside = model.activations(X)
    chosen = range(6)[index] if isinstance(index, slice) else [range(6)[index]]
    before = X if chosen[0] == 0 else inside[str(chosen[0] - 1)]
    np.testing.assert_array_equal(model[index](before), inside[str(chosen[-1])])


def test_a_part_shares_memory_with_the_whole(model, X):
    part = model[4:]
    assert list(part.params) == ["0.norm.weight", "0.norm.bias", "0.0.W", "0.0.b", "1.W", "1.b"]
    assert list(model[1].state) == ["mean", "variance"]
    assert list(model[4].params) == ["norm.weight", "norm.bias", "0.W", "0.b"]
    part.params["1.b"][...] = 7.0
    np.testing.assert_array_equal(model.params["5.b"], 7.0)
    np.testing.assert_array_equal(part[1].params["b"], 7.0)
    model[1].state["mean"][...] = 3.0
    np.testing.assert_array_equal(model.state["1.mean"], 3.0)
    assert repr(model[5]) == "Model(Linear(2), 14 parameters, float64)"
    assert str(model[:1]).splitlines()[-1].split() == ["total", "30", "54"]


def test_parts_find_layers_that_stand_twice(rng):
    layer = md.Linear(3)
    block = md.Residual(layer, "tanh")
    model = md.Sequential(layer, block, "relu", md.Sequential(block, layer)).init(3, dtype="float64")
    inside = model.activations(rng.normal(size=(4, 3)))
    np.testing.assert_array_equal(model[3](inside["2"]), inside["3"])
    np.testing.assert_array_equal(model[1:](inside["0"]), inside["3"])
    assert list(model[3].params) == ["0.0.W", "0.0.b"]
    assert np.shares_memory(model[3].params["0.0.W"], model.params["0.W"])


def test_parts_are_frozen_as_the_whole_is(X):
    model = md.Model.of(NET, X, freeze=["1", "4.norm"])
    part = model[1:5]
    assert [path for path, entry in part.network.params.items() if entry.frozen] == [
        "0.weight", "0.bias", "3.norm.weight", "3.norm.bias",
    ]  # fmt: skip
    h = np.ones((1, 6))
    np.testing.assert_array_equal(part[0](h, train=True), part[0](h))
    assert "frozen" in str(part)
    assert "frozen" not in str(model[5])


def test_a_model_goes_through_its_layers(model, X):
    h = X
    for part in model:
        h = part(h)
    np.testing.assert_allclose(h, model(X), rtol=1e-12)


def test_parts_that_are_none_are_refused(model):
    with pytest.raises(ConfigError, match=r"\[9\] of 6 layers selects none of them, or not consecutive ones\."):
        model[9]
    for index in (slice(3, 3), slice(None, None, 2), slice(None, None, -1)):
        with pytest.raises(ConfigError, match="of 6 layers selects none"):
            model[index]
    with pytest.raises(ConfigError, match=r"\[0\] selects layers of a Sequential, but the net is Linear\(2\)\."):
        md.Linear(2).init(3)[0]


# Copies and threads


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, through_joblib, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["deepcopy", "joblib", "pickle"],
)
def test_a_copy_is_a_model_of_its_own(model, X, copied):
    model(X)
    again = copied(model)
    np.testing.assert_array_equal(again(X, train=True), model(X, train=True))
    again.params.flat[...] = 0.0
    assert model.params.flat.any()
    again.params["5.b"][...] = 3.0
    np.testing.assert_array_equal(again(X), 3.0)
    layer = md.Linear(3)
    shared = copied(md.Sequential(layer, layer).init(3))
    assert list(shared[1].params) == ["W", "b"]


def test_one_model_can_be_run_from_several_threads(model, rng):
    batches = [rng.normal(size=(n, 4)) for n in (1, 3, 50, 400)]
    expected = [(model(x), model(x, train=len(x) > 1, seed=5)) for x in batches]
    fresh = copy.deepcopy(model)
    wrong = []

    def work(x, results):
        for _ in range(50):
            found = fresh(x), fresh(x, train=len(x) > 1, seed=5)
            if not all(np.array_equal(a, b) for a, b in zip(found, results, strict=True)):
                wrong.append(len(x))

    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(batches, expected, strict=True) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
