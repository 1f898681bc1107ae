"""The page of the playground in a browser."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from madaline.data.datasets import load_dataset
from web.live.play_process import PlayProcess, at, full_speed, scores, status, step

DESKTOP, PHONE = (1400, 900), (390, 844)
SMALL = "data=xor&n=60&layers=3relu&epochs=40"


def test_train_pause_step_and_scrub(open_page):
    page = open_page("data=moons&n=100&epochs=5000")
    status(page, "paused")
    page.get_by_role("button", name="Step", exact=True).click()
    at(page, 1)
    page.get_by_role("button", name="Epoch", exact=True).click()
    at(page, 5)
    page.get_by_role("button", name="Train").click()
    page.wait_for_function("() => Number(document.body.dataset.step) > 40")
    page.get_by_role("button", name="Pause").click()
    status(page, "paused")
    shown, last = scores(page), step(page)
    page.wait_for_function(f"() => location.hash.includes('at={last}')")
    picture = "document.querySelector('#surfaces canvas').toDataURL()"
    now = page.evaluate(picture)
    page.locator("#timeline").fill("0")
    page.wait_for_function("() => document.getElementById('epoch-text').textContent === '0'")
    assert page.evaluate(picture) != now
    page.locator("#timeline").fill(page.locator("#timeline").get_attribute("max"))
    page.wait_for_function("text => document.getElementById('scores').innerText === text", arg=shown)
    assert page.evaluate(picture) == now


def test_a_link_gives_the_same_numbers_again(open_page):
    """Also after a reload, in another tab of the same browser, which has the token, and while other settings train."""
    page = open_page(SMALL)
    full_speed(page)
    page.get_by_role("button", name="Train").click()
    status(page, "finished")
    page.wait_for_function("() => location.hash.includes('at=')")
    link, shown = page.evaluate("location.href"), scores(page)
    assert "token" not in link
    page.reload()
    page.wait_for_function("text => document.getElementById('scores').innerText === text", arg=shown)
    other = page.context.new_page()
    other.goto(link)
    other.wait_for_function("text => document.getElementById('scores').innerText === text", arg=shown)
    assert page.evaluate("document.body.dataset.run") != other.evaluate("document.body.dataset.run")
    other.locator("[data-name=rate] input").fill("0.5")
    other.locator("[data-name=rate] input").press("Enter")
    other.wait_for_function("() => location.hash.includes('rate=0.5')")
    assert scores(page) == shown


def test_changed_settings_are_in_the_link_and_back_undoes_them(open_page):
    page = open_page(SMALL)
    status(page, "paused")
    page.get_by_label("Optimizer").select_option("sgd")
    page.wait_for_function("() => location.hash.includes('optimizer=sgd')")
    assert page.get_by_label("Momentum", exact=True).is_visible()
    page.get_by_role("button", name="Add a unit to hidden layer 1").click()
    page.wait_for_function("() => location.hash.includes('layers=4relu')")
    page.get_by_role("button", name="+ layer").click()
    page.wait_for_function("() => location.hash.includes('layers=4relu,4relu')")
    page.wait_for_function("() => document.querySelectorAll('.unit').length === 2 + 4 + 4 + 1")
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.unit').length === 2 + 4 + 1")
    page.go_back()
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.unit').length === 2 + 3 + 1")
    assert page.get_by_label("Optimizer").input_value() == "adam"
    page.go_forward()
    page.wait_for_function("() => document.querySelector('[data-name=optimizer] select').value === 'sgd'")
    page.get_by_text("Inputs", exact=True).click()
    page.get_by_label("x₁x₂").click()
    page.wait_for_function("() => document.querySelectorAll('.unit').length === 3 + 3 + 1")


def test_copied_code_gives_the_numbers_of_the_page(open_page):
    page = open_page(SMALL)
    full_speed(page)
    page.get_by_role("button", name="Train").click()
    status(page, "finished")
    page.get_by_role("button", name="Code").click()
    code = page.locator("#python-code").inner_text()
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "copied", "exec"), names)
    loss = names["history"]["val_loss"][-1]
    page.keyboard.press("Escape")
    shown = re.search(r"Test loss\s+(\S+)", scores(page))[1]
    assert float(shown) == pytest.approx(loss, rel=6e-3)  # three digits are shown


def test_a_table_is_uploaded_and_asked_for_again(open_page, tmp_path):
    file = tmp_path / "penguins, mine.csv"
    load_dataset("penguins").write_csv(file)
    page = open_page()
    for content in (b"", b"only\n1\n", b"PAR1 and nothing else"):
        bad = tmp_path / "bad.csv"
        bad.write_bytes(content)
        page.locator("#file").set_input_files(bad)
        page.wait_for_selector("#message:not([hidden])")
        text = page.locator("#message").inner_text()
        assert text.endswith(".")
        assert "Traceback" not in text
    page.locator("#file").set_input_files(file)
    page.wait_for_function("() => location.hash.includes('digest=')")
    page.get_by_label("Target", exact=True).select_option("species")
    page.wait_for_function("() => location.hash.includes('target=species')")
    page.get_by_text("Columns:").click()
    page.get_by_role("checkbox", name="island").click()
    page.wait_for_function("() => location.hash.includes('columns=')")
    page.wait_for_function("() => document.querySelectorAll('#net .name').length > 8")
    page.get_by_role("button", name="Epoch", exact=True).click()
    page.wait_for_function("() => document.getElementById('epoch-text').textContent === '1'")
    page.wait_for_function("() => location.hash.includes('at=')")
    link, shown = page.evaluate("location.hash.slice(1)"), scores(page)
    with PlayProcess() as elsewhere:
        page.goto(elsewhere.link(link))
        page.wait_for_selector("body[data-ready]", state="attached")
        assert "penguins, mine.csv" in page.locator("#message").inner_text()
        other = tmp_path / "other.csv"
        load_dataset("iris").write_csv(other)
        page.locator("#file").set_input_files(other)
        page.wait_for_function("() => document.getElementById('message').innerText.includes('another file')")
        page.locator("#file").set_input_files(file)
        page.wait_for_function("text => document.getElementById('scores').innerText === text", arg=shown)
        page.goto("about:blank")
        assert elsewhere.stop() == 0


def test_points_are_drawn_by_mouse_and_by_keys(open_page):
    page = open_page()
    page.get_by_role("button", name="points", exact=True).click()
    page.wait_for_selector("#message:not([hidden])")
    canvas = page.locator("#surfaces canvas").first
    box = canvas.bounding_box()
    for kind, place in (("class 0", 0.25), ("class 1", 0.7)):
        page.get_by_role("button", name=kind).click()
        for k in range(8):
            page.mouse.click(box["x"] + box["width"] * (place + 0.02 * k), box["y"] + box["height"] * (0.3 + 0.05 * k))
    page.wait_for_function("() => (new URLSearchParams(location.hash.slice(1)).get('points') ?? '').length === 80")
    canvas.focus()
    canvas.press("ArrowUp")
    canvas.press("Enter")
    page.wait_for_function("() => (new URLSearchParams(location.hash.slice(1)).get('points') ?? '').length === 85")
    status(page, "paused")
    page.get_by_role("button", name="Epoch", exact=True).click()
    page.wait_for_function("() => document.getElementById('epoch-text').textContent === '1'")


def test_two_runs_stand_side_by_side(open_page):
    page = open_page(SMALL)
    full_speed(page)
    page.get_by_role("button", name="Train").click()
    status(page, "finished")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_function("() => location.hash.includes('vs=')")
    page.get_by_role("spinbutton", name="Learning rate").fill("0.001")
    page.get_by_role("spinbutton", name="Learning rate").press("Enter")
    page.wait_for_function("() => location.hash.includes('rate=0.001')")
    page.wait_for_function("() => document.querySelectorAll('.line.kept').length === 4")
    page.wait_for_function("() => document.getElementById('epoch-text').textContent === '40'")
    # The text may still be that of the first run, whose picture then stands twice for a moment.
    page.wait_for_function(
        "() => new Set([...document.querySelectorAll('#surfaces canvas')].map(each => each.toDataURL())).size === 2"
    )
    page.get_by_role("button", name="Stop comparing").click()
    page.wait_for_function("() => !location.hash.includes('vs=')")


def test_a_remedy_of_the_doctor_is_applied(open_page):
    page = open_page("data=circles&n=200&layers=6identity,6identity&epochs=60")
    full_speed(page)
    page.get_by_role("button", name="Train").click()
    finding = page.locator("[data-finding=missing_nonlinearity]")
    finding.wait_for()
    finding.get_by_role("button", name="Apply").first.click()
    page.wait_for_function("() => !location.hash.includes('identity')")
    status(page, "running", "finished")


def test_pictures_are_saved(open_page, tmp_path):
    page = open_page(SMALL)
    page.get_by_role("button", name="Epoch", exact=True).click()
    page.wait_for_function("() => document.getElementById('epoch-text').textContent === '1'")
    page.get_by_role("button", name="Pictures").click()
    for name in ("Surface", "Net", "Curves"):
        for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
            with page.expect_download() as download:
                page.locator(f"[data-picture='{name} {kind}']").click()
            content = Path(download.value.path()).read_bytes()
            assert content.startswith(start)
            assert len(content) > 800
            if kind == "SVG":  # names are in the picture, and points are not only pixels
                assert {"Surface": "→ x₁, ↑ x₂", "Net": "3 relu", "Curves": "training"}[name] in content.decode()
                assert content.count(b"<path") > {"Surface": 60, "Net": 8, "Curves": 3}[name]


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"), (PHONE, "dark")])
def test_the_page_is_accessible_at_any_width(open_page, size, scheme):
    page = open_page("data=circles&n=200&layers=6identity,6identity&epochs=40&at=560", size, scheme=scheme)
    page.wait_for_function("() => document.getElementById('epoch-text').textContent !== '0'")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    found = Axe().run(page).response["violations"]
    if size == DESKTOP:
        page.get_by_role("button", name="Code").click()
        found += Axe().run(page).response["violations"]
    bad = [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in found if each["impact"] in SERIOUS]
    assert not bad


SERIOUS = ("serious", "critical")


def test_everything_works_by_keyboard(open_page):
    page = open_page(SMALL)
    status(page, "paused")
    page.keyboard.press("e")
    at(page, 3)
    page.keyboard.press("s")
    at(page, 4)
    focused = "(document.activeElement.id || document.activeElement.dataset.key || document.activeElement.className)"
    seen = []
    for _ in range(70):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(focused))
        if seen[-1] == "activation0":
            break
    assert {"lesson", "copy-link", "code", "run", "speed", "timeline", "add0", "activation0"} <= set(seen)
    page.keyboard.press("t")
    page.wait_for_function("() => location.hash.includes('layers=3t')")
    page.wait_for_function("() => document.activeElement.dataset.key === 'activation0'")


def test_another_origin_neither_reads_nor_drives_it(browser, playground):
    page = browser.new_page()
    page.goto("about:blank")
    tries = """
    async target => {
      const found = [];
      const paths = [["/api/about"], ["/api/runs", "POST"], ["/api/runs/1", "DELETE"], ["/page/main.js"]];
      for (const [path, method] of paths) {
        for (const mode of ["cors", "no-cors"]) {
          const options = {mode, method: method ?? "GET", headers: mode === "cors" ? {Authorization: "Bearer x"} : {}};
          try { found.push((await (await fetch(target + path, options)).text())); } catch { found.push(""); }
        }
      }
      return found;
    }
    """
    for origin in ("about:blank", f"{playground.address.replace('127.0.0.1', 'evil.example')}/"):
        answer = page.goto(origin)
        assert answer is None or answer.status == 403
        assert all(not text or "PERMISSION_DENIED" in text for text in page.evaluate(tries, playground.address))
    page.close()


def test_without_the_token_the_page_says_where_it_is(browser, playground):
    page = browser.new_context().new_page()
    page.goto(playground.address)
    page.wait_for_selector("#message:not([hidden])")
    assert "madaline play" in page.locator("#message").inner_text()
    page.context.close()
