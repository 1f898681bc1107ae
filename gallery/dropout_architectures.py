"""Test error of several architectures with and without dropout: figure 4 of the dropout paper. Lecture row D8.

``MADALINE_DATA=... python gallery/dropout_architectures.py`` runs it (a quarter of an hour) and writes the page of the
same name, its picture and its numbers. Tests use the same functions.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md
from batch_norm_speed import mnist

Array = np.ndarray[Any, Any]

SHAPES = ((1024, 1024), (1024, 1024, 1024), (1024, 1024, 1024, 1024), (2048, 2048))
N_ROWS, BATCH, RATE = 6000, 100, 5e-4
STEPS, EVERY = 2160, 120
"Number of training steps, and of steps between evaluations."
KINDS = {"without": (0.0, 0.0), "with": (0.2, 0.5)}
"Drop probabilities of inputs and hidden units."


def errors(
    shape: tuple[int, ...], kind: str, data: Any, *, steps: int = STEPS, every: int = EVERY, seed: int = 0
) -> list[float]:
    """Test errors at regular intervals."""
    (X, y), other = data
    input_dropout, dropout = KINDS[kind]
    net = md.mlp(*shape, 10, dropout=dropout, input_dropout=input_dropout)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(RATE), seed=seed)
    history = trainer.fit(
        X,
        y,
        epochs=steps // every,
        batch_size=BATCH,
        sampler=lambda n_rows, rng: rng.integers(0, n_rows, every * BATCH),
        validation=other,
        metrics="accuracy",
    )
    return [round(1.0 - float(value), 6) for value in history["val_accuracy"]]


def title(shape: tuple[int, ...]) -> str:
    """A shape in words."""
    return f"{len(shape)} layers of {shape[0]}"


def measure(data: Any, shapes: tuple[tuple[int, ...], ...] = SHAPES, **settings: Any) -> dict[str, Any]:
    """Errors with and without dropout, for each shape."""
    return {title(shape): {kind: errors(shape, kind, data, **settings) for kind in KINDS} for shape in shapes}


def end(found: list[float]) -> float:
    """The final error: the mean of the last three evaluations, since a single one is noisy."""
    return float(np.mean(found[-3:]))


# The page

PAGE = Path(__file__).with_suffix(".md")
NUMBERS, PICTURE = PAGE.with_suffix(".json"), PAGE.parent / "pictures" / "dropout_architectures.png"
COLOURS = ("#1d4ed8", "#0f9d8a", "#c2410c", "#9333ea")

TEXT = """# Dropout lowers the test error of all architectures
Lecture row D8, measured by [`dropout_architectures.py`](dropout_architectures.py), which wrote this page, its picture
and [its numbers](dropout_architectures.json);
[`test_dropout_architectures.py`](../tests/lectures/test_dropout_architectures.py) runs a small part of it.

Figure 4 of the dropout paper (Srivastava et al. 2014) shows the test error of nets with 2 to 4 hidden layers of 1,024
to 2,048 units during training on MNIST, each with and without dropout, and with the same settings for all. This
experiment has four such nets. To take minutes only, it uses the first {n_rows:,} training images instead of 60,000, and
{steps:,} steps instead of a million (Adam with learning rate {rate:g}, mini-batches of {batch}, no max-norm
constraint). The drop probabilities are those of the paper: 0.2 for inputs, 0.5 for hidden units. Errors are measured on
the 10,000 test images.

![test error by step](pictures/dropout_architectures.png)

| hidden layers | without dropout | with dropout | errors avoided |
| --- | --- | --- | --- |
{table}

(Means of the last three evaluations.)

- **Dropout is better for every architecture**; it avoids {least:.0%} to {most:.0%} of the errors:
  {finding} With 10,000 test images, differences of twenty
  errors (0.2%) can be due to chance, so a small difference is convincing only together with the others. The nets with
  dropout were still learning: in the paper, with all images and steps, the two groups are further apart.
- **The architecture matters less**: the errors of the four nets differ by at most {spread_without:.2%} without dropout
  and {spread_with:.2%} with dropout.
- **Dropout is slower at first**: after {every} steps, {slower} of the {count} nets with dropout were worse than the
  same net without. A net with a new mask for every row learns less in each step, but continues to learn when the other
  has stopped.

The slide of the deck says "lowers training error", but figure 4 shows the test error, and that is what dropout lowers.
"""


def page(numbers: dict[str, Any]) -> str:
    """The text of the page."""
    ends = {name: {kind: end(found[kind]) for kind in KINDS} for name, found in numbers.items()}
    saved = {name: 1 - one["with"] / one["without"] for name, one in ends.items()}
    rows = [f"| {name} | {one['without']:.2%} | {one['with']:.2%} | {saved[name]:.0%} |" for name, one in ends.items()]
    spread = {kind: np.ptp([one[kind] for one in ends.values()]) for kind in KINDS}
    worst, best = max(one["with"] for one in ends.values()), min(one["without"] for one in ends.values())
    finding = (
        f"the worst net with dropout ({worst:.2%}) is better than the best without ({best:.2%})."
        if worst < best
        else f"the errors are at most {worst:.2%} with dropout and at least {best:.2%} without."
    )
    return TEXT.format(
        n_rows=N_ROWS,
        steps=STEPS,
        rate=RATE,
        batch=BATCH,
        every=EVERY,
        table="\n".join(rows),
        least=min(saved.values()),
        most=max(saved.values()),
        finding=finding,
        spread_without=spread["without"],
        spread_with=spread["with"],
        slower=sum(found["with"][0] > found["without"][0] for found in numbers.values()),
        count=len(numbers),
    )


def draw(numbers: dict[str, Any]) -> Any:
    """Test error by step, for each shape."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
    for (name, found), colour in zip(numbers.items(), COLOURS, strict=True):
        for kind, style in (("without", "--"), ("with", "-")):
            steps = EVERY * np.arange(1, len(found[kind]) + 1)
            ax.plot(steps, 100 * np.array(found[kind]), style, color=colour, lw=1.4, label=f"{name}, {kind}")
    lowest = 100 * min(min(found[kind]) for found in numbers.values() for kind in KINDS)
    ax.set(xlabel="step", ylabel="test error, %", xlim=(0, STEPS), ylim=(np.floor(lowest), np.floor(lowest) + 6))
    ax.legend(frameon=False, fontsize=8.5, ncols=2, title="dropout: dashed without, solid with", title_fontsize=8.5)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def write(folder: Path) -> None:
    """Run the experiment, and write the numbers, the page and the picture."""
    (X, y), test = mnist(folder)
    numbers = measure(((X[:N_ROWS], y[:N_ROWS]), test))
    NUMBERS.write_text(json.dumps(numbers).replace("}, ", "},\n ") + "\n", encoding="utf-8")
    PAGE.write_text(page(numbers), encoding="utf-8")
    draw(numbers).savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    if not os.environ.get("MADALINE_DATA"):
        raise SystemExit("Set MADALINE_DATA to the folder that holds image/mnist.npz.")
    write(Path(os.environ["MADALINE_DATA"]))
