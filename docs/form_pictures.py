"""Make the picture of docs/guides/serving.md: an exported page in Chromium, on a desktop and on a phone.

Run it with a page: ``form_pictures.py page.html``. It needs Chromium.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from report_pictures import BACKGROUND, GAP, PICTURES, shot

DESKTOP, PHONE, HEIGHT = 1120, 390, 800
SCALE = 0.75


def main(page: Path) -> None:
    """Save both screenshots side by side."""
    images = [shot(page, "", width, HEIGHT, dark=False) for width in (DESKTOP, PHONE)]
    whole = Image.new("RGB", (DESKTOP + GAP + PHONE, HEIGHT), BACKGROUND)
    whole.paste(images[0], (0, 0))
    whole.paste(images[1], (DESKTOP + GAP, 0))
    small = whole.resize((round(SCALE * whole.width), round(SCALE * whole.height)), Image.Resampling.LANCZOS)
    small.quantize(128, dither=Image.Dither.NONE).save(PICTURES / "exported-page.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
