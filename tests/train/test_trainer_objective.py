"""What the trainer minimises: losses, penalties, clipping, constraints, frozen layers and groups."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError
from small_trainer import small


def cross_entropy(p, X, y):
    h = np.tanh(X @ p["0.W"] + p["0.b"])
    z = h @ p["2.W"] + p["2.b"]
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]), h


def by_differences(objective, params):
    """The gradient of a function of named arrays, by central differences."""
    slopes = {}
    for name, value in params.items():
        slopes[name] = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            ends = []
            for side in (1, -1):
                moved = {key: array.copy() for key, array in params.items()}
                moved[name][place] += side * 1e-6
                ends.append(objective(moved))
            slopes[name][place] = (ends[0] - ends[1]) / 2e-6
    return slopes


PENALTIES = {
    "none": (None, lambda p, h: 0.0),
    "l2": (md.optim.L2(0.1), lambda p, h: 0.1 * sum((p[k] ** 2).sum() for k in ("0.W", "2.W"))),
    "l2 over the rows": (
        md.optim.L2(0.1, per_row=True),
        lambda p, h: 0.1 / len(h) * sum((p[k] ** 2).sum() for k in ("0.W", "2.W")),
    ),
    "l1 of one layer": ({"2": md.optim.L1(0.1)}, lambda p, h: 0.1 * np.abs(p["2.W"]).sum()),
    "l2 of a bias that is named": ({"0.b": md.optim.L2(0.5)}, lambda p, h: 0.5 * (p["0.b"] ** 2).sum()),
    "several": (
        ["l2", md.optim.Activity(0.2, norm="l2")],
        lambda p, h: 1e-4 * sum((p[k] ** 2).sum() for k in ("0.W", "2.W")) + 0.2 * (h**2).sum(axis=1).mean(),
    ),
    "one's own": (
        lambda w: 0.1 * np.sum(np.abs(w) ** 3),
        lambda p, h: 0.1 * sum((np.abs(p[k]) ** 3).sum() for k in ("0.W", "2.W")),
    ),
    "orthogonal columns": (
        {"0": md.optim.Orthogonality(0.1)},
        lambda p, h: 0.1 * ((p["0.W"] @ p["0.W"].T - np.eye(4)) ** 2).sum(),
    ),
}


@pytest.mark.parametrize("name", PENALTIES)
def test_a_step_goes_down_the_objective_written_by_hand(rows, name):
    X, y = rows
    regularizer, penalty = PENALTIES[name]

    def objective(p):
        loss, h = cross_entropy(p, X, y)
        return loss + penalty(p, h)

    trainer = small(regularizer=regularizer)
    trainer.fit(X, y, epochs=1, batch_size=None, shuffle=False)
    start = trainer.net.init(X, dtype="float64").params.to_dict()
    slopes = by_differences(objective, start)
    for path, slope in slopes.items():
        np.testing.assert_allclose(trainer.model.params[path], start[path] - 0.1 * slope, atol=1e-9)
    loss, h = cross_entropy(start, X, y)
    assert trainer.history["loss"][0] == pytest.approx(loss, rel=1e-12)
    if penalty(start, h):
        assert trainer.history["penalty"][0] == pytest.approx(penalty(start, h), rel=1e-10)


def test_the_norm_of_the_gradient_is_clipped(rows):
    X, y = rows
    trainer = small(clip_norm=0.01, optimizer=md.SGD(1.0))
    trainer.fit(X, y, epochs=1, batch_size=None)
    start = trainer.net.init(X, dtype="float64").params.flat
    assert np.linalg.norm(trainer.model.params.flat - start) == pytest.approx(0.01, rel=1e-3)
    with pytest.raises(ConfigError, match=r"clip=.*clip_norm"):
        small(clip="value", clip_norm=1.0)


def test_weights_keep_to_their_constraint(rows):
    trainer = small(constraint={"0": md.optim.MaxNorm(0.3), "2": "non_negative"}, optimizer=md.SGD(1.0))
    trainer.fit(*rows, epochs=3)
    assert np.linalg.norm(trainer.model.params["0.W"], axis=0).max() <= 0.3 + 1e-12
    assert trainer.model.params["2.W"].min() == 0.0
    assert trainer.model.params["2.b"].min() < 0.0


def test_frozen_layers_keep_their_bits(digits):
    X, y = digits
    net = md.Sequential(md.Linear(16), md.BatchNorm(), "relu", md.Linear(16, trainable=False), "relu", md.Linear(10))
    trainer = md.Trainer(
        net, loss="cross_entropy", optimizer=md.AdamW(0.01, weight_decay=0.1), freeze=["0", "1"], regularizer="l2"
    )
    trainer.fit(X, y, epochs=2)
    start = net.init(X)
    for path in ("0.W", "0.b", "1.weight", "1.bias", "3.W", "3.b"):
        assert trainer.model.params[path].tobytes() == start.params[path].tobytes()
    assert trainer.model.state["1.mean"].tobytes() == start.state["1.mean"].tobytes()
    assert (trainer.model.params["5.W"] != start.params["5.W"]).all()
    with pytest.raises(ConfigError, match="no parameters to train"):
        md.Trainer(net, loss="cross_entropy", freeze=[""]).fit(X, y)
    with pytest.raises(ConfigError, match="freeze='9' is not the path"):
        md.Trainer(net, loss="cross_entropy", freeze=["9"]).fit(X, y)


def test_groups_have_their_own_rates_and_decay(rows):
    X, y = rows
    groups = {"0": {"rate": 0.0}, "2.W": {"rate": 0.5}, "*.b": md.train.ParameterGroup(decay=1.0)}
    adamw = md.AdamW(0.1, weight_decay=0.2)
    start = small().net.init(X, dtype="float64").params
    plain, grouped = small(optimizer=adamw), small(optimizer=adamw, groups=groups)
    for trainer in (plain, grouped):
        trainer.fit(X, y, epochs=1, batch_size=None)
    moved = {path: plain.model.params[path] - start[path] for path in start}
    found = {path: grouped.model.params[path] - start[path] for path in start}
    assert not found["0.W"].any()
    np.testing.assert_allclose(found["2.W"], 0.5 * moved["2.W"], rtol=1e-10)
    # Without a group, decoupled decay leaves biases alone; both started at 0 here, so their first step is the same.
    np.testing.assert_allclose(found["2.b"], moved["2.b"], rtol=1e-10)
    with pytest.raises(ConfigError, match="'9' selects no layer"):
        small(groups={"9": {"rate": 0.1}}).fit(X, y)
    with pytest.raises(ConfigError, match="must be a number of at least 0"):
        small(groups={"0": {"rate": -1.0}})
    with pytest.raises(ConfigError, match="regularizers: 'nine'"):
        small(regularizer={"nine": "l2"}).fit(X, y)


@pytest.mark.parametrize("optimizer", [md.SGD(0.1), md.LBFGS(3)], ids=["sgd", "lbfgs"])
def test_a_loss_or_penalty_in_float64_trains_a_net_in_float32(rows, optimizer):
    """Numbers of NumPy's make a formula float64 whatever the net is; ours is the mean of the same."""
    X, y = rows

    def of_labels(z, y):
        return np.sum(
            (np.arange(z.shape[1]) == y[:, None]) * 1.0 * (md.functional.logsumexp(z, axis=1, keepdims=True) - z), 1
        )

    def penalty(w):
        return np.sum(np.full(1, 0.1) * w * w)

    ours, theirs = (
        small(loss=loss, regularizer=regularizer, optimizer=optimizer, dtype="float32")
        for loss, regularizer in ((of_labels, penalty), ("cross_entropy", md.optim.L2(0.1)))
    )
    for trainer in (ours, theirs):
        trainer.fit(X, y, epochs=3, batch_size=None, validation=(X, y), sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(ours.history["loss"], theirs.history["loss"], rtol=1e-4)
    np.testing.assert_allclose(ours.history["val_loss"], theirs.history["val_loss"], rtol=1e-4)
    np.testing.assert_allclose(ours.model.params.flat, theirs.model.params.flat, rtol=1e-3, atol=1e-5)


def test_formulas_of_ones_own_train_as_built_in_ones(digits, same):
    X, y = digits

    def swish(x):
        return x * md.functional.sigmoid(x)

    def cube(prediction, target):
        return np.sum(np.abs(prediction - target) ** 3, axis=1)

    def momentum(w, g, v, *, t, lr):
        v = 0.9 * v + g
        return w - lr * v, v

    rule = md.optim.as_optimizer(momentum, learning_rate=0.001)
    own = md.Trainer(md.Sequential(md.Linear(8), md.nn.Activation(swish), md.Linear(10)), loss=cube, optimizer=rule)
    history = own.fit(X, np.eye(10)[y], epochs=6)
    assert history["loss"][-1] < 0.8 * history["loss"][0]
    sgd = md.SGD(0.001, momentum=0.9)
    built = md.Trainer(md.Sequential(md.Linear(8), md.nn.Activation(swish), md.Linear(10)), loss=cube, optimizer=sgd)
    built.fit(X, np.eye(10)[y], epochs=6)
    np.testing.assert_allclose(own.model.params.flat, built.model.params.flat, rtol=1e-4, atol=1e-5)


def test_a_name_of_a_layer_to_freeze_is_one_name():
    net = md.Sequential(*[md.Linear(2) for _ in range(13)])
    trainer = md.Trainer(net, freeze="12")
    trainer.fit(np.ones((4, 2)), np.zeros((4, 2)), epochs=1)
    fresh = net.init(2)
    changed = {path for path in fresh.params if not np.array_equal(fresh.params[path], trainer.model.params[path])}
    assert "1.W" in changed
    assert "12.W" not in changed
    assert "2.W" in changed
