"""What nets that are trained side by side share, and what they do not."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.train.chosen import ChosenRows
from madaline.train.options import FitOptions
from madaline.train.shared import SharedParts


@pytest.fixture
def sessions():
    """A function that makes a session for each trainer."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(64, 4)), rng.integers(2, size=64)
    shared = SharedParts()

    def make(*trainers, **options):
        found = []
        for trainer in trainers:
            chosen = ChosenRows(np.arange(len(found), 64))
            found.append(trainer.new_session(X, y, FitOptions(**options), chosen=chosen, shared=shared))
            found[-1].when_prepared()  # so that the next one has its turn
        return found

    return make


def trainer(seed=0, **settings):
    settings = {"loss": "cross_entropy", "optimizer": md.Adam(0.01)} | settings
    return md.Trainer(settings.pop("net", md.mlp(4, 2, dropout=0.1)), seed=seed, **settings)


def test_nets_that_differ_in_seed_rows_and_schedule_share_their_graph_and_data(sessions):
    one, other = sessions(trainer(), trainer(1, schedule="cosine"), validation=0.2, metrics="accuracy")
    assert one.stepper.plain[0] is other.stepper.plain[0]
    assert one.stepper.plain[1] is not other.stepper.plain[1]
    assert one.evaluator.means is other.evaluator.means
    assert one.data.x is other.data.x
    assert one.recipe.schedule != other.recipe.schedule


def test_a_session_runs_to_its_end_in_the_middle_of_another_one(sessions):
    one, other = sessions(trainer(), trainer(1), epochs=3)
    seen = []

    class Inner(md.Callback):
        def on_epoch_end(self, view, row):
            if not seen:
                seen.append(other.run(3).epochs)

    one.callbacks.append(Inner())
    assert one.run(3).epochs == 3
    assert seen == [3]
    assert not np.array_equal(one.model.params.flat, other.model.params.flat)


SHARED = md.Linear(2)


@pytest.mark.parametrize(
    "changed",
    [
        {"net": md.mlp(4, 2, dropout=0.2)},
        {"optimizer": md.Adam(0.02)},
        {"optimizer": md.AdamW(0.01, weight_decay=0.3)},
        {"loss": md.CrossEntropy(label_smoothing=0.1)},
        {"freeze": ["0"]},
        {"dtype": "float64"},
        {"clip_norm": 1.0},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_nets_that_compute_something_else_have_their_own_programs(sessions, changed):
    one, other = sessions(trainer(), trainer(**changed))
    assert one.stepper.plain[0] is not other.stepper.plain[0]


def test_a_layer_that_stands_twice_is_not_taken_for_two_layers(sessions):
    twice = md.Sequential(SHARED, "relu", SHARED)
    two = md.Sequential(md.Linear(2), "relu", md.Linear(2))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(64, 2)), rng.integers(2, size=64)
    population = md.Population([trainer(net=twice), trainer(net=two)])
    population.fit(X, y, epochs=2)
    for net, found in zip((twice, two), population.trainers, strict=True):
        alone = trainer(net=net)
        alone.fit(X, y, epochs=2)
        assert np.array_equal(alone.model.params.flat, found.model.params.flat)


def test_a_session_that_is_refused_lets_the_next_one_have_its_turn(sessions):
    with pytest.raises(md.MadalineError, match="early_stopping on 'val_loss'"):
        sessions(trainer(), early_stopping="val_loss")
    assert len(sessions(trainer())) == 1
