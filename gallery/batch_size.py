"""MNIST loss against batch size, for equal numbers of epochs and against wall time. Lecture row A9.

``MADALINE_DATA=... python gallery/batch_size.py`` runs it (some minutes) and writes the page of the same name,
its picture and its numbers. Tests ask the same functions.
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
"All batch sizes divide the rows: a small last batch at the rate of a large one would be a step of much noise."
SIZES = (1, 4, 16, 64, 256, 1024, None)
"Rows of a step; None is all of them."
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
    """Plain descent of a net with one hidden layer; if ``judged``, all rows are gone through again after each epoch."""
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
    """The loss of all rows after each epoch; infinite for a run that diverged."""
    history = train(X, y, **settings)
    found = [float(value) for value in history["val_loss"]] if len(history) else []
    return found if history.stopped == "finished" and np.isfinite(found).all() else [np.inf]


def best_rate(X: Array, y: Array, **settings: Any) -> float:
    """The rate, of those tried, with the smallest loss in the end."""
    return min(RATES, key=lambda rate: losses(X, y, rate=rate, **settings)[-1])


def seconds_an_epoch(X: Array, y: Array, **settings: Any) -> float:
    """The fastest of some epochs, which other work on the machine has disturbed least."""
    return min(float(train(X, y, epochs=1, judged=False, **settings)["seconds"][0]) for _ in range(8))


def measure(X: Array, y: Array) -> list[dict[str, Any]]:
    """For each batch size its best rate, the losses for each seed, and seconds of an epoch."""
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

TEXT = """# Small steps or sure steps: batch size
Lecture row A9, measured by [`batch_size.py`](batch_size.py), which wrote this page, its picture and
[its numbers](batch_size.json); [`test_batches.py`](../tests/lectures/test_batches.py) does the three kinds of descent
by hand and runs a small part of this.

The first {n_rows:,} images of MNIST, a net of one hidden layer of {n_units} rectifiers, cross entropy, plain descent:
with all rows at once (gradient descent), with one row (stochastic gradient descent), and with something between. Each
batch size has the best for it of the rates {rates}. The loss is that of all rows after
{epochs} epochs, the median of {n_seeds} seeds; seconds are of one thread of the machine this was written on, the
fastest of 8 epochs. (All sizes divide {n_rows:,}. Of 10,000 rows in batches of 256 the last has 16: at the rate that
suits 256 its noise shows, just when the net is judged. `drop_last=True` leaves it out.)

![loss by epoch, by seconds, and by batch size](pictures/batch_size.png)

| batch size | steps an epoch | rate | loss, without replacement | loss, with replacement | seconds an epoch |
| --- | --- | --- | --- | --- | --- |
{table}

- **For equal epochs** the smallest loss is that of batches of {best_size}; all rows at once end at {full:.2f}, since
  {epochs} epochs are {epochs} steps. A gradient of more rows is surer, and costs as many times more.
- **For equal time** one row is not the best: a step on one row cannot use the processor well, and an epoch takes
  {slower:.0f} times as long as with batches of {fastest}. After {budget:.2f} s, which is as long as {epochs} epochs of
  batches of 64 take, the smallest loss is that of batches of {best_in_time}.
- **The best rate** grows with the batch at first, where the noise of gradients limits it; with large batches the
  curvature of the loss does, and it grows no more.
- **With replacement** an epoch leaves out about a third of the rows, exp(-1); the loss here is
  {replaced}.
"""


def title(size: int | None) -> str:
    """A batch size in words."""
    return "all" if size is None else f"{size}"


def ends(row: dict[str, Any], kind: str) -> float:
    """The loss after the last epoch, the median of the seeds."""
    return float(np.median([run[-1] for run in row[kind]]))


def loss_after(row: dict[str, Any], seconds: float) -> float:
    """The loss after the last epoch that ends within so many seconds; infinite where there is none."""
    done = min(int(seconds / row["seconds"] + 1e-9), EPOCHS)
    return float(np.median([run[done - 1] for run in row["without"]])) if done else np.inf


def page(numbers: list[dict[str, Any]]) -> str:
    """The page, from the numbers."""
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
    """Measure, and write numbers, page and picture."""
    numbers = measure(*digits(folder, n_rows=N_ROWS))
    NUMBERS.write_text(json.dumps(numbers).replace("}, ", "},\n ") + "\n", encoding="utf-8")
    PAGE.write_text(page(numbers), encoding="utf-8")
    draw(numbers).savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    if not os.environ.get("MADALINE_DATA"):
        raise SystemExit("Set MADALINE_DATA to the folder that holds image/mnist.npz.")
    write(Path(os.environ["MADALINE_DATA"]))
