"""What a history alone shows: layers are suspected only if the run hardly learned."""

from __future__ import annotations

import numpy as np

import madaline as md
from madaline.train.history import History


def history(losses, **statistics):
    """A history of these losses with two layers, whose statistics are the same in every sample."""
    found = History()
    for epoch, loss in enumerate(losses, 1):
        found.add(epoch=epoch, loss=loss)
    usual = {"gradient_norm": 0.1, "weight_norm": 1.0, "update_ratio": 1e-3, "dead": 0.1, "saturated_units": np.nan}
    for step in range(12):
        for layer in ("0", "1", "2"):
            row = {name: value.get(layer, usual[name]) if isinstance(value, dict) else value
                   for name, value in (usual | statistics).items()}  # fmt: skip
            found.probes.add(step=step, layer=layer, **row)
    found.stopped = "finished"
    return found


FLAT, FALLING = np.full(10, 1.0), np.linspace(1.0, 0.1, 10)


def test_a_run_that_learns_is_healthy_whatever_its_layers_look_like():
    found = md.diagnose(history(FALLING, dead=0.95, update_ratio=0.5))
    assert found.is_healthy


def test_dead_units_of_a_run_that_does_not_learn():
    found = md.diagnose(history(FLAT, dead={"1": 0.97}))
    assert found.names == ["dead_units"]
    assert found["dead_units"].where == "layer '1'"
    assert found["dead_units"].evidence == {"fraction of the units": 0.97}


def test_rates_by_the_size_of_updates():
    assert md.diagnose(history(FLAT, update_ratio=0.4)).names == ["rate_too_high"]
    assert md.diagnose(history(FLAT, update_ratio=1e-7)).names == ["rate_too_low"]


def test_layers_that_do_not_move():
    found = md.diagnose(history(FLAT, update_ratio={"0": 0.0}))
    assert found.names == ["frozen_parameters"]
    assert found.findings[0].where == "layers 0"


def test_gradients_that_fade():
    found = md.diagnose(history(FLAT, gradient_norm={"0": 1e-6}, update_ratio={"0": 1e-7}))
    assert found.names == ["vanishing_gradients"]
