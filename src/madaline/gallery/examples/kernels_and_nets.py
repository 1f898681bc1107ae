r"""
Kernel methods and nets: accuracy and the cost of a prediction
==============================================================
A kernel method has one hidden unit for each support vector, fixed features and learned weights; a net learns its
features as well. Both can be accurate. But the cost of a kernel's prediction grows with the training set, and that of
a net does not (lecture row C3). Wide or deep: with the same number of parameters, both work here.
"""

# %%
# Growing training sets
# ---------------------
# The cost is counted in multiply-adds for one prediction: a kernel needs the distance to every support vector, a net
# its matrix products.
import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import madaline as md
from madaline.gallery.style import BLUE, GREEN, ORANGE, QUICK, RED, panels

D = 6


def sample(n, seed):
    """Rows of six columns; the class is the sign of a wave, and 5 % of the labels are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)).astype("float32")
    wave = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    return X, np.where(rng.uniform(size=n) < 0.05, wave < 0, wave > 0).astype(int)


X_test, y_test = sample(4000, 99)


class Net:
    """A net trained with Adam, with scikit-learn's two methods."""

    def __init__(self, *widths):
        self.net = md.mlp(*widths, 2)

    def fit(self, X, y):
        trainer = md.Trainer(
            self.net, loss="cross_entropy", optimizer=md.Adam(0.003), schedule="cosine", regularizer=md.optim.L2(1e-4)
        )
        trainer.fit(X, y, epochs=30 if QUICK else 80, batch_size=64)
        self.model = trainer.model
        return self

    def predict(self, X):
        return self.model(X).argmax(axis=1)


def operations(model):
    """Multiply-adds of one prediction."""
    if isinstance(model, SVC):
        return model.support_vectors_.shape[0] * (D + 1)
    if isinstance(model, Net):
        return sum(W.size for name, W in model.model.params.items() if name.endswith("W"))
    return 300 * (D + 1)


makers = {
    "kernel SVM": (lambda: SVC(C=3.0, gamma=0.15), RED),
    "300 random features": (
        lambda: make_pipeline(
            RBFSampler(gamma=0.15, n_components=300, random_state=0), LogisticRegression(C=30, max_iter=1000)
        ),
        ORANGE,
    ),
    "wide net (256)": (lambda: Net(256), GREEN),
    "deep net (32, 32, 32)": (lambda: Net(32, 32, 32), BLUE),
}
sizes = (200, 800, 2000) if QUICK else (200, 600, 2000, 6000)
errors, costs = {name: [] for name in makers}, {name: [] for name in makers}
for n in sizes:
    X, y = sample(n, 0)
    for name, (make, _) in makers.items():
        model = make().fit(X, y)
        errors[name].append(float(np.mean(model.predict(X_test) != y_test)))
        costs[name].append(operations(model))

figure, (left, right) = panels(2, size=(4.4, 3.6))
for name, (_, color) in makers.items():
    left.semilogx(sizes, 100 * np.array(errors[name]), "o-", color=color, markersize=4)
    right.loglog(sizes, costs[name], "o-", color=color, markersize=4, label=name)
left.axhline(5, color="black", linestyle=":", linewidth=1)
left.annotate("wrong labels", (sizes[0], 5), xytext=(0, 4), textcoords="offset points", fontsize=9)
left.set(xlabel="training rows", ylabel="test error in %", title="All learn the function", ylim=(0, None))
right.set(xlabel="training rows", ylabel="multiply-adds", title="The cost of one prediction")
for ax in (left, right):
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
    ax.minorticks_off()
figure.legend(loc="outside lower center", ncols=4, fontsize=10)
growth = {name: cost[-1] / cost[0] for name, cost in costs.items()}
assert growth["kernel SVM"] > 3
assert growth["deep net (32, 32, 32)"] == 1
assert errors["deep net (32, 32, 32)"][-1] < errors["kernel SVM"][-1] + 0.03
