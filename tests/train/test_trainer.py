"""The trainer: what it minimises, what it leaves alone, what goes in and out."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from scipy.optimize import minimize

import madaline as md
from madaline.errors import ConfigError, MadalineError, UnknownNameError


def small(**options):
    options = {"loss": "cross_entropy", "optimizer": md.SGD(0.1), "dtype": "float64"} | options
    return md.Trainer(md.Sequential(md.Linear(5), "tanh", md.Linear(3)), **options)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(40, 4))
    return X, np.argmax(X[:, :3], axis=1)


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


# What is minimised

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


def test_lbfgs_ends_where_scipy_does(rows):
    X, y = rows
    trainer = small(optimizer=md.LBFGS(40, tol=1e-8, value_tol=1e-14), regularizer=md.optim.L2(0.01))
    history = trainer.fit(X, y)
    model = trainer.net.init(X, dtype="float64")
    loss = md.value_and_grad(
        lambda w: (
            md.CrossEntropy()(trainer.model.network.run(w, None, X).outputs[""], y)
            + 0.01 * (np.sum(w[:20] ** 2) + np.sum(w[25:40] ** 2))
        )
    )
    options = {"maxiter": 40, "gtol": 1e-8, "ftol": 1e-14, "maxcor": 10, "maxfun": 15_000}
    found = minimize(loss, model.params.flat, jac=True, method="L-BFGS-B", options=options)
    assert history["loss"][-1] + history["penalty"][-1] == pytest.approx(found.fun, rel=1e-10)
    np.testing.assert_allclose(trainer.model.params.flat, found.x, rtol=1e-5, atol=1e-7)
    assert not history.converged
    assert history.epochs == found.nit


def test_lbfgs_is_meant_by_name_class_and_plain_data(rows):
    for what in ("lbfgs", md.LBFGS, md.LBFGS().to_dict()):
        assert small(optimizer=what).recipe.optimizer == md.LBFGS()


def test_lbfgs_takes_no_clipping_constraints_or_averages(rows):
    with pytest.raises(ConfigError, match="clip and average cannot be used with"):
        small(optimizer="lbfgs", clip_norm=1.0, average="ema").fit(*rows)


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


# What is left alone


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


# Going on


def test_fine_tuning_starts_from_a_models_parameters_and_leaves_it_alone(digits, same):
    X, y = digits
    first = md.Trainer(md.Sequential(md.Linear(16), md.BatchNorm(), "relu", md.Linear(10)), loss="cross_entropy")
    first.fit(X, y, epochs=3)
    before = copy.deepcopy(first.model)
    second = md.Trainer(first.model, loss="cross_entropy", optimizer=md.SGD(0.0))
    second.fit(X, y, epochs=1)
    np.testing.assert_array_equal(second.model.params.flat, before.params.flat)
    tuned = md.Trainer(first.model, loss="cross_entropy", freeze=["0"])
    assert tuned.fit(X, y, epochs=1)["loss"][0] < first.history["loss"][0]
    same(first.model, before)
    assert tuned.model.params["0.W"].tobytes() == before.params["0.W"].tobytes()
    assert (tuned.model.params["3.W"] != before.params["3.W"]).any()


def test_fit_starts_afresh_and_partial_fit_goes_on(digits, same):
    X, y = digits
    one, two, four = (md.Trainer(md.mlp(16, 10), loss="cross_entropy") for _ in range(3))
    one.fit(X, y, epochs=4)
    first = one.model.params.flat.copy()
    one.fit(X, y, epochs=4)
    np.testing.assert_array_equal(one.model.params.flat, first)
    two.fit(X, y, epochs=2)
    two.partial_fit(X, y, epochs=2)
    same(two.model, one.model)
    assert two.history["epoch"].tolist() == [1, 2, 3, 4]
    assert two.history["loss"].tolist() == one.history["loss"].tolist()
    for _ in range(4):
        four.partial_fit(X, y)
    same(four.model, one.model)


def test_steps_by_hand_are_those_of_an_epoch_in_order(rows, same):
    X, y = rows
    one, other = small(), small()
    one.fit(X, y, batch_size=10, epochs=1, shuffle=False, record_steps=True)
    losses = [other.step(X[i : i + 10], y[i : i + 10]) for i in range(0, 40, 10)]
    same(one.model, other.model)
    assert losses == one.history.steps["loss"].tolist()


def test_going_on_with_other_data_is_fine(rows):
    X, y = rows
    trainer = small()
    trainer.partial_fit(X[:10], y[:10])
    trainer.partial_fit(X[10:], y[10:], sample_weight=np.ones(30))
    trainer.partial_fit(X, np.eye(3)[y])
    assert trainer.history.epochs == 3


@pytest.mark.parametrize("average", [None, "ema"])
def test_a_trainer_can_be_copied_and_pickled_and_the_copy_goes_on_alike(digits, same, average):
    X, y = digits
    net = md.Sequential(md.Linear(8), md.BatchNorm(), "relu", md.Linear(10))
    trainer = md.Trainer(net, loss="cross_entropy", average=average, schedule=md.optim.schedules.ReduceOnPlateau())
    for twin in (copy.deepcopy(trainer), pickle.loads(pickle.dumps(trainer))):
        twin.fit(X, y, epochs=1)
    trainer.fit(X, y, epochs=2, metrics="accuracy")
    twins = copy.deepcopy(trainer), pickle.loads(pickle.dumps(trainer))
    before = trainer.model.params.flat.copy()
    for twin in twins:
        same(twin.model, trainer.model)
        assert twin.history["loss"].tolist() == trainer.history["loss"].tolist()
        np.testing.assert_array_equal(twin.predict(X[:5]), trainer.predict(X[:5]))
        assert twin.evaluate(X, y) == trainer.evaluate(X, y)
        twin.partial_fit(X, y)
    np.testing.assert_array_equal(trainer.model.params.flat, before)
    trainer.partial_fit(X, y)
    for twin in twins:
        same(twin.model, trainer.model)
    assert len(pickle.dumps(trainer)) < 200_000, "the data do not come along"


# What goes in and out


def test_several_inputs_and_outputs_by_name(rng):
    net = md.Sequential(
        md.Parallel(a=md.Linear(4), b=md.Sequential(md.Linear(4), "tanh")),
        md.Concat(),
        md.Parallel(kind=md.Linear(3), size=md.Linear(1)),
    )
    X = {"b": rng.normal(size=(60, 2)), "a": rng.normal(size=(60, 3))}
    y = {"size": X["a"][:, :1], "kind": np.argmax(X["a"], axis=1)}
    trainer = md.Trainer(net, loss={"kind": "cross_entropy", "size": "mse"}, optimizer=md.Adam(0.02), dtype="float64")
    history = trainer.fit(X, y, epochs=60, batch_size=20, validation=0.2, sample_weight=np.ones(60))
    assert history["loss"][-1] < 0.5 * history["loss"][0]
    found = trainer.predict(X)
    assert found["kind"].shape == (60, 3)
    np.testing.assert_allclose(found["kind"].sum(axis=1), 1.0)
    z = trainer.model(X)
    parts = md.CrossEntropy()(z["kind"], y["kind"]) + md.MSE()(z["size"], y["size"])
    assert trainer.evaluate(X, y)["loss"] == pytest.approx(parts, rel=1e-12)
    with pytest.raises(ConfigError, match="give a loss for each"):
        md.Trainer(net, loss="mse").fit(X, y)
    with pytest.raises(ConfigError, match="loss names the output 'other'"):
        md.Trainer(net, loss={"other": "mse"}).fit(X, y)


def test_a_tuple_of_inputs(rng):
    net = md.Sequential(md.Parallel(md.Linear(4), md.Linear(4)), md.Concat(), md.Linear(1))
    X = rng.normal(size=(30, 2)), rng.normal(size=(30, 3))
    trainer = md.Trainer(net)
    trainer.fit(X, X[0][:, :1], epochs=2)
    assert trainer.predict(X).shape == (30, 1)


def test_without_targets_a_net_learns_to_give_its_inputs_back(digits):
    X, _ = digits
    trainer = md.Trainer(md.mlp(16, 64), optimizer=md.Adam(0.01))
    history = trainer.fit(X, epochs=8, validation=0.2, metrics="mae")
    assert history["val_loss"][-1] < 0.6 * history["val_loss"][0]
    assert trainer.evaluate(X)["loss"] == pytest.approx(np.mean((trainer.predict(X) - X) ** 2), rel=1e-5)


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


# Threads


@pytest.mark.parametrize("batch_size", [16, 300, None])
def test_the_result_does_not_depend_on_the_number_of_threads_or_on_the_run(digits, same, batch_size):
    X, y = digits
    net = md.Sequential(
        md.Linear(48), md.BatchNorm(), "relu", md.Residual(md.Linear(48), "swish"), md.Dropout(0.3), md.Linear(10)
    )
    found = []
    for threads in (1, 2, 4, 1):
        trainer = md.Trainer(net, loss="cross_entropy", threads=threads, clip_norm=1.0)
        trainer.fit(X, y, epochs=2, batch_size=batch_size, validation=0.2, metrics=["accuracy", "auc"])
        found.append(trainer)
    for trainer in found[1:]:
        same(trainer.model, found[0].model)
        for column in ("loss", "val_loss", "val_auc"):
            assert trainer.history[column].tolist() == found[0].history[column].tolist()


def test_another_seed_gives_another_run(digits, differs):
    X, y = digits
    one, other = (md.Trainer(md.mlp(8, 10), loss="cross_entropy", seed=seed) for seed in (0, 1))
    one.fit(X, y, epochs=1)
    other.fit(X, y, epochs=1)
    differs(one.model, other.model)


def test_several_threads_may_predict_at_once(digits):
    X, y = digits
    trainer = md.Trainer(md.mlp(32, 10), loss="cross_entropy")
    trainer.fit(X, y, epochs=1)
    expected = trainer.predict(X)
    found = [None] * 8

    def predict(k):
        found[k] = trainer.predict(X[k::8])

    threads = [threading.Thread(target=predict, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, part in enumerate(found):
        np.testing.assert_array_equal(part, expected[k::8])


def test_nothing_can_be_predicted_before_there_is_a_model():
    trainer = small()
    with pytest.raises(ConfigError, match="call fit first"):
        trainer.predict(np.zeros((2, 4)))
    with pytest.raises(ConfigError, match="call fit first"):
        _ = trainer.run
    with pytest.raises(ConfigError, match="net='relu' must be a layer"):
        md.Trainer("relu")
    with pytest.raises(UnknownNameError, match="cross_entropy"):
        small(loss="cros_entropy")


def test_a_callback_scales_the_rate_from_the_next_epoch_on(rows):
    X, y = rows
    trainer = small()
    history = trainer.fit(X, y, epochs=3, callbacks=lambda trainer, row: trainer.scale_rate(0.5 ** row["epoch"]))
    np.testing.assert_allclose(history["learning_rate"], [0.1, 0.05, 0.025])
    with pytest.raises(ConfigError, match=r"factor=-1.0 must be a number of at least 0"):
        trainer.scale_rate(-1.0)


def test_a_trainer_that_let_go_of_its_data_trains_on(rows):
    X, y = rows
    kept, released = small(optimizer="adam"), small(optimizer="adam")
    for trainer in (kept, released):
        trainer.fit(X, y, epochs=2)
    released.release()
    with pytest.raises(ConfigError, match="no training yet"):
        _ = released.run
    for trainer in (kept, released):
        trainer.partial_fit(X, y)
    assert np.array_equal(kept.model.params.flat, released.model.params.flat)


def test_a_copy_of_a_trainer_goes_on_from_the_weights_its_model_is_given(rows):
    X, y = rows
    trainer = small(optimizer=md.SGD(0.0))
    trainer.fit(X, y, epochs=1)
    again = pickle.loads(pickle.dumps(trainer))
    again.model.params.flat[...] = 1.0
    again.partial_fit(X, y)
    assert (again.model.params.flat == 1.0).all()


def test_a_call_that_is_refused_leaves_the_trained_model_as_it_was(diabetes):
    X, y = diabetes
    trainer = md.Trainer(md.mlp(8, 1))
    trainer.fit(X, y, epochs=2, metrics="mae")
    before, epochs = trainer.predict(X), trainer.history.epochs
    for options in ({"validation": 1.5}, {"metrics": "none"}, {"sampler": "none"}, {"resume": "there is none"}):
        with pytest.raises((ValueError, FileNotFoundError)):
            trainer.fit(X, y, epochs=1, **options)
    with pytest.raises(ValueError, match="rows"):
        trainer.fit(X, y[:5], epochs=1)
    np.testing.assert_array_equal(trainer.predict(X), before)
    assert "mae" in trainer.evaluate(X, y)
    assert trainer.partial_fit(X, y).epochs == epochs + 1


def test_a_name_of_a_layer_to_freeze_is_one_name():
    net = md.Sequential(*[md.Linear(2) for _ in range(13)])
    trainer = md.Trainer(net, freeze="12")
    trainer.fit(np.ones((4, 2)), np.zeros((4, 2)), epochs=1)
    fresh = net.init(2)
    changed = {path for path in fresh.params if not np.array_equal(fresh.params[path], trainer.model.params[path])}
    assert "1.W" in changed
    assert "12.W" not in changed
    assert "2.W" in changed


def test_lbfgs_has_metrics_of_training_rows_and_may_stop_by_them(digits):
    trainer = md.Trainer(md.mlp(8, 10), loss="cross_entropy", optimizer=md.LBFGS(max_iter=15))
    history = trainer.fit(*digits, metrics=["accuracy", "auc"], validation=0.2, early_stopping="accuracy")
    assert list(history)[:6] == ["epoch", "loss", "accuracy", "auc", "val_loss", "val_accuracy"]
    assert history.best_epoch == np.argmax(history["accuracy"]) + 1
    again = md.Trainer(md.mlp(8, 10), loss="cross_entropy", optimizer=md.LBFGS(max_iter=15))
    history = again.fit(*digits, metrics=["accuracy", "auc"])
    found = again.evaluate(*digits)
    for name in ("accuracy", "auc", "loss"):
        assert found[name] == pytest.approx(history[name][-1], rel=1e-5)


def test_lbfgs_keeps_to_the_time_and_takes_no_rates(digits):
    trainer = md.Trainer(md.mlp(8, 10), loss="cross_entropy", optimizer=md.LBFGS(max_iter=50))
    history = trainer.fit(*digits, max_seconds=0)
    assert (history.stopped, history.epochs) == ("time", 1)
    for options in ({"schedule": "cosine"}, {"groups": {"0": {"rate": 0.1}}}):
        with pytest.raises(ConfigError, match=f"{next(iter(options))} cannot be used with LBFGS"):
            md.Trainer(md.mlp(8, 10), loss="cross_entropy", optimizer="lbfgs", **options).fit(*digits)


@pytest.mark.parametrize("threads", [1, 2])
def test_validation_rows_are_judged_alike_wherever_they_lie(threads):
    """Together in memory they are run as they are; in another order, type or number they are gathered."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)).astype("float32"), rng.normal(size=(500, 1)).astype("float32")

    def losses(held):
        trainer = md.Trainer(md.mlp(8, 1, dropout=0.2, norm="batch"), loss="mse", threads=threads)
        return trainer.fit(X, y, epochs=3, validation=(held, y))["val_loss"]

    together = losses(X)
    assert np.array_equal(losses(np.asfortranarray(X)), together)
    assert np.array_equal(losses(X.astype("float64")), together)
    trainer = md.Trainer(md.mlp(8, 1), loss="mse", threads=threads)
    last = trainer.fit(X, y, epochs=2, validation=(X, y))["val_loss"][-1]
    assert trainer.evaluate(X, y)["loss"] == pytest.approx(last, rel=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        {"class_weight": "none"},
        {"metrics": "top_k", "early_stopping": "val_loss"},
        {"probes": ["7"]},
        {"sample_weight": np.ones(3)},
        {"resume": "no such file"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_refused_fit_changes_nothing(rows, wrong):
    X, y = rows
    fresh, trained, kept = small(), small(), small()
    with pytest.raises((MadalineError, FileNotFoundError)):
        fresh.fit(X, y, **wrong)
    assert not hasattr(fresh, "model")
    with pytest.raises(ConfigError, match="no training yet"):
        _ = fresh.run
    for trainer in (trained, kept):
        trainer.fit(X, y, epochs=2)
    model, history, run = trained.model, trained.history, trained.run
    with pytest.raises((MadalineError, FileNotFoundError)):
        trained.fit(X, y, **wrong)
    assert trained.model is model
    assert trained.history is history
    assert trained.run is run
    for trainer in (trained, kept):
        trainer.partial_fit(X, y)
    assert np.array_equal(trained.model.params.flat, kept.model.params.flat)


def test_a_refused_partial_fit_changes_nothing(rows):
    X, y = rows
    fresh, trained, kept = small(), small(), small()
    with pytest.raises(MadalineError):
        fresh.partial_fit(X, y, sample_weight=np.ones(3))
    assert not hasattr(fresh, "model")
    for trainer in (trained, kept):
        trainer.fit(X, y, epochs=2)
    with pytest.raises(MadalineError):
        trained.partial_fit(X, y, sample_weight=np.ones(3))
    for trainer in (trained, kept):
        trainer.partial_fit(X, y)
    assert trained.history.epochs == kept.history.epochs == 3
    assert np.array_equal(trained.model.params.flat, kept.model.params.flat)


def test_callbacks_see_the_model_the_history_and_the_progress(rows):
    X, y = rows
    trainer, seen = small(), []

    def look(training, row):
        seen.append((training.progress.epoch, training.history.epochs, training.epochs_done))
        assert training.model is trainer.model
        assert training.recipe is trainer.recipe

    trainer.fit(X, y, epochs=2, callbacks=look)
    assert seen == [(1, 1, 1.0), (2, 2, 2.0)]
