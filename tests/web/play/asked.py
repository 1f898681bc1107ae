"""A client of a playground, and frames as it reads them."""

from __future__ import annotations

import json
import time

import numpy as np
from starlette.testclient import TestClient

from madaline.web.play.app import Playground
from madaline.web.play.tables import TableStore

TOKEN = "a-token"


def client_of(**options):
    """A client of a new playground, with its token."""
    playground = Playground(token=TOKEN, tables=TableStore(), **options)
    headers = {"authorization": f"Bearer {TOKEN}"}
    return TestClient(playground.app(), base_url="http://127.0.0.1", headers=headers)


def started(client, link):
    """A new run."""
    answer = client.post("/api/runs", json={"link": link})
    assert answer.status_code == 200, answer.text
    return answer.json()


def command(client, run, action, value=0):
    assert client.post(f"/api/runs/{run}", json={"action": action, "value": value}).status_code == 200


def read_frame(content):
    """The header and the arrays of a frame."""
    length = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + length])
    arrays = {}
    for each in header["arrays"]:
        start, count = 4 + length + each["start"], int(np.prod(each["shape"]))
        assert start % 4 == 0
        arrays[each["name"]] = np.frombuffer(content, each["type"], count, start).reshape(each["shape"])
    return header, arrays


def frame(client, run, **query):
    answer = client.get(f"/api/runs/{run}/frame", params=query)
    assert answer.status_code == 200, answer.text
    return read_frame(answer.content)


def wait_for(client, run, *statuses):
    """The frame of a run that has one of these statuses."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = frame(client, run)
        if found[0]["status"] in statuses:
            return found
        time.sleep(0.01)
    raise AssertionError(f"The run did not become {statuses}: {found[0]['status']}")
