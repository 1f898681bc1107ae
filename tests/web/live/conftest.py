"""A browser and a server."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import sync_playwright

from web.live.play_process import PlayProcess
from web.live.process import ServerProcess
from web.served import model


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium. The name evil.example is pointed to this computer, as by DNS rebinding."""
    found = shutil.which("chromium")
    assert found, "these tests need chromium: apt-get install chromium"
    rules = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", rules]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=flags)
        yield opened
        opened.close()


@pytest.fixture
def new_page(browser):
    """Open an address in a new window; the errors of the page must be none at the end."""
    opened, errors = [], []

    def new(address, width=1200, height=900):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: (errors.append("a dialog opened"), dialog.dismiss()))
        page.goto(address)
        opened.append(page)
        return page

    yield new
    for page in opened:
        page.close()
    assert not errors


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Model files by target."""
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for target in ("price", "kind"):
        found[target] = folder / f"{target}.madaline"
        model(target).save(found[target])
    return found


@pytest.fixture(scope="session")
def server(files):
    """A server with time limits that a busy machine does not exceed."""
    names = [f"{target}={file}" for target, file in files.items()]
    with ServerProcess(*names, "--timeout", "300", "--max-connections", "300") as found:
        yield found


@pytest.fixture(scope="session")
def hasty_server(files):
    """A server that waits for nobody longer than three seconds."""
    with ServerProcess(str(files["price"]), "--timeout", "3") as found:
        yield found


@pytest.fixture(scope="module")
def playground():
    with PlayProcess() as found:
        yield found


@pytest.fixture
def open_page(browser, playground):
    """Open a link in a window of its own; errors and unexpected messages of the console must be none at the end."""
    contexts, errors = [], []

    def new(link="", size=(1400, 900), *, scheme="light", context=None):
        if context is None:
            viewport = {"width": size[0], "height": size[1]}
            context = browser.new_context(viewport=viewport, color_scheme=scheme, accept_downloads=True)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(playground.link(link))
        page.wait_for_selector("body[data-ready]", state="attached")
        return page

    yield new
    for context in contexts:
        context.close()
    # Chromium reports each refused request by itself; the page tells the reason in a sentence.
    assert not [error for error in errors if "Failed to load resource" not in error]
