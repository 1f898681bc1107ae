"""Make the pictures of docs/guides/doctor.md: a diagnosis as a page in Chromium, and the single tests.

Run it as ``python docs/doctor_pictures.py``. It needs Chromium and matplotlib.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image, ImageChops

import madaline as md

mpl.use("Agg")
from matplotlib import pyplot as plt

PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 900, 2200


def data() -> tuple[np.ndarray, np.ndarray]:
    """Rows that a small net learns in a moment."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).astype("float32")
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]).astype("float32")


def diagnosis_picture() -> None:
    """A net with two faults: columns that are not scaled, and a rate that is too high."""
    X, y = data()
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(0.3), threads=1)
    trainer.fit(X * np.array([1e3, 1, 1, 1e-2], "float32"), y, epochs=60, batch_size=32, validation=0.25, doctor=True)
    page = md.diagnose(trainer).to_html()
    style = "font:15px/1.45 system-ui,sans-serif;max-width:840px;margin:16px;color:#222;background:#fff"
    with tempfile.TemporaryDirectory() as folder:
        file, picture = Path(folder) / "page.html", Path(folder) / "page.png"
        file.write_text(f'<meta charset="utf-8"><body style="{style}">{page}', encoding="utf-8")
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        command += ["--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}", file.as_uri()]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - the command is written above
        with Image.open(picture) as image:
            whole = image.convert("RGB")
    used = ImageChops.difference(whole, Image.new("RGB", whole.size, "white")).getbbox() or (0, 0, *whole.size)
    cut = whole.crop((0, 0, WIDTH, min(used[3] + 16, HEIGHT)))
    cut.quantize(64, dither=Image.Dither.NONE).save(PICTURES / "diagnosis.png", optimize=True)


def tools_picture() -> None:
    """The single tests."""
    X, y = data()
    slow = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(1e-4), threads=1)
    sound = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(3e-3), threads=1)
    figure, axes = plt.subplots(1, 4, figsize=(17, 3.8), layout="constrained")
    md.doctor.rate_range_test(slow, X, y, batch_size=32).plot(axes[0])
    md.doctor.overfit_test(sound, X, y).plot(axes[1])
    sound.fit(X, y, epochs=60, progress=False)
    md.doctor.loss_slices(sound, X, y).plot(axes[2])
    labels = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5).astype(int)
    labels[::40] = 1 - labels[::40]
    clf = md.MLPClassifier(32, learning_rate_init=0.01, max_iter=60, random_state=0)
    md.doctor.find_label_errors(clf, X, labels).plot(axes[3])
    figure.savefig(PICTURES / "doctor_tools.png", dpi=70)


def main() -> None:
    """Both pictures."""
    diagnosis_picture()
    tools_picture()


if __name__ == "__main__":
    main()
