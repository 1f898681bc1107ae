r"""
A question with two answers
===========================
The inverse of a function may have several values: :math:`x = t^2` is unique, but has two roots. A net that predicts one
number with one variance answers with the mean of both roots, where no data are. A mixture density network predicts
weights, means and variances of several Gaussians, and finds both roots with their probabilities (lecture row E5).
"""

# %%
# Data whose true density is known
# --------------------------------
# Pairs with :math:`x = t^2` plus noise; :math:`t` is positive with probability 0.7. Bayes' rule gives the true density
# of :math:`t` given :math:`x`: the prior of :math:`t` times the density of the noise, divided by the integral.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, QUICK, RED, panels

NOISE, UPPER = 0.05, 0.7


def sample(n, seed):
    """Rows x and targets t."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.0, 1.0, n) * np.where(rng.random(n) < UPPER, 1.0, -1.0)
    return (t**2 + NOISE * rng.normal(size=n))[:, None], t


def true_density(x, t):
    """The density of t given x; x and t have the same length."""
    grid = np.linspace(-1.0, 1.0, 4001)

    def joint(x, t):
        prior = np.where(t > 0, UPPER, 1.0 - UPPER) * (np.abs(t) <= 1)
        return prior * np.exp(-0.5 * ((x - t**2) / NOISE) ** 2)

    return joint(x, t) / np.trapezoid(joint(x[:, None], grid), grid, axis=1)


# %%
# One Gaussian and a mixture of two
# ---------------------------------
X, t = sample(1500 if QUICK else 4000, 0)
settings = {
    "hidden_layer_sizes": (50,),
    "activation": "tanh",
    "learning_rate_init": 0.01,
    "schedule": "cosine",
    "max_iter": 150 if QUICK else 200,
    "n_iter_no_change": np.inf,
    "random_state": 0,
}
single = md.GaussianMLPRegressor(**settings).fit(X, t)
double = md.MixtureDensityRegressor(components=2, **settings).fit(X, t)

places = np.linspace(0.05, 0.95, 19)[:, None]
mixture = double.distribution(places)
order = np.argsort(mixture.means[:, :, 0], axis=1)
means = np.take_along_axis(mixture.means[:, :, 0], order, axis=1)
weights = np.take_along_axis(mixture.weights, order, axis=1)
middle, spread = single.predict(places, return_std=True)

figure, (left, right) = panels(2, size=(4.8, 3.8))
left.plot(X[:500, 0], t[:500], ".", color=GREY, markersize=3, alpha=0.5)
left.plot(places, means, "o-", color=BLUE, markersize=4, label=["means of the mixture", None])
left.plot(places, middle, "--", color=RED, label="one Gaussian")
left.fill_between(places[:, 0], middle - spread, middle + spread, color=RED, alpha=0.15, linewidth=0)
left.axvline(0.5, color="black", linestyle=":", linewidth=1)
left.set(xlabel="x", ylabel="t", title="One Gaussian answers between the roots", xlim=(-0.1, 1.1), ylim=(-1.2, 1.6))
left.legend(loc="upper left", ncols=2, fontsize=9)
grid = np.linspace(-1.2, 1.2, 481)
at = np.full((len(grid), 1), 0.5)
right.fill_between(grid, true_density(at[:, 0], grid), color=ORANGE, alpha=0.4, linewidth=0, label="true")
right.plot(grid, double.density(at, grid), color=BLUE, label="mixture of two")
right.plot(grid, single.density(at, grid), "--", color=RED, label="one Gaussian")
right.set(xlabel="t", ylabel="density", title="Densities at x = 0.5 (dotted line)")
right.legend(loc="upper left", fontsize=9)

# %%
# Means, weights and likelihood
# -----------------------------
# Near 0 the noise joins both roots. On average, no density has a larger likelihood of new rows than the true one.
for x, (low, high), (of_low, of_high) in zip(places[1::4, 0], means[1::4], weights[1::4], strict=True):
    print(f"x = {x:.2f}: roots ±{x**0.5:.2f}, means {low:.2f} and {high:.2f}, weights {of_low:.2f} and {of_high:.2f}")
X_new, t_new = sample(2000, 1)
likelihood = {
    "true": float(np.log(true_density(X_new[:, 0], t_new)).mean()),
    "mixture": float(double.log_density(X_new, t_new).mean()),
    "one Gaussian": float(single.log_density(X_new, t_new).mean()),
}
print("mean log-likelihood:", ", ".join(f"{name} {value:.2f}" for name, value in likelihood.items()))
roots = np.sqrt(places[5:])
np.testing.assert_allclose(means[5:], np.hstack([-roots, roots]), atol=0.06)
np.testing.assert_allclose(weights[5:, 0], 1 - UPPER, atol=0.1)
assert likelihood["true"] - 0.2 < likelihood["mixture"] <= likelihood["true"] + 0.02
assert likelihood["one Gaussian"] < likelihood["mixture"] - 1.0
assert (np.abs(middle[5:]) < 0.8 * roots[:, 0]).all()
