r"""
Dropout lowers the test error of different architectures
========================================================
Figure 4 of the dropout paper (Srivastava et al. 2014; lecture row D8) shows the test error on MNIST while nets with 2
to 4 hidden layers of 1,024 to 2,048 units train, each with and without dropout, with the same settings for all. The
drop probabilities are those of the paper: 0.2 for inputs, 0.5 for hidden units. (The slide says that dropout lowers the
training error. It is the test error.)
"""

# %%
# One training
# ------------
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.results import kept
from madaline.gallery.style import BLUE, GREEN, ORANGE, PURPLE, QUICK, panels

drops = {"without": (0.0, 0.0), "with": (0.2, 0.5)}


def errors(widths, kind, data, steps=2160, every=120, seed=0):
    """Test errors at regular intervals while Adam trains on random mini-batches of 100 rows."""
    for_inputs, for_units = drops[kind]
    net = md.mlp(*widths, 10, dropout=for_units, input_dropout=for_inputs)
    trainer = md.Trainer(net, loss="cross_entropy", optimizer=md.Adam(5e-4), seed=seed)
    history = trainer.fit(
        *data[0],
        epochs=steps // every,
        batch_size=100,
        sampler=lambda n_rows, rng: rng.integers(0, n_rows, every * 100),
        validation=data[1],
        metrics="accuracy",
    )
    return [round(1.0 - float(value), 6) for value in history["val_accuracy"]]


# %%
# Small images
# ------------
# A net of 2 x 256 units and 500 images of 8 x 8 pixels: dropout is slower at first, since every row trains a different
# thinned net. After 600 steps on images this small it is still behind.
X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
small = (X[:500], y[:500]), (X[500:], y[500:])
runs = {
    kind: np.mean([errors((256, 256), kind, small, 600, 30, seed) for seed in range(2 if QUICK else 5)], axis=0)
    for kind in drops
}
print({kind: f"{run[0]:.1%} after 30 steps, {run[-3:].mean():.1%} in the end" for kind, run in runs.items()})
assert runs["with"][0] > 1.2 * runs["without"][0]


# %%
# The four architectures on MNIST
# -------------------------------
# 6,000 training images instead of 60,000 and 2,160 steps instead of a million, errors on the 10,000 test images.
# ``python dropout_architectures.py --full`` makes these numbers (a quarter of an hour), with MNIST in the folder
# ``MADALINE_DATA``.
def measure():
    """Errors of each architecture with and without dropout."""
    with np.load(Path(os.environ["MADALINE_DATA"]) / "image" / "mnist.npz") as file:
        data = [(file[f"x_{part}"], file[f"y_{part}"].astype(int)) for part in ("train", "test")]
    data = [(X.reshape(-1, 784).astype("float32") / 255, y) for X, y in data]
    data[0] = tuple(each[:6000] for each in data[0])
    shapes = ((1024,) * 2, (1024,) * 3, (1024,) * 4, (2048,) * 2)
    return {
        f"{len(widths)} layers of {widths[0]}": {kind: errors(widths, kind, data) for kind in drops}
        for widths in shapes
    }


numbers = kept("dropout_architectures", measure)
figure, (left, right) = panels(2, size=(4.6, 3.8))
ends = {}
for (name, found), color in zip(numbers.items(), (BLUE, GREEN, ORANGE, PURPLE), strict=True):
    ends[name] = {kind: float(np.mean(found[kind][-3:])) for kind in drops}
    for kind, style in (("without", "--"), ("with", "-")):
        steps = 120 * np.arange(1, len(found[kind]) + 1)
        left.plot(steps, 100 * np.array(found[kind]), style, color=color, linewidth=1.6)
    avoided = 1 - ends[name]["with"] / ends[name]["without"]
    print(f"{name}: {ends[name]['without']:.2%} without, {ends[name]['with']:.2%} with dropout, {avoided:.0%} avoided")
left.set(xlabel="step", ylabel="test error in %", ylim=(3.9, 9), title="Without (dashed) and with dropout (solid)")
places = np.arange(len(ends))
for kind, shift, color in (("without", -0.2, ORANGE), ("with", 0.2, BLUE)):
    values = [100 * end[kind] for end in ends.values()]
    bars = right.bar(places + shift, values, 0.38, color=color, label=f"{kind} dropout")
    right.bar_label(bars, [f"{value:.2f}" for value in values], fontsize=8)
right.set(ylim=(0, 6.5), ylabel="test error in %", title="In the end (mean of three evaluations)")
right.set_xticks(places, [name.replace(" layers of ", " x ") for name in ends])
right.legend(loc="upper center", ncols=2, fontsize=9)
better = [name for name, end in ends.items() if end["with"] < 0.98 * end["without"]]
print("Clearly better with dropout:", ", ".join(better))
assert len(better) >= 3
assert all(end["with"] < 1.02 * end["without"] for end in ends.values())
slower = sum(found["with"][0] > found["without"][0] for found in numbers.values())
print(f"After 120 steps {slower} of {len(numbers)} nets with dropout are worse than the same net without.")
assert slower == len(numbers)

# %%
# With 10,000 test images, differences of about twenty errors (0.2 %) can be due to chance: the small differences
# convince only together, and the deepest net has gained nothing so far. The nets with dropout were still learning; in
# the paper, with all images and a million steps, the two groups are further apart.
