"""The routes: every format, every flag, every kind of wrong request."""

from __future__ import annotations

import asyncio
import bz2
import gzip
import io
import json
import lzma
import threading

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madaline as md
from madaline.web.app import Service
from madaline.web.bodies import ARROW, CSV, JSON
from madaline.web.limits import Limits
from web.served import FEATURES, N_ROWS, answers, client_of, model, rows, service, table


def arrow(frame: pl.DataFrame, **options) -> bytes:
    buffer = io.BytesIO()
    frame.write_ipc_stream(buffer, **{"compression": "uncompressed", **options})
    return buffer.getvalue()


def columns(found):
    return {name: [row[name] for row in found] for name in FEATURES}


BODIES = {
    "dataframe_records": lambda found: {"dataframe_records": found},
    "dataframe_split": lambda found: {
        "dataframe_split": {"columns": list(FEATURES), "data": [list(row.values()) for row in found]}
    },
    "instances as objects": lambda found: {"instances": found},
    "inputs as columns": lambda found: {"inputs": columns(found)},
    "inputs as rows": lambda found: {"inputs": found},
    "a list": lambda found: found,
}


@pytest.mark.parametrize("name", BODIES)
def test_every_key_of_mlflow_gets_what_predict_answers(prices, name):
    response = prices.post("/invocations", json=BODIES[name](rows(4)))
    assert response.status_code == 200, response.text
    assert response.json() == {"predictions": pytest.approx(answers("price", rows(4)), rel=1e-6)}


def test_one_row_is_an_object(prices):
    (expected,) = answers("price", rows(1))
    assert prices.post("/invocations", json=rows(1)[0]).json()["predictions"] == [pytest.approx(expected, rel=1e-6)]


def test_columns_may_come_in_any_order_and_with_the_target(prices):
    shuffled = [{name: row[name] for name in reversed(FEATURES)} | {"price": 1.0} for row in rows(3)]
    found = prices.post("/invocations", json={"dataframe_records": shuffled}).json()
    assert found == {"predictions": pytest.approx(answers("price", rows(3)), rel=1e-6)}


@pytest.mark.parametrize("answer", [JSON, CSV, ARROW])
@pytest.mark.parametrize("question", [JSON, CSV, ARROW])
def test_json_csv_and_arrow_are_taken_and_given(prices, question, answer):
    frame = table().select(FEATURES)
    body = {
        JSON: json.dumps({"dataframe_records": rows(N_ROWS)}).encode(),
        CSV: frame.write_csv().encode(),
        ARROW: arrow(frame),
    }[question]
    path = "/invocations?interval=0.8"
    response = prices.post(path, content=body, headers={"content-type": question, "accept": answer})
    assert response.headers["content-type"].startswith(answer)
    expected = model("price").predict(frame)
    low, high = model("price").predict_interval(frame, 0.8)
    if answer == JSON:
        found = response.json()
        ends = [(each["low"], each["high"]) for each in found["intervals"]]
        np.testing.assert_allclose(found["predictions"], expected, rtol=1e-6)
        np.testing.assert_allclose(ends, np.stack([low, high], axis=1), rtol=1e-6)
    else:
        read = pl.read_csv if answer == CSV else pl.read_ipc_stream
        found = read(io.BytesIO(response.content))
        assert found.columns == ["predicted price", "predicted price low", "predicted price high"]
        np.testing.assert_allclose(found.to_numpy(), np.stack([expected, low, high], axis=1), rtol=1e-6)


def test_probabilities_are_by_class_and_may_be_asked_for_in_the_body(prices):
    by_query = prices.post("/models/kind/invocations?proba=1", json={"dataframe_records": rows(5)}).json()
    by_body = prices.post("/models/kind/invocations", json={"dataframe_records": rows(5), "params": {"proba": True}})
    assert by_query == by_body.json()
    assert by_query["predictions"] == answers("kind", rows(5))
    p = [[row[name] for name in ("large", "middle", "small")] for row in by_query["probabilities"]]
    np.testing.assert_allclose(p, model("kind").predict_proba(rows(5)), rtol=1e-6)


def test_explanations_are_those_of_explain(prices):
    found = prices.post("/invocations?explain=true", json={"dataframe_records": rows(2)}).json()["explanations"]
    expected = md.explain(model("price"), table().select(FEATURES)[:2]).to_plain()
    assert [row["base"] for row in found] == pytest.approx([row["base"] for row in expected])
    assert [[part["column"] for part in row["contributions"]] for row in found] == [
        [part["column"] for part in row["contributions"]] for row in expected
    ]


def test_the_class_or_target_to_explain_may_be_chosen(prices, tmp_path):
    found = prices.post("/models/kind/invocations?explain=small", json=ROW).json()["explanations"]
    expected = md.explain(model("kind"), table().select(FEATURES)[:1], output="small").to_plain()
    assert [row["output"] for row in found] == ["small"]
    assert found[0]["prediction"] == pytest.approx(expected[0]["prediction"], rel=1e-5)
    wrong = prices.post("/models/kind/invocations?explain=tiny", json=ROW)
    words = "explain='tiny' does not say what to explain. Use explain=large, explain=middle, explain=small."
    assert (wrong.status_code, wrong.json()["message"]) == (422, words)
    X = table().select("rooms", "pool")
    options = {"data": "auto", "hidden_layer_sizes": (3,), "solver": "lbfgs", "max_iter": 3, "tol": 1.0}
    Y = table().select(a="price", b="rooms")
    md.MLPRegressor(**options, random_state=0).fit(X, Y).save(tmp_path / "two.madaline")
    two = client_of(Service({"two": tmp_path / "two.madaline"}, host="localhost", token=None, limits=Limits()))
    (chosen,) = two.post("/invocations?explain=b", json={"rooms": 3, "pool": True}).json()["explanations"]
    assert chosen["output"] == "b"
    unclear = two.post("/invocations?explain=1", json={"rooms": 3, "pool": True})
    assert (unclear.status_code, "Use explain=a, explain=b." in unclear.json()["message"]) == (422, True)


def test_what_training_did_not_see_is_answered_as_predict_does_and_counted(tmp_path):
    client = client_of(service(tmp_path, "price"))
    strange = [{**rows(1)[0], "city": "Paris", "size": 1e4}, rows(1)[0], {**rows(1)[0], "city": "Cairo"}]
    found = client.post("/invocations", json={"dataframe_records": strange}).json()
    assert found["predictions"] == pytest.approx(answers("price", strange), rel=1e-6)
    first, second = found["warnings"]
    assert (first["kind"], first["column"], first["count"], first["row"]) == ("out_of_range", "size", 1, 0)
    assert "'size': row 0 holds 10000, outside of the training range" in first["message"]
    assert (second["kind"], second["column"], second["count"]) == ("unknown_category", "city", 2)
    assert "'city': row 0 holds 'Paris', which was not a category in training (2 such rows)." in second["message"]
    client.post("/invocations", json={"dataframe_records": strange})
    metrics = client.get("/metrics").text
    assert 'madaline_unknown_categories_total{model="price",column="city"} 4' in metrics
    assert 'madaline_out_of_range_total{model="price",column="size"} 2' in metrics
    assert 'madaline_rows_total{model="price"} 6' in metrics
    assert 'madaline_response_seconds_count{model="price"} 2' in metrics


def test_a_column_that_the_model_does_not_use_is_named(prices):
    (warning,) = prices.post("/invocations", json={**rows(1)[0], "sise": 3.0}).json()["warnings"]
    assert warning == {"kind": "unused_column", "column": "sise", "message": "Column 'sise' is not used by the model."}


ROW = rows(1)[0]
WRONG = {
    "a missing column": ({k: v for k, v in ROW.items() if k != "rooms"}, 422, "'rooms'", "rooms"),
    "a missing column of one row": ([ROW, {"size": 1.0}], 422, "row 1 has no column 'built'", "built"),
    "a further column of one row": ([ROW, {**ROW, "a": 1}], 422, "row 0 has no column 'a'", "a"),
    "text for a number": ([ROW, {**ROW, "size": "big"}], 422, "'size': row 1 holds 'big', which is not a", "size"),
    "a list for a number": ({**ROW, "size": [1]}, 422, "'size' holds objects of type list", "size"),
    "an object for a category": ({**ROW, "city": {"a": 1}}, 422, "'city' holds objects of type dict", "city"),
    "a number for a date": ({**ROW, "built": 3}, 422, "'built' holds numbers, but dates", "built"),
    "no date": ({**ROW, "built": "soon"}, 422, "'built': row 0 holds 'soon'", "built"),
    "neither true nor false": ({**ROW, "pool": "deep"}, 422, "which is not true or false", "pool"),
    "an infinite number": ({**ROW, "rooms": float("inf")}, 422, "'rooms': row 0 holds inf", "rooms"),
    "no rows": ({"dataframe_records": []}, 422, "at least one", None),
    "an empty list": ([], 422, "at least one", None),
    "a single number": (3, 400, "single value", None),
    "an unknown key": ({"data": [ROW]}, 400, "none of the keys dataframe_split", None),
    "two keys": ({"inputs": [ROW], "instances": [ROW]}, 400, "'inputs' is not allowed beside 'instances'", None),
    "columns of different lengths": ({"inputs": {"size": [1, 2], "rooms": [1]}}, 422, "different lengths", None),
    "rows of different lengths": ({"instances": [[1, 2], [1]]}, 422, "row 1 is not a list of 2", None),
    "too few values": ({"instances": [[1, 2]]}, 422, "2 columns", None),
    "a split without columns": ({"dataframe_split": {"data": []}}, 422, "'columns' and 'data'", None),
    "a split with a column twice": ({"dataframe_split": {"columns": ["a", "a"], "data": [[1, 2]]}}, 422, "once", "a"),
    "an unknown option": ({"instances": [ROW], "params": {"probs": 1}}, 400, "'probs' is not an option", None),
    "options that are no object": ({"instances": [ROW], "params": 3}, 400, "must be an object", None),
    "a flag that is none": ({"instances": [ROW], "params": {"proba": "maybe"}}, 400, "must be true or false", None),
    "probabilities of numbers": ({"instances": [ROW], "params": {"proba": True}}, 422, "no probabilities", None),
    "a coverage above 1": ({"instances": [ROW], "params": {"interval": 90}}, 422, "must be between 0 and", None),
    "a coverage that is no number": ({"instances": [ROW], "params": {"interval": "wide"}}, 400, "such as 0.9", None),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_body_gets_a_sentence_that_names_the_field(prices, name):
    body, status, words, column = WRONG[name]
    response = prices.post("/invocations", content=json.dumps(body), headers={"content-type": JSON})
    found = response.json()
    assert (response.status_code, words in found["message"]) == (status, True), found
    assert found.get("column") == column
    assert "ignore=" not in found["message"]
    assert found["error_code"] == "BAD_REQUEST"


RAW = {
    "no JSON": (b"{", JSON, 400, "not a JSON document"),
    "bytes that are no text": (b"\xff\xfe\x00", JSON, 400, "not a JSON document"),
    "a deep JSON": (b"[" * 200_000, JSON, 400, "nested too deeply"),
    "a number of 5,000 digits": (b'{"size": ' + b"1" * 5000 + b"}", JSON, 400, "not a JSON document"),
    "a key twice": (b'{"size": 1, "size": 2}', JSON, 400, "has the key 'size' twice"),
    "a key twice further inside": (b'{"instances": [{"a": 1, "a": 1}]}', JSON, 400, "has the key 'a' twice"),
    "no CSV": (b"", CSV, 400, "body"),
    "a CSV in gzip": (gzip.compress(b"a,b\n1,2\n"), CSV, 415, "is compressed"),
    "a CSV in bzip2": (bz2.compress(b"a,b\n1,2\n"), CSV, 415, "is compressed"),
    "a CSV in xz": (lzma.compress(b"a,b\n1,2\n"), CSV, 415, "is compressed"),
    "a CSV without the columns": (b"a,b\n1,2\n3,4\n", CSV, 422, "no column 'size'"),
    "no Arrow": (b"ARROW1\0\0", ARROW, 400, "not an Arrow stream"),
    "a form": (b"size=1", "application/x-www-form-urlencoded", 415, "curl --json"),
    "plain text": (b"{}", "text/plain", 415, "not supported"),
}


@pytest.mark.parametrize("name", RAW)
def test_wrong_bytes_get_a_sentence(prices, name):
    body, kind, status, words = RAW[name]
    response = prices.post("/invocations", content=body, headers={"content-type": kind})
    assert (response.status_code, words in response.json()["message"]) == (status, True), response.text


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*FEATURES, "columns", "data", "params", "inputs"]) | st.text(max_size=3), inner
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["dataframe_split", "dataframe_records", "instances", "inputs", "params", "a"])


@given(st.dictionaries(KEYS, ANYTHING, max_size=2) | ANYTHING)
def test_any_json_gets_an_answer_or_a_sentence(prices, body):
    check_answered(prices.post("/invocations", content=json.dumps(body), headers={"content-type": JSON}))


@given(st.data())
def test_rows_with_any_values_get_an_answer_or_a_sentence(prices, data):
    body = {**ROW, **data.draw(st.dictionaries(st.sampled_from(FEATURES), ANYTHING, min_size=1))}
    check_answered(prices.post("/invocations", content=json.dumps(body), headers={"content-type": JSON}))


@given(st.binary(max_size=300), st.sampled_from([JSON, CSV, ARROW]))
def test_any_bytes_get_an_answer_or_a_sentence(prices, body, kind):
    check_answered(prices.post("/invocations", content=body, headers={"content-type": kind}))


@given(st.data())
def test_damaged_arrow_gets_an_answer_or_a_sentence(prices, data):
    body = bytearray(arrow(table().select(FEATURES)[:5]))
    for place in data.draw(st.lists(st.integers(0, len(body) - 1), min_size=1, max_size=4)):
        body[place] = data.draw(st.integers(0, 255))
    body = body[: data.draw(st.integers(0, len(body)) | st.just(len(body)))]
    check_answered(prices.post("/invocations", content=bytes(body), headers={"content-type": ARROW}))


def check_answered(response):
    assert response.status_code < 500, response.text
    if response.status_code == 200:
        return
    found = response.json()
    assert response.status_code >= 400
    assert found["message"].strip()
    assert "Traceback" not in response.text
    assert ".py" not in found["message"]


def test_a_compressed_stream_is_refused_before_it_is_unpacked(prices):
    body = arrow(table().select(FEATURES), compression="zstd")
    response = prices.post("/invocations", content=body, headers={"content-type": ARROW})
    assert (response.status_code, "compressed" in response.json()["message"]) == (415, True)


def test_too_many_bytes_and_too_many_rows_are_refused(tmp_path):
    client = client_of(service(tmp_path, "price", limits=Limits(body=2000, rows=10, explained_rows=1)))
    assert client.post("/invocations", json={"instances": rows(11)}).status_code == 413
    assert client.post("/invocations", content=b"x" * 2001, headers={"content-type": JSON}).status_code == 413
    parts = (b"x" * 1000 for _ in range(3))  # without a length in the header
    assert client.post("/invocations", content=parts, headers={"content-type": JSON}).status_code == 413
    body = arrow(table().select("rooms")[:11])
    assert client.post("/invocations", content=body, headers={"content-type": ARROW}).status_code == 413
    assert client.post("/invocations?explain=1", json=rows(2)).status_code == 413
    assert client.post("/invocations", json={"instances": rows(5)}).status_code == 200


def test_many_large_bodies_at_once_are_refused_before_they_fill_the_memory(tmp_path):
    """The first client stays in the middle of its body, and the second one needs more than what is left."""
    found = service(tmp_path, "price", limits=Limits(body=1000, all_bodies=1500))
    halves = [{"type": "http.request", "body": b" " * 900, "more_body": True}]
    headers = [(b"host", b"localhost"), (b"content-type", JSON.encode())]
    scope = {"type": "http", "method": "POST", "path": "/invocations", "query_string": b"", "headers": headers}

    async def both():
        waits, goes_on, answers_of = asyncio.Event(), asyncio.Event(), {}

        async def ask(name, messages, then):
            async def receive():
                if messages:
                    return messages.pop(0)
                return await then()

            async def send(message):
                answers_of.setdefault(name, message.get("status"))

            await found.app()(dict(scope), receive, send)

        async def stay():
            waits.set()
            await goes_on.wait()
            return {"type": "http.request", "body": json.dumps(ROW).encode(), "more_body": False}

        first = asyncio.create_task(ask("first", list(halves), stay))
        await waits.wait()
        await ask("second", list(halves), stay)
        goes_on.set()
        await first
        await ask("third", [{"type": "http.request", "body": b" " * 900 + b"1", "more_body": False}], stay)
        return answers_of

    assert asyncio.run(both()) == {"first": 200, "second": 503, "third": 400}


def test_an_answer_that_takes_too_long_is_given_up_while_its_thread_still_works(tmp_path, monkeypatch):
    found = service(tmp_path, "price", limits=Limits(seconds=0.05))
    client, may_end = client_of(found), threading.Event()
    monkeypatch.setattr(type(model("price")), "predict", lambda *_: may_end.wait(60))
    response = client.post("/invocations", json={"dataframe_records": rows(N_ROWS) * 4})
    assert not may_end.is_set()
    may_end.set()
    assert (response.status_code, "longer than 0.05 seconds" in response.json()["message"]) == (503, True)
    assert 'madaline_requests_total{model="price",status="503"} 1' in client.get("/metrics").text


def test_a_compressed_body_is_refused(prices):
    response = prices.post("/invocations", content=b"{}", headers={"content-type": JSON, "content-encoding": "gzip"})
    assert response.status_code == 415


def test_an_internal_error_shows_nothing_of_the_inside(tmp_path, monkeypatch):
    found = service(tmp_path, "price")
    monkeypatch.setattr(type(model("price")), "predict", lambda *_: 1 / 0)
    response = client_of(found).post("/invocations", json=ROW)
    assert response.status_code == 500
    assert response.json() == {
        "error_code": "INTERNAL_ERROR",
        "message": "Internal error. The log of the server has the details.",
    }


def test_models_are_found_by_name(prices):
    assert prices.post("/models/price/invocations", json=ROW).status_code == 200
    response = prices.post("/models/prise/invocations", json=ROW)
    assert (response.status_code, "Known: price, kind." in response.json()["message"]) == (404, True)
    assert [each["name"] for each in prices.get("/models").json()] == ["price", "kind"]


def test_readiness_version_and_unknown_paths_answer_as_those_of_mlflow(prices):
    assert (prices.get("/ping").status_code, prices.get("/health").status_code) == (200, 200)
    assert prices.get("/version").text == md.__version__
    assert (prices.get("/nothing").status_code, prices.get("/invocations").status_code) == (404, 405)
    assert prices.get("/invocations").headers["allow"] == "POST"
    assert prices.get("/models/price").headers["content-type"].startswith("text/html")
    unknown = prices.get("/models/UNKNOWN")
    assert (unknown.status_code, unknown.json()["message"]) == (404, "There is no model 'UNKNOWN'. Known: price, kind.")


def test_the_schema_has_every_column_with_its_range_or_categories(prices):
    schema = prices.get("/schema").json()
    assert schema["required"] == list(FEATURES)
    assert schema["properties"]["rooms"]["description"] == "1 to 5 in training."
    assert schema["properties"]["city"]["examples"] == ["Lima", "Oslo", "Rome"]
    assert schema["properties"]["built"]["format"] == "date"
    assert schema["properties"]["pool"]["type"] == ["boolean", "null"]


def test_openapi_lists_every_route_of_every_model(prices):
    found = prices.get("/openapi.json").json()
    assert {"/invocations", "/models/kind/invocations", "/models/price/schema", "/metrics"} <= found["paths"].keys()
    assert found["components"]["schemas"].keys() == {"price", "kind"}


def test_a_changed_file_is_loaded_and_a_broken_one_is_not(tmp_path):
    found = service(tmp_path, "price")
    client = client_of(found)
    first = client.post("/invocations", json=ROW)
    model("price", 1).save(tmp_path / "price.madaline")
    asyncio.run(found.shelf.refresh())
    second = client.post("/invocations", json=ROW)
    assert second.json()["predictions"] == pytest.approx(answers("price", [ROW], 1), rel=1e-6)
    assert first.json() != second.json()
    assert first.headers["madaline-model"] != second.headers["madaline-model"]
    (tmp_path / "price.madaline").write_bytes(b"half a file")
    asyncio.run(found.shelf.refresh())
    (tmp_path / "price.madaline").unlink()
    asyncio.run(found.shelf.refresh())
    assert client.post("/invocations", json=ROW).json() == second.json()
    metrics = client.get("/metrics").text
    assert 'madaline_reloads_total{model="price",result="loaded"} 1' in metrics
    assert 'madaline_reloads_total{model="price",result="failed"} 1' in metrics


def test_the_digest_is_that_of_the_file_that_answers(tmp_path, monkeypatch):
    """The file is replaced after its digest was computed and before it is read."""
    from madaline.web import served_model

    file = tmp_path / "price.madaline"
    found = service(tmp_path, "price")
    first = next(iter(found.shelf)).digest
    load = served_model.load_saved
    monkeypatch.setattr(served_model, "load_saved", lambda path: (model("price", 1).save(path), load(path))[1])
    changed = served_model.ServedModel.load("price", file)
    monkeypatch.undo()
    assert changed.digest == served_model.ServedModel.load("price", file).digest != first


def test_estimators_of_arrays_take_rows_of_numbers(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    unnamed = md.MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=5, tol=1.0, random_state=0)
    unnamed.fit(X, X[:, 0]).save(tmp_path / "unnamed.madaline")
    client = client_of(
        Service({"unnamed": tmp_path / "unnamed.madaline"}, host="localhost", token=None, limits=Limits())
    )
    found = client.post("/invocations", json={"instances": X[:2].tolist()})
    assert found.json()["predictions"] == pytest.approx(unnamed.predict(X[:2]).tolist(), rel=1e-5)
    wrong = client.post("/invocations", json={"instances": [[1.0, None, "a"]]})
    assert (wrong.status_code, "'x" in wrong.json()["message"]) == (422, True), wrong.text
