"""The notebook widget in JupyterLab, with a kernel that is busy while it is drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import TimeoutError as NotYet

from web.live.jupyter import JupyterProcess, write_notebook

CELLS = (
    """
import numpy as np
import madaline as md
from madaline.web.notebook import LiveTraining
X = np.random.default_rng(0).normal(size=(300, 3))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
net = md.Sequential(md.Linear(8), md.Linear(8), md.Linear(1))
trainer = md.Trainer(net, loss="binary_cross_entropy", optimizer=md.Adam(0.01))
live = LiveTraining()
live
""",
    'trainer.fit(X, y, epochs=10**6, validation=0.25, metrics="accuracy", callbacks=live, progress=False);',
    "print('stopped:', trainer.history.stopped)",
)
STATUS = ".madaline-live [role=status]"
PROMPT = "() => document.querySelector('.jp-Notebook .jp-InputPrompt').innerText.trim() !== '[ ]:'"
DIALOGS = "setInterval(() => document.querySelector('.jp-Dialog button.jp-mod-accept')?.click(), 500)"
"JupyterLab asks for a kernel if one is slow to start, and a dialog takes all clicks: accept what it proposes."
KERNEL = "wanted => document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === wanted"


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    write_notebook(folder / "live.ipynb", *(cell.strip() for cell in CELLS))
    with JupyterProcess(folder, tmp_path_factory.mktemp("home")) as found:
        yield found


def opened(context, jupyter, errors):
    page = context.new_page()
    page.set_default_timeout(180_000)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(jupyter.link("live.ipynb"))
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function(KERNEL, arg="idle")
    return page


def run_first_cell(page):
    """JupyterLab calls a kernel idle before it is connected, and then forgets what it was asked to run."""
    for _ in range(20):
        page.click(".jp-Notebook .jp-Cell >> nth=0")
        page.keyboard.press("Shift+Enter")
        try:
            page.wait_for_function(PROMPT, timeout=5_000)
        except NotYet:
            continue
        return
    raise AssertionError("JupyterLab ran no cell")


def at_rest(page):
    """The status when it no longer changes: the last epochs may be drawn after the kernel is idle."""
    last = ""
    while (now := page.inner_text(STATUS)) != last:
        last = now
        page.wait_for_timeout(1_000)
    return last


def test_a_training_is_shown_while_the_kernel_is_busy(browser, jupyter):
    context, errors = browser.new_context(viewport={"width": 1300, "height": 1200}), []
    context.add_init_script(DIALOGS)
    page = opened(context, jupyter, errors)
    run_first_cell(page)
    page.wait_for_selector(".madaline-live")
    assert "Not started" in page.inner_text(STATUS)
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector("[data-finding=missing_nonlinearity]")
    page.wait_for_selector(".madaline-live .layers tbody tr")
    assert page.locator(".madaline-live path.line").count() == 4
    before = page.inner_text(STATUS)
    page.wait_for_function("([at, text]) => document.querySelector(at).innerText !== text", arg=[STATUS, before])
    assert page.evaluate(KERNEL, "busy")
    # The theme of JupyterLab, which is not that of the system.
    assert page.get_attribute(".madaline-live", "data-theme") == "light"
    page.evaluate("document.body.style.setProperty('--jp-layout-color0', '#111')")
    page.evaluate("document.querySelector('.jp-Notebook').style.background = '#111'")
    page.evaluate("document.body.setAttribute('data-jp-theme-light', 'false')")
    page.wait_for_selector(".madaline-live[data-theme=dark]")
    page.click(".jp-Notebook .jp-Cell >> nth=1")
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    page.keyboard.press("i")
    page.wait_for_function("at => document.querySelector(at).innerText.includes('ended: interrupted')", arg=STATUS)
    page.wait_for_function(KERNEL, arg="idle")
    ended = at_rest(page)
    page.keyboard.press("Control+s")
    page.wait_for_selector(".jp-Document:not(.jp-mod-dirty)")
    page.close()
    again = opened(context, jupyter, errors)
    again.wait_for_function("([at, text]) => document.querySelector(at)?.innerText === text", arg=[STATUS, ended])
    assert again.locator(".madaline-live path.line").count() == 4
    context.close()
    assert not errors
