"""Problems and benefits of sigmoid units and rectifiers, measured. Lecture row B6.

``python gallery/activation_problems.py`` writes the page of the same name and its picture; it needs MNIST in the
folder that MADALINE_DATA names (``image/mnist.npz`` with x_train and y_train). Tests use the same functions.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import madaline as md
from small_net import Array, Net, digits

ACTIVATIONS = ("sigmoid", "tanh", "relu")


# One unit


def slopes(name: str, x: Array) -> Array:
    """The derivative of an activation."""
    return md.jvp(md.nn.as_activation(name), (x,), (np.ones_like(x),))[1]


def mean_output(name: str, n: int = 100_000) -> float:
    """The mean output of a unit whose input is standard normal."""
    z = md.nn.initializers.stream(0, name, "input").standard_normal(n)
    return float(md.nn.as_activation(name)(z).mean())


def row_gradients(X: Array, *, seed: int = 0) -> Array:
    """The gradient of each row's loss with respect to the weights of one tanh unit, (n_rows, n_in); random targets."""
    rng = md.nn.initializers.stream(seed, "unit", "gradients")
    w, y = rng.standard_normal(X.shape[1]), rng.integers(0, 2, len(X)).astype(float)
    return md.jacobian(lambda w: (np.tanh(X @ w) - y) ** 2)(w)


def same_sign(gradients: Array) -> float:
    """The fraction of rows for which all components of the gradient have the same sign."""
    return float(((gradients >= 0).all(axis=1) | (gradients <= 0).all(axis=1)).mean())


def zigzag(X: Array, *, close: float = 0.05, seed: int = 0, max_steps: int = 100_000) -> tuple[int, Array]:
    """Learn the weights (1, -1) of a linear unit, one row at a time, at the largest rate that cannot diverge.

    Returns the number of steps until the weights are within ``close``, and their path.
    """
    goal = np.array([1.0, -1.0])
    gradient = md.compile(md.grad(lambda w, x: 0.5 * (x @ w - x @ goal) ** 2))
    rule = md.SGD(1.0 / float((X * X).sum(axis=1).max()))
    order = md.nn.initializers.stream(seed, "rows", "order").integers(0, len(X), max_steps)
    path = [np.zeros(2)]
    for t, row in enumerate(order, start=1):
        w, _ = rule.step(path[-1], gradient(path[-1], X[row]), (), t=t)
        path.append(w)
        if np.abs(w - goal).max() < close:
            break
    return len(path) - 1, np.array(path)


def positive_and_centred(n_rows: int = 500) -> tuple[Array, Array]:
    """Two columns of outputs of sigmoid units, and the same columns centred."""
    z = md.nn.initializers.stream(0, "rows", "inputs").standard_normal((n_rows, 2))
    X = md.nn.activations.sigmoid(2.0 * z)
    return X, X - X.mean(axis=0)


# A net on real data


RATES = (0.3, 0.1, 0.03, 1.0, 3.0, 10.0, 0.01)  # the best rate of each activation is not at an end
WIDTHS = (784, 128, 128, 10)


def learn(
    name: str,
    X: Array,
    y: Array,
    *,
    seed: int,
    init: str | md.nn.initializers.Initializer = "auto",
    until: float = 0.25,
) -> list[float]:
    """The losses until a training loss is reached, at the fastest of several rates for each activation."""
    net = Net(name, WIDTHS, init)
    best = [np.inf] * 1500
    for rate in RATES:
        _, losses = net.train(X, y, rate=rate, steps=len(best), seed=seed, until=until)
        best = losses if np.mean(losses[-20:]) < until else best
    return best


def dead_units(X: Array, y: Array, *, rate: float, seed: int, name: str = "relu") -> tuple[Array, Array]:
    """Which hidden units are 0 for all rows after training, and the size of each unit's gradient."""
    net = Net(name, (784, 200, 10))
    w, _ = net.train(X, y, rate=rate, steps=300, seed=seed)
    _, g = net.step(w, X, y)
    (W_slope, b_slope), _ = net.layers(g)
    (h,) = net.hidden(w, X)
    return ~(h > 0).any(axis=0), np.abs(W_slope).sum(axis=0) + np.abs(b_slope)


def silent_share(name: str, X: Array, y: Array, *, seed: int, steps: int = 500) -> tuple[float, float]:
    """The fraction of hidden outputs that are 0, before and after training."""
    net = Net(name, (784, 200, 200, 10))
    trained, _ = net.train(X, y, rate=0.1, steps=steps, seed=seed)
    shares = [np.mean([(h == 0.0).mean() for h in net.hidden(w, X)]) for w in (net.start(seed), trained)]
    return float(shares[0]), float(shares[1])


# The page


PAGE = Path(__file__).with_suffix(".md")
PICTURE = PAGE.parent / "pictures" / "activation_problems.png"
SEEDS = range(3)

TEXT = """# Problems and benefits of sigmoid units and rectifiers
Lecture row B6, measured by [`activation_problems.py`](activation_problems.py), which wrote this page. The tests in
[`test_activations.py`](../tests/lectures/test_activations.py) check the same results. Formulas and curves of all
activations: [activations](../docs/activations.md).

## Sigmoid saturates
Its slope is at most 1/4, and almost 0 a few units away from 0. The slope of a rectifier is 1 for all positive inputs.

{slopes}
## Its outputs are not zero-centred
The mean output for standard normal inputs: {means}.
The layer after a layer of sigmoid units has only positive inputs.

## Positive inputs change all weights in the same direction
The gradient of one row with respect to a unit's weights is the input times one number. If all inputs are positive, all
weights increase or decrease together: with ten sigmoid outputs as inputs, {positive:.0%} of the rows change all ten
weights in the same direction, with ten tanh outputs {centred:.1%}. If one weight must increase and another decrease,
gradient descent zig-zags. Learning the weights (1, -1) of a linear unit, one row at a time, each at the largest rate
that cannot diverge:

{zigzag}
## A rectifier can die
A unit that is 0 for all rows has a gradient of exactly 0 and does not learn any more. Large steps kill units. Of 200
units after 300 steps on MNIST (784-200-10):

{dead}
## Rectifiers learn faster where other units saturate
Steps until the training loss of a 784-128-128-10 net on 2000 rows of MNIST reaches {until}, with plain gradient descent
on mini-batches of 100, at the best of the rates {rates}; medians over {n_seeds} seeds.

{steps}
The factor of 6 in the lecture, relative to tanh, is that of Krizhevsky et al. (2012), figure 1: a convolutional net,
pixels minus their mean, weights from N(0, 0.01²). Under these conditions the rectifier is {faster:.1f} times as fast
here. With inputs of unit variance and Xavier initialization tanh does not saturate and is as fast as the rectifier;
sigmoid is slower in both cases.

![loss against step](pictures/activation_problems.png)

## Rectifiers induce sparsity
The fraction of hidden outputs that are exactly 0, before and after 500 steps (784-200-200-10):
{sparsity}.

## The cost of exp
`python benchmarks/activations.py` measures the speed of all activations;
[results](../benchmarks/results/activations.md).
"""


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "".join(f"| {' | '.join(line)} |\n" for line in [header, ["---"] * len(header), *rows])


def conditions(folder: Path) -> dict[str, tuple[Array, Array, str | md.nn.initializers.Initializer]]:
    """Training data and initializers."""
    return {
        "pixels minus their mean, N(0, 0.01²)": (*digits(folder, scaled=False), md.nn.initializers.Normal(0.01)),
        "unit variance, recommended initializer": (*digits(folder), "auto"),
    }


def write(folder: Path) -> None:
    """Run the experiment, and write the page and the picture."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    at = np.array([0.5, 2.0, 5.0, 10.0])
    positive, centred = positive_and_centred()
    ways = []
    for label, X in (("positive", positive), ("centred", centred)):
        steps, path = zigzag(X)
        length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum() / np.sqrt(2.0)
        ways.append([label, str(steps), f"{length:.2f}"])
    z = md.nn.initializers.stream(0, "rows", "inputs").standard_normal((1000, 10))
    X, y = digits(folder)
    dead = [[f"{rate}", str(int(dead_units(X, y, rate=rate, seed=0)[0].sum()))] for rate in (0.01, 0.1, 0.3, 1.0)]

    figure, cells = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
    rows = []
    for ax, (label, (X_, y_, init)) in zip(cells, conditions(folder).items(), strict=True):
        runs = {name: [learn(name, X_, y_, seed=seed, init=init) for seed in SEEDS] for name in ACTIVATIONS}
        medians = [int(np.median([len(losses) for losses in runs[name]])) for name in ACTIVATIONS]
        rows.append([label, *map(str, medians)])
        for name, color in zip(ACTIVATIONS, ("#c0392b", "#2e9e44", "#1f5fbf"), strict=True):
            losses = np.convolve(runs[name][0], np.ones(20) / 20, mode="valid")
            ax.plot(np.arange(20, len(losses) + 20), losses, label=name, color=color)
        ax.set(title=label, xlabel="step", xlim=(0, None), ylim=(0, 2.5))
        ax.spines[["top", "right"]].set_visible(False)
    cells[0].set_ylabel("training loss")
    cells[0].legend(frameon=False)
    figure.savefig(PICTURE, dpi=100)

    silent = {name: silent_share(name, X, y, seed=0) for name in ACTIVATIONS}
    PAGE.write_text(
        TEXT.format(
            slopes=table(
                ["slope at", *(f"{x:g}" for x in at)],
                [[name, *(f"{slope:.2g}" for slope in slopes(name, at))] for name in ACTIVATIONS],
            ),
            means=", ".join(f"{name} {abs(mean_output(name)):.2f}" for name in ACTIVATIONS),
            positive=same_sign(row_gradients(md.nn.activations.sigmoid(z))),
            centred=same_sign(row_gradients(np.tanh(z))),
            zigzag=table(["inputs", "steps", "length of the path, straight = 1"], ways),
            dead=table(["learning rate", "dead units"], dead),
            faster=int(rows[0][2]) / int(rows[0][3]),
            until=0.25,
            rates=", ".join(f"{rate:g}" for rate in sorted(RATES)),
            n_seeds=len(SEEDS),
            steps=table(["inputs and weights", *ACTIVATIONS], rows),
            sparsity="; ".join(f"{name} {a:.0%} and {b:.0%}" for name, (a, b) in silent.items()),
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    if not os.environ.get("MADALINE_DATA"):
        raise SystemExit("Set MADALINE_DATA to the folder that holds image/mnist.npz.")
    write(Path(os.environ["MADALINE_DATA"]))
