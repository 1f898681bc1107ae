"""Locks: one thread at a time, and none that a forked child waits for."""

from __future__ import annotations

import threading
import time

import pytest

from madaline.kernels.locks import Lock


def test_one_thread_at_a_time():
    lock, inside, most = Lock(), [], []

    def work():
        for _ in range(50):
            with lock:
                inside.append(1)
                most.append(len(inside))
                time.sleep(0)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 200


def test_a_child_that_was_forked_while_others_predicted_can_predict(run_python):
    found = run_python(
        """
import os, signal, threading, time, warnings
import numpy as np, madaline as md
warnings.simplefilter("ignore")  # Python warns of forks with threads
if not hasattr(os, "fork"):
    raise SystemExit("no fork here")
X = np.random.default_rng(0).normal(size=(3000, 8)).astype("float32")
trainer = md.Trainer(md.mlp(16, 1))
trainer.fit(X, X[:, :1], epochs=1)
expected, going = trainer.predict(X), True
def predict():
    while going:
        trainer.predict(X)
thread = threading.Thread(target=predict)
thread.start()
time.sleep(0.05)
ends = []
for _ in range(10):
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(not np.array_equal(trainer.predict(X), expected))
    ends.append(os.waitpid(child, 0)[1])
going = False
thread.join()
print(ends)
"""
    )
    if "no fork here" in found.stderr:
        pytest.skip("needs os.fork")
    assert found.stdout.strip() == str([0] * 10), found.stderr
