"""Who may talk to the server."""

from __future__ import annotations

import pytest

from madaline.web.guard import is_loopback
from web.served import client_of, rows, service

ROW = rows(1)[0]


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:9", "[::1]:8000", "127.8.9.1", "LOCALHOST"])
def test_names_of_this_computer_are_served(prices, host):
    assert prices.post("/invocations", json=ROW, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "0.0.0.0", "",
     "[::2]", "localhost@evil.example", "evil.example#localhost"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/schema", "/metrics", "/invocations"])
def test_a_name_that_was_pointed_to_this_computer_is_refused(prices, host, path):
    response = prices.request("POST" if path == "/invocations" else "GET", path, headers={"host": host})
    assert response.status_code in (400, 403), response.text
    assert "size" not in response.text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:3000", "file://", "http://localhost.evil"]
)
def test_pages_of_other_origins_are_refused(prices, origin):
    response = prices.post("/invocations", json=ROW, headers={"origin": origin})
    assert response.status_code == 403
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_the_form_page_may_ask(prices):
    assert prices.post("/invocations", json=ROW, headers={"origin": "http://localhost"}).status_code == 200


def test_no_answer_allows_other_origins_to_read_it(prices):
    for response in (
        prices.get("/"),
        prices.options(
            "/invocations", headers={"origin": "http://evil.example", "access-control-request-method": "POST"}
        ),
    ):
        assert not [name for name in response.headers if name.startswith("access-control")]
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
        assert response.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("mode", ["no-cors", "cors", "websocket"])
def test_requests_that_browsers_mark_as_those_of_other_sites_are_refused(prices, mode):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode}
    assert prices.get("/schema", headers=headers).status_code == 403


def test_a_link_to_the_form_page_may_be_followed(prices):
    assert prices.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200


def test_with_a_token_only_those_who_have_it_are_served(tmp_path):
    client = client_of(service(tmp_path, "price", host="0.0.0.0", token="secret"))
    assert client.post("/invocations", json=ROW, headers={"host": "models.example"}).status_code == 401
    for wrong in ("Bearer", "Bearer secre", "Bearer secret2", "Basic secret", "secret", "Bearer \xff"):
        response = client.get("/schema", headers={"authorization": wrong.encode("latin-1")})
        assert response.status_code == 401
        assert "secret" not in response.text
    for right in ("Bearer secret", "bearer secret"):
        headers = {"authorization": right, "host": "models.example"}
        assert client.post("/invocations", json=ROW, headers=headers).status_code == 200
        assert client.get("/metrics", headers=headers).status_code == 200
    for path in ("/", "/models/price", "/ping", "/health", "/version"):
        assert client.get(path).status_code == 200


def test_the_form_page_says_nothing_about_the_model(tmp_path):
    client = client_of(service(tmp_path, "price", token="secret"))
    assert client.get("/models/price").text == client.get("/models/other").text


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.2", False),
        ("::", False),
    ],
)
def test_addresses_of_this_computer_are_known(host, expected):
    assert is_loopback(host) is expected
