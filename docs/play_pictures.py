"""Make the pictures of docs/guides/playground.md: the playground on a desktop and a phone, a training in a notebook.

It needs Chromium and Playwright: ``.venv-web/bin/python docs/play_pictures.py``.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import madaline as md
from madaline.web.notebook import LiveTraining, module, style
from report_pictures import BACKGROUND, GAP, PICTURES

DESKTOP, PHONE, HEIGHT = 1400, 390, 900
SCALE = 0.72
VIEWS = ((DESKTOP, "light", "layers=6tanh,6tanh,3tanh&data=spirals&at=1500"), (PHONE, "dark", "at=900"))


NOTEBOOK = """
async ([source, css, state]) => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  const { default: widget } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  widget.render({ model: { get: (name) => state[name], on() {}, off() {} }, el: document.body });
}
"""


def notebook_picture() -> None:
    """Train a net without activations, and save what a notebook shows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    live = LiveTraining()
    net = md.Sequential(md.Linear(8), md.Linear(8), md.Linear(1))
    trainer = md.Trainer(net, loss="binary_cross_entropy", optimizer=md.Adam(0.003))
    trainer.fit(X, y, epochs=60, batch_size=32, validation=0.25, metrics="accuracy", callbacks=live, progress=False)
    widget = live.widget
    state = {name: getattr(widget, name) for name in ("status", "loss", "metric", "history", "layers", "findings")}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 500})
        page.evaluate(NOTEBOOK, [module("widget.js"), style(), state])
        image = Image.open(io.BytesIO(page.locator(".madaline-live").screenshot())).convert("RGB")
        browser.close()
    image.quantize(128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        PICTURES / "notebook.png", optimize=True
    )


def playground_picture() -> None:
    """Save both screenshots side by side."""
    command = [sys.executable, "-m", "madaline", "play", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - the command is written above
    assert server.stdout is not None
    address = re.findall(r"http://\S+", server.stdout.readline())[0]
    images = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for width, scheme, link in VIEWS:
            page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
            page.goto(f"{address}&{link}")
            page.wait_for_function(f"() => location.hash.includes('{link.rpartition('&')[2]}')")
            page.wait_for_selector("#doctor .healthy, #doctor .finding", state="attached")
            images.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
        browser.close()
    server.terminate()
    server.wait()
    whole = Image.new("RGB", (DESKTOP + GAP + PHONE, HEIGHT), BACKGROUND)
    whole.paste(images[0], (0, 0))
    whole.paste(images[1], (DESKTOP + GAP, 0))
    small = whole.resize((round(SCALE * whole.width), round(SCALE * whole.height)), Image.Resampling.LANCZOS)
    small.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        PICTURES / "playground.png", optimize=True
    )


if __name__ == "__main__":
    playground_picture()
    notebook_picture()
