"""Who listens, when they are told, and the bar."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError

NET = md.mlp(8, 10)


class Notes(md.Callback):
    """Writes down what it is told."""

    def __init__(self, every=None, stop_at=None):
        self.every, self.stop_at, self.told = every, stop_at, []

    def on_fit_start(self, trainer):
        self.told.append("start")

    def on_steps(self, trainer, step, values):
        self.told.append(step)
        assert np.isfinite(values["loss"])
        if step == self.stop_at:
            trainer.stop()

    def on_epoch_end(self, trainer, row):
        self.told.append(f"epoch {row['epoch']}")
        assert trainer.history.row(-1) == row

    def on_last_step(self, trainer):
        self.told.append("last step")

    def on_fit_end(self, trainer):
        self.told.append("end")


def trainer():
    return md.Trainer(NET, loss="cross_entropy")


def test_listeners_are_told_in_order(digits):
    notes = Notes(every=20)
    trainer().fit(*digits, epochs=2, callbacks=[notes])
    assert notes.told == ["start", 20, "epoch 1", 40, "epoch 2", "last step", "end"]


def test_every_so_many_steps_means_of_the_whole_run_and_not_of_an_epoch(digits):
    notes = Notes(every=50)
    trainer().fit(*digits, epochs=4, callbacks=notes)
    assert [item for item in notes.told if isinstance(item, int)] == [50, 100]


def test_listening_changes_nothing(digits, same):
    one, other = (md.Trainer(NET, loss="cross_entropy", dtype="float64") for _ in range(2))
    one.fit(*digits, epochs=2)
    other.fit(*digits, epochs=2, callbacks=[Notes(every=7), Notes(every=3)])
    same(one.model, other.model)
    # To the last bit, though the epoch was summed up in other pieces: early stopping may hang on it.
    assert other.history["loss"].tolist() == one.history["loss"].tolist()


def test_a_listener_can_end_the_run_after_a_step_or_an_epoch(digits):
    notes = Notes(every=1, stop_at=33)
    one = trainer()
    history = one.fit(*digits, epochs=5, callbacks=notes)
    assert history.stopped == "callback"
    assert one.run.progress.t == 33
    assert notes.told[-3:] == [33, "last step", "end"]
    other = trainer()
    history = other.fit(*digits, epochs=5, callbacks=lambda trainer, row: row["epoch"] == 2 and trainer.stop())
    assert (history.epochs, history.stopped) == (2, "callback")


def test_listeners_are_told_of_the_end_also_if_there_is_an_error(digits):
    notes = Notes()

    def fails(trainer, row):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        trainer().fit(*digits, epochs=5, callbacks=[notes, fails])
    assert notes.told == ["start", "epoch 1", "last step", "end"]


def test_a_thing_that_cannot_listen_is_refused(digits):
    with pytest.raises(ConfigError, match="callbacks: 7 is neither"):
        trainer().fit(*digits, callbacks=[7])
    with pytest.raises(ConfigError, match="neither a Callback nor a function"):
        trainer().fit(*digits, callbacks=[Notes])


def test_early_stopping_among_callbacks_is_told_where_it_belongs(digits):
    with pytest.raises(ConfigError, match=r"neither a Callback nor a function .* Pass it as early_stopping=\."):
        trainer().fit(*digits, callbacks=[md.EarlyStopping()])


def test_time_can_be_limited(digits):
    history = trainer().fit(*digits, epochs=10_000, max_seconds=0.05, validation=0.2)
    assert history.stopped == "time"
    assert 1 <= history.epochs < 10_000


def test_a_limit_ends_a_run_of_short_epochs_soon_after_it_too(digits, monkeypatch):
    """By a clock on which every look takes a second; epochs that nobody watches are otherwise run together."""
    seconds = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(seconds), perf_counter=lambda: next(seconds))
    monkeypatch.setattr("madaline.train.session.time", clock)
    history = trainer().fit(*digits, epochs=100, max_seconds=1000)
    assert history.stopped == "time"
    assert 1 <= history.epochs <= 20


def test_a_limit_ends_an_epoch_that_takes_much_longer(digits, monkeypatch):
    """By a clock on which every look takes a minute."""
    seconds = itertools.count(step=60)
    clock = SimpleNamespace(monotonic=lambda: next(seconds), perf_counter=lambda: next(seconds))
    monkeypatch.setattr("madaline.train.session.time", clock)
    made = trainer()
    history = made.fit(*digits, epochs=100, max_seconds=20)
    assert (history.stopped, history.epochs) == ("time", 0)
    assert np.isfinite(made.predict(digits[0][:3])).all()


def test_the_bar_is_for_people(digits, capsys):
    trainer().fit(*digits, epochs=2)
    assert capsys.readouterr() == ("", "")
    trainer().fit(*digits, epochs=2, validation=0.1, progress=True)
    shown = capsys.readouterr()
    assert not shown.out
    assert "epoch 2/2" in shown.err
    assert "val_loss" in shown.err
    trainer().fit(*digits, epochs=2, metrics=["accuracy", "auc"], progress=True)
    shown = capsys.readouterr().err
    assert "accuracy" in shown
    assert "steps/s" in shown


def test_the_bar_of_a_solver_goes_on_to_its_last_iteration(digits, capsys):
    solver = md.Trainer(NET, loss="cross_entropy", optimizer=md.LBFGS(max_iter=30))
    solver.fit(*digits, progress=True)
    assert "epoch 30/30" in capsys.readouterr().err


def test_without_a_console_there_is_no_bar(digits, monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    trainer().fit(*digits, epochs=1)


def test_a_listener_is_told_the_loss_and_the_metrics_of_a_step_by_name(digits):
    class Told(md.Callback):
        every = 1

        def on_steps(self, trainer, step, values):
            self.values = values

    told = Told()
    history = trainer().fit(*digits, epochs=1, metrics="accuracy", probes=True, callbacks=told, record_steps=True)
    assert told.values == {"loss": history.steps["loss"][-1], "accuracy": history.steps["accuracy"][-1]}
    penalised = md.Trainer(NET, loss="cross_entropy", regularizer="l2")
    penalised.fit(*digits, epochs=1, callbacks=told)
    assert told.values["objective"] > told.values["loss"]


def test_a_listener_that_can_wait_lets_epochs_run_together(rng):
    """It hears of every epoch all the same, and with the same numbers."""
    X = rng.normal(size=(30, 2))

    class Patient(md.Callback):
        def __init__(self, at_once):
            self.at_once, self.rows, self.reached = at_once, [], []

        def epochs_at_once(self):
            return self.at_once

        def on_epoch_end(self, trainer, row):
            self.rows.append(row["loss"])
            self.reached.append(trainer.model.params.flat.copy())

    each, patient = Patient(1), Patient(3)
    for listener in (each, patient):
        md.Trainer(md.mlp(4, 2)).fit(X, X, epochs=7, batch_size=10, callbacks=listener)
    assert each.rows == patient.rows
    together = [np.array_equal(one, other) for one, other in zip(patient.reached, patient.reached[1:], strict=False)]
    assert together == [True, True, False, True, True, False]


def test_a_run_that_ended_with_an_error_does_not_say_that_it_finished(digits):
    def fails(trainer, row):
        raise ZeroDivisionError

    trainer = md.Trainer(md.mlp(4, 10), loss="cross_entropy")
    with pytest.raises(ZeroDivisionError):
        trainer.fit(*digits, epochs=2, callbacks=fails)
    assert trainer.history.stopped == "error"
