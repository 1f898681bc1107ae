"""The doctor beside a run."""

from __future__ import annotations

import time

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
