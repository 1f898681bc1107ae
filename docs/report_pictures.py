"""Makes the pictures of docs/guides/report.md: reports of two runs, as Chromium shows them.

Run it with the folders of a classification and of a regression: ``report_pictures.py run cars``. It needs Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PICTURES = Path(__file__).parent / "pictures"
DESK, PHONE = 1280, 390
GROUND = (200, 205, 210)


def shot(report: Path, width: int, height: int, *, dark: bool) -> Image.Image:
    """A report in a window of this size. It stands in a frame, since windows have a least width."""
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "page.html", Path(folder) / "page.png"
        frame = f"border:0;width:{width}px;height:{height}px"
        page.write_text(f'<body style="margin:0"><iframe src="{report.resolve().as_uri()}" style="{frame}"></iframe>')
        command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=20000"]
        command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}", f"--screenshot={picture}"]
        command += [f"--window-size={max(width, 500)},{height}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own words
        with Image.open(picture) as image:
            return image.convert("RGB").crop((0, 0, width, height))


def side_by_side(image: Image.Image, tops: tuple[int, ...], height: int, *, scale: float, path: Path) -> None:
    """Parts of a long picture beside each other, small and with few colours."""
    gap = 24
    whole = Image.new("RGB", ((image.width + gap) * len(tops) - gap, height), GROUND)
    for place, top in enumerate(tops):
        whole.paste(image.crop((0, top, image.width, top + height)), (place * (image.width + gap), 0))
    small = whole.resize((round(whole.width * scale), round(whole.height * scale)), Image.Resampling.LANCZOS)
    small.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)


def main(classification: Path, regression: Path) -> None:
    """Both pictures."""
    desk = shot(classification / "report.html", DESK, 6600, dark=False).crop((130, 0, 1150, 6600))
    side_by_side(desk, (0, 2015, 4305), 1900, scale=0.5, path=PICTURES / "report.png")
    phone = shot(regression / "report.html", PHONE, 9600, dark=True)
    side_by_side(phone, (0, 2490, 4125, 7030), 1000, scale=0.8, path=PICTURES / "report-phone.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
