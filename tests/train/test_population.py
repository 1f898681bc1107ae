"""Populations: every member ends with the bits of the same net trained alone, however many threads there are."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import KFold

import madaline as md
from madaline.errors import ConfigError, DivergenceError, DtypeError, MadalineWarning, ShapeError
from train import population_run

N = 240


@pytest.fixture(scope="module")
def table():
    """Rows of two classes that a small net learns in part, with weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=N) > 0.2).astype(np.int64)
    return X, y, rng.uniform(0.2, 2.0, size=N)


def net(**settings):
    return md.mlp(8, 2, **settings)


def folds(n_folds=3):
    return [tuple(map(np.sort, pair)) for pair in KFold(n_folds, shuffle=True, random_state=0).split(np.zeros(N))]


def alone(trainer, data, rows, validation, *, weight=None, **options):
    """The same net trained on copies of its rows by ``Trainer.fit``."""
    X, y = data
    if weight is not None:
        options["sample_weight"] = weight[rows]
    if validation is not None:
        parts = (X[validation], y[validation])
        options["validation"] = parts if weight is None else (*parts, weight[validation])
    trainer.fit(X[rows], y[rows], **options)
    return trainer


def check_same(one, other):
    assert one.model.params.flat.tobytes() == other.model.params.flat.tobytes()
    assert one.model.state.flat.tobytes() == other.model.state.flat.tobytes()
    check_same_history(one.history, other.history)


def check_same_history(one, other):
    names = [name for name in one if name != "seconds"]
    assert names == [name for name in other if name != "seconds"]
    assert [np.asarray(one[name]).tobytes() for name in names] == [np.asarray(other[name]).tobytes() for name in names]
    assert (one.stopped, one.best_epoch) == (other.stopped, other.best_epoch)


CASES = {
    "sgd": (lambda s: md.Trainer(net(), loss="cross_entropy", optimizer=md.SGD(0.1, momentum=0.9), seed=s), {}),
    "own scalars": (
        lambda s: md.Trainer(
            net(dropout=0.1 * s, norm="batch"),
            loss=md.CrossEntropy(label_smoothing=0.05 * s),
            optimizer=md.AdamW(0.002 * (s + 1), weight_decay=0.1 * s),
            schedule="cosine",
            seed=s,
        ),
        {"metrics": ["accuracy", "auc"]},
    ),
    "early stopping": (
        lambda s: md.Trainer(net(), loss="cross_entropy", optimizer=md.Adam(0.05), seed=s),
        {"early_stopping": 1, "epochs": 40},
    ),
    "class weights": (lambda s: md.Trainer(net(), loss="cross_entropy", seed=s), {"class_weight": "balanced"}),
    "average": (
        lambda s: md.Trainer(
            net(norm="batch"), loss="cross_entropy", optimizer="rmsprop", average=md.optim.SWA(), clip_norm=1.0, seed=s
        ),
        {},
    ),
    "rprop": (lambda s: md.Trainer(net(), loss="cross_entropy", optimizer="rprop", seed=s), {"batch_size": None}),
    "lbfgs": (lambda s: md.Trainer(net(), loss="cross_entropy", optimizer=md.LBFGS(max_iter=5), seed=s), {}),
    "learned from data": (
        lambda s: md.Trainer(
            md.Sequential(md.nn.Standardize(), md.Linear(8, init="lsuv"), "relu", md.Linear(2)),
            loss="cross_entropy",
            schedule=md.optim.schedules.ReduceOnPlateau(patience=0),
            seed=s,
        ),
        {},
    ),
    "balanced sampler": (
        lambda s: md.Trainer(net(), loss="cross_entropy", dtype="float64", seed=s),
        {"sampler": "balanced", "drop_last": True},
    ),
    "probes": (
        lambda s: md.Trainer(net(), loss="cross_entropy", regularizer="l2", seed=s),
        {"probes": True, "record_steps": True},
    ),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", CASES)
def test_a_member_has_the_bits_of_the_same_net_trained_alone(table, name, weighted):
    make, options = CASES[name]
    X, y, weight = table
    weight = weight if weighted else None
    options = {"epochs": 4, "batch_size": 32, "accumulate": 1} | options
    pairs = folds()
    population = md.Population([make(seed) for seed in range(3)], threads=2)
    histories = population.fit(
        X,
        y,
        rows=[rows for rows, _ in pairs],
        validation_rows=[others for _, others in pairs],
        sample_weight=weight,
        **options,
    )
    assert population.stopped == "finished"
    for seed, (rows, others) in enumerate(pairs):
        single = alone(make(seed), (X, y), rows, others, weight=weight, **options)
        check_same(population.trainers[seed], single)
        assert histories[seed] is population.trainers[seed].history
        assert repr(histories[seed].probes.to_dict()) == repr(single.history.probes.to_dict())
        assert repr(histories[seed].steps.to_dict()) == repr(single.history.steps.to_dict())
    if name == "early stopping":
        assert len({history.epochs for history in histories}) > 1


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_results_do_not_depend_on_the_number_of_threads(table, threads):
    X, y, _ = table
    make, options = CASES["own scalars"]

    def run(threads):
        population = md.Population([make(seed) for seed in range(5)], threads=threads)
        population.fit(X, y, rows=[rows for rows, _ in folds(5)], validation=0.2, epochs=3, **options)
        return population

    found, wanted = run(threads), run(1)
    for one, other in zip(found.trainers, wanted.trainers, strict=True):
        check_same(one, other)


def test_rows_of_sparse_data_are_chosen_without_a_copy(table):
    X, y, _ = table
    sparse = scipy.sparse.csr_array(np.where(np.abs(X) > 0.8, X, 0.0))
    pairs = folds(2)
    population = md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(2)])
    population.fit(sparse, y, rows=[r for r, _ in pairs], validation_rows=[v for _, v in pairs], epochs=3)
    for seed, (rows, others) in enumerate(pairs):
        trainer = md.Trainer(net(), loss="cross_entropy", seed=seed)
        check_same(population.trainers[seed], alone(trainer, (sparse, y), rows, others, epochs=3))
    assert population.predict(sparse).shape == (N, 2)


def test_members_may_have_several_inputs_and_outputs(table):
    X, y, _ = table
    data = {"shop": np.arange(N) % 7, "numbers": X}
    targets = {"kind": y, "size": X[:, 2:3]}

    def make(seed):
        inputs = md.Parallel(shop=md.Embedding(7, 3), numbers=md.nn.Standardize())
        outputs = md.Parallel(kind=md.Linear(2), size=md.Linear(1))
        loss = {"kind": "cross_entropy", "size": "mse"}
        return md.Trainer(md.Sequential(inputs, md.Concat(), md.Linear(6), "relu", outputs), loss=loss, seed=seed)

    rows = folds(2)[0][0]
    population = md.Population([make(0), make(1)])
    population.fit(data, targets, rows=[rows, None], epochs=2, class_weight={"kind": "balanced"})
    single = make(0)
    single.fit(
        {name: item[rows] for name, item in data.items()},
        {name: item[rows] for name, item in targets.items()},
        epochs=2,
        class_weight={"kind": "balanced"},
    )
    check_same(population.trainers[0], single)
    mean = population.predict(data)
    each = [trainer.predict(data) for trainer in population.trainers]
    for name in targets:
        np.testing.assert_allclose(mean[name], (each[0][name] + each[1][name]) / 2, atol=1e-6)


def test_members_may_differ_in_net_rows_and_options(table):
    X, y, _ = table
    makers = [
        lambda: md.Trainer(md.mlp(4, 2), loss="cross_entropy", seed=1),
        lambda: md.Trainer(md.mlp(16, 8, 2, activation="tanh"), loss="cross_entropy", seed=2),
        lambda: md.Trainer(md.mlp(4, 2), loss="cross_entropy", seed=3),
        lambda: md.Trainer(md.mlp(4, 2), loss="cross_entropy", seed=4),
    ]
    rng = np.random.default_rng(1)
    rows = [np.arange(0, N, 3), rng.integers(N, size=2 * N), np.arange(N) < 17, None]
    own = [{"batch_size": 7}, {"epochs": 5}, {"validation": 0.3}, None]
    population = md.Population([make() for make in makers], threads=2)
    population.fit(X, y, rows=rows, member_options=own, epochs=2)
    for make, mine, options, trainer in zip(makers, rows, own, population.trainers, strict=True):
        numbers = np.arange(N) if mine is None else np.flatnonzero(mine) if mine.dtype == bool else mine
        single = make()
        single.fit(X[numbers], y[numbers], **{"epochs": 2} | (options or {}))
        check_same(trainer, single)
    assert population.summary["epochs"].tolist() == [2, 5, 2, 2]


@pytest.mark.parametrize("rows", [[5], [5, 5, 9]], ids=["one row", "few rows"])
def test_a_member_alone_with_few_rows(table, rows):
    X, y, _ = table
    population = md.Population([md.Trainer(net(), loss="cross_entropy")], threads=3)
    population.fit(X, y, rows=[rows], validation_rows=[[1]], epochs=3)
    wanted = alone(md.Trainer(net(), loss="cross_entropy"), (X, y), np.array(rows), np.array([1]), epochs=3)
    check_same(population.trainers[0], wanted)


def test_a_member_can_be_trained_on_alone_afterwards(table):
    X, y, _ = table
    population = md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(2)])
    population.fit(X, y, epochs=2)
    single = md.Trainer(net(), loss="cross_entropy", seed=1)
    single.fit(X, y, epochs=2)
    for trainer in (single, population.trainers[1]):
        trainer.partial_fit(X, y, epochs=2)
    check_same(population.trainers[1], single)


def test_members_that_start_from_a_model_keep_it_for_the_next_run(table):
    X, y, _ = table
    model = net().init(X, seed=9)
    population = md.Population([md.Trainer(model, loss="cross_entropy", seed=seed) for seed in range(2)])
    first = [trainer.model.params.flat.copy() for trainer in fitted(population, X, y).trainers]
    again = [trainer.model.params.flat for trainer in fitted(population, X, y).trainers]
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert not np.array_equal(*first)


def fitted(population, X, y, **options):
    population.fit(X, y, **{"epochs": 2} | options)
    return population


# Ends that were not planned.


def diverging(seed):
    return md.Trainer(net(), loss="cross_entropy", optimizer=md.SGD(1e30 if seed == 1 else 0.1), seed=seed)


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_member_that_diverges_is_reported_and_the_others_go_on(table):
    X, y, _ = table
    population = md.Population([diverging(seed) for seed in range(3)], threads=2)
    with pytest.warns(
        MadalineWarning, match=r"Member 1 of the population diverged: The loss of step \d+ .* not finite"
    ):
        histories = population.fit(X, y, epochs=3)
    assert [history.stopped for history in histories] == ["finished", "diverged", "finished"]
    assert list(population.errors) == [1]
    assert isinstance(population.errors[1], DivergenceError)
    assert population.usable == [0, 2]
    assert population.stopped == "finished"
    single = diverging(2)
    single.fit(X, y, epochs=3)
    check_same(population.trainers[2], single)
    mean = (population.trainers[0].predict(X) + population.trainers[2].predict(X)) / 2
    np.testing.assert_allclose(population.predict(X), mean, atol=1e-6)


def test_a_population_whose_members_all_diverge_is_an_error(table):
    X, y, _ = table
    population = md.Population([diverging(1), diverging(1)])
    with pytest.raises(DivergenceError, match=r"All 2 members of the population diverged. The first: The loss of step"):
        population.fit(X, y)
    with pytest.raises(ConfigError, match=r"No member of the population can be used; .* stopped with: diverged"):
        population.predict(X)


def test_a_divergence_can_end_everything(table):
    X, y, _ = table
    population = md.Population([diverging(1), diverging(0)], threads=1)
    with pytest.raises(DivergenceError, match="not finite") as found:
        population.fit(X, y, on_divergence="raise", epochs=3)
    assert "member 0" in found.value.__notes__[0]
    assert population.histories[1].stopped == "error"


def test_an_error_in_a_member_ends_the_others_and_is_raised(table):
    X, y, _ = table

    def broken(trainer, row):
        raise RuntimeError("a callback failed")

    population = md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(3)], threads=2)
    with pytest.raises(RuntimeError, match="a callback failed") as found:
        population.fit(X, y, epochs=100_000, member_options=[None, {"callbacks": broken}, None])
    assert "member 1 of the population" in found.value.__notes__[0]
    assert population.stopped == "error"
    assert [history.stopped for history in population.histories] == ["error"] * 3
    assert not [thread for thread in threading.enumerate() if "population" in thread.name]


def test_a_time_limit_ends_what_runs_and_starts_nothing_more(table):
    X, y, _ = table
    population = md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(4)], threads=2)
    histories = population.fit(X, y, epochs=1000, max_seconds=0)
    assert [history.epochs for history in histories] == [1, 1, 0, 0]
    assert [history.stopped for history in histories] == ["time"] * 4
    assert population.stopped == "time"
    assert population.usable == [0, 1]
    assert population.predict(X).shape == (N, 2)


def test_the_time_limit_holds_for_members_that_run(table):
    X, y, _ = table
    population = md.Population([md.Trainer(net(), loss="cross_entropy")])
    assert population.fit(X, y, epochs=10_000_000, max_seconds=0.05)[0].stopped == "time"
    assert population.stopped == "time"
    assert population.usable == [0]


def test_members_that_were_cut_off_are_used_only_if_there_are_no_others(table):
    X, y, _ = table
    population = md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(3)], threads=1)

    def stop(trainer, row):
        if row["epoch"] == 2:
            population.stop()

    own = [None, {"callbacks": stop, "epochs": 9}, None]
    histories = population.fit(X, y, epochs=3, member_options=own)
    assert [history.stopped for history in histories] == ["finished", "interrupted", "interrupted"]
    assert population.stopped == "callback"
    assert population.usable == [0]
    own = [{"callbacks": stop, "epochs": 9}, None, None]
    histories = population.fit(X, y, epochs=3, member_options=own)
    assert [history.epochs for history in histories] == [2, 0, 0]
    assert population.usable == [0]

    class AtOnce(md.Callback):
        every = 1

        def on_steps(self, trainer, step, values):
            population.stop()

    population.fit(X, y, batch_size=8, callbacks=AtOnce())
    assert [history.epochs for history in population.histories] == [0, 0, 0]
    assert population.usable == [0]
    assert population.predict(X).shape == (N, 2)


def test_one_member_can_be_stopped(table):
    X, y, _ = table
    population = md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(2)], threads=2)

    def stop_the_other(trainer, row):
        population.stop(0)

    own = [{"epochs": 10_000_000}, {"epochs": 3, "callbacks": stop_the_other}]
    histories = population.fit(X, y, member_options=own)
    assert [history.stopped for history in histories] == ["callback", "finished"]


# Checkpoints.


@pytest.mark.parametrize("stop_at", [1, 3, 8])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_that_was_stopped_resumes_as_if_it_had_not_been(tmp_path, stop_at, threads):
    whole = population_run.run(tmp_path / "whole")
    part = population_run.run(tmp_path / "run", stop_at=stop_at, threads=threads)
    assert part.stopped == "callback"
    resumed = population_run.run(tmp_path / "run", resume=tmp_path / "run", threads=3 - threads)
    for one, other in zip(resumed.trainers, whole.trainers, strict=True):
        check_same(one, other)
    finished = population_run.run(tmp_path / "run", resume=tmp_path / "run")  # nothing is left to do
    for one, other in zip(finished.trainers, whole.trainers, strict=True):
        check_same(one, other)


@pytest.fixture
def process(tmp_path):
    """A process that trains a population, at its third epoch."""
    command = [sys.executable, population_run.__file__, str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as found:
        for line in found.stdout:
            if line.strip() == "3":
                break
        yield found
        found.kill()


def test_a_run_that_was_killed_resumes_as_if_it_had_not_been(process, tmp_path):
    process.kill()
    process.wait()
    assert list((tmp_path / "run").glob("member-*"))
    resumed = population_run.run(tmp_path / "run", resume=tmp_path / "run")
    whole = population_run.run(tmp_path / "whole")
    for one, other in zip(resumed.trainers, whole.trainers, strict=True):
        check_same(one, other)


def test_ctrl_c_leaves_members_that_can_be_used_and_resumed(process, tmp_path):
    process.send_signal(signal.SIGINT)
    printed = process.stdout.read().splitlines()
    assert process.wait(timeout=60) == 0, printed
    assert printed[-2:] == ["interrupted ['interrupted', 'interrupted', 'interrupted', 'interrupted'] 2", "True"]
    resumed = population_run.run(tmp_path / "run", resume=tmp_path / "run")
    whole = population_run.run(tmp_path / "whole")
    for one, other in zip(resumed.trainers, whole.trainers, strict=True):
        check_same(one, other)


def test_a_short_time_does_not_lose_what_was_trained_before(table, tmp_path):
    X, y, _ = table

    def make(count):
        trainers = [md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(count)]
        return md.Population(trainers, threads=1)

    whole = make(3)
    whole.fit(X, y, epochs=2, checkpoint=tmp_path / "run")
    resumed = make(4)
    resumed.fit(X, y, epochs=2, resume=tmp_path / "run", max_seconds=1e-9)
    assert resumed.usable == [0, 1, 2]
    assert resumed.stopped == "time"
    for number in range(3):
        np.testing.assert_array_equal(
            resumed.trainers[number].model.params.flat, whole.trainers[number].model.params.flat
        )


def test_checkpoints_of_other_rows_or_trainers_are_refused(table, tmp_path):
    X, y, _ = table

    def make(count):
        return md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(count)])

    rows = [np.arange(0, 100), np.arange(50, 150)]
    make(2).fit(X, y, rows=rows, epochs=2, checkpoint=tmp_path / "run")
    for changed in ({"rows": [rows[0], rows[1] + 1]}, {"rows": rows, "validation_rows": rows}):
        with pytest.raises(ConfigError, match="was written by a run with another") as found:
            make(2).fit(X, y, epochs=2, resume=tmp_path / "run", **changed)
        assert "member" in found.value.__notes__[0]
    with pytest.raises(ConfigError, match=r"has .member-00001.checkpoint., but there are 1 trainers"):
        make(1).fit(X, y, rows=rows[:1], epochs=2, resume=tmp_path / "run")
    with pytest.raises(ConfigError, match="is not a folder of checkpoints"):
        make(1).fit(X, y, resume=tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="it must be a folder, with a file for each member"):
        make(1).fit(X, y, checkpoint=tmp_path / "file")
    with pytest.raises(ConfigError, match="does not exist"):
        make(1).fit(X, y, checkpoint=tmp_path / "no" / "folder")
    # A new run in the same folder leaves nothing of the old one.
    make(1).fit(X, y, epochs=2, checkpoint=tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["member-00000.checkpoint"]


# What a population predicts.


LOSSES = {
    "mse": ("mse", 1, lambda y: y[:, None].astype(float)),
    "classes": ("cross_entropy", 2, lambda y: y),
    "labels": ("binary_cross_entropy", 2, lambda y: np.stack([y, 1 - y], axis=1)),
    "counts": ("poisson", 1, lambda y: y[:, None]),
    "density": ("heteroscedastic_gaussian", 2, lambda y: y[:, None].astype(float)),
    "ordinal": ("ordinal", 1, lambda y: y),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_prediction_is_the_mean_of_those_of_the_members(table, name, tmp_path):
    X, y, _ = table
    loss, n_out, targets = LOSSES[name]
    shared = md.mlp(8, n_out, norm="batch")  # one description for all: their parameters stay apart
    population = md.Population([md.Trainer(shared, loss=loss, seed=seed) for seed in range(3)])
    population.fit(X, targets(y), epochs=3)
    each = [trainer.predict(X) for trainer in population.trainers]
    np.testing.assert_allclose(population.predict(X), np.mean(each, axis=0), rtol=1e-5, atol=1e-6)
    if name in ("density", "ordinal"):
        with pytest.raises(ConfigError, match="cannot be averaged by a net"):
            population.ensemble()
        return
    weighted = population.ensemble([0, 2], weights=[3.0, 1.0])
    md.save(weighted, tmp_path / "model")
    raw = md.load(tmp_path / "model")(X)
    wanted = 0.75 * each[0] + 0.25 * each[2]
    predict = population.trainers[0].recipe.loss.predict
    np.testing.assert_allclose(predict(raw), wanted, rtol=1e-5, atol=1e-6)
    alone = population.ensemble(weights=[0.0, 1.0, 0.0])
    np.testing.assert_allclose(predict(alone(X)), each[1], rtol=1e-5, atol=1e-6)


def test_extreme_outputs_are_averaged_without_overflow():
    for average in ("softmax", "sigmoid", "exp"):
        model = md.nn.Ensemble("identity", md.nn.Sequential("identity"), average=average).init(2)
        raw = np.array([[500.0, -500.0], [0.0, 300.0]], dtype=np.float32)
        np.testing.assert_allclose(
            md.nn.activations.softmax(model(raw)) if average == "softmax" else model(raw),
            {"softmax": [[1.0, 0.0], [0.0, 1.0]], "sigmoid": raw, "exp": raw}[average],
            atol=1e-4,
        )


def test_members_that_are_not_one_ensemble_are_refused(table):
    X, y, _ = table
    population = md.Population([md.Trainer(md.mlp(4, n_out), loss="cross_entropy") for n_out in (2, 3)])
    population.fit(X, y, epochs=1)
    with pytest.raises(ConfigError, match="different inputs, outputs or types"):
        population.ensemble()
    with pytest.raises(ConfigError, match="weights has 1 numbers for 2 members"):
        population.ensemble(weights=[1.0])
    with pytest.raises(ConfigError, match="members: 5 is not the number of a member"):
        population.ensemble([5])
    with pytest.raises(ConfigError, match="call fit first"):
        md.Population([md.Trainer(net())]).predict(X)


# Arguments.


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rows": [[0]]}, ConfigError, r"rows has 1 items; there must be one for each of 2 trainers"),
        ({"rows": [[0], [N]]}, ConfigError, rf"rows\[1\] has row {N}; the data has rows 0 to {N - 1}"),
        ({"rows": [[0], [-1]]}, ConfigError, r"rows\[1\] has row -1"),
        ({"rows": [[0], []]}, ConfigError, r"rows\[1\] has no rows"),
        ({"rows": [[0.5], None]}, DtypeError, r"rows\[0\] has dtype float64; it must hold row numbers"),
        ({"rows": [[[0]], None]}, ShapeError, r"rows\[0\] has shape \(1, 1\)"),
        ({"rows": [[True], None]}, ShapeError, r"rows\[0\] is a mask of shape \(1,\)"),
        ({"validation_rows": [[0], [N]]}, ConfigError, r"validation_rows\[1\] has row"),
        ({"epochs": 0}, ConfigError, r"^epochs=0 must be a whole number"),
        ({"member_options": [{"epochs": 0}, None]}, ConfigError, r"^Member 0: epochs=0 must be"),
        ({"member_options": [{"epoch": 1}, None]}, TypeError, r"has no option 'epoch'"),
        ({"member_options": [{"checkpoint": "x"}, None]}, TypeError, r"has no option 'checkpoint'"),
        ({"on_divergence": "wait"}, ConfigError, r"on_divergence='wait' must be one of"),
        ({"sample_weight": np.zeros(N)}, ConfigError, r"The weight is 0 for every row"),
        ({"sample_weight": np.ones(3)}, ShapeError, r"sample_weight has shape \(3,\)"),
    ],
)
def test_wrong_arguments_are_refused(table, options, error, message):
    X, y, _ = table
    population = md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(2)])
    with pytest.raises(error, match=message):
        population.fit(X, y, **options)


def test_what_is_not_a_population_is_refused(table):
    X, y, _ = table
    trainer = md.Trainer(net())
    with pytest.raises(ConfigError, match="trainers is empty"):
        md.Population([])
    with pytest.raises(ConfigError, match="the same trainer twice"):
        md.Population([trainer, trainer])
    with pytest.raises(ConfigError, match=r"trainers\[1\]=.* must be a Trainer"):
        md.Population([trainer, net()])
    with pytest.raises(ConfigError, match="a population needs arrays"):
        md.Population([trainer]).fit(md.Stream(lambda: iter([(X, y)])))


def test_a_bar_counts_the_members(table, capsys):
    X, y, _ = table
    population = md.Population([md.Trainer(net(), loss="cross_entropy", seed=seed) for seed in range(3)])
    population.fit(X, y, epochs=2, progress=True)
    assert "3 of 3 nets" in capsys.readouterr().err
