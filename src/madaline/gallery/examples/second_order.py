r"""
Second order costs more than it brings
======================================
Newton's method uses curvature and needs few steps, but each step is expensive: the Hessian of n parameters has
:math:`n^2` numbers. L-BFGS avoids the Hessian but needs the gradient of *all* rows for each step, while Adam makes
hundreds of cheap steps in the same time. For a fixed budget, first-order methods usually win on nets (lecture row
E11).
"""

# %%
# The cost of a step
# ------------------
# Floating-point operations for one gradient, one product of the Hessian with a vector, and the whole Hessian of a net
# with one hidden layer, counted from the graphs.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREEN, ORANGE, QUICK, RED, panels

rng = np.random.default_rng(0)
X = rng.normal(size=(32, 4))
y = X[:, :1]
sizes, costs = [], {"gradient": [], "Hessian times a vector": [], "Hessian": []}
for width in (2, 4, 8, 16) if QUICK else (2, 4, 8, 16, 32):
    model = md.mlp(width, 1, activation="tanh").init(X, dtype="float64")

    def loss(w, model=model):
        """Mean squared error."""
        outputs = model.network.run(w, model.state.flat, X, key=np.zeros(2, int), train=False).outputs[""]
        return np.mean((outputs - y) ** 2)

    w = model.params.flat
    sizes.append(w.size)
    costs["gradient"].append(md.trace(md.grad(loss), w).flops())
    costs["Hessian times a vector"].append(md.trace(lambda w, v, loss=loss: md.hvp(loss, (w,), (v,)), w, w).flops())
    costs["Hessian"].append(md.trace(md.hessian(loss), w).flops())
figure, (left,) = panels(1, size=(5.2, 3.4))
for (name, found), color in zip(costs.items(), (BLUE, GREEN, RED), strict=True):
    left.loglog(sizes, np.array(found) / costs["gradient"], "o-", color=color, label=name)
left.set(
    xlabel="parameters",
    ylabel="operations / those of a gradient",
    title="A Hessian costs more than a gradient for each parameter",
)
left.set_xticks(sizes, [str(size) for size in sizes])
left.minorticks_off()
left.legend()
ratios = np.array(costs["Hessian"]) / costs["gradient"]
assert ratios[-1] > 0.5 * sizes[-1]
assert costs["Hessian times a vector"][-1] < 6 * costs["gradient"][-1]

# %%
# The same budget
# ---------------
# A net with two hidden layers learns a function of ten variables from 20,000 rows. The budget is the number of passes
# over the rows; L-BFGS needs about one pass for a step. A pass takes about the same time with all methods, so that in
# seconds the result is the same.
n, passes = (4000, 15) if QUICK else (20_000, 40)
inputs = rng.normal(size=(n + 2000, 10)).astype("float32")
target = np.sin(2 * inputs[:, :1]) + inputs[:, 1:2] * inputs[:, 2:3] + np.abs(inputs[:, 3:4])
X, y, X_test, y_test = inputs[:n], target[:n], inputs[n:], target[n:]


def run(optimizer, **options):
    """The loss after each pass, and the seconds that it took."""
    trainer = md.Trainer(md.mlp(64, 64, 1), optimizer=optimizer)
    history = trainer.fit(X, y, epochs=passes, **options)
    seconds = np.cumsum([0.0, *history["seconds"][1:]])  # without the first pass, which includes planning
    return np.array(history["loss"]), seconds, trainer.evaluate(X_test, y_test)["loss"]


methods = {
    "gradient descent, all rows": (md.SGD(0.1), {"batch_size": None}, RED),
    "L-BFGS, all rows": (md.LBFGS(passes), {}, ORANGE),
    "SGD, 64 rows": (md.SGD(0.03, momentum=0.9), {"batch_size": 64}, GREEN),
    "Adam, 64 rows": (md.Adam(0.003), {"batch_size": 64}, BLUE),
}
figure, (left, right) = panels(2, size=(4.2, 3.8), sharey=True)
tests = {}
for name, (optimizer, options, color) in methods.items():
    losses, seconds, tests[name] = run(optimizer, **options)
    left.semilogy(np.arange(1, len(losses) + 1), losses, color=color)
    right.semilogy(seconds, losses, color=color, label=f"{name}: {tests[name]:.2g} on new rows")
left.set(xlabel="passes over the rows", ylabel="training loss", title="The same number of passes")
right.set(xlabel="seconds", title="The same, against time")
figure.legend(loc="outside lower center", ncols=2, fontsize=10)
figure.suptitle("Curvature helps, but many cheap steps help more")
assert tests["L-BFGS, all rows"] < tests["gradient descent, all rows"]
assert tests["Adam, 64 rows"] < 0.7 * tests["L-BFGS, all rows"]
