"""MNIST loss by batch size, for equal numbers of epochs and for equal time. Lecture row A9.

``MADALINE_DATA=... python gallery/batch_size.py`` runs it (some minutes) and writes the page of the same name,
its picture and its numbers. Tests use the same functions.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md
from small_net import digits

Array = np.ndarray[Any, Any]

N_ROWS, N_UNITS, EPOCHS = 8192, 100, 10
"A multiple of all batch sizes: a small last batch at the learning rate of a large one would be a noisy step."
SIZES = (1, 4, 16, 64, 256, 1024, None)
"Mini-batch sizes; None is all rows."
RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SEEDS = range(3)


def train(
    X: Array,
    y: Array,
    *,
    size: int | None,
    rate: float,
    seed: int = 0,
    epochs: int = EPOCHS,
    sampler: str = "shuffled",
    judged: bool = True,
) -> md.History:
    """Train a net with one hidden layer by gradient descent; if ``judged``, evaluate on all rows after each epoch."""
    trainer = md.Trainer(
        md.mlp(N_UNITS, int(y.max()) + 1), loss="cross_entropy", optimizer=md.SGD(rate), seed=seed, threads=1
    )
    return trainer.fit(
        X,
        y,
        epochs=epochs,
        batch_size=size,
        sampler=sampler,
        validation=(X, y) if judged else None,
        on_divergence="stop",
    )


def losses(X: Array, y: Array, **settings: Any) -> list[float]:
    """The loss on all rows after each epoch; infinite for a run that diverged."""
    history = train(X, y, **settings)
    found = [float(value) for value in history["val_loss"]] if len(history) else []
    return found if history.stopped == "finished" and np.isfinite(found).all() else [np.inf]


def best_rate(X: Array, y: Array, **settings: Any) -> float:
    """The learning rate, among those tried, with the smallest final loss."""
    return min(RATES, key=lambda rate: losses(X, y, rate=rate, **settings)[-1])


def seconds_an_epoch(X: Array, y: Array, **settings: Any) -> float:
    """Time of the fastest of several epochs, which is disturbed least by other load."""
    return min(float(train(X, y, epochs=1, judged=False, **settings)["seconds"][0]) for _ in range(8))


def measure(X: Array, y: Array) -> list[dict[str, Any]]:
    """The best learning rate, the losses of each seed and the seconds per epoch, for each batch size."""
    found = []
    for size in SIZES:
        rate = best_rate(X, y, size=size)
        with_, without = (
            [losses(X, y, size=size, rate=rate, seed=seed, sampler=sampler) for seed in SEEDS]
            for sampler in ("with_replacement", "shuffled")
        )
        seconds = seconds_an_epoch(X, y, size=size, rate=rate)
        found.append({"size": size, "rate": rate, "seconds": seconds, "with": with_, "without": without})
    return found


# The page

PAGE = Path(__file__).with_suffix(".md")
NUMBERS, PICTURE = PAGE.with_suffix(".json"), PAGE.parent / "pictures" / "batch_size.png"

TEXT = """# The effect of the batch size
Lecture row A9, measured by [`batch_size.py`](batch_size.py), which wrote this page, its picture and
[its numbers](batch_size.json); [`test_batches.py`](../tests/lectures/test_batches.py) implements the three variants of
gradient descent by hand and runs a small part of this experiment.

The first {n_rows:,} images of MNIST, a net with one hidden layer of {n_units} rectifiers, cross-entropy, plain gradient
descent: with all rows in each step (gradient descent), with one row (stochastic gradient descent), and with
mini-batches. Each batch size uses the best of the learning rates {rates}. The loss is that on all rows after {epochs}
epochs, the median of {n_seeds} seeds. Times are for one thread of the machine on which this page was written, the
fastest of 8 epochs. (All sizes divide {n_rows:,}. With 10,000 rows and a batch size of 256 the last mini-batch would
have 16 rows, and its noise, at a learning rate for 256 rows, would be visible in the evaluation after the epoch.
`drop_last=True` leaves out such a mini-batch.)

![loss by epoch, by seconds, and by batch size](pictures/batch_size.png)

| batch size | steps per epoch | learning rate | loss without replacement | loss with replacement | seconds per epoch |
| --- | --- | --- | --- | --- | --- |
{table}

- **For equal epochs**, a batch size of {best_size} has the smallest loss. With all rows in each step the loss is
  {full:.2f}, since {epochs} epochs are only {epochs} steps. The gradient of more rows is less noisy, but costs
  proportionally more.
- **For equal time**, one row per step is not the best choice: such a step does not use the processor well, and an epoch
  takes {slower:.0f} times as long as with a batch size of {fastest}. After {budget:.2f} s, the time of {epochs} epochs
  with a batch size of 64, the smallest loss is that of batch size {best_in_time}.
- **The best learning rate** first grows with the batch size, as long as gradient noise limits it. For large batches the
  curvature of the loss limits it, and it does not grow any more.
- **With replacement**, an epoch leaves out about a third of the rows, a fraction of exp(-1); the loss is
  {replaced}.
"""


def title(size: int | None) -> str:
    """A batch size in words."""
    return "all" if size is None else f"{size}"


def ends(row: dict[str, Any], kind: str) -> float:
    """The median over the seeds of the loss after the last epoch."""
    return float(np.median([run[-1] for run in row[kind]]))


def loss_after(row: dict[str, Any], seconds: float) -> float:
    """The loss after the last epoch that ends within a time limit; infinite if there is none."""
    done = min(int(seconds / row["seconds"] + 1e-9), EPOCHS)
    return float(np.median([run[done - 1] for run in row["without"]])) if done else np.inf


def page(numbers: list[dict[str, Any]]) -> str:
    """The text of the page."""
    rows = [
        f"| {title(row['size'])} | {-(-N_ROWS // (row['size'] or N_ROWS)):,} | {row['rate']:g} | "
        f"{ends(row, 'without'):.4f} | {ends(row, 'with'):.4f} | {row['seconds']:.3f} |"
        for row in numbers
    ]
    by_size = {row["size"]: row for row in numbers}
    fastest = min(numbers, key=lambda row: row["seconds"])
    budget = EPOCHS * by_size[64]["seconds"]
    larger = sum(ends(row, "with") > ends(row, "without") for row in numbers)
    return TEXT.format(
        n_rows=N_ROWS,
        n_units=N_UNITS,
        epochs=EPOCHS,
        rates=", ".join(f"{rate:g}" for rate in RATES),
        n_seeds=len(SEEDS),
        table="\n".join(rows),
        best_size=title(min(numbers, key=lambda row: ends(row, "without"))["size"]),
        full=ends(by_size[None], "without"),
        slower=by_size[1]["seconds"] / fastest["seconds"],
        fastest=title(fastest["size"]),
        budget=budget,
        best_in_time=title(min(numbers, key=lambda row: loss_after(row, budget))["size"]),
        replaced=f"larger for {larger} of {len(numbers)} batch sizes",
    )


def draw(numbers: list[dict[str, Any]]) -> Any:
    """Loss by epoch, by seconds, and by batch size."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, (by_epoch, by_time, by_size) = plt.subplots(1, 3, figsize=(11.5, 3.6), layout="constrained", sharey=True)
    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, len(numbers)))
    for row, colour in zip(numbers, colours, strict=True):
        middle, epochs = np.median(row["without"], axis=0), np.arange(1, EPOCHS + 1)
        by_epoch.plot(epochs, middle, ".-", color=colour, label=title(row["size"]))
        by_time.plot(epochs * row["seconds"], middle, ".-", color=colour)
    places = np.arange(len(numbers))
    for kind, marker, colour in (("without", "o-", "#1d4ed8"), ("with", "s--", "#c2410c")):
        by_size.plot(places, [ends(row, kind) for row in numbers], marker, color=colour, label=f"{kind} replacement")
    by_epoch.set(xlabel="epoch", ylabel="loss of all rows", yscale="log")
    by_time.set(xlabel="seconds", xscale="log")
    by_size.set(xlabel="batch size", xticks=places, xticklabels=[title(row["size"]) for row in numbers])
    by_epoch.legend(frameon=False, fontsize=8, title="batch size", title_fontsize=8, loc="lower left")
    by_size.legend(frameon=False, fontsize=8)
    for ax, what in ((by_epoch, "equal epochs"), (by_time, "equal time"), (by_size, f"after {EPOCHS} epochs")):
        ax.set_title(what, fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def write(folder: Path) -> None:
    """Run the experiment, and write the numbers, the page and the picture."""
    numbers = measure(*digits(folder, n_rows=N_ROWS))
    NUMBERS.write_text(json.dumps(numbers).replace("}, ", "},\n ") + "\n", encoding="utf-8")
    PAGE.write_text(page(numbers), encoding="utf-8")
    draw(numbers).savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    if not os.environ.get("MADALINE_DATA"):
        raise SystemExit("Set MADALINE_DATA to the folder that holds image/mnist.npz.")
    write(Path(os.environ["MADALINE_DATA"]))
