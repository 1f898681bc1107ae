"""Checkpoints: a run that was killed goes on as if nothing had been."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import madaline as md
from madaline import container
from madaline.errors import ConfigError, FileFormatError, ShapeError
from madaline.kernels import core
from madaline.train import checkpoint
from train import long_run

RUN = Path(__file__).with_name("long_run.py")


@pytest.mark.parametrize("how", ["epochs", "seconds"])
def test_a_run_killed_at_any_moment_and_resumed_ends_with_the_same_bits(tmp_path, how):
    whole = long_run.run(tmp_path / "whole", 1, how)
    rng = np.random.default_rng(len(how))
    path, killed = tmp_path / "killed", 0
    for threads in (2, 1):
        before = path.stat().st_mtime_ns if path.exists() else 0
        with subprocess.Popen([sys.executable, RUN, path, str(threads), how], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            deadline = time.monotonic() + 30
            while (not path.exists() or path.stat().st_mtime_ns == before) and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
    assert killed
    assert container.read(path, kind="checkpoint")[1]["progress"]["t"] > 0
    assert long_run.run(path, 4, how) == whole


def nets():
    return md.Sequential(md.Linear(16), md.BatchNorm(), "tanh", md.Dropout(0.1), md.Linear(10))


class Breaks(md.Callback):
    """Fails after some steps, in the middle of an epoch."""

    every = 1

    def __init__(self, step):
        self.step = step

    def on_steps(self, trainer, step, values):
        if step == self.step:
            trainer.stop()


@pytest.mark.parametrize("optimizer", md.optim.OPTIMIZERS.names())
def test_a_run_that_was_stopped_in_the_middle_of_an_epoch_goes_on(digits, tmp_path, same, optimizer):
    def trainer():
        return md.Trainer(nets(), loss="cross_entropy", optimizer=optimizer, regularizer="l2", schedule="one_cycle")

    options = {"epochs": 3, "batch_size": 100, "record_steps": True}
    whole, stopped, resumed = trainer(), trainer(), trainer()
    whole.fit(*digits, **options)
    stopped.fit(*digits, **options, callbacks=Breaks(25), checkpoint=tmp_path / "run")
    assert stopped.history.stopped == "callback"
    assert stopped.run.progress.t == 25
    resumed.fit(*digits, **options, resume=tmp_path / "run")
    same(resumed.model, whole.model)
    assert resumed.history["loss"].tolist() == whole.history["loss"].tolist()
    assert resumed.history.steps["step"].tolist() == list(range(1, whole.run.progress.t + 1))
    assert resumed.history.steps["loss"].tolist() == whole.history.steps["loss"].tolist()


def test_what_early_stopping_and_the_plateau_remember_is_kept(digits, tmp_path, same):
    def trainer():
        schedule = md.optim.schedules.ReduceOnPlateau(0.5, patience=0)
        return md.Trainer(nets(), loss="cross_entropy", optimizer=md.SGD(2.0), schedule=schedule)

    options = {"batch_size": 50, "validation": 0.3, "early_stopping": 2}
    whole, first, second = trainer(), trainer(), trainer()
    whole.fit(*digits, **options, epochs=40)
    assert whole.history.stopped == "early stopping"
    assert len(set(whole.history["learning_rate"])) > 1
    first.fit(*digits, **options, epochs=whole.history.epochs - 2, checkpoint=tmp_path / "run")
    second.fit(*digits, **options, epochs=40, resume=tmp_path / "run")
    same(second.model, whole.model)
    assert second.history["val_loss"].tolist() == whole.history["val_loss"].tolist()
    assert second.history.best_epoch == whole.history.best_epoch


def test_a_run_that_was_over_stays_over(digits, tmp_path, same):
    options = {"batch_size": 50, "validation": 0.3, "early_stopping": 1, "epochs": 40, "checkpoint": tmp_path / "run"}
    one, other = (md.Trainer(nets(), loss="cross_entropy", optimizer=md.SGD(2.0)) for _ in range(2))
    one.fit(*digits, **options)
    other.fit(*digits, **options, resume=tmp_path / "run")
    assert one.history.stopped == other.history.stopped == "early stopping"
    assert other.history.epochs == one.history.epochs
    same(one.model, other.model)


def test_a_checkpoint_of_a_stopped_run_holds_where_it_was_and_not_the_best_epoch(digits, tmp_path, same):
    """The model gets the best parameters back at the end; the checkpoint must have the last ones."""

    def trainer():
        return md.Trainer(nets(), loss="cross_entropy", optimizer=md.SGD(2.0))

    options = {"batch_size": 50, "validation": 0.3, "early_stopping": md.EarlyStopping("val_loss", patience=30)}
    whole, stopped, resumed = trainer(), trainer(), trainer()
    whole.fit(*digits, **options, epochs=12)
    stopped.fit(*digits, **options, epochs=12, callbacks=Breaks(230), checkpoint=tmp_path / "run")
    assert stopped.history.best_epoch < stopped.history.epochs
    resumed.fit(*digits, **options, epochs=12, resume=tmp_path / "run")
    assert resumed.history["loss"].tolist() == whole.history["loss"].tolist()
    same(resumed.model, whole.model)


def test_a_finished_run_can_be_made_longer_if_the_rates_do_not_depend_on_its_length(digits, tmp_path, same):
    X, y = digits
    path = tmp_path / "run"
    whole, longer = (md.Trainer(nets(), loss="cross_entropy") for _ in range(2))
    whole.fit(X, y, epochs=4)
    longer.fit(X, y, epochs=2, checkpoint=path)
    longer.fit(X, y, epochs=4, checkpoint=path, resume=path)
    same(whole.model, longer.model)
    cosine = md.Trainer(nets(), loss="cross_entropy", schedule="cosine")
    cosine.fit(X, y, epochs=2, checkpoint=path)
    with pytest.raises(ConfigError, match="another total_steps"):
        cosine.fit(X, y, epochs=4, resume=path)


def test_another_setting_is_refused_by_name(digits, tmp_path):
    X, y = digits
    path = tmp_path / "run"
    md.Trainer(nets(), loss="cross_entropy", seed=3).fit(X, y, epochs=1, checkpoint=path)
    with pytest.raises(ConfigError, match=r"another seed .*seed was 3, now 4"):
        md.Trainer(nets(), loss="cross_entropy", seed=4).fit(X, y, epochs=2, resume=path)
    with pytest.raises(ConfigError, match=r"another batch_size .*was 64, now 32"):
        md.Trainer(nets(), loss="cross_entropy", seed=3).fit(X, y, epochs=2, batch_size=32, resume=path)
    with pytest.raises(ConfigError, match="another recipe"):
        md.Trainer(nets(), loss="cross_entropy", clip_norm=1.0, seed=3).fit(X, y, epochs=2, resume=path)
    with pytest.raises(ConfigError, match="another rows and another data"):
        md.Trainer(nets(), loss="cross_entropy", seed=3).fit(X[:90], y[:90], epochs=2, resume=path)


def test_a_missing_or_foreign_checkpoint_is_said(digits, tmp_path):
    trainer = md.Trainer(nets(), loss="cross_entropy")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        trainer.fit(*digits, epochs=1, resume=tmp_path / "none")
    md.save(nets().init(64), tmp_path / "model")
    with pytest.raises(FileFormatError, match="is a 'model' file, and a 'checkpoint' file is needed"):
        trainer.fit(*digits, epochs=1, resume=tmp_path / "model")
    with pytest.raises(ConfigError, match=r"folder .* does not exist"):
        trainer.fit(*digits, epochs=1, checkpoint=tmp_path / "no" / "run")


def test_resuming_from_where_one_writes_starts_afresh_the_first_time(digits, tmp_path, same):
    one, other = (md.Trainer(nets(), loss="cross_entropy") for _ in range(2))
    one.fit(*digits, epochs=1, checkpoint=tmp_path / "run", resume=str(tmp_path / "run"))
    other.fit(*digits, epochs=1)
    same(one.model, other.model)


def test_a_sampler_of_ones_own_can_be_resumed(digits, tmp_path, same):
    def some(n_rows, rng):
        return rng.integers(n_rows, size=300)

    whole, resumed = (md.Trainer(nets(), loss="cross_entropy") for _ in range(2))
    whole.fit(*digits, epochs=3, sampler=some)
    resumed.fit(*digits, epochs=1, sampler=some, checkpoint=tmp_path / "run")
    resumed.fit(*digits, epochs=3, sampler=some, resume=tmp_path / "run")
    same(whole.model, resumed.model)


def of_some_columns(z, y):
    return (z[:, 7] - y[:, 7]) ** 2 + np.mean(np.arange(z.shape[1]) * np.abs(z - y), axis=1)


def test_a_loss_of_ones_own_is_saved_for_the_columns_it_is_used_with(digits, tmp_path, same):
    X, y = digits
    Y = np.eye(10)[y]
    whole, resumed = (md.Trainer(nets(), loss=of_some_columns) for _ in range(2))
    whole.fit(X, Y, epochs=2)
    resumed.fit(X, Y, epochs=1, checkpoint=tmp_path / "run")
    resumed.fit(X, Y, epochs=2, resume=tmp_path / "run")
    same(whole.model, resumed.model)
    saved = container.read(tmp_path / "run", kind="checkpoint")[1]["setting"]["recipe"]["loss"]
    loaded = md.losses.as_loss(saved)  # without the function
    z = whole.model(X[:5]).astype(np.float64)
    assert loaded(z, Y[:5]) == pytest.approx(np.mean(of_some_columns(z, Y[:5])), rel=1e-12)


def test_losses_of_ones_own_of_several_outputs_are_saved_each_for_its_columns(digits, tmp_path, same):
    X, y = digits
    heads = md.Sequential(md.Linear(8), "relu", md.Parallel(wide=md.Linear(10), narrow=md.Linear(1)))
    loss = {"wide": of_some_columns, "narrow": "mse"}
    targets = {"wide": np.eye(10)[y], "narrow": X[:, :1]}
    whole, resumed = (md.Trainer(heads, loss=loss) for _ in range(2))
    whole.fit(X, targets, epochs=2)
    resumed.fit(X, targets, epochs=1, checkpoint=tmp_path / "run")
    resumed.fit(X, targets, epochs=2, resume=tmp_path / "run")
    same(whole.model, resumed.model)


def test_what_cannot_be_saved_is_refused_before_the_training(digits, tmp_path):
    class Nameless(md.optim.Optimizer):
        def update(self, w, g, *, t, lr):
            return w - lr * g

    trainer = md.Trainer(nets(), loss="cross_entropy", optimizer=Nameless(0.1))
    with pytest.raises(ConfigError, match="Nameless has no name to be saved under"):
        trainer.fit(*digits, epochs=1, checkpoint=tmp_path / "run")
    assert trainer.history.epochs == 0


def test_a_solver_that_keeps_its_memory_to_itself_has_no_checkpoints(digits, tmp_path):
    with pytest.raises(ConfigError, match="LBFGS"):
        md.Trainer(nets(), loss="cross_entropy", optimizer="lbfgs").fit(*digits, checkpoint=tmp_path / "run")


def test_a_damaged_checkpoint_is_refused_whatever_was_changed(digits, tmp_path):
    """Only errors that say so: never one from deep inside, and never a run that goes on from nonsense shapes."""
    X, y = digits[0][:60], digits[1][:60]
    path = tmp_path / "run"
    options = {"epochs": 1, "validation": 0.2, "early_stopping": True}
    trainer = md.Trainer(nets(), loss="cross_entropy", schedule=md.optim.schedules.ReduceOnPlateau())
    trainer.fit(X, y, checkpoint=path, **options)
    content = path.read_bytes()
    arrays, document = container.read(path, kind="checkpoint")
    odd = [None, -1, "x", [], {}, 2**70, float("nan")]
    refused = 0

    def resume():
        nonlocal refused
        try:
            trainer.fit(X, y, resume=path, **options)
        except (FileFormatError, ConfigError):
            refused += 1

    for part in ("progress", "history", "watch", "plateau"):
        for key in document[part]:
            for value in odd:
                container.write(path, arrays, document | {part: document[part] | {key: value}})
                resume()
    assert refused > 60
    refused = 0
    for name in arrays:
        container.write(path, {k: v for k, v in arrays.items() if k != name}, document)
        resume()
        container.write(path, arrays | {name: np.zeros(3)}, document)
        resume()
    assert refused == 2 * len(arrays)
    for length in range(0, len(content), max(1, len(content) // 40)):
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError):
            trainer.fit(X, y, resume=path, **options)


@pytest.mark.parametrize(
    ("part", "change", "name"),
    [
        ("progress", {"step": 30}, "step"),
        ("progress", {"step": 10_000, "t": 10_029}, "step"),
        ("progress", {"step": True}, "step"),
        ("progress", {"step": 0}, "t"),
        ("progress", {"t": 1}, "t"),
        ("progress", {"t": 10**9}, "t"),
        ("progress", {"epoch": 2}, "t"),
        ("progress", {"epoch": 0, "t": 11}, "epochs"),
        ("progress", {"sums": {}}, "sums"),
        ("progress", {"sums": {"weight": 3.0, "objective": 1.0, "metric.accuracy": 1.0, "other": 1.0}}, "sums"),
        ("progress", {"sums": {"weight": -3.0, "objective": 1.0, "metric.accuracy": 1.0}}, "sums"),
        ("progress", {"seconds": -1.0}, "seconds"),
        ("progress", {"seconds": float("inf")}, "seconds"),
        ("progress", {"rate_scale": float("inf")}, "rate_scale"),
        ("progress", {"more": 1}, "more"),
        ("history", {"best_epoch": 7}, "best_epoch"),
        ("history", {"best_epoch": 0}, "best_epoch"),
        ("history", {"epochs": {"epoch": [1, 2], "loss": [1.0, 2.0]}}, "epochs"),
        ("watch", {"best_epoch": 7}, "best_epoch"),
        ("watch", {"n_bad": 1.5}, "n_bad"),
        ("watch", {"n_bad": 7}, "n_bad"),
        ("watch", {"best": "0.5"}, "best"),
        ("plateau", {"scale": 2.0}, "scale"),
        ("plateau", {"best": "0.5"}, "best"),
    ],
)
def test_a_state_that_no_run_can_have_is_refused(digits, tmp_path, part, change, name):
    """The run had 29 steps an epoch, and was stopped after 11 steps of the second one."""
    path = tmp_path / "run"
    options = {"epochs": 3, "batch_size": 50, "validation": 0.2, "early_stopping": True, "metrics": "accuracy"}
    trainer = md.Trainer(nets(), loss="cross_entropy", schedule=md.optim.schedules.ReduceOnPlateau())
    trainer.fit(*digits, **options, callbacks=Breaks(40), checkpoint=path)
    arrays, document = container.read(path, kind="checkpoint")
    assert (document["progress"]["epoch"], document["progress"]["step"], document["progress"]["t"]) == (1, 11, 40)
    container.write(path, arrays, document | {part: document[part] | change})
    model = trainer.model.params.flat.copy()
    with pytest.raises(FileFormatError, match=rf"is not a valid checkpoint: .*\b{name}\b"):
        trainer.fit(*digits, **options, resume=path)
    np.testing.assert_array_equal(trainer.model.params.flat, model)


@pytest.mark.parametrize("change", [{"setting": []}, {"setting": None}, {"progress": []}, {"history": 5}, {"watch": 3}])
def test_a_part_of_another_type_is_refused(digits, tmp_path, change):
    path = tmp_path / "run"
    options = {"epochs": 2, "validation": 0.2, "early_stopping": True}
    trainer = md.Trainer(nets(), loss="cross_entropy")
    trainer.fit(*digits, **options, checkpoint=path)
    arrays, document = container.read(path, kind="checkpoint")
    container.write(path, arrays, document | change)
    with pytest.raises(FileFormatError, match="is not a valid checkpoint"):
        trainer.fit(*digits, **options, resume=path)


def test_an_epoch_whose_steps_were_all_done_is_ended(digits, tmp_path, same):
    """Ctrl-C may arrive after the last step of an epoch and before its row of the history."""
    path = tmp_path / "run"
    whole, resumed = (md.Trainer(nets(), loss="cross_entropy") for _ in range(2))
    whole.fit(*digits, epochs=2, batch_size=100)

    class AtTheEnd(md.Callback):
        every = 18

        def on_steps(self, trainer, step, values):
            raise KeyboardInterrupt

    resumed.fit(*digits, epochs=2, batch_size=100, callbacks=AtTheEnd(), checkpoint=path)
    assert container.read(path, kind="checkpoint")[1]["progress"]["step"] == 18
    resumed.fit(*digits, epochs=2, batch_size=100, resume=path)
    same(whole.model, resumed.model)
    assert resumed.history["loss"].tolist() == whole.history["loss"].tolist()


WITH_AN_INSTRUCTION_SET = """
import sys
import numpy as np, madaline as md
X = np.random.default_rng(0).normal(size=(60, 3))
options = {"checkpoint": sys.argv[1]} if sys.argv[2] == "write" else {"resume": sys.argv[1]}
try:
    md.Trainer(md.mlp(8, 1)).fit(X, X[:, :1], epochs=1 if sys.argv[2] == "write" else 2, **options)
except md.errors.ConfigError as error:
    print(error)
"""


@pytest.mark.skipif(len(core.cpu_isas()) < 2 or len(core.built_isas()) < 2, reason="needs two instruction sets")
def test_a_run_is_resumed_with_the_instruction_set_that_began_it(tmp_path, run_python):
    def run(how, **variables):
        code = f"import sys; sys.argv[1:] = [{str(tmp_path / 'run')!r}, {how!r}]" + WITH_AN_INSTRUCTION_SET
        found = run_python(code, **variables)
        assert found.returncode == 0, found.stderr
        return found.stdout

    one, other = core.built_isas()[:2]
    assert run("write", MADALINE_ISA=one) == ""
    assert run("resume", MADALINE_ISA=one) == ""
    message = run("resume", MADALINE_ISA=other)
    assert (
        f"was written with the instruction set {one!r}, and this process uses the instruction set {other!r}" in message
    )
    assert f"MADALINE_ISA={one}" in message
    message = run("resume", MADALINE_EXECUTOR="reference")
    assert f"was written with the instruction set {one!r}, and this process uses the reference executor" in message
    assert run("write", MADALINE_EXECUTOR="reference") == ""
    message = run("resume", MADALINE_ISA=one)
    assert f"was written with the reference executor, and this process uses the instruction set {one!r}" in message
    assert "MADALINE_EXECUTOR=reference" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda given: given | {"X": given["X"][::-1]}, "another data"),
        (lambda given: given | {"y": np.roll(given["y"], 1)}, "another data"),
        (lambda given: given | {"sample_weight": 2.0 - given["sample_weight"]}, "another data"),
        (lambda given: given | {"class_weight": {0: 2.0}}, "another data"),
        (lambda given: given | {"metrics": None}, "another metrics"),
        (lambda given: given | {"early_stopping": "val_accuracy"}, "another early_stopping"),
        (lambda given: given | {"early_stopping": 7}, "another early_stopping"),
        (lambda given: given | {"early_stopping": None}, "another early_stopping"),
        (lambda given: given | {"validation": (given["X"][1:41], given["y"][1:41])}, "another validation"),
        (lambda given: given | {"validation": None, "early_stopping": "loss"}, "another validation"),
        (lambda given: given | {"epochs": 1}, "has already completed 2 epochs, and epochs=1"),
    ],
)
def test_other_data_and_other_ways_to_judge_them_are_refused(digits, tmp_path, change, message):
    X, y = digits
    given = {
        "X": X[:300],
        "y": y[:300],
        "sample_weight": np.linspace(0.5, 1.5, 300),
        "validation": (X[:40], y[:40]),
        "metrics": "accuracy",
        "early_stopping": "val_loss",
        "epochs": 2,
    }
    trainer = md.Trainer(nets(), loss="cross_entropy")
    trainer.fit(**given, checkpoint=tmp_path / "run")
    trainer.fit(**given | {"epochs": 3, "X": np.asfortranarray(given["X"])}, resume=tmp_path / "run")
    with pytest.raises(ConfigError, match=message):
        trainer.fit(**change(given), resume=tmp_path / "run")


def test_a_file_with_other_rows_is_refused(digits, tmp_path):
    import polars as pl

    X, y = digits

    def stream(scale):
        columns = {f"x{k}": scale * X[:, k] for k in range(2, 64, 8)}
        pl.DataFrame(columns | {"y": y}).write_parquet(tmp_path / "rows.parquet")
        return md.Stream(tmp_path / "rows.parquet", target="y")

    trainer = md.Trainer(nets(), loss="cross_entropy")
    trainer.fit(stream(1.0), epochs=1, checkpoint=tmp_path / "run")
    trainer.fit(stream(1.0), epochs=2, resume=tmp_path / "run")
    with pytest.raises(ConfigError, match="another data"):
        trainer.fit(stream(2.0), epochs=2, resume=tmp_path / "run")


def test_a_run_may_be_made_longer_while_its_rates_are_those_of_the_longer_one(digits, tmp_path, same):
    X, y = digits

    def trainer():
        return md.Trainer(
            nets(),
            loss="cross_entropy",
            schedule=md.optim.schedules.LinearWarmup(10).then(md.optim.schedules.Cosine(), after=40),
        )

    whole, longer = trainer(), trainer()
    whole.fit(X, y, epochs=4)
    longer.fit(X, y, epochs=1, checkpoint=tmp_path / "run")
    assert longer.run.progress.t < 40
    longer.fit(X, y, epochs=4, resume=tmp_path / "run")
    same(whole.model, longer.model)
    longer.fit(X, y, epochs=2, checkpoint=tmp_path / "run")
    assert longer.run.progress.t > 40
    with pytest.raises(ConfigError, match="another total_steps"):
        longer.fit(X, y, epochs=4, resume=tmp_path / "run")


def test_what_a_killed_run_left_half_written_is_removed(digits, tmp_path):
    left = tmp_path / ".run.ckpt.0123abcd.part"
    left.write_bytes(b"half")
    other = tmp_path / ".other.ckpt.0123abcd.part"
    other.write_bytes(b"half")
    md.Trainer(nets(), loss="cross_entropy").fit(*digits, epochs=1, checkpoint=tmp_path / "run.ckpt")
    assert not left.exists()
    assert other.exists()


def test_a_step_beyond_the_epoch_of_a_stream_is_refused(digits, tmp_path):
    """How many rows the stream has is known only at its end."""
    X, y = digits
    path = tmp_path / "run"
    chunks = [(X[:300], y[:300]), (X[300:500], y[300:500])]
    trainer = md.Trainer(nets(), loss="cross_entropy")
    trainer.fit(md.Stream(chunks), epochs=2, batch_size=100, callbacks=Breaks(2), checkpoint=path)
    arrays, document = container.read(path, kind="checkpoint")
    container.write(path, arrays, document | {"progress": document["progress"] | {"t": 50, "step": 50}})
    with pytest.raises(ShapeError, match="The stream gave 500 rows, fewer than this epoch had used before"):
        trainer.fit(md.Stream(chunks), epochs=2, batch_size=100, resume=path)


def test_checkpoints_by_time_are_written_within_an_epoch(digits, tmp_path, monkeypatch):
    """Also if nothing else interrupts the epoch, as a progress bar does."""
    steps = []
    save = checkpoint.save

    def noting(session, path):
        steps.append(session.progress.step)
        save(session, path)

    monkeypatch.setattr(checkpoint, "save", noting)
    options = {"batch_size": 10, "checkpoint_seconds": 0.0, "checkpoint_epochs": None}
    md.Trainer(nets(), loss="cross_entropy").fit(*digits, epochs=2, checkpoint=tmp_path / "run", **options)
    assert steps[0] == 1
    assert len(steps) > 2


def test_the_end_of_training_is_in_the_checkpoint(digits, tmp_path, same):
    """So that training with more epochs continues there."""
    make = partial(md.Trainer, md.mlp(8, 10), loss="cross_entropy")
    first, resumed, whole = make(), make(), make()
    first.fit(*digits, epochs=3, checkpoint=tmp_path / "run", checkpoint_epochs=2)
    resumed.fit(*digits, epochs=3, resume=tmp_path / "run", callbacks=lambda trainer, row: pytest.fail("trained again"))
    same(resumed.model, first.model)
    resumed.fit(*digits, epochs=5, resume=tmp_path / "run")
    whole.fit(*digits, epochs=5)
    same(resumed.model, whole.model)
