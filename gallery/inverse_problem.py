"""A mixture density network for an inverse problem with two solutions. Lecture row E5.

``python gallery/inverse_problem.py`` runs it (a minute) and writes the page of the same name, its picture and its
numbers. Tests use the same functions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]

N_ROWS, NOISE, UPPER = 4000, 0.05, 0.7
"Number of rows, standard deviation of the noise, and probability that t is positive."
SETTINGS: dict[str, Any] = {
    "hidden_layer_sizes": (50,),
    "activation": "tanh",
    "learning_rate_init": 0.01,
    "schedule": "cosine",
    "n_iter_no_change": np.inf,
    "random_state": 0,
}


def parabola(n: int, seed: int) -> tuple[Array, Array]:
    """Pairs (x, t) with x = t^2 plus noise: given x, t is near one of the two roots."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.0, 1.0, n) * np.where(rng.random(n) < UPPER, 1.0, -1.0)
    return (t**2 + NOISE * rng.normal(size=n))[:, None], t


def true_log_density(x: Array, t: Array) -> Array:
    """The logarithm of p(t | x), by Bayes' rule: the prior of t times the density of the noise, over its integral."""
    grid = np.linspace(-1.0, 1.0, 4001)

    def joint(x: Array, t: Array) -> Array:
        prior = np.where(t > 0, UPPER, 1.0 - UPPER)
        return prior * np.exp(-0.5 * ((x - t**2) / NOISE) ** 2)

    whole = np.trapezoid(joint(x[:, None], grid[None, :]), grid, axis=1)
    return np.asarray(np.log(joint(x, t) / whole))


def measure(n: int = N_ROWS, epochs: int = 200) -> dict[str, Any]:
    """Train a net with one Gaussian and one with a mixture of two."""
    (X, t), (X_new, t_new) = parabola(n, 0), parabola(2000, 1)
    settings = SETTINGS | {"max_iter": epochs}
    single = md.GaussianMLPRegressor(**settings).fit(X, t)
    double = md.MixtureDensityRegressor(components=2, **settings).fit(X, t)
    places = np.linspace(0.1, 0.9, 9)[:, None]
    found = double.distribution(places)
    order = np.argsort(found.means[:, :, 0], axis=1)
    grid = np.linspace(-1.2, 1.2, 241)
    at = np.full((len(grid), 1), 0.5)
    return {
        "data": [X[:400, 0].tolist(), t[:400].tolist()],
        "places": places[:, 0].tolist(),
        "means": np.take_along_axis(found.means[:, :, 0], order, axis=1).tolist(),
        "weights": np.take_along_axis(found.weights, order, axis=1).tolist(),
        "single": single.predict(places).tolist(),
        "likelihood": {
            "true": float(np.mean(true_log_density(X_new[:, 0], t_new))),
            "mixture": float(np.mean(double.log_density(X_new, t_new))),
            "Gaussian": float(np.mean(single.log_density(X_new, t_new))),
        },
        "grid": grid.tolist(),
        "density": {
            "true": np.exp(
                np.where(np.abs(grid) < 1, true_log_density(at[:, 0], np.clip(grid, -1, 1)), -np.inf)
            ).tolist(),
            "mixture": double.density(at, grid).tolist(),
            "Gaussian": single.density(at, grid).tolist(),
        },
    }


# The page

PAGE = Path(__file__).with_suffix(".md")
NUMBERS, PICTURE = PAGE.with_suffix(".json"), PAGE.parent / "pictures" / "inverse_problem.png"

TEXT = """# An inverse problem with two solutions
Lecture row E5, measured by [`inverse_problem.py`](inverse_problem.py), which wrote this page, its picture and
[its numbers](inverse_problem.json); [`test_inverse_problem.py`](../tests/lectures/test_inverse_problem.py) runs a small
part of it.

The inverse of a function may have several values: x = t² is unique, but has two roots. A net is trained to predict t
from x on {n_rows:,} pairs with x = t² plus noise of {noise}, where t is positive with probability {upper:.0%}. A single
Gaussian, `md.GaussianMLPRegressor`, can only predict the mean of both roots, where the density is almost 0. A mixture
of two Gaussians, `md.MixtureDensityRegressor(components=2)`, finds both roots and their probabilities:

![data and predictions of both nets, and the densities at x = 0.5](pictures/inverse_problem.png)

| x | roots | means of the mixture | weights |
| --- | --- | --- | --- |
{table}

Since the distribution of the noise is known, Bayes' rule gives the true density of t given x, which is an upper bound
for the mean log-likelihood of 2,000 other pairs:

| density | mean log-likelihood |
| --- | --- |
| true | {true:.2f} |
| mixture of two | {mixture:.2f} |
| one Gaussian | {gaussian:.2f} |
"""


def page(numbers: dict[str, Any]) -> str:
    """The text of the page."""
    rows = [
        f"| {x:.1f} | ±{np.sqrt(x):.2f} | {low:.2f}, {high:.2f} | {of_low:.2f}, {of_high:.2f} |"
        for x, (low, high), (of_low, of_high) in zip(
            numbers["places"], numbers["means"], numbers["weights"], strict=True
        )
    ]
    return TEXT.format(
        n_rows=N_ROWS,
        noise=NOISE,
        upper=UPPER,
        table="\n".join(rows),
        true=numbers["likelihood"]["true"],
        mixture=numbers["likelihood"]["mixture"],
        gaussian=numbers["likelihood"]["Gaussian"],
    )


def draw(numbers: dict[str, Any]) -> Any:
    """Plot the rows with the predictions, and the densities at one x."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.0), layout="constrained")
    left.plot(*numbers["data"], ".", color="0.75", ms=4, label="data")
    means = np.array(numbers["means"])
    for column, label in ((0, "mixture: means"), (1, None)):
        left.plot(numbers["places"], means[:, column], "o-", color="#1d4ed8", ms=4, label=label)
    left.plot(numbers["places"], numbers["single"], "s--", color="#c2410c", ms=4, label="one answer")
    left.axvline(0.5, color="0.5", lw=0.8, ls=":")
    left.set(xlabel="x", ylabel="t", title="t from x = t²")
    for name, style in (
        ("true", {"color": "0.2", "ls": ":"}),
        ("mixture", {"color": "#1d4ed8"}),
        ("Gaussian", {"color": "#c2410c", "ls": "--"}),
    ):
        right.plot(numbers["grid"], numbers["density"][name], label=name, **style)
    right.set(xlabel="t", ylabel="density", title="density of t at x = 0.5")
    for ax in (left, right):
        ax.legend(frameon=False, fontsize=8.5, loc="upper left")
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def write() -> None:
    """Run the experiment, and write the numbers, the page and the picture."""
    numbers = measure()
    NUMBERS.write_text(json.dumps(numbers).replace("], ", "],\n ") + "\n", encoding="utf-8")
    PAGE.write_text(page(numbers), encoding="utf-8")
    draw(numbers).savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    write()
