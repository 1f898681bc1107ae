"""Dropout: units, whole channels, both forms. Lecture rows A15, C8, D7, E15, E16, N14."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import madaline as md

ONES = np.ones((3, 9))
PRINTED = np.array(
    [
        [4, 0, 4, 4, 4, 0, 4, 0, 0],
        [4, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 4, 0, 4, 0, 4],
    ]
)


def row_norms(x, mask, p):
    """y = dropout(x) with a given mask, then y.norm(2, 1).sum()."""
    y = x * mask / (1 - p)
    return np.sum(np.sqrt(np.sum(y * y, axis=1)))


def test_a_drop_rate_of_three_quarters_makes_each_1_a_4_or_a_0():  # E15
    y = md.Dropout(p=0.75).init(ONES)(np.ones((1000, 9)), train=True)
    assert set(np.unique(y)) == {0.0, 4.0}
    assert (y == 4.0).mean() == pytest.approx(0.25, abs=0.02)


def test_the_printed_outputs_have_gradients_of_the_printed_values():  # E15
    """4 * 4 / sqrt(k * 16) where k are kept: 1.7889 for five, 4 for one, 2.3094 for three.

    Their places follow from the mask; in the deck some of them have slipped.
    """
    slope = md.grad(row_norms)(ONES, PRINTED / 4.0, 0.75)
    np.testing.assert_array_equal(slope.round(4), PRINTED / 4 * np.array([[1.7889], [4.0], [2.3094]]))


def test_the_gradient_goes_through_the_units_that_were_kept():  # E15
    """The same through the layer itself: value and gradient see one mask."""
    model = md.Dropout(p=0.75).init(ONES, dtype="float64")
    key = np.array([0, 7])

    def loss(x):
        y = model.network.run(model.params.flat, model.state.flat, x, key=key, train=True).outputs[""]
        return np.sum(np.sqrt(np.sum(y * y, axis=1) + 1e-30))

    kept = model(ONES, train=True, seed=0, step=7) > 0
    count = np.maximum(kept.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(md.grad(loss)(ONES), kept * 4.0 / np.sqrt(count), rtol=1e-12)


def test_every_row_and_every_step_has_a_mask_of_its_own():  # A15, C8, D7, E15
    model = md.Dropout().init(64)
    x = np.ones((10, 64))
    masks = np.concatenate([model(x, train=True, step=step) for step in range(10)])
    assert len(np.unique(masks, axis=0)) == 100
    np.testing.assert_array_equal(model(x, train=True, step=3), model(x, train=True, step=3))


def test_in_test_mode_the_full_network_is_used(rng):  # A15, C8, D7, E15
    X = rng.normal(size=(5, 10))
    net = md.Sequential(
        md.Linear(100), md.ReLU(), md.Dropout(), md.Linear(50), md.ReLU(), md.Dropout(), md.Linear(2)
    )  # the deck's
    model = net.init(X)
    plain = md.mlp(100, 50, 2).init(X)
    plain.params.flat[...] = model.params.flat
    np.testing.assert_array_equal(model(X), plain(X))
    assert np.abs(model(X, train=True) - plain(X)).max() > 0.1


@pytest.mark.parametrize("drop", [0.2, 0.5, 0.75])
def test_original_and_inverted_form_are_equal_but_for_a_factor(drop, rng):  # A15, C8, D7, E15
    """Original: mask while training, times the keep probability 1 - p at test. Inverted: mask / (1 - p), then nothing.

    (E multiplies by p at test, where p is the drop rate; D writes p for the probability to keep.)
    """
    X = rng.uniform(1.0, 2.0, size=(4000, 20))
    inverted, original = (md.Dropout(drop, form=form).init(X, dtype="float64") for form in ("inverted", "original"))
    np.testing.assert_allclose(original(X, train=True), inverted(X, train=True) * (1 - drop), rtol=1e-12)
    np.testing.assert_allclose(original(X), inverted(X) * (1 - drop), rtol=1e-12)
    for model in (inverted, original):  # the output at test time is the expected output at training time
        assert model(X, train=True).mean() == pytest.approx(model(X).mean(), rel=0.02)


def test_dropping_units_is_setting_their_outgoing_weights_to_0(rng):  # C8
    """In a net: the thinned net of a step is the full net without the outgoing weights of the dropped units."""
    X = rng.normal(size=(7, 4))
    net = md.Sequential(md.Linear(6), md.Dropout(0.5, form="original", mask="batch"), md.ReLU(), md.Linear(3))
    model = net.init(X, dtype="float64")
    hidden = model.activations(X, train=True, seed=2)["1"]
    dropped = (hidden == 0).all(axis=0)
    assert 0 < dropped.sum() < 6
    thinned = md.mlp(6, 3).init(X, dtype="float64")
    thinned.params.flat[...] = model.params.flat
    assert np.abs(thinned(X) - model(X, train=True, seed=2)).max() > 0.1
    thinned.params["2.W"][dropped] = 0.0
    np.testing.assert_allclose(model(X, train=True, seed=2), thinned(X), rtol=1e-12)


@pytest.mark.parametrize("layer", [md.Dropout, md.nn.SpatialDropout])
def test_a_mini_batch_can_share_one_mask(layer, rng):  # N14
    """Every row sees the same thinned net, and the next step another one."""
    shape = (64,) if layer is md.Dropout else (64, 3)
    model = layer(0.5, mask="batch").init(shape)
    x = np.ones((10, *shape))
    masks = np.stack([model(x, train=True, step=step) for step in range(20)])
    np.testing.assert_array_equal(masks, np.broadcast_to(masks[:, :1], masks.shape))
    assert len(np.unique(masks[:, 0].reshape(20, -1), axis=0)) == 20
    assert masks.mean() == pytest.approx(1.0, abs=0.15)
    np.testing.assert_array_equal(model(x), x)


def test_one_mask_for_a_mini_batch_trains(rng):  # N14
    """The gradient goes through the same mask; results do not depend on the number of threads."""
    X = rng.normal(size=(200, 5)).astype(np.float32)
    net = md.Sequential(md.Linear(64), md.ReLU(), md.Dropout(0.2, mask="batch"), md.Linear(1))
    models = []
    for threads in (1, 2):
        trainer = md.Trainer(net, optimizer=md.Adam(0.01), threads=threads)
        losses = trainer.fit(X, X[:, :1] * X[:, 1:2], epochs=30, batch_size=20)["loss"]
        assert losses[-1] < 0.5 * losses[0]
        models.append(trainer.model.params.flat)
    np.testing.assert_array_equal(*models)


def test_a_net_with_dropout_is_an_ensemble_of_all_its_thinned_nets(rng):  # A15, E15
    """2^N masks over N units; for a linear net their mean, by probability, is exactly the full net's output."""
    x, W, V, p = rng.normal(size=4), rng.normal(size=(4, 5)), rng.normal(size=5), 0.3
    masks = np.array(list(product([0, 1], repeat=5)))
    probability = np.prod(np.where(masks, 1 - p, p), axis=1)
    outputs = ((x @ W) * masks / (1 - p)) @ V
    assert len(outputs) == 2**5
    assert probability @ outputs == pytest.approx(x @ W @ V, rel=1e-12)


def test_the_mean_over_many_masks_is_what_test_mode_gives_for_a_linear_net(rng):  # A15, E15
    x = rng.normal(size=6)
    model = md.Sequential(md.Linear(50), md.Dropout(0.5), md.Linear(1)).init(6, dtype="float64")
    outputs = model(np.tile(x, (20_000, 1)), train=True)
    assert outputs.mean() == pytest.approx(model(x)[0], abs=4 * outputs.std() / np.sqrt(20_000))


def test_the_mean_over_masks_is_only_near_it_for_other_nets(rng):  # A15, E15
    """For relu nets the full net approximates the ensemble: closer than one thinned net does."""
    X = rng.normal(size=(50, 6))
    model = md.mlp(200, 200, 1, dropout=0.5).init(X)
    runs = np.array([model(X, train=True, step=step) for step in range(200)])
    full_to_mean = np.abs(model(X) - runs.mean(axis=0)).mean()
    assert 0 < full_to_mean < 0.25 * np.abs(runs[0] - runs.mean(axis=0)).mean()


def above_a_wave(n, rng):
    """Points of a square, and whether each lies above a wave."""
    X = rng.uniform(-1.0, 1.0, (n, 2)).astype(np.float32)
    return X, (X[:, 1] > 0.5 * np.sin(3.0 * X[:, 0])).astype(int)


def test_some_dropout_keeps_a_net_from_learning_wrong_labels_by_heart(rng):  # A15, C8, D7, E15
    """Three hidden layers, a quarter of the labels wrong: none overfits the noise, some finds the border, too much
    underfits. The example ``noisy_labels`` of the gallery has the picture.
    """
    (X, y), (X_new, y_new) = above_a_wave(300, rng), above_a_wave(2000, rng)
    noisy = np.where(rng.random(300) < 0.25, 1 - y, y)
    on_noise, on_new = {}, {}
    for p in (0.0, 0.4, 0.9):
        trainer = md.Trainer(
            md.mlp(64, 64, 64, 2, dropout=p), loss="cross_entropy", optimizer=md.Adam(0.01), seed=1, threads=1
        )
        trainer.fit(X, noisy, epochs=300, batch_size=None)
        model = trainer.model
        on_noise[p] = np.mean(model(X).argmax(axis=1) != noisy)
        on_new[p] = np.mean(model(X_new).argmax(axis=1) != y_new)
    assert on_noise[0.0] < on_noise[0.4] - 0.05
    assert on_new[0.4] < 0.6 * on_new[0.0]
    assert on_new[0.9] > 0.4


def test_spatial_dropout_drops_whole_channels():  # E16
    """The printed example: Dropout2d on ones of shape (2, 3, 2, 2) gives maps of 0 or of 2."""
    model = md.nn.SpatialDropout().init((3, 2, 2))
    y = model(np.ones((1000, 3, 2, 2)), train=True)
    maps = y.reshape(3000, 4)
    np.testing.assert_array_equal(maps, maps[:, :1] * np.ones(4))
    assert set(np.unique(maps)) == {0.0, 2.0}
    assert maps.mean() == pytest.approx(1.0, abs=0.1)
    patterns = np.unique(y[:, :, 0, 0], axis=0)
    assert len(patterns) == 2**3  # also (0, 0, 2) and (2, 0, 2), the rows of the deck
    np.testing.assert_array_equal(model(np.ones((2, 3, 2, 2))), 1.0)


def test_of_neighbours_that_say_the_same_plain_dropout_leaves_one(rng):  # E16
    """Why channels: where positions are alike, what plain dropout removes is still there next door."""
    maps = np.repeat(rng.normal(size=(500, 1, 1)), 25, axis=2)  # one channel of 25 equal positions
    plain, spatial = (layer.init((1, 25))(maps, train=True) for layer in (md.Dropout(), md.nn.SpatialDropout()))
    assert np.all(plain.any(axis=2))
    assert np.mean(spatial.any(axis=2)) == pytest.approx(0.5, abs=0.1)
