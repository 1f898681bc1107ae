"""The options of fit: named in two places that must agree, and wrong ones are all reported at once."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, UnknownNameError
from madaline.train.options import FitOptions

X, Y = np.linspace(-1.0, 1.0, 40).reshape(10, 4), np.arange(10) % 2
DATA = ("self", "X", "y")


def trainer():
    return md.Trainer(md.mlp(4, 2), loss="cross_entropy")


def test_fit_has_the_options_and_their_defaults():
    signature = inspect.signature(md.Trainer.fit)
    found = {name: p.default for name, p in signature.parameters.items() if name not in DATA}
    assert found == {option.name: option.default for option in dataclasses.fields(FitOptions)}
    documented = inspect.getdoc(md.Trainer.fit)
    assert all(f"\n{name} : " in documented or f"{name}``" in documented for name in found)


def test_partial_fit_shows_and_documents_its_options():
    parameters = inspect.signature(md.Trainer.partial_fit).parameters
    assert parameters["epochs"].default == 1
    assert parameters["batch_size"].default == 64
    assert "validation" not in parameters
    documented = inspect.getdoc(md.Trainer.partial_fit)
    assert all(name in documented for name in parameters if name not in DATA)


@pytest.mark.parametrize("name", ["validation", "epoch"])
def test_partial_fit_refuses_other_options(name):
    with pytest.raises(TypeError, match=f"partial_fit has no option {name!r}. Options: epochs, batch_size"):
        trainer().partial_fit(X, Y, **{name: 1})


def test_all_wrong_options_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        trainer().fit(X, Y, epochs=0, max_seconds=-1, sampler="shufled", callbacks=7, validation="some")
    lines = str(caught.value).split("\n")
    for name in ("epochs=0", "max_seconds=-1", "'shufled'", "callbacks: 7", "validation is str"):
        assert any(name in line for line in lines)
    with pytest.raises(ConfigError, match=r"seed=-1 .*\nthreads=0 "):
        md.Trainer(md.mlp(4, 2), seed=-1, threads=0)


def test_a_single_wrong_option_keeps_its_own_error():
    with pytest.raises(UnknownNameError, match="Did you mean 'shuffled'"):
        trainer().fit(X, Y, sampler="shufled")


def test_options_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        FitOptions().epochs = 3
