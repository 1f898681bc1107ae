"""Every layer of the registry, asked the same questions."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest

import madaline as md
from agreement import assert_executors_agree, needs_core
from madaline.graph.tree import flatten, tree_map
from madaline.nn.layer import LAYERS, Layer
from nn.layer_cases import CASES, everything

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_mode = pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])

KEY = np.array([5, 1])


def outputs(case, dtype=np.float64, *, train):
    """A function of parameters, state and inputs."""
    network = case.network(dtype)

    def run(w, state, x, key):
        context = network.run(w, state, x, key=key, train=train)
        return context.outputs[""], network.state_after(context, state)

    return run


def compared(found, expected, **tolerance):
    for one, other in zip(flatten(found)[0], flatten(expected)[0], strict=True):
        np.testing.assert_allclose(one, other, **tolerance)


def test_every_layer_has_a_case():
    inside = {part.name for case in CASES for part in everything(case.layer)}
    assert inside >= {name for name in LAYERS.names() if LAYERS[name].__module__.startswith("madaline.")}


@each_case
@each_mode
def test_the_gradient_is_that_of_finite_differences(case, train):
    w, state = case.arrays()
    leaves = flatten(case.inputs())[0]
    run = outputs(case, train=train)

    def loss(w, *floats):
        given = iter(floats)
        x = tree_map(lambda leaf: next(given) if leaf.dtype.kind == "f" else leaf, case.inputs())
        y = flatten(run(w, state, x, KEY)[0])[0]
        return sum(np.sum(one * np.cos(np.arange(one.size, dtype=float)).reshape(one.shape)) for one in y)

    assert md.check_gradient(loss, w, *(leaf for leaf in leaves if leaf.dtype.kind == "f"))


@needs_core
@each_case
@each_mode
@each_dtype
def test_both_executors_agree_on_outputs_state_and_gradients(case, train, dtype):
    w, state = case.arrays(dtype)
    run = outputs(case, dtype, train=train)

    def step(w, state, x, key):
        def total(w):
            return sum(np.sum(one * one) for one in flatten(run(w, state, x, key)[0])[0])

        return run(w, state, x, key), md.grad(total)(w)

    for n_rows in (2, 37, 300):
        x = case.inputs(dtype, n_rows)
        graph = md.trace(step, w, state, x, KEY, rows=[2])
        assert_executors_agree(graph, [w, state, *flatten(x)[0], KEY], n_rows)


@each_case
@each_dtype
def test_outside_of_training_a_row_does_not_look_at_the_others(case, dtype):
    model = case.model(dtype)
    whole = model(case.inputs(dtype, 300))
    for n_rows in (0, 1, 2, 37):
        x = case.inputs(dtype, n_rows)
        found = model(x)
        assert all(leaf.dtype == dtype and len(leaf) == n_rows for leaf in flatten(found)[0])
        expected = tree_map(lambda leaf, n=n_rows: leaf[:n], whole)
        compared(found, expected, rtol=20 * np.finfo(dtype).eps, atol=20 * np.finfo(dtype).eps)


@each_case
def test_a_single_row_gives_a_single_row(case):
    model = case.model()
    batch = case.inputs(n_rows=1)
    compared(model(tree_map(lambda leaf: leaf[0], batch)), tree_map(lambda leaf: leaf[0], model(batch)), rtol=0.0)


@each_case
def test_float32_is_float64_but_for_roundings(case):
    for train in (False, True):
        if train and case.by_torch is None:
            continue  # masks differ
        found = case.model(np.float32)(case.inputs(np.float32), train=train)
        compared(found, case.model()(case.inputs(), train=train), rtol=2e-4, atol=2e-5)


@each_case
def test_inputs_may_be_strided_read_only_lists_integers_or_half_precision(case):
    model = case.model()
    x = tree_map(lambda leaf: np.round(4 * leaf) if leaf.dtype.kind == "f" else leaf, case.inputs())
    expected = model(x)

    def strided(leaf):
        wide = np.zeros((2 * len(leaf), *leaf.shape[1:]), leaf.dtype)
        wide[::2] = leaf
        return wide[::2]

    def read_only(leaf):
        leaf = leaf.copy()
        leaf.flags.writeable = False
        return leaf

    changed = [strided, read_only, np.asfortranarray, np.ndarray.tolist]
    changed += [lambda leaf, t=t: leaf.astype(t) for t in ("int8", "int64", "float16", "float32", ">f8")]
    for change in changed:
        compared(model(tree_map(change, x)), expected, rtol=0.0)


@each_case
def test_a_layer_is_rebuilt_from_plain_data_and_makes_the_same_model(case):
    again = Layer.from_dict(json.loads(json.dumps(case.layer.to_dict())))
    assert again == case.layer
    assert again.table(case.rows) == case.layer.table(case.rows)
    x = case.inputs(np.float32)
    one, other = case.layer.init(x, seed=3), again.init(x, seed=3)
    assert list(one.params) == list(other.params)
    np.testing.assert_array_equal(one.params.flat, other.params.flat)
    np.testing.assert_array_equal(one.state.flat, other.state.flat)
    for train in (False, True):
        compared(one(x, train=train), other(x, train=train), rtol=0.0)


@each_case
def test_what_a_layer_prints_makes_it_again(case):
    text = repr(case.layer)
    assert eval(text, vars(md.nn.initializers) | vars(md.nn)) == case.layer


@each_case
def test_layers_are_frozen_hashable_and_explain_themselves(case):
    assert hash(case.layer) == hash(copy.deepcopy(case.layer))
    assert type(case.layer).__doc__
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.layer.trainable = False


@each_case
def test_a_model_can_be_copied_and_pickled(case):
    model, x = case.model(np.float32), case.inputs(np.float32)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        compared(again(x), model(x), rtol=0.0)
        assert str(again) == str(model)
    other = copy.deepcopy(model)
    other.params.flat[...] = 0.0
    other.state.flat[...] = 1.0
    np.testing.assert_array_equal(model.params.flat, case.arrays(np.float32)[0])


@each_case
def test_the_table_has_the_numbers_of_the_model(case):
    network = case.network("float32")
    *_, total = [line for line in case.layer.table(case.rows).splitlines() if line.startswith("total")]
    assert total.split()[1] == str(network.n_params)
    assert network.n_params == sum(entry.size for entry in network.params.values())


@each_case
def test_a_frozen_layer_has_nothing_to_train_and_stays_as_it_is(case):
    frozen = md.Sequential(case.layer, trainable=False)
    model = frozen.init(case.inputs())
    assert model.network.n_trainable == 0
    assert model.network.min_rows == 1
    context = model.network.run(
        model.params.flat[:0], model.state.flat, case.inputs(), frozen=model.params.flat, key=KEY, train=True
    )
    assert not context.new_state


@each_case
def test_drawing_is_reproducible_and_depends_on_the_seed(case):
    one, same, other = (case.layer.init(case.inputs(), seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.params.flat, same.params.flat)
    drawn = [path for path, entry in one.network.params.items() if path.endswith(("W", "V"))]
    assert all(np.any(one.params[path] != other.params[path]) for path in drawn)
    assert np.isfinite(one.params.flat).all()
