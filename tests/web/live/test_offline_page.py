"""The playground without a server: one file, whose net is trained by WebAssembly."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from madaline.web.play.lessons import LESSONS
from web.live.offline_page import IN_PAGE, PAGE, native_histories
from web.live.play_process import PlayProcess

ROOT = Path(__file__).parents[3]
CORE = ROOT / "src/madaline/web/play/page/core.wasm"
OTHERS = (
    "noise=0.2&flip=0.2&seed=7",
    "data=circles&seed=3&draw=1&n=200&batch=7&test=0.25",
    "optimizer=sgd&momentum=0.9&rate=0.1",
    "regularizer=l2&strength=0.01",
    "standardize=1",
    "norm=layer&batch=1&n=200",
    "data=hills&layers=6tanh,4tanh&noise=0.1",
    "data=spirals&layers=8relu,8relu&optimizer=adam",
    "init=he_uniform&schedule=inverse_scaling",
    "schedule=polynomial&optimizer=rprop",
    "schedule=linear_warmup&dropout=0.3",
    "features=x1,x2,x1x1,x2x2,x1x2,sin1,sin2",
    "data=points&points=" + "".join(f"{i % 10}a{7 * i % 10}b{i % 2}" for i in range(40)),
)


@pytest.fixture
def open_file(browser):
    """Open the page from its file, with these settings; errors must be none at the end."""
    contexts, errors = [], []

    def new(link="", size=(1400, 900), *, scheme="light"):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: errors.append(request.url) if request.url.startswith("http") else None)
        page.goto(f"{PAGE.as_uri()}#{link}")
        page.wait_for_selector("body[data-ready]", state="attached")
        return page

    yield new
    for context in contexts:
        context.close()
    assert not errors


def finished(page):
    page.wait_for_function("['finished', 'failed'].includes(document.body.dataset.status)")


def test_the_page_is_small():
    assert PAGE.stat().st_size < 1_500_000


def test_losses_are_those_of_the_native_core(open_file):
    links = [*(lesson.link for lesson in LESSONS), *OTHERS]
    page = open_file()
    worst = {}
    for link, wanted in zip(links, native_histories(links), strict=True):
        found = page.evaluate(IN_PAGE, [link, len(wanted["loss"])])
        for name in ("loss", "val_loss"):
            assert len(found[name]) == len(wanted[name]), link
            pairs = zip(found[name], wanted[name], strict=True)
            worst[link, name] = max(abs(a - b) / max(abs(b), 1e-12) for a, b in pairs)
    assert {key: value for key, value in worst.items() if value > 1e-5} == {}


def test_a_link_shows_the_same_with_and_without_a_server(open_file, browser):
    link = "data=circles&layers=5tanh,3tanh&seed=4&at=216"
    texts = []
    with PlayProcess() as server:
        online = browser.new_page()
        online.goto(server.link(link))
        for page in (online, open_file(link)):
            page.wait_for_function("() => document.body.dataset.step === '216'")
            texts.append(
                [page.inner_text("#scores"), page.inner_text("#epoch-text"), page.inner_text("#net-panel .layers")]
            )
        online.close()
    assert texts[0] == texts[1]


def test_train_pause_scrub_and_reload(open_file):
    page = open_file("data=xor&layers=3relu&epochs=60")
    page.locator("#speed").fill("6")
    page.click("#step")
    page.wait_for_function("document.body.dataset.step === '1'")
    page.click("#epoch")
    page.wait_for_function("document.body.dataset.step === '18'")
    page.click("#run")
    finished(page)
    end = page.inner_text("#scores")
    page.locator("#timeline").fill("3")
    page.wait_for_function("document.getElementById('epoch-text').textContent !== '60'")
    earlier = page.inner_text("#scores")
    assert earlier != end
    page.reload()
    page.wait_for_function("['paused'].includes(document.body.dataset.status) && document.body.dataset.step !== '0'")
    assert page.inner_text("#scores") == earlier
    page.locator("#speed").fill("6")
    page.click("#run")
    finished(page)
    page.reload()
    page.wait_for_function("document.body.dataset.step === '1080'")
    assert page.inner_text("#scores") == end


def test_settings_change_the_net_and_back_undoes_it(open_file):
    page = open_file("layers=4tanh")
    page.click("#net button:has-text('+ layer')")
    page.wait_for_function("location.hash.includes('layers=4tanh,4tanh')")
    page.go_back()
    page.wait_for_function("!location.hash.includes('4tanh,4tanh')")
    page.click(".source[data-source=wave]")
    page.click("#run")
    page.wait_for_function("Number(document.body.dataset.step) > 40")


def test_what_the_page_does_not_have_is_said(open_file):
    page = open_file("layers=4tanh,7gelu&norm=batch")
    text = page.inner_text("#message")
    assert "no program for this combination" in text
    assert "madaline play" in text
    assert "Points: this page does not have '77'" in open_file("n=77").inner_text("#message")
    assert "no setting 'colour'" in open_file("colour=red").inner_text("#message")
    assert "from 0.000001 to 100" in open_file("rate=1000").inner_text("#message")
    assert "at least two classes" in open_file("data=points").inner_text("#message")
    doctor = open_file()
    doctor.wait_for_selector("#doctor :text('madaline play')")
    assert "up to three hidden layers" in doctor.inner_text("#where")


@pytest.mark.parametrize("lacks", ["WebAssembly", "DecompressionStream", "SIMD"])
def test_a_browser_that_cannot_train_is_told_so(browser, lacks):
    page = browser.new_page()
    if lacks == "SIMD":
        page.add_init_script("WebAssembly.instantiate = () => Promise.reject(new WebAssembly.CompileError('no'));")
    else:
        page.add_init_script(f"delete globalThis.{lacks};")
    page.goto(PAGE.as_uri())
    page.get_by_text("This browser cannot train in the page").wait_for()
    page.close()


def test_a_run_that_diverges_ends_with_a_sentence(open_file):
    page = open_file("data=valley&layers=&optimizer=sgd&rate=100&momentum=0.9&batch=280&epochs=400")
    page.locator("#speed").fill("6")
    page.click("#run")
    finished(page)
    assert page.evaluate("document.body.dataset.status") == "failed"
    assert "is not finite. Lower the learning rate" in page.inner_text("#message")


DESKTOP, PHONE = (1400, 900), (390, 844)


def focus(page, wanted):
    """Press Tab until an element with this id or key has the focus."""
    focused = "document.activeElement.id || document.activeElement.dataset.key || ''"
    for _ in range(90):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == wanted:
            return
    raise AssertionError(f"Tab does not reach {wanted}.")


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_everything_works_by_keyboard(open_file, size, scheme):
    page = open_file("data=xor&layers=3relu&epochs=400", size, scheme=scheme)
    page.keyboard.press("e")
    page.wait_for_function("document.body.dataset.step === '18'")
    page.keyboard.press("s")
    page.wait_for_function("document.body.dataset.step === '19'")
    focus(page, "lesson")
    page.keyboard.press("V")  # typing chooses an option of a list
    page.wait_for_function("location.hash.includes('8sigmoid')")
    page.go_back()
    page.wait_for_function("location.hash.includes('data=xor')")
    focus(page, "code")
    page.keyboard.press("Enter")
    assert "madaline play" in page.inner_text("#command-code")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "code"
    page.wait_for_function("document.body.dataset.status === 'paused'")  # the way to the step of the link has ended
    focus(page, "run")
    page.keyboard.press("Space")
    page.wait_for_function("Number(document.body.dataset.step) > 40")
    page.keyboard.press("Space")
    page.wait_for_function("document.body.dataset.status === 'paused'")
    focus(page, "timeline")
    page.keyboard.press("Home")
    page.wait_for_function("document.getElementById('epoch-text').textContent === '0'")
    focus(page, "add0")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.includes('layers=4relu')")
    page.wait_for_function("document.activeElement.dataset.key === 'add0'")


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"), (PHONE, "dark")])
def test_the_page_is_accessible(open_file, size, scheme):
    page = open_file("data=circles&epochs=5", size, scheme=scheme)
    page.click("#run")
    finished(page)
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.skipif(not shutil.which("clang++-19"), reason="the compiler of `make wasm` is not installed")
def test_the_core_is_up_to_date(tmp_path):
    new = tmp_path / "core.wasm"
    subprocess.run(["make", "wasm", f"WASM={new}"], cwd=ROOT, check=True, capture_output=True)
    assert new.read_bytes() == CORE.read_bytes(), "native/ has changed: run make wasm"
