r"""
Does batch norm replace dropout and L2?
=======================================
The lectures say that nets with batch norm need less dropout and a smaller penalty, since the noise of the batch
statistics regularises by itself (lecture row N2). Measured here on images of digits with 300 training rows: the test
error against the strength of dropout and of L2. On these data the claim is not confirmed: both kinds of net gain about
a point of error from dropout, which is little more than the spread over seeds, and batch norm gains from L2 as well.
With batch norm the scale of the weights has no effect on the output, so that a penalty acts on the effective learning
rate instead (van Laarhoven 2017).
"""

# %%
# Error against dropout and L2, with and without batch norm
# ---------------------------------------------------------
import numpy as np
from sklearn.datasets import load_digits

import madaline as md
from madaline.gallery.style import BLUE, ORANGE, QUICK, panels

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
X, y, X_test, y_test = X[:300], y[:300], X[300:], y[300:]
seeds = range(3 if QUICK else 8)


def error(norm, dropout=0.0, penalty=0.0):
    """Mean test error over the seeds in percent, and its standard error."""
    found = []
    for seed in seeds:
        trainer = md.Trainer(
            md.mlp(128, 128, 10, norm=norm, dropout=dropout),
            loss="cross_entropy",
            optimizer=md.SGD(0.05, momentum=0.9),
            schedule="cosine",
            regularizer=md.optim.L2(penalty) if penalty else None,
            seed=seed,
        )
        trainer.fit(X, y, epochs=30 if QUICK else 80, batch_size=20)
        found.append(100 * np.mean(trainer.model(X_test).argmax(axis=1) != y_test))
    return float(np.mean(found)), float(np.std(found) / np.sqrt(len(found)))


drops = (0.0, 0.3, 0.6) if QUICK else (0.0, 0.15, 0.3, 0.45, 0.6)
penalties = (0.0, 1e-3, 1e-2) if QUICK else (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
kinds = {None: ("no norm", ORANGE), "batch": ("batch norm", BLUE)}
figure, (left, right) = panels(2, size=(4.4, 3.4), sharey=True)
best, plain = {}, {}
for norm, (name, color) in kinds.items():
    by_drop = np.array([error(norm, dropout=p) for p in drops])
    by_penalty = np.array([error(norm, penalty=penalty) for penalty in penalties])
    left.errorbar(drops, by_drop[:, 0], by_drop[:, 1], fmt="o-", color=color, label=name, capsize=3)
    places = range(len(penalties))
    right.errorbar(places, by_penalty[:, 0], by_penalty[:, 1], fmt="o-", color=color, label=name, capsize=3)
    best[norm] = (drops[by_drop[:, 0].argmin()], penalties[by_penalty[:, 0].argmin()])
    plain[norm] = by_drop[0, 0]
left.set(xlabel="dropout", ylabel="test error in %", title="Test error against dropout")
right.set(xlabel="L2 penalty", title="Test error against L2")
right.set_xticks(range(len(penalties)), [f"{penalty:g}" for penalty in penalties], fontsize=9)
left.legend()
print({kinds[norm][0]: f"best with dropout {p:g}, L2 {penalty:g}" for norm, (p, penalty) in best.items()})
assert plain["batch"] < plain[None] + 1.0, "without other regularisation batch norm is not worse"
