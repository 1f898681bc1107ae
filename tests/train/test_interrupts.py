"""Ctrl-C: the run ends soon, with a model as a whole number of steps left it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import madaline as md
from madaline.train.full_batch import FullBatch
from madaline.train.interrupts import Interrupts


@pytest.fixture(autouse=True)
def _listens_to_interrupts():
    """Shells start what runs in the background with Ctrl-C ignored, and these tests would wait for ever."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


NET = md.Sequential(md.Linear(64), md.BatchNorm(), "relu", md.Linear(10))


@pytest.mark.parametrize("options", [{}, {"validation": 0.2}, {"probes": True}], ids=["together", "epochs", "probes"])
def test_an_interrupted_run_keeps_what_it_reached_and_can_go_on(digits, tmp_path, same, options):
    trainer, whole, resumed = (md.Trainer(NET, loss="cross_entropy", optimizer=md.Adam(1e-4)) for _ in range(3))
    trainer.fit(*digits, epochs=1, batch_size=8, **options)  # planned already, so that steps are interrupted
    timer = interrupt_after(0.25)
    history = trainer.fit(*digits, epochs=100_000, batch_size=8, checkpoint=tmp_path / "run", **options)
    timer.join()
    assert history.stopped == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    reached = trainer.run.progress
    assert reached.t == reached.epoch * trainer.run.steps_an_epoch + reached.step > 0
    assert history.epochs == reached.epoch
    assert np.isfinite(trainer.predict(digits[0])).all()
    epochs = reached.epoch + 1
    whole.fit(*digits, epochs=epochs, batch_size=8, **options)
    resumed.fit(*digits, epochs=epochs, batch_size=8, resume=tmp_path / "run", **options)
    same(resumed.model, whole.model)
    assert resumed.history["loss"].tolist() == whole.history["loss"].tolist()


def test_a_process_that_trains_stops_within_a_fraction_of_a_second(run_python):
    """The batch is the whole of large data, so that one step alone takes long."""
    found = run_python(
        """
import os, signal, threading, time
import numpy as np, madaline as md
signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(0).normal(size=(20_000, 300)).astype("float32")
trainer = md.Trainer(md.mlp(800, 800, 300))
sent = []
def send():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1.0, send).start()
history = trainer.fit(X, epochs=1000, batch_size=None)
print(history.stopped, time.monotonic() - sent[0] < 5.0, trainer.predict(X[:3]).shape)
"""
    )
    assert found.stdout.split("\n")[0] == "interrupted True (3, 300)", found.stderr


def send():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)


def test_an_interrupt_while_numbers_change_is_held_back_until_they_have():
    hurried, done = [], []
    interrupts = Interrupts(lambda: hurried.append(True))

    def work():
        with interrupts.deferred():
            with interrupts.deferred():
                send()
            done.append(True)

    with interrupts:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert hurried
        assert done
        with pytest.raises(KeyboardInterrupt):
            send()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def interrupted_before(instruction, work):
    """Run ``work`` with a Ctrl-C before the n-th bytecode instruction of interrupts.py; whether there are that many."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        if frame.f_code.co_filename != sys.modules[Interrupts.__module__].__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            count += 1
            if count == instruction:
                signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return count >= instruction


def test_an_interrupt_at_any_instruction_of_entry_and_exit_leaves_the_handler_of_before():
    def work():
        with Interrupts(lambda: None) as interrupts, interrupts.deferred():
            pass

    instruction = 1
    while interrupted_before(instruction, work):
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, instruction
        with pytest.raises(KeyboardInterrupt):
            send()
        instruction += 1
    assert instruction > 50


def test_an_interrupt_that_a_callback_ignores_does_not_unprotect_later_steps():
    interrupts, done = Interrupts(lambda: None), []

    def work():
        with interrupts.deferred():
            send()
            done.append(True)

    with interrupts:
        with pytest.raises(KeyboardInterrupt):
            send()  # as a callback that catches it
        with pytest.raises(KeyboardInterrupt):
            work()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_does_not_raise_is_called_each_time():
    calls = []

    def handler(number, frame):
        calls.append(number)

    signal.signal(signal.SIGINT, handler)
    with Interrupts(lambda: None) as interrupts:
        send()
        with interrupts.deferred():
            send()
            assert len(calls) == 1
        assert len(calls) == 2
        send()
    assert len(calls) == 3
    assert signal.getsignal(signal.SIGINT) is handler


def test_training_in_another_thread_leaves_signals_alone_and_can_be_stopped(digits):
    trainer = md.Trainer(NET, loss="cross_entropy")
    histories = []
    thread = threading.Thread(target=lambda: histories.append(trainer.fit(*digits, epochs=100_000)))
    thread.start()
    while not trainer.epochs_done:
        time.sleep(0.01)
    trainer.stop()
    thread.join(timeout=20)
    assert histories[0].stopped == "callback"


def test_a_solver_that_is_interrupted_leaves_its_last_iterate(digits, monkeypatch):
    trainer = md.Trainer(md.mlp(16, 10), loss="cross_entropy", optimizer=md.LBFGS(5), dtype="float64")
    reached = {}

    def note(trainer, row):
        reached["w"], reached["loss"] = trainer.model.params.flat.copy(), row["loss"]

    def interrupted(self, w):
        if trainer.run.progress.epoch == 3:
            self.w[...] = w
            raise KeyboardInterrupt
        return whole(self, w)

    whole = FullBatch.value_and_grad
    monkeypatch.setattr(FullBatch, "value_and_grad", interrupted)
    history = trainer.fit(*digits, callbacks=note)
    assert history.stopped == "interrupted"
    assert trainer.evaluate(*digits)["loss"] == pytest.approx(reached["loss"], rel=1e-9)
    np.testing.assert_array_equal(trainer.model.params.flat, reached["w"])


def test_a_run_that_is_stopped_in_its_first_step_can_be_resumed(tmp_path, same):
    X = np.random.default_rng(0).normal(size=(4000, 200)).astype(np.float32)
    trainer, resumed, whole = (md.Trainer(md.mlp(300, 300, 200)) for _ in range(3))

    class Soon(md.Callback):
        def on_fit_start(self, view):
            threading.Timer(0.01, view.stop).start()

    trainer.fit(X, epochs=50, batch_size=None, checkpoint=tmp_path / "run", callbacks=Soon())
    done = trainer.run.progress
    epochs = done.epoch + 1
    resumed.fit(X, epochs=epochs, batch_size=None, resume=tmp_path / "run")
    whole.fit(X, epochs=epochs, batch_size=None)
    same(resumed.model, whole.model)
