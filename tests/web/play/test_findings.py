"""The doctor beside a run."""

from __future__ import annotations

import time

import pytest

from madaline.doctor.finding import Remedy
from madaline.optim.adam import Adam
from madaline.web.play.findings import changes
from madaline.web.play.settings import Settings
from web.play.asked import client_of, command, started, wait_for


def test_findings_arise_and_their_remedies_are_settings():
    with client_of() as client:
        run = started(client, "data=circles&layers=6identity,6identity&epochs=60&n=200")["run"]
        assert client.get(f"/api/runs/{run}/findings").json()["findings"] == []
        command(client, run, "run")
        wait_for(client, run, "finished")
        until = time.monotonic() + 60
        while (state := client.get(f"/api/runs/{run}/findings").json())["busy"] and time.monotonic() < until:
            time.sleep(0.1)
        assert state["epoch"] == 60
        found = {finding["name"]: finding for finding in state["findings"]}
        assert "missing_nonlinearity" in found
        changed = [remedy["changes"] for remedy in found["missing_nonlinearity"]["remedies"] if remedy["changes"]]
        assert changed
        assert "identity" not in changed[0]["layers"]
        assert started(client, f"data=circles&layers={changed[0]['layers']}")["run"] != run


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"learning_rate_init": 0.003}, {"rate": 0.003}),
        ({"optimizer": Adam(0.02)}, {"rate": 0.02}),
        ({"activation": "relu", "init": None}, {"layers": "6relu,4relu"}),
        ({"max_iter": 900, "batch_size": 8}, {"epochs": 900, "batch": 8}),
        ({"hidden_layer_sizes": (32, 32)}, {"layers": "32tanh,32tanh"}),
        ({"data": "auto"}, {"standardize": True}),
        ({"class_weight": "balanced"}, {"balance": True}),
        ({"clip_norm": 1.0}, {"clip": 1.0}),
        ({"early_stopping": True, "n_iter_no_change": 10}, {"patience": 10}),
        ({"dtype": "float64"}, {}),
        ({"learning_rate_init": 0.003, "dtype": "float64"}, {}),
        ({"hidden_layer_sizes": (512, 512)}, {}),
    ],
)
def test_a_remedy_becomes_settings_or_has_no_button(parameters, expected):
    assert changes(Remedy("Do it.", parameters=parameters), Settings()) == expected
