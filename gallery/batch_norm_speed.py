"""Training steps saved by batch norm: the table of the paper, on MNIST. Lecture row E14.

``MADALINE_DATA=... python gallery/batch_norm_speed.py`` runs it (two minutes) and writes the page of the same
name, its picture and its numbers. Tests use the same functions.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]

WIDTHS, BATCH = (100, 100, 100), 60
STEPS, EVERY = 2000, 50
"Number of training steps, and of steps between evaluations."
RATES = (0.03, 0.3)
"Learning rates of the baseline: a small one, which allows for the paper's factors, and about the largest possible one."
SEEDS = range(3)


@dataclass(frozen=True)
class Variant:
    """A row of the table."""

    name: str
    factor: float = 1.0
    "Factor of the baseline's learning rate."
    batch_norm: bool = True
    activation: str = "relu"


BASELINE = Variant("baseline", batch_norm=False)
VARIANTS = (
    BASELINE,
    Variant("baseline x5", 5.0, batch_norm=False),
    Variant("BN"),
    Variant("BN x5", 5.0),
    Variant("BN x30", 30.0),
    Variant("BN x5, sigmoid", 5.0, activation="sigmoid"),
)


def mnist(folder: Path) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """MNIST with pixels from 0 to 1: training set and test set."""
    with np.load(folder / "image" / "mnist.npz") as file:
        train, test = (
            (file[f"x_{part}"].reshape(-1, 784).astype(np.float32) / 255, file[f"y_{part}"].astype(np.int64))
            for part in ("train", "test")
        )
    return train, test


def accuracies(
    variant: Variant, data: Any, *, rate: float, seed: int = 0, steps: int = STEPS, every: int = EVERY
) -> list[float]:
    """Test accuracies at regular intervals; a run that diverges ends early."""
    (X, y), other = data
    net = md.mlp(*WIDTHS, 10, activation=variant.activation, norm="batch" if variant.batch_norm else None)
    optimizer = md.SGD(rate * variant.factor)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=optimizer, seed=seed, threads=1)
    history = trainer.fit(
        X,
        y,
        epochs=steps // every,
        batch_size=BATCH,
        sampler=lambda n_rows, rng: rng.integers(0, n_rows, every * BATCH),
        validation=other,
        metrics="accuracy",
        on_divergence="stop",
    )
    return [float(value) for value in history["val_accuracy"]] if len(history) else []


def steps_to(goal: float, found: list[float], every: int = EVERY) -> float:
    """Number of steps until an accuracy is reached; infinite if it never is."""
    reached = np.flatnonzero(np.array(found) >= goal)
    return float(every * (1 + reached[0])) if len(reached) else np.inf


def measure(
    data: Any, *, rate: float, variants: tuple[Variant, ...] = VARIANTS, seeds: Any = SEEDS, **settings: Any
) -> dict[str, list[list[float]]]:
    """Accuracies of each variant, one list per seed."""
    return {
        variant.name: [accuracies(variant, data, rate=rate, seed=seed, **settings) for seed in seeds]
        for variant in variants
    }


def summary(found: dict[str, list[list[float]]], every: int = EVERY) -> dict[str, tuple[float, float]]:
    """Steps to the best accuracy of the same seed's baseline, and the maximum: medians over the seeds."""
    goals = [max(run) for run in found[BASELINE.name]]
    return {
        name: (
            float(np.median([steps_to(goal, run, every) for goal, run in zip(goals, runs, strict=True)])),
            float(np.median([max(run, default=0.0) for run in runs])),
        )
        for name, runs in found.items()
    }


# The page

PAGE = Path(__file__).with_suffix(".md")
NUMBERS, PICTURE = PAGE.with_suffix(".json"), PAGE.parent / "pictures" / "batch_norm_speed.png"
COLOURS = ("#111827", "#9ca3af", "#1d4ed8", "#0f9d8a", "#c2410c", "#9333ea")

TEXT = """# Training steps saved by batch norm
Lecture row E14, measured by [`batch_norm_speed.py`](batch_norm_speed.py), which wrote this page, its picture and
[its numbers](batch_norm_speed.json); [`test_batch_norm_speed.py`](../tests/lectures/test_batch_norm_speed.py) runs a
small part of it.

The paper (Ioffe & Szegedy 2015, figure 3) trained Inception on ImageNet. This is the same table for the net of its
section 4.1, 784-100-100-100-10, on MNIST, with rectifiers unless stated otherwise: plain SGD, mini-batches of {batch}
random rows, {steps} steps, evaluated on the 10,000 test images every {every} steps, medians of {n_seeds} seeds.
The goal is the best accuracy that the baseline with the same seed reaches in {steps} steps. A dash means never reached.

The savings depend on the learning rate of the baseline, so there are two tables: one for a small rate, which allows for
the factors of the paper, and one for about the largest rate at which the baseline can be trained. The row "baseline x5"
is not in the table of the paper: it shows the effect of the learning rate alone.

![accuracy by step](pictures/batch_norm_speed.png)

(Seed 0; nets that fail stay below the visible range.)

{tables}
## Results
{findings}

The table of the paper, for comparison: Inception reaches 72.2% after 31.0 million steps. BN reaches it after 13.3
million (maximum accuracy 72.7%), BN x5 after 2.1 (73.0%), BN x30 after 2.7 (74.8%), and BN x5 with sigmoid never
(69.8%). With the small baseline rate, the order of the maximum accuracies is that of the paper, but a net of four
layers has less to gain. At ten times this rate, a factor of 30 is too large.
"""


def told(steps: float) -> str:
    """Number of steps, or a dash."""
    return f"{steps:,.0f}" if np.isfinite(steps) else "-"


def table(rate: float, found: dict[str, list[list[float]]]) -> str:
    """The table for one rate of the baseline."""
    numbers = summary(found)
    lines = [
        f"## Baseline with learning rate {rate:g}",
        "| net | learning rate | steps to the baseline's best | times fewer | maximum accuracy |",
        "| --- | --- | --- | --- | --- |",
    ]
    for variant in VARIANTS:
        steps, most = numbers[variant.name]
        fewer = f"{numbers[BASELINE.name][0] / steps:.1f}" if np.isfinite(steps) else "-"
        highest = f"{100 * most:.2f}%" if most else "diverges"
        lines.append(f"| {variant.name} | {rate * variant.factor:g} | {told(steps)} | {fewer} | {highest} |")
    return "\n".join([*lines, ""])


def finding(rate: float, found: dict[str, list[list[float]]]) -> str:
    """The result for one learning rate in words."""
    numbers = summary(found)
    goal, most = numbers[BASELINE.name]
    fewer = {name: goal / steps for name, (steps, _) in numbers.items() if np.isfinite(steps) and name != BASELINE.name}
    fastest = max(fewer, key=lambda name: fewer[name])
    best = max(numbers, key=lambda name: numbers[name][1])
    never = [name for name in numbers if name != BASELINE.name and name not in fewer]
    failed = [name for name in never if numbers[name][1] < 0.9]
    late = [name for name in never if name not in failed]
    sentences = [
        f"- **Learning rate {rate:g}**: {fastest} is fastest, with {fewer[fastest]:.1f} times fewer steps.",
        f"Batch norm alone needs {fewer['BN']:.1f} times fewer." if "BN" in fewer and fastest != "BN" else "",
        f"{best} has the highest accuracy, {100 * numbers[best][1]:.2f}%; the baseline has {100 * most:.2f}%.",
        f"These fail: {', '.join(failed)}." if failed else "",
        f"These learn, but do not reach the goal in {STEPS:,} steps: {', '.join(late)}." if late else "",
    ]
    return "\n  ".join(sentence for sentence in sentences if sentence)


def page(numbers: dict[str, Any]) -> str:
    """The text of the page."""
    by_rate = {float(rate): found for rate, found in numbers["accuracies"].items()}
    return TEXT.format(
        batch=BATCH,
        steps=STEPS,
        every=EVERY,
        n_seeds=len(SEEDS),
        tables="\n".join(table(rate, found) for rate, found in by_rate.items()),
        findings="\n".join(finding(rate, found) for rate, found in by_rate.items()),
    )


def draw(numbers: dict[str, Any]) -> Any:
    """Plot the accuracy by step, for each learning rate of the baseline; seed 0."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, cells = plt.subplots(1, len(RATES), figsize=(10.5, 4.0), layout="constrained", sharey=True)
    for ax, (rate, found) in zip(cells, numbers["accuracies"].items(), strict=True):
        for variant, colour in zip(VARIANTS, COLOURS, strict=True):
            run = 100 * np.array(found[variant.name][0])
            ax.plot(EVERY * np.arange(1, len(run) + 1), run, color=colour, lw=1.3, label=variant.name)
        best = 100 * max(found[BASELINE.name][0])
        ax.axhline(best, color="0.5", lw=0.8, ls=":")
        ax.set(title=f"baseline at rate {float(rate):g}", xlabel="step", xlim=(0, STEPS), ylim=(88, 98.8))
        ax.spines[["top", "right"]].set_visible(False)
    cells[0].set_ylabel("test accuracy, %")
    cells[0].legend(frameon=False, fontsize=8.5, loc="lower right")
    return figure


def write(folder: Path) -> None:
    """Run the experiment, and write the numbers, the page and the picture."""
    data = mnist(folder)
    numbers = {
        "variants": [asdict(variant) for variant in VARIANTS],
        "accuracies": {f"{rate:g}": measure(data, rate=rate) for rate in RATES},
    }
    text = json.dumps(numbers, default=float).replace("]], ", "]],\n ")
    NUMBERS.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(numbers), encoding="utf-8")
    draw(numbers).savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    if not os.environ.get("MADALINE_DATA"):
        raise SystemExit("Set MADALINE_DATA to the folder that holds image/mnist.npz.")
    write(Path(os.environ["MADALINE_DATA"]))
