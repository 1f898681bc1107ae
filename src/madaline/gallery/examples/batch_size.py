r"""
The effect of the batch size
============================
Gradient descent with all rows in each step, with one row (stochastic gradient descent), and with mini-batches: loss for
equal epochs and for equal time (lecture row A9). Small batches make many cheap, noisy steps; one row at a time does not
use the processor well; all rows at once make few steps.
"""

# %%
# One training
# ------------
# A net with one hidden layer of 100 rectifiers and plain gradient descent, judged on all rows after every epoch.
import time

import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.images import handwritten_digits
from madaline.gallery.results import kept
from madaline.gallery.style import BLUE, ORANGE, panels

EPOCHS, RATES = 10, (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def losses(X, y, size, rate, seed=0, sampler="shuffled", epochs=EPOCHS):
    """The loss on all rows after each epoch; infinite for a run that diverged."""
    trainer = md.Trainer(md.mlp(100, 10), loss="cross_entropy", optimizer=md.SGD(rate), seed=seed, threads=1)
    history = trainer.fit(
        X, y, epochs=epochs, batch_size=size, sampler=sampler, validation=(X, y), on_divergence="stop"
    )
    found = [float(value) for value in history["val_loss"]] if len(history) else []
    return found if history.stopped == "finished" and np.isfinite(found).all() else [np.inf]


# %%
# Small images
# ------------
# After five epochs, each batch size at the best of three rates:
X, y = load_digits(return_X_y=True)
X = ((X - X.mean()) / X.std()).astype("float32")
ends = {size: min(losses(X, y, size, rate, epochs=5)[-1] for rate in RATES[2:5]) for size in (4, 16, 256, None)}
print({size or "all rows": f"{loss:.3f}" for size, loss in ends.items()})
assert ends[16] < 0.3 * ends[None]


# %%
# MNIST
# -----
# 8,192 images, ten epochs, each size at the best of six rates, medians of three seeds; the time of an epoch on one
# thread is the fastest of eight. ``python batch_size.py --full`` makes these numbers, with MNIST in the folder
# ``MADALINE_DATA``; the times are those of the machine on which it ran. (All sizes divide 8,192: a small last
# mini-batch at the rate of a large one would be a noisy step. ``drop_last=True`` leaves such a mini-batch out.)
def measure():
    """For each batch size: best rate, seconds an epoch, losses of each seed with and without replacement."""
    X, y, _ = handwritten_digits(8192)
    X = (X - X.mean()) / X.std()
    found = []
    for size in (1, 4, 16, 64, 256, 1024, None):
        rate = min(RATES, key=lambda rate: losses(X, y, size, rate)[-1])
        row = {"size": size, "rate": rate, "seconds": np.inf}
        for kind, sampler in (("with", "with_replacement"), ("without", "shuffled")):
            row[kind] = [losses(X, y, size, rate, seed, sampler) for seed in range(3)]
        for _ in range(8):
            trainer = md.Trainer(md.mlp(100, 10), loss="cross_entropy", optimizer=md.SGD(rate), threads=1)
            begin = time.perf_counter()
            trainer.fit(X, y, epochs=1, batch_size=size)
            row["seconds"] = min(row["seconds"], time.perf_counter() - begin)
        found.append(row)
    return found


numbers = kept("batch_size", measure)
names = [str(row["size"] or "all") for row in numbers]
figure, axes = panels(3, size=(3.7, 3.6), sharey=True)
shades = [(0.0, 0.2 + 0.7 * k / 6, 0.7 - 0.3 * k / 6) for k in range(7)]
print(f"{'batch':>6}{'rate':>7}{'loss':>9}{'with replacement':>18}{'seconds':>9}")
for row, name, shade in zip(numbers, names, shades, strict=True):
    middle = np.median(row["without"], axis=0)
    axes[0].semilogy(range(1, EPOCHS + 1), middle, ".-", color=shade, linewidth=1.5)
    axes[1].loglog(row["seconds"] * np.arange(1, EPOCHS + 1), middle, ".-", color=shade, linewidth=1.5)
    at = {"1": (4, -5), "4": (4, 0), "16": (4, 5), "64": (4, 7)}.get(name, (4, 0))
    axes[0].annotate(name, (EPOCHS, middle[-1]), at, textcoords="offset points", color=shade, va="center", fontsize=9)
    replaced = np.median([run[-1] for run in row["with"]])
    print(f"{name:>6}{row['rate']:>7g}{middle[-1]:>9.4f}{replaced:>18.4f}{row['seconds']:>9.3f}")
for kind, color in (("without", BLUE), ("with", ORANGE)):
    last = [np.median([run[-1] for run in row[kind]]) for row in numbers]
    axes[2].semilogy(range(len(names)), last, "o-", color=color, label=f"{kind} replacement")
axes[0].set(xlabel="epoch", ylabel="loss of all rows", title="Equal epochs: small\nbatches win", xlim=(0.5, 12))
axes[1].set(xlabel="seconds", title="Equal time: a few dozen\nrows win")
axes[2].set(xlabel="batch size", title="After ten epochs")
axes[2].set_xticks(range(len(names)), names, fontsize=9)
axes[2].legend(fontsize=9)
by_size = {row["size"]: row for row in numbers}
final = {size: np.median([run[-1] for run in row["without"]]) for size, row in by_size.items()}
budget = EPOCHS * by_size[64]["seconds"]


def within(size):
    """The loss after the last epoch that ends in the time of ten epochs with 64 rows."""
    done = min(int(budget / by_size[size]["seconds"] + 1e-9), EPOCHS)
    return np.median([run[done - 1] for run in by_size[size]["without"]]) if done else np.inf


best = min(final, key=within)
print(f"In {budget:.2f} s the smallest loss is that of batch size {best}.")
assert min(final, key=final.get) < 16
assert max(final.values()) == final[None] > 5 * final[1]
assert best in (16, 64, 256)
assert by_size[1]["seconds"] > 3 * by_size[64]["seconds"]

# %%
# The best rate grows with the batch size as long as the noise of the gradient limits it; for large batches it is the
# curvature of the loss. With replacement an epoch leaves out about a third of the rows, a fraction of :math:`e^{-1}`.
