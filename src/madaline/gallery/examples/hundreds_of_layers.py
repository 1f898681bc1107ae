r"""
Hundreds of layers train with skip connections
==============================================
A residual block adds its input to its output, :math:`h + g(h)`: it learns what is to be added, and the gradient has a
path around every layer (He et al. 2015; lecture row C9). Plain nets stop training at some depth; nets with skip
connections do not.
"""

# %%
# Training at growing depth
# -------------------------
# Nets of 24 tanh units learn a function of eight columns: with skip connections and weights that shrink with the depth,
# :math:`N(0, 0.16/L)`; without skip connections and the same weights; and without, but with Xavier's weights. The
# gradient at the first layer is measured before training.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREY, ORANGE, PURPLE, QUICK, panels

rng = np.random.default_rng(0)
X = rng.normal(size=(512, 8)).astype("float32")
y = (np.sin(X[:, :1]) * X[:, 1:2] + 0.5 * X[:, 2:3]).astype("float32")
kinds = {"skip connections": BLUE, "plain, same weights": ORANGE, "plain, Xavier's": PURPLE}
WIDTH = 24


def net(depth, kind):
    """A first layer, blocks of one layer each, and an output."""
    block = md.Residual if kind == "skip connections" else md.Sequential
    init = "xavier_normal" if kind == "plain, Xavier's" else md.nn.initializers.Normal(0.4 / np.sqrt(depth))
    blocks = [block(md.Linear(WIDTH, init=init), "tanh") for _ in range(depth)]
    return md.Sequential(md.Linear(WIDTH), *blocks, md.Linear(1))


def first_gradient(depth, kind):
    """Norm of the gradient of the weights of the first layer."""
    model = net(depth, kind).init(X, dtype="float64")

    def loss(w):
        return np.mean((model.network.run(w, model.state.flat, X.astype(float)).outputs[""] - y) ** 2)

    slope = model.net.init(X, dtype="float64")
    slope.params.flat[...] = md.grad(loss)(model.params.flat)
    return float(np.linalg.norm(slope.params["0.W"]))


depths = (2, 10, 100) if QUICK else (2, 5, 10, 20, 50, 100, 200)
figure, (left, middle, right) = panels(3, size=(3.8, 3.5))
ends, gradients = {}, {}
for kind, color in kinds.items():
    gradients[kind] = [first_gradient(depth, kind) for depth in depths]
    ends[kind] = []
    for depth in depths:
        trainer = md.Trainer(net(depth, kind), optimizer=md.Adam(1e-3))
        history = trainer.fit(X, y, epochs=20 if QUICK else 40, batch_size=32)
        ends[kind].append(min(history["loss"]) / float(y.var()))
    left.loglog(depths, np.maximum(gradients[kind], 1e-30), "o-", color=color)
    middle.semilogx(depths, ends[kind], "o-", color=color)
    right.plot(history["loss"] / y.var(), color=color, label=kind)
left.set(xlabel="layers", ylabel="gradient at layer 1", title="Gradients vanish without skips")
middle.axhline(1.0, color=GREY, linestyle=":", linewidth=1)
middle.set(xlabel="layers", ylabel="training loss / variance", ylim=(0, 1.1), title="Deep plain nets learn nothing")
right.set(xlabel="epoch", ylim=(0, 1.3), title=f"Training nets of {depths[-1]} layers")
figure.legend(loc="outside lower center", ncols=3)
for kind, values in ends.items():
    print(f"{kind}: {values[-1]:.3f} of the variance is left with {depths[-1]} layers")
assert gradients["plain, same weights"][-1] < 1e-6 * gradients["skip connections"][-1]
assert ends["skip connections"][-1] < 0.2
assert min(ends["plain, same weights"][-1], ends["plain, Xavier's"][-1]) > 0.9
