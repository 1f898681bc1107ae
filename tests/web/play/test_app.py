"""The routes of the playground: runs, frames, uploads, and who may ask."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest

from madaline.data.datasets import load_dataset
from madaline.web.play.shelf import MOST_RUNS
from web.play.asked import client_of, command, frame, started, wait_for


@pytest.fixture(scope="module")
def client():
    with client_of() as found:
        yield found


def test_about_lists_fields_lessons_and_pictures(client):
    about = client.get("/api/about").json()
    assert len(about["lessons"]) == 12
    assert {"fields", "activations", "features", "thumbnails", "most"} <= about.keys()
    assert set(about["thumbnails"]) >= {"moons", "wave"}


def test_a_run_goes_by_steps_and_epochs_and_pauses(client):
    info = started(client, "data=xor&layers=3relu&n=100&test=0.2&batch=10&epochs=50")
    run = info["run"]
    assert info["stepsAnEpoch"] == 8
    command(client, run, "step")
    while frame(client, run)[0]["step"] < 1:
        time.sleep(0.01)
    header, _ = wait_for(client, run, "paused")
    assert (header["step"], header["epoch"], header["history"]) == (1, 0, {})
    for action, value, step in (("step", 0, 2), ("epoch", 0, 8), ("epoch", 0, 16), ("until", 19, 19), ("epoch", 0, 24)):
        command(client, run, action, value)
        while frame(client, run)[0]["step"] != step:
            time.sleep(0.01)
        assert wait_for(client, run, "paused")[0]["step"] == step
    command(client, run, "run")
    header, _ = wait_for(client, run, "finished")
    assert (header["step"], header["epoch"], len(header["history"]["loss"])) == (400, 50, 50)


def test_steps_pauses_and_slowness_do_not_change_the_numbers(client):
    link = "data=moons&layers=4tanh&norm=batch&dropout=0.2&epochs=6&n=60"
    whole, parts = (started(client, link)["run"] for _ in range(2))
    command(client, whole, "run")
    expected, arrays = wait_for(client, whole, "finished")
    for action in ("step", "step", "epoch", "step"):
        command(client, parts, action)
        time.sleep(0.02)
        wait_for(client, parts, "paused")
    command(client, parts, "delay", 0.01)
    command(client, parts, "run")
    found, others = wait_for(client, parts, "finished")
    learned = [name for name in expected["history"] if name != "learning_rate"]
    assert {name: found["history"][name] for name in learned} == {name: expected["history"][name] for name in learned}
    assert (arrays["W0"] == others["W0"]).all()


def test_earlier_moments_can_be_looked_at(client):
    run = started(client, "data=circles&epochs=30")["run"]
    _, first = frame(client, run)
    command(client, run, "run")
    header, last = wait_for(client, run, "finished")
    back, again = frame(client, run, at=0)
    assert back["step"] == 0
    assert (again["W0"] == first["W0"]).all()
    assert not (again["W0"] == last["W0"]).all()
    middle, _ = frame(client, run, at=header["moments"][10] + 1, rows=25)
    assert middle["step"] == header["moments"][10]
    assert len(middle["history"]["loss"]) == 5


def test_frames_hold_maps_weights_gradients_and_updates(client):
    info = started(client, "data=spirals&layers=5tanh,4relu&residual=1&norm=batch")
    command(client, info["run"], "epoch")
    while not frame(client, info["run"])[0]["epoch"]:
        time.sleep(0.01)
    header, arrays = frame(client, info["run"])
    assert arrays["output"].shape == (72 * 72, 3)
    assert arrays["inputs"].shape == (2, 24 * 24)
    assert arrays["maps0"].shape == (5, 24 * 24)
    assert [arrays[f"W{place}"].shape for place in range(3)] == [(2, 5), (5, 4), (4, 3)]
    assert all(np.abs(arrays[f"{letter}{place}"]).max() > 0 for letter in "gu" for place in range(3))
    assert [layer["units"] for layer in header["layers"]] == [5, 4, 3]
    _, before = frame(client, info["run"], at=0)
    assert arrays["W0"] - arrays["u0"] == pytest.approx(before["W0"], abs=1e-6)


def test_the_gradient_of_a_frame_is_that_of_the_loss(client):
    """Checked by a step of plain gradient descent on all rows."""
    run = started(client, "data=wave&features=x1&layers=3tanh&optimizer=sgd&rate=0.01&batch=5000&n=100")["run"]
    _, before = frame(client, run)
    command(client, run, "step")
    while not frame(client, run)[0]["step"]:
        time.sleep(0.01)
    _, after = frame(client, run)
    assert before["output"].shape == (160, 1)
    assert after["u0"] == pytest.approx(-0.01 * before["g0"], rel=1e-3, abs=1e-7)


def test_a_frame_waits_for_news(client):
    run = started(client, "data=disc")["run"]
    header, _ = frame(client, run)
    assert client.get(f"/api/runs/{run}/frame", params={"seen": header["version"]}).status_code == 204


def test_divergence_is_told_in_a_sentence(client):
    run = started(client, "data=hills&optimizer=sgd&rate=100&layers=8relu,8relu")["run"]
    command(client, run, "run")
    header, _ = wait_for(client, run, "failed")
    assert "not finite" in header["message"]
    assert "Traceback" not in header["message"]


def test_old_runs_are_closed_and_memory_stays_bounded(client):
    runs = [started(client, "data=xor&n=20&layers=2relu")["run"] for _ in range(MOST_RUNS + 1)]
    assert client.get(f"/api/runs/{runs[0]}/frame").status_code == 404
    assert client.post(f"/api/runs/{runs[0]}", json={"action": "run"}).status_code == 404
    assert client.get(f"/api/runs/{runs[-1]}/frame").status_code == 200
    for run in runs:
        assert client.delete(f"/api/runs/{run}").status_code == 200


def test_snapshots_are_thinned(client):
    run = started(client, "data=xor&n=10&layers=2relu&batch=5000&epochs=900")["run"]
    command(client, run, "run")
    header, _ = wait_for(client, run, "finished")
    assert 200 < len(header["moments"]) <= 400
    assert header["moments"][0] == 0
    assert header["moments"][-1] == 900
    assert len(header["history"]["loss"]) == 900


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b"a,b\n", "no rows"),
        (b"a\n1\n2\n", "one column"),
        (b"a,b\n1,2\n", "has 1 row with"),
        (b"a,b,c\n" + 50 * b",,\n", "no rows"),
        (b"a,b\n" + 50 * b"1,\n", "has 0 rows with"),
        (bytes(range(256)) * 20, ""),
        (b"PAR1 but not really", ""),
    ],
)
def test_a_bad_upload_gets_a_sentence(client, content, word):
    answer = client.post("/api/tables", params={"name": "../../etc/some.csv"}, content=content)
    if answer.status_code == 200:  # bytes that are a table after all, but not one to learn from
        table = answer.json()
        answer = client.post("/api/runs", json={"link": f"data=table&table={table['name']}&digest={table['digest']}"})
    assert answer.status_code == 422
    message = answer.json()["message"]
    assert word in message
    assert "Traceback" not in message
    assert "tmp" not in message


def test_a_table_is_asked_for_by_name_and_checksum(client):
    answer = client.post("/api/runs", json={"link": "data=table&table=mine.csv&digest=0123456789ab"})
    assert answer.status_code == 422
    assert answer.json()["digest"] == "0123456789ab"
    assert "mine.csv" in answer.json()["message"]


def test_a_link_to_a_data_set_needs_no_file(client):
    info = started(client, "data=table&table=penguins&target=species")
    assert info["classes"] == ["Adelie", "Chinstrap", "Gentoo"]
    answer = client.post("/api/runs", json={"link": "data=table&table=/etc/passwd"})
    assert answer.status_code == 422
    assert answer.json()["message"] == "Open the table '/etc/passwd' below Data, or drop it on the page."


def test_wide_tables_and_many_classes_are_learned_from(client):
    rows = [[f"{(k * j) % 13}" for j in range(300)] + [f"kind {k % 60}"] for k in range(240)]
    content = "\n".join(",".join(row) for row in [[*(f"c{j}" for j in range(300)), "kind"], *rows])
    table = client.post("/api/tables", params={"name": "wide.csv"}, content=content.encode()).json()
    info = started(client, f"data=table&table=wide.csv&digest={table['digest']}&layers=4tanh")
    assert (len(info["inputs"]) > 250, len(info["classes"])) == (True, 60)
    _, arrays = frame(client, info["run"])
    assert arrays["inputs"].shape[0] == arrays["maps0"].shape[0] * 3 == 12  # maps of the units that are drawn
    assert arrays["W0"].shape == (len(info["inputs"]), 4)


def test_one_probability_is_not_rounded(client):
    info = started(client, "data=moons&n=50")
    _, arrays = frame(client, info["run"])
    assert arrays["output"].dtype == np.float32
    assert len(np.unique(arrays["output"])) > 256


def test_tables_are_learned_from_parquet_with_any_columns(client):
    content = io.BytesIO()
    load_dataset("auto_mpg").write_parquet(content)
    table = client.post("/api/tables", params={"name": "cars.parquet"}, content=content.getvalue()).json()
    base = f"data=table&table=cars.parquet&digest={table['digest']}&target=mpg"
    info = started(client, f"{base}&columns=weight,horsepower&axes=horsepower,weight")
    assert info["task"] == "numbers"
    assert info["axes"] == ["horsepower", "weight"]
    assert set(info["table"]["columns"]) >= {"weight", "mpg"}
    assert len(started(client, base)["inputs"]) > 5
    assert started(client, f"{base}&columns=weight")["extent"][1:] == []
    for change, word in (("&columns=wings", "wings"), ("&target=wings", "wings")):
        answer = client.post("/api/runs", json={"link": base.replace("&target=mpg", "") + change})
        assert answer.status_code == 422
        assert word in answer.json()["message"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"link": 3}', b'{"link": "data=nothing"}', b"\xff"])
def test_wrong_requests_get_a_sentence(client, body):
    answer = client.post("/api/runs", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json().get("message", "")


def test_only_pages_of_this_server_with_its_token_may_ask(client):
    paths = ("/api/about", "/api/runs/1/frame", "/api/runs/1/findings")
    for path in paths:
        assert client.get(path, headers={"authorization": "Bearer wrong"}).status_code == 401
        assert client.get(path, headers={"origin": "http://evil.example"}).status_code == 403
        assert client.get(path, headers={"host": "evil.example"}).status_code == 403
        assert (
            client.get(path, headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}).status_code == 403
        )
    for path in ("/api/runs", "/api/tables", "/api/runs/1"):
        assert client.post(path, content=b"{}", headers={"authorization": ""}).status_code == 401
        assert client.post(path, content=b"{}", headers={"origin": "http://127.0.0.1:1"}).status_code == 403
    assert client.delete("/api/runs/1", headers={"authorization": ""}).status_code == 401


def test_the_page_is_served_with_its_files_and_a_strict_policy(client):
    page = client.get("/", headers={"authorization": ""})
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["content-type"].startswith("text/html")
    script = client.get("/page/main.js", headers={"authorization": ""})
    assert "javascript" in script.headers["content-type"]
    for path in ("/page/none.js", "/page/..%2fapp.py", "/page/%2e%2e/app.py", "/other"):
        assert client.get(path).status_code == 404
