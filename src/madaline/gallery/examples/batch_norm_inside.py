r"""
What batch norm does to a mini-batch
====================================
Batch norm subtracts the mean of each feature over the mini-batch, divides by its standard deviation, then scales and
shifts by learned numbers, which can undo it. Running averages replace the statistics of the mini-batch in evaluation
mode (lecture rows A14 and E12).
"""

# %%
# The lecture's example
# ---------------------
# 10,000 rows with means -10, 25, 3 and standard deviations 2, 5, 10; scale 1, 2, 3 and shift 2, 4, 8.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, panels

rng = np.random.default_rng(0)
x = rng.normal(size=(10_000, 3)) * [2, 5, 10] + [-10, 25, 3]
model = md.BatchNorm().init(x, dtype="float64")
print("parameters:", {name: value.shape for name, value in model.params.items()})
scale, shift = model.params
model.params[scale], model.params[shift] = [1, 2, 3], [2, 4, 8]
y = model(x, train=True)
figure, axes = panels(3, size=(3.7, 3.2))
normalised = (x - x.mean(axis=0)) / x.std(axis=0)
stages = {"1. The columns of a mini-batch": x, "2. Minus mean, over deviation": normalised, "3. Scaled and shifted": y}
for ax, (title, values) in zip(axes, stages.items(), strict=True):
    for k, color in enumerate((BLUE, ORANGE, GREEN)):
        told = f"{values[:, k].mean():.1f} ± {values[:, k].std():.1f}".replace("-0.0 ", "0.0 ")
        ax.hist(values[:, k], 60, histtype="step", color=color, linewidth=1.6, label=told)
    ax.set(title=title, yticks=[])
    ax.set_ylim(top=1.7 * ax.get_ylim()[1])
    ax.legend(title="mean ± deviation", fontsize=9)
np.testing.assert_allclose(y.mean(axis=0), [2, 4, 8], atol=1e-6)
np.testing.assert_allclose(y.std(axis=0), [1, 2, 3], rtol=1e-4)

# %%
# Running averages
# ----------------
# The mean that evaluation mode uses follows the means of the mini-batches; with mini-batches of 8 rows these are noisy.
# Right: with its own statistics as scale and shift, batch norm undoes itself.
trainer = md.Trainer(md.Sequential(md.BatchNorm(), md.Linear(1)), optimizer=md.SGD(1e-6), dtype="float64")
means, running = [], []
for step in range(120):
    rows = x[8 * step : 8 * step + 8]
    means.append(rows.mean(axis=0)[1])
    trainer.partial_fit(rows, rows[:, :1], epochs=1, batch_size=None)
    (name,) = [key for key in trainer.model.state if "mean" in key]
    running.append(float(trainer.model.state[name][1]))
figure, (left, right) = panels(2, size=(4.8, 3.2))
left.plot(means, ".", color=GREY, label="mean of the mini-batch")
left.plot(running, color=BLUE, label="running average")
left.axhline(25, color=ORANGE, linestyle="--", linewidth=1.2, label="mean of the distribution")
left.set(xlabel="step", ylabel="second column", title="The running average settles", ylim=(0, 34))
left.legend(fontsize=9)
undo = md.BatchNorm(eps=0.0).init(x, dtype="float64")
undo.params[scale], undo.params[shift] = x.std(axis=0), x.mean(axis=0)
again = undo(x, train=True)
right.plot(x[:300].ravel(), again[:300].ravel(), ".", color=GREEN, markersize=4)
right.set(xlabel="input", ylabel="output", title="Scale and shift can undo the norm")
np.testing.assert_allclose(again, x, atol=1e-9)
assert abs(running[-1] - 25) < 2
images = md.BatchNorm().init((100, 35, 45))
print("100 channels of 35 x 45:", {key: value.shape for key, value in images.params.items()})
assert all(value.shape == (100,) for value in images.params.values())
