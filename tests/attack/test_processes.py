"""Processes that fork, that may not start threads, and whose files are cut while they are read."""

from __future__ import annotations

import os
import threading

import pytest

from madaline.cached import cached_property

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FORKS = """
import faulthandler, os, threading
import numpy as np, madaline as md
X = np.random.default_rng(0).normal(size=(60, 4))

def train():
    trainer = md.Trainer(md.mlp(8, 1), loss="mse", threads=2, seed=0)
    trainer.fit(X, X[:, :1], epochs=1, batch_size=20, progress=False)
    return trainer.model.params.flat.tobytes()

expected, is_over = train(), threading.Event()

def work():
    while not is_over.is_set():
        train()

threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
codes = []
for _ in range(100):
    child = os.fork()
    if not child:
        faulthandler.dump_traceback_later(60, exit=True)
        os._exit(0 if train() == expected else 3)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
is_over.set()
for thread in threads:
    thread.join()
print(len(codes), sum(code != 0 for code in codes))
"""


def test_a_hundred_children_of_a_process_that_trains_train_themselves(run_python):
    run = run_python(FORKS)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["100", "0"], run.stderr


def test_a_child_does_not_wait_for_a_property_that_a_thread_of_its_parent_computes():
    """The property of functools has a lock until Python 3.11."""
    computing, go_on = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def value(self):
            if not computing.is_set():
                computing.set()
                go_on.wait()
            return 1

    thread = threading.Thread(target=lambda: Slow().value)
    thread.start()
    computing.wait()
    child = os.fork()
    if not child:
        import faulthandler

        faulthandler.dump_traceback_later(20, exit=True)
        os._exit(0 if Slow().value == 1 else 3)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    go_on.set()
    thread.join()
    assert code == 0


WITHOUT_THREADS = """
import os, resource, threading, warnings
import numpy as np, madaline as md
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(300, 5))

def all_ways():
    trainer = md.Trainer(md.mlp(8, 1), loss="mse", threads=4, seed=0)
    trainer.fit(X, X[:, :1], epochs=2, batch_size=32, progress=True)
    best = md.MLPClassifier(preset="best", hidden_layer_sizes=(4,), max_iter=2, random_state=0).fit(X, X[:, 0] > 0)
    return trainer.model.params.flat.tobytes(), best.predict_proba(np.repeat(X, 20, axis=0)).tobytes()

md.set_threads(1)
expected = all_ways()  # all modules are imported now; another user may not be allowed to read them
md.set_threads(4)
if os.getuid() == 0:
    os.setuid(65534)  # the limit does not hold for root
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
try:
    threading.Thread(target=print).start()
    print("threads can be started")
except RuntimeError:
    print(all_ways() == expected)
"""


def test_where_no_thread_can_be_started_everything_runs_on_one(run_python):
    run = run_python(WITHOUT_THREADS)
    assert run.returncode == 0, run.stderr
    if run.stdout.strip() == "threads can be started":
        pytest.skip("this system does not limit the number of threads")
    assert run.stdout.strip() == "True"
