"""Make the pictures of docs/guides/report.md: screenshots of two reports in Chromium.

Run it with two run folders, for the desktop and the phone: ``report_pictures.py run titanic``. It needs Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PICTURES = Path(__file__).parent / "pictures"
DESKTOP, PHONE = 1060, 390
GAP, BACKGROUND = 24, (200, 205, 210)
NARROWEST_WINDOW = 500


def shot(report: Path, section: str, width: int, height: int, *, dark: bool) -> Image.Image:
    """A screenshot of a report, from the beginning of a section. A frame is used since windows have a minimum width."""
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "page.html", Path(folder) / "page.png"
        frame = f"border:0;width:{width}px;height:{height}px"
        address = f"{report.resolve().as_uri()}#{section}"
        page.write_text(f'<body style="margin:0"><iframe src="{address}" style="{frame}"></iframe>')
        command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=30000"]
        command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}", f"--screenshot={picture}"]
        command += [f"--window-size={max(width, NARROWEST_WINDOW)},{height}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - the command is written above
        with Image.open(picture) as image:
            return image.convert("RGB").crop((0, 0, width, height))


def side_by_side(images: list[Image.Image], *, scale: float, path: Path) -> None:
    """Save images side by side, scaled down and with few colours."""
    width, height = images[0].size
    whole = Image.new("RGB", ((width + GAP) * len(images) - GAP, height), BACKGROUND)
    for place, image in enumerate(images):
        whole.paste(image, (place * (width + GAP), 0))
    small = whole.resize((round(whole.width * scale), round(whole.height * scale)), Image.Resampling.LANCZOS)
    small.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)


def main(desktop: Path, phone: Path) -> None:
    """Both pictures."""
    sections = ["", "predictions", "columns", "data"]
    shots = [shot(desktop / "report.html", section, DESKTOP, 1750, dark=False) for section in sections]
    side_by_side(shots, scale=0.45, path=PICTURES / "report.png")
    sections = ["", "threshold", "columns", "data"]
    shots = [shot(phone / "report.html", section, PHONE, 1000, dark=True) for section in sections]
    side_by_side(shots, scale=0.8, path=PICTURES / "report-phone.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
