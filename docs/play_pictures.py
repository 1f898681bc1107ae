"""Make the picture of docs/guides/playground.md: the playground in Chromium, on a desktop and on a phone.

It needs Chromium and Playwright: ``.venv-web/bin/python docs/play_pictures.py``.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys

from PIL import Image
from playwright.sync_api import sync_playwright

from report_pictures import BACKGROUND, GAP, PICTURES

DESKTOP, PHONE, HEIGHT = 1400, 390, 900
SCALE = 0.72
VIEWS = ((DESKTOP, "light", "layers=6tanh,6tanh,3tanh&data=spirals&at=1500"), (PHONE, "dark", "at=900"))


def main() -> None:
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
    main()
