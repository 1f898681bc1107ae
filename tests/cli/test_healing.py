"""``madaline train --heal``: remedies that help are kept and shown, and nothing else changes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from madaline.cli.config import RunConfig
from madaline.cli.healing import with_options
from madaline.doctor.finding import Remedy

QUICK = ("--hidden", "16", "--epochs", 30, "--no-baselines", "--no-report")


def test_a_rate_that_is_too_low_is_healed_and_the_config_trains_the_healed_net(madaline):
    ran = madaline("train", "iris", "--out", "run", "--learning-rate", 1e-6, "--heal", *QUICK)
    assert ran.code == 0, ran.err
    assert "Trying: Use a learning rate of" in ran.out
    assert "Healed: the loss of the validation rows fell from" in ran.out
    result = json.loads(Path("run/result.json").read_text())
    assert result["healing"]["after"] < 0.7 * result["healing"]["before"]
    (kept,) = [each for each in result["healing"]["kept"] if each["finding"] == "rate_too_low"]
    config = tomllib.loads(Path("run/config.toml").read_text())
    assert kept["options"] == f"--learning-rate {config['training']['learning_rate']:.2g}"
    again = madaline("train", "--config", "run/config.toml", "--out", "again", "--no-baselines", "--no-report")
    assert again.code == 0
    first, second = (load_file(f"{name}/model.madaline") for name in ("run", "again"))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_healing_without_the_doctor_is_refused(madaline):
    ran = madaline("train", "iris", "--heal", "--no-doctor")
    assert ran.code == 2
    assert "--heal needs the doctor" in ran.err


def test_healing_an_ensemble_is_refused(madaline):
    ran = madaline("train", "iris", "--heal", "--preset", "best")
    assert ran.code == 2
    assert "--heal needs one net" in ran.err


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ("--learning-rate 0.01", "learning_rate", 0.01),
        ("--hidden 64,64", "hidden", (64, 64)),
        ("--batch-size 32", "batch_size", 32),
        ("--class-weight balanced", "class_weight", "balanced"),
    ],
)
def test_the_options_of_a_remedy_change_a_copy_of_the_settings(options, name, value):
    settings = RunConfig()
    changed = with_options(settings, Remedy("Do it.", options=options))
    assert getattr(changed.training, name) == value
    assert getattr(settings.training, name) is None
    assert options.split()[0] in changed.training.given


@pytest.mark.parametrize("options", ["", "--ignore COLUMN", "--group COLUMN", "--validation 0.3"])
def test_remedies_that_need_a_decision_are_not_applied(options):
    assert with_options(RunConfig(), Remedy("Think.", options=options)) is None
