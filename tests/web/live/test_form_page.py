"""The form page of the server, and what pages of other origins can do."""

from __future__ import annotations

import http.server
import threading

import pytest

from web.live.process import ServerProcess
from web.served import answers, rows

ROW = {**rows(1)[0], "size": 101.5, "rooms": 3}


def test_the_form_page_predicts_at_both_widths(server, new_page):
    for width in (360, 1200):
        page = new_page(f"{server.url}/models/kind", width)
        page.wait_for_selector("body[data-settled]", state="attached")
        page.get_by_label("size", exact=True).fill("101.5")
        page.get_by_label("rooms", exact=True).fill("3")
        page.get_by_label("built", exact=True).fill(ROW["built"])
        for name in ("city", "pool"):
            value = {True: "yes", False: "no"}.get(ROW[name], ROW[name])
            page.get_by_role("group", name=name, exact=True).get_by_role("button", name=value, exact=True).click()
        (expected,) = answers("kind", [ROW])
        page.wait_for_function("text => document.querySelector('.big').textContent === text", arg=expected)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_label("size", exact=True).fill("9999")
        page.wait_for_selector("#answer .warning")
        assert "outside of the training range" in page.locator("#answer .warning").inner_text()


def test_the_form_page_asks_for_the_token(files, new_page):
    with ServerProcess(str(files["price"]), MADALINE_TOKEN="a-token") as server:
        page = new_page(server.url)
        page.get_by_label("Token of the server").fill("a-token")
        page.get_by_role("button", name="Open").click()
        page.wait_for_selector("body[data-settled]", state="attached")
        assert page.locator(".big").count() == 1


ATTACKS = """
async target => {
  const body = JSON.stringify({instances: [{size: 1}]}), found = {};
  const tries = {
    json: {method: "POST", headers: {"Content-Type": "application/json"}, body},
    simple: {method: "POST", headers: {"Content-Type": "text/plain"}, body},
    blind: {method: "POST", mode: "no-cors", body},
    read: {},
    blindRead: {mode: "no-cors"},
  };
  for (const [name, options] of Object.entries(tries)) {
    try {
      const response = await fetch(target + (options.method ? "/invocations" : "/schema"), options);
      found[name] = [response.type, await response.text()];
    } catch (error) { found[name] = ["error", ""]; }
  }
  return found;
}
"""


@pytest.fixture
def other_origin():
    """The address of a page of another origin on this computer."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>other</title>")

        def log_message(self, *_):
            pass

    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield f"http://localhost:{found.server_port}"
    found.shutdown()
    found.server_close()


def test_a_page_of_another_origin_reads_nothing_and_drives_nothing(server, other_origin, browser):
    from urllib.request import urlopen

    def counted():
        with urlopen(f"{server.url}/metrics") as response:
            text = response.read().decode()
        return [line for line in text.splitlines() if line.startswith("madaline_requests_total")]

    before = counted()
    for origin in (other_origin, other_origin.replace("localhost", "evil.example")):
        page = browser.new_page()
        page.goto(origin)
        found = page.evaluate(ATTACKS, server.url)
        page.close()
        assert all(kind in ("error", "opaque") and not text for kind, text in found.values()), found
    assert counted() == before


def test_dns_rebinding_gets_a_refusal(server, browser):
    """The page of evil.example is loaded from this server itself, so that to the browser both are of one origin."""
    page = browser.new_page()
    response = page.goto(f"http://evil.example:{server.port}/")
    assert response.status == 403
    found = page.evaluate(ATTACKS, f"http://evil.example:{server.port}")
    page.close()
    assert all(not text or "PERMISSION_DENIED" in text for _, text in found.values()), found
