r"""
Empirical and expected risk
===========================
Training minimises the *empirical* risk, the mean loss of the training rows; what counts is the *expected* risk, the
mean loss of all rows that could come. With more rows both meet, and the minimiser of one becomes the minimiser of the
other (lecture row E3). With few rows early stopping ends training when the risk on a validation set stops falling.
"""

# %%
# Learning curves
# ---------------
# The same net is trained on 50 to 5,000 rows of a problem of which we know the best possible risk: the noise has
# a variance of 0.09. Fresh rows estimate the expected risk.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, RED, panels

NOISE = 0.3


def sample(n, seed):
    """Rows of four columns, and targets with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype("float32")
    f = np.sin(2 * X[:, :1]) + X[:, 1:2] * X[:, 2:3]
    return X, (f + rng.normal(scale=NOISE, size=f.shape)).astype("float32")


fresh = sample(10_000, 99)
sizes = (50, 500, 2000) if QUICK else (50, 100, 200, 500, 1000, 2000, 5000)
seeds = range(2 if QUICK else 5)


def risks(n, seed):
    """Empirical and expected risk after training without early stopping."""
    X, y = sample(n, seed)
    trainer = md.Trainer(md.mlp(32, 32, 1), optimizer=md.Adam(0.01), schedule="cosine", seed=seed)
    trainer.fit(X, y, epochs=max(20, (40_000 if QUICK else 150_000) // n), batch_size=32)
    return trainer.evaluate(X, y)["loss"], trainer.evaluate(*fresh)["loss"]


found = np.array([[risks(n, seed) for seed in seeds] for n in sizes])
figure, (left,) = panels(1, size=(6.4, 3.5))
for k, (name, color) in enumerate((("empirical risk (training rows)", ORANGE), ("expected risk (new rows)", BLUE))):
    left.loglog(sizes, found[:, :, k].mean(axis=1), "o-", color=color, label=name)
    left.fill_between(
        sizes, found[:, :, k].min(axis=1), found[:, :, k].max(axis=1), color=color, alpha=0.2, linewidth=0
    )
left.axhline(NOISE**2, color=GREY, linestyle=":", linewidth=1.5)
left.annotate(
    "noise: no function does better",
    (sizes[0], NOISE**2),
    xytext=(0, 5),
    textcoords="offset points",
    ha="left",
    fontsize=9,
)
left.set(xlabel="training rows N", ylabel="mean squared error", title="With more rows both risks meet", ylim=(0.003, 5))
left.legend(fontsize=9)
gap = found[:, :, 1].mean(axis=1) - found[:, :, 0].mean(axis=1)
assert gap[-1] < 0.3 * gap[0]
assert found[-1, :, 1].mean() < 2.5 * NOISE**2

# %%
# Early stopping
# --------------
# With 200 rows the loss of the training rows falls on while that of new rows rises again. Early stopping watches a
# quarter of the rows and restores the best parameters.
X, y = sample(200, 0)
trainer = md.Trainer(md.mlp(64, 64, 1), optimizer=md.Adam(0.003))
history = trainer.fit(X[:150], y[:150], epochs=300, batch_size=32, validation=(X[150:], y[150:]))
stopped = md.Trainer(md.mlp(64, 64, 1), optimizer=md.Adam(0.003))
stopped_history = stopped.fit(
    X[:150], y[:150], epochs=300, batch_size=32, validation=(X[150:], y[150:]), early_stopping=20
)
best = stopped_history.best_epoch
figure, (right,) = panels(1, size=(6.4, 3.4))
right.semilogy(history["loss"], color=ORANGE, label="training rows")
right.semilogy(history["val_loss"], color=BLUE, label="validation rows")
right.axvline(best, color=RED, linestyle="--", linewidth=1.2)
right.annotate(f" best epoch: {best}", (best, 2.0), color=RED)
ends = {"stopped": stopped.evaluate(*fresh)["loss"], "not stopped": trainer.evaluate(*fresh)["loss"]}
right.set(
    xlabel="epoch", title=f"New rows: {ends['stopped']:.2f} if stopped, else {ends['not stopped']:.2f}", ylim=(0.005, 3)
)
right.legend(loc="lower left")
assert ends["stopped"] < ends["not stopped"]
