"""A model inside a function that is differentiated, traced, compiled or checked."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import DtypeError, ShapeError, UnknownNameError

PLAIN = md.Sequential(md.Linear(5), "tanh", md.Linear(2))
NORMED = md.Sequential(
    md.Linear(5), md.BatchNorm(), "gelu", md.Dropout(0.3), md.Residual(md.Linear(5), "mish", norm="layer"), md.Linear(2)
)
SHARED = md.Linear(3)
NETS = {
    "plain": PLAIN,
    "normed": NORMED,
    "shared and frozen": md.Sequential(SHARED, "tanh", SHARED, md.Linear(2, trainable=False)),
    "learned slopes": md.Sequential(md.Linear(4), md.nn.PReLU(), md.Linear(2)),
}
each_net = pytest.mark.parametrize("name", NETS)


def made(name, rng):
    """A model of float64 whose state is not what it starts with, and a batch."""
    model = NETS[name].init(3, seed=2, dtype="float64")
    model.state.flat = rng.uniform(0.5, 1.5, size=model.state.flat.shape)
    return model, rng.normal(size=(4, 3))


def differences(f, x, h=1e-6):
    """The Jacobian of a function of one array by centred differences."""
    columns = [(f(x + h * e.reshape(x.shape)) - f(x - h * e.reshape(x.shape))) / (2 * h) for e in np.eye(x.size)]
    return np.stack(columns, axis=-1).reshape(*np.shape(f(x)), *x.shape)


# By the input


@each_net
def test_derivatives_by_the_input_are_those_of_finite_differences(name, rng):
    model, X = made(name, rng)
    wanted = differences(model, X)
    np.testing.assert_allclose(md.jacobian(model)(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(md.jacobian(model, mode="forward")(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(md.grad(lambda x: np.sum(model(x)))(X), wanted.sum(axis=(0, 1)), rtol=1e-7, atol=1e-8)
    v = rng.normal(size=X.shape)
    value, tangent = md.jvp(model, (X,), (v,))
    np.testing.assert_allclose(value, model(X), rtol=1e-12)
    np.testing.assert_allclose(tangent, np.einsum("nojk,jk->no", wanted, v), rtol=1e-7, atol=1e-8)
    bar = rng.normal(size=value.shape)
    np.testing.assert_allclose(md.vjp(model, X)[1](bar)[0], np.einsum("nojk,no->jk", wanted, bar), rtol=1e-6, atol=1e-8)


@each_net
def test_second_derivatives_by_a_single_row(name, rng):
    model, X = made(name, rng)
    x = X[0] + 0.1
    f = lambda x: np.sum(model(x) ** 2)  # noqa: E731 - a formula
    np.testing.assert_allclose(md.hessian(f)(x), differences(md.grad(f), x), rtol=1e-6, atol=1e-7)
    assert md.jacobian(model)(x).shape == (2, 3)


@each_net
def test_a_function_that_calls_a_model_is_checked_and_compiled(name, rng):
    model, X = made(name, rng)
    assert md.check_gradient(lambda x: np.sum(model(x) ** 2), X)
    f = md.compile(md.value_and_grad(lambda x: np.mean(model(x))), rows=[0])
    for n in (1, 3, 70):
        batch = rng.normal(size=(n, 3))
        np.testing.assert_allclose(f(batch)[0], np.mean(model(batch)), rtol=1e-12)
        np.testing.assert_allclose(f(batch)[1], md.grad(lambda x: np.mean(model(x)))(batch), rtol=1e-9, atol=1e-12)


def test_training_mode_is_traced_too(rng):
    """Batch norm uses the statistics of the batch, dropout the mask of its seed and step."""
    model, X = made("normed", rng)
    f = lambda x: np.sum(model(x, train=True, seed=3, step=7) ** 2)  # noqa: E731
    np.testing.assert_allclose(md.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-7)
    assert md.trace(lambda x: model(x, train=True), X, rows=[0]).outputs[0].shape[1:] == (2,)
    with pytest.raises(ShapeError, match="needs at least 2 rows to train on, and the batch has 1"):
        md.grad(f)(X[:1])


def test_the_output_of_every_layer_can_be_differentiated(rng):
    model, X = made("plain", rng)
    f = lambda x: model.activations(x)["1"]  # noqa: E731
    np.testing.assert_allclose(md.jacobian(f)(X), differences(f, X), rtol=1e-7, atol=1e-8)
    part = model[:2]
    np.testing.assert_allclose(md.jacobian(part)(X), md.jacobian(f)(X), rtol=1e-12)


def test_a_float32_model_gives_float32_slopes(rng):
    model, X = PLAIN.init(3), rng.normal(size=(4, 3)).astype(np.float32)
    slope = md.grad(lambda x: np.sum(model(x)))(X)
    assert slope.dtype == np.float32
    wide = PLAIN.init(3, dtype="float64")
    wide.params.flat = model.params.flat
    np.testing.assert_allclose(slope, md.grad(lambda x: np.sum(wide(x)))(X.astype(float)), rtol=1e-5, atol=1e-6)
    assert md.check_gradient(lambda x: np.sum(model(x)), X)


def test_a_change_of_the_parameters_is_seen_by_the_next_gradient(rng):
    model, X = made("plain", rng)
    slope = md.grad(lambda x: np.sum(model(x)))
    before = slope(X)
    model.params.flat *= 2.0
    assert np.abs(slope(X) - before).max() > 0.1
    np.testing.assert_allclose(slope(X), differences(lambda x: np.sum(model(x)), X), rtol=1e-7, atol=1e-8)


# Its graph


def test_the_graph_of_a_net_shows_its_layers(rng):
    model, _ = made("plain", rng)
    graph = md.trace(model, np.ones((1, 3)), rows=[0])
    text = str(graph)
    assert [line.split(" = ")[1].split("(")[0] for line in text.splitlines() if "(v" in line] == [
        "matmul",
        "add",
        "tanh",
        "matmul",
        "add",
    ]
    assert "slice" not in text
    assert graph.svg().startswith("<svg")


def test_the_graph_by_parameters_names_them(rng):
    model, X = made("plain", rng)
    graph = md.trace(lambda p, X: model.with_parameters(p)(X), model.params.to_dict(), X)
    listed = [line.split()[3] for line in str(graph).splitlines() if " = input " in line]
    assert listed == [*(f"p[{path!r}]" for path in model.params), "X"]


# Several inputs and outputs


def two_inputs(rng):
    net = md.Sequential(
        md.Parallel(shop=md.Embedding(7, 3), numbers=md.nn.Standardize()),
        md.Concat(),
        md.Linear(4),
        "tanh",
        md.Parallel(price=md.Linear(1), kind=md.Linear(2)),
    )
    data = {"shop": rng.integers(0, 7, size=5), "numbers": rng.normal(size=(5, 2))}
    return net.init(data, dtype="float64"), data


def test_categories_are_constants_beside_traced_numbers(rng):
    model, data = two_inputs(rng)
    f = lambda x: model({"shop": data["shop"], "numbers": x})["kind"]  # noqa: E731
    np.testing.assert_allclose(md.jacobian(f)(data["numbers"]), differences(f, data["numbers"]), rtol=1e-7, atol=1e-8)
    both = md.jacobian(lambda x: model(data | {"numbers": x}))(data["numbers"])
    assert {name: jacobian.shape for name, jacobian in both.items()} == {"price": (5, 1, 5, 2), "kind": (5, 2, 5, 2)}
    row = {"shop": data["shop"][0], "numbers": data["numbers"][0]}
    assert md.grad(lambda x: model(row | {"numbers": x})["price"][0])(row["numbers"]).shape == (2,)


def test_parameters_of_a_net_with_several_inputs_and_outputs(rng):
    model, data = two_inputs(rng)
    f = lambda p: sum(np.sum(y**2) for y in model.with_parameters(p)(data).values())  # noqa: E731
    p = model.params.flat.copy()
    np.testing.assert_allclose(md.grad(f)(p), differences(f, p), rtol=1e-6, atol=1e-7)
    assert md.check_gradient(f, model.params.to_dict())


def test_a_whole_dict_of_inputs_is_compiled_with_its_categories(rng):
    model, data = two_inputs(rng)
    compiled = md.compile(model, rows=[0])
    np.testing.assert_allclose(compiled(data)["kind"], model(data)["kind"], rtol=1e-12)


def test_categories_that_are_traced_as_floats_are_refused(rng):
    model, data = two_inputs(rng)
    with pytest.raises(DtypeError, match="The input 'shop' holds categories, which have no derivative"):
        md.grad(lambda x: np.sum(model(data | {"shop": x})["kind"]))(data["shop"].astype(float))


def test_a_traced_input_of_another_width_is_refused(rng):
    model, _ = made("plain", rng)
    with pytest.raises(ShapeError, match=r"The input has shape \(4, 2\); the net was made for rows of shape \(3\)?"):
        md.grad(lambda x: np.sum(model(x)))(np.ones((4, 2)))


# By the parameters


@each_net
@pytest.mark.parametrize("train", [False, True])
def test_derivatives_by_the_parameters_are_those_of_finite_differences(name, train, rng):
    model, X = made(name, rng)
    f = lambda p: np.sum(model.with_parameters(p)(X, train=train, seed=1) ** 2)  # noqa: E731
    p = model.params.flat.copy()
    flat = md.grad(f)(p)
    np.testing.assert_allclose(flat, differences(f, p), rtol=1e-5, atol=1e-6)
    by_path = md.grad(f)(model.params.to_dict())
    assert list(by_path) == list(model.params)
    for path, slope in by_path.items():
        np.testing.assert_allclose(slope, model.params.over(flat)[path], rtol=1e-9, atol=1e-12)


def test_the_gradient_is_the_one_the_trainer_steps_along(rng):
    X, y = rng.normal(size=(16, 3)), rng.integers(0, 2, size=16)
    net = md.Sequential(md.Linear(5), md.BatchNorm(), "tanh", md.Linear(2))
    model, loss = net.init(X, seed=1, dtype="float64"), md.CrossEntropy()
    slope = md.grad(lambda p: loss(model.with_parameters(p)(X, train=True), y))(model.params.flat)
    trainer = md.Trainer(model, loss="cross_entropy", optimizer=md.SGD(1.0))
    trainer.fit(X, y, epochs=1, batch_size=16)
    np.testing.assert_allclose(model.params.flat - trainer.model.params.flat, slope, rtol=1e-9, atol=1e-12)


def test_the_parameters_of_a_model_are_an_argument_as_they_are():
    model = md.mlp(3, 1, activation="tanh").init(2, dtype="float64")
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    f = lambda p: np.sum(model.with_parameters(p)(X) ** 2)  # noqa: E731
    slopes, expected = md.grad(f)(model.params), md.grad(f)(model.params.to_dict())
    assert list(slopes) == list(expected) == list(model.params)
    for name, slope in slopes.items():
        np.testing.assert_array_equal(slope, expected[name])
    assert md.check_gradient(f, model.params)


def test_some_parameters_by_path_and_the_others_stay(rng):
    model, X = made("plain", rng)
    f = lambda p: np.sum(model.with_parameters(p)(X) ** 2)  # noqa: E731
    slope = md.grad(f)({"2.b": model.params["2.b"].copy()})
    whole = md.grad(f)(model.params.to_dict())
    np.testing.assert_allclose(slope["2.b"], whole["2.b"], rtol=1e-12)
    changed = model.with_parameters({"2.b": np.array([1.0, 2.0])})(X)
    np.testing.assert_allclose(changed - model(X), np.array([1.0, 2.0]) - model.params["2.b"] + np.zeros((4, 1)))


def test_the_model_itself_does_not_change(rng):
    model, X = made("normed", rng)
    before, output = model.params.to_dict(), model(X)
    other = model.with_parameters(np.zeros_like(model.params.flat))
    np.testing.assert_array_equal(other(X), np.zeros((4, 2)))
    assert list(other.activations(X)) == list(model.activations(X))
    np.testing.assert_array_equal(model(X), output)
    for path, value in before.items():
        np.testing.assert_array_equal(model.params[path], value)


def test_the_net_is_computed_in_the_type_of_its_parameters(rng):
    model, X = PLAIN.init(3), rng.normal(size=(4, 3))
    assert model.with_parameters(model.params.flat)(X).dtype == np.float32
    wide = model.with_parameters(model.params.flat.astype(np.float64))(X)
    assert wide.dtype == np.float64
    np.testing.assert_allclose(wide, model(X), rtol=1e-5, atol=1e-6)
    report = md.check_gradient(lambda p: np.sum(model.with_parameters(p)(X)), model.params.flat)
    assert report.error < 1e-6


def test_second_derivatives_by_the_parameters(rng):
    model, X = made("plain", rng)
    f = lambda p: np.mean(model.with_parameters(p)(X) ** 2)  # noqa: E731
    p, v = model.params.flat.copy(), rng.normal(size=model.params.flat.shape)
    wanted = differences(md.grad(f), p) @ v
    np.testing.assert_allclose(md.hvp(f, (p,), (v,)), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(md.hessian(f)(p) @ v, wanted, rtol=1e-6, atol=1e-7)


def test_parameters_and_input_together(rng):
    """The gradient of a penalty on the slope by the input, as in training with a gradient penalty."""
    model, X = made("plain", rng)

    def penalty(p):
        return np.sum(md.grad(lambda x: np.sum(model.with_parameters(p)(x)))(X) ** 2)

    p = model.params.flat.copy()
    np.testing.assert_allclose(md.grad(penalty)(p), differences(penalty, p), rtol=1e-6, atol=1e-7)


def test_wrong_parameters_are_refused(rng):
    model, _ = made("plain", rng)
    with pytest.raises(ShapeError, match=r"parameters must have shape \(32,\), and has shape \(3,\)\."):
        model.with_parameters(np.ones(3))
    with pytest.raises(UnknownNameError, match=r"'0\.w' is not the path of an array\. Known: '0\.W'"):
        model.with_parameters({"0.w": np.ones((3, 5))})
    with pytest.raises(ShapeError, match=r"'0\.b' must have shape \(5,\), and has shape \(4,\)\."):
        model.with_parameters({"0.b": np.ones(4)})
    with pytest.raises(DtypeError, match="parameters must hold numbers, and has type complex128"):
        model.with_parameters(1j * model.params.flat)
