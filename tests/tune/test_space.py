"""Spaces of a search: what is read, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.tune.defaults import default_space
from madaline.tune.parameters import as_parameters, as_values, settings_of
from madaline.tune.space import Choice, Range, at_edges, read_space

NET = md.MLPClassifier(preset="auto")


def test_a_dict_and_a_file_describe_the_same_space(tmp_path):
    file = tmp_path / "space.toml"
    file.write_text(
        "learning_rate_init = {low = 1e-4, high = 1e-2, log = true}\n"
        "hidden_layer_sizes = [[64], [128, 128]]\n"
        "dropout = {low = 0.0, high = 0.4, step = 0.1}\n"
    )
    given = {
        "learning_rate_init": {"low": 1e-4, "high": 1e-2, "log": True},
        "hidden_layer_sizes": [(64,), (128, 128)],
        "dropout": {"low": 0.0, "high": 0.4, "step": 0.1},
    }
    assert read_space(file, NET) == read_space(given, NET)
    assert read_space(given, NET)["hidden_layer_sizes"] == Choice(((64,), (128, 128)))


def test_all_errors_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        read_space(
            {
                "droput": [0.1],
                "activation": ["relu", "mihs"],
                "learning_rate_init": {"low": 0.1, "high": 0.01},
                "weight_decay": {"low": 0.0, "high": 0.1, "log": True},
                "random_state": [1, 2],
                "layers": {"low": 0, "high": 3},
                "width": {"low": 8, "high": 64, "logg": True},
                "batch_size": [32, 32],
                "norm": "batch",
            },
            NET,
        )
    text = str(caught.value)
    for part in [
        "'droput' is not a hyperparameter of MLPClassifier. Did you mean 'dropout'?",
        "activation='mihs' is not a known activation. Did you mean 'mish'?",
        "low=0.1 must be below high=0.01",
        "low=0.0 must be above 0 for a logarithmic scale",
        "random_state cannot be searched: it is not a hyperparameter",
        "layers=0 must be a whole number of at least 1",
        "unknown key 'logg'. Did you mean 'log'?",
        "batch_size=[32, 32] has a value twice",
        "norm='batch' must be a list of values",
    ]:
        assert part in text
    assert text.count("\n  - ") == 9


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "must be a dict or a TOML file"),
        ({"dropout": []}, "has no values"),
        ({"dropout": {"low": 0.0, "high": 1.5}}, "dropout"),
        ({"dropout": {"low": "a", "high": 1.5}}, "low='a' must be a number"),
        ({"width": [8, 16], "hidden_layer_sizes": [(8,)]}, "say the same thing"),
        ({"solver": ["adam", "lbfgs"]}, "L-BFGS has none"),
        ({"alpha": [0.1], "dropout": {"low": 0.0, "high": 0.5, "step": 2.0}}, "step=2.0 must fit"),
    ],
)
def test_a_space_that_cannot_be_searched_is_refused(space, message):
    with pytest.raises(ConfigError, match=message):
        read_space(space, NET)


def test_a_file_that_is_no_toml_file_is_refused(tmp_path):
    file = tmp_path / "space.toml"
    file.write_text("dropout = = 1")
    with pytest.raises(ConfigError, match="is not a TOML file"):
        read_space(file, NET)


@pytest.mark.parametrize("n_rows", [50, 1_000, 10_000, 500_000])
def test_the_preset_lies_in_the_default_space(n_rows):
    """So the sampler learns from trial 0."""
    for estimator in (NET, md.MLPRegressor(preset="auto")):
        values = as_values(settings_of(estimator, {}, n_rows))
        for name, part in read_space(default_space(n_rows), estimator).items():
            assert part.holds(values[name]), name


def test_layers_and_width_stand_for_the_hidden_layers():
    assert as_parameters({"layers": 2, "width": 16, "dropout": 0.1}, (8,)) == {
        "hidden_layer_sizes": (16, 16),
        "dropout": 0.1,
    }
    assert as_parameters({"width": 16}, (8, 8, 8)) == {"hidden_layer_sizes": (16, 16, 16)}
    assert as_parameters({"layers": 1}, (8, 8, 8)) == {"hidden_layer_sizes": (8,)}


def test_values_at_the_edge_are_named_where_the_range_can_be_wider():
    space = {
        "dropout": Range(0.0, 0.5),
        "learning_rate_init": Range(1e-3, 1e-1, log=True),
        "layers": Range(1, 4),
        "width": Range(8, 64),
    }
    best = {"dropout": 0.0, "learning_rate_init": 0.0999, "layers": 1, "width": 30}
    assert at_edges(NET, space, best) == [("learning_rate_init", "high")]  # dropout and layers end there by nature
    assert at_edges(NET, space, best | {"dropout": 0.5, "layers": 4}) == [
        ("dropout", "high"),
        ("learning_rate_init", "high"),
        ("layers", "high"),
    ]


def test_functions_and_layers_are_choices():
    space = read_space({"activation": [np.tanh, md.nn.PReLU(), "relu"]}, NET)
    part = space["activation"]
    assert [part.value(part.label(value)) for value in part.values] == list(part.values)
