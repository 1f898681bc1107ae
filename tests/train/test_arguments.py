"""What cannot be meant is said at once, by the name and the value that were given."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, DtypeError

X, Y = np.linspace(-1.0, 1.0, 40).reshape(10, 4), np.arange(10) % 2


def trainer(**options):
    return md.Trainer(md.mlp(4, 2), loss="cross_entropy", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "threads=0 must be a whole number of at least 1 and at most 1024"),
        ({"threads": "2"}, "threads='2'"),
        ({"threads": 2.5}, "threads=2.5"),
        ({"threads": True}, "threads=True"),
        ({"seed": -1}, "seed=-1 must be a whole number of at least 0"),
        ({"seed": 2**63}, "seed=9223372036854775808"),
        ({"seed": None}, "seed=None"),
        ({"groups": {"0": {"rate": "much"}}}, r"groups\['0'\]: 'much' must be a number of at least 0"),
    ],
)
def test_of_a_trainer(options, message):
    with pytest.raises(ConfigError, match=message):
        trainer(**options)


def test_a_type_of_number_that_is_none():
    with pytest.raises(DtypeError, match=r"dtype='real' is not a possible type of a net. Use 'float32' or 'float64'"):
        trainer(dtype="real")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": None}, "epochs=None must be a whole number of at least 1"),
        ({"epochs": 0}, "epochs=0"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"accumulate": None}, "accumulate=None"),
        ({"max_seconds": "long"}, "max_seconds='long' must be a number of seconds"),
        ({"max_seconds": -1}, "max_seconds=-1"),
        ({"max_seconds": float("nan")}, "max_seconds=nan"),
        ({"probes": 5}, "probes=5 must be True, or the paths of layers"),
        ({"probes": True, "probe_every": 0}, "probe_every=0"),
        ({"validation": "some"}, "validation is str; it must be a fraction between 0 and 1, or data"),
        ({"validation": X}, "validation is ndarray"),
        ({"validation": {"X": X}}, "validation is dict"),
        ({"validation": (X,)}, r"validation must be a fraction, \(X, y\)"),
        ({"checkpoint_epochs": 0}, "checkpoint_epochs=0"),
        ({"checkpoint_epochs": 1.5}, "checkpoint_epochs=1.5"),
        ({"checkpoint_seconds": -1}, "checkpoint_seconds=-1"),
        ({"checkpoint": ""}, "checkpoint='' must be the path of a file"),
        ({"checkpoint": 5}, "checkpoint=5 must be the path of a file"),
        ({"resume": 5}, "resume=5 must be the path of a file"),
        ({"sample_weight": ["a"] * 10}, "sample_weight must hold numbers"),
        ({"metrics": lambda p, y: np.ones(3)}, "metric '<lambda>' returned .*; it must return one number"),
        ({"metrics": lambda p, y: None}, "metric '<lambda>' returned None"),
        ({"sampler": lambda n, rng: np.arange(0)}, "sampler returned no rows"),
    ],
)
def test_of_fit(options, message, tmp_path):
    if any(name.startswith("checkpoint_") for name in options):
        options = {"checkpoint": tmp_path / "run.ckpt"} | options
    with pytest.raises(ConfigError, match=message):
        trainer().fit(X, Y, **{"epochs": 2} | options)


def test_a_checkpoint_that_could_not_be_written_is_said_before_the_training(tmp_path):
    with pytest.raises(ConfigError, match="is a folder; it must be a file"):
        trainer().fit(X, Y, checkpoint=tmp_path)
    with pytest.raises(ConfigError, match="does not exist"):
        trainer().fit(X, Y, checkpoint=tmp_path / "none" / "run.ckpt")


@pytest.mark.parametrize("name", ["loss", "epoch", "seconds", "learning_rate", "penalty", "val_loss"])
def test_a_metric_cannot_take_the_name_of_a_column_that_is_there_anyway(name):
    def metric(prediction, target):
        return 1.0

    metric.__name__ = name
    with pytest.raises(ConfigError, match=f"metrics: {name!r} is the name of another column"):
        trainer().fit(X, Y, epochs=1, metrics=metric)


def test_balanced_sampling_is_for_one_output():
    net = md.Sequential(md.Linear(4), md.Parallel(a=md.Linear(2), b=md.Linear(1)))
    both = md.Trainer(net, loss={"a": "cross_entropy", "b": "mse"})
    with pytest.raises(ConfigError, match="one class for each row, but the net has several outputs"):
        both.fit(X, {"a": Y, "b": X[:, :1]}, epochs=1, sampler="balanced")
