r"""
Numeric, symbolic, automatic; forward and reverse
=================================================
Centred differences have an error of truncation for large steps and of rounding for small ones; automatic
differentiation has neither, and no formula grows (lecture rows B7 and E7). Forward mode costs one pass for each input,
reverse mode one for each output (rows A6 and A7).
"""

# %%
# The error of centred differences
# --------------------------------
# The derivative of :math:`e^{\sin x} x^2` at 1.3, and the relative errors for steps of all sizes.
import numpy as np

import madaline as md
from madaline.gallery.style import BLUE, GREEN, GREY, ORANGE, RED, panels


def f(x):
    return np.exp(np.sin(x)) * x**2


exact = np.exp(np.sin(1.3)) * (np.cos(1.3) * 1.3**2 + 2 * 1.3)
steps = np.logspace(-15, 0, 61)
centred = np.array([(f(1.3 + h) - f(1.3 - h)) / (2 * h) for h in steps])
forward = np.array([(f(1.3 + h) - f(1.3)) / h for h in steps])
automatic = abs(md.grad(f)(1.3) / exact - 1)
figure, (left,) = panels(1, size=(6.4, 3.4))
left.loglog(steps, np.abs(forward / exact - 1) + 1e-17, color=ORANGE, linewidth=1.4, label="one-sided")
left.loglog(steps, np.abs(centred / exact - 1) + 1e-17, color=RED, linewidth=1.4, label="centred")
left.axhline(max(automatic, 1e-16), color=BLUE, label="automatic")
left.set(xlabel="step h", ylabel="relative error", title="Differences: too large or too small a step", ylim=(1e-17, 10))
left.legend(loc="upper center", fontsize=9)
best = np.abs(centred / exact - 1).min()
print(f"best centred difference: {best:.1e}; automatic: {automatic:.1e}")
assert automatic < 1e-14
assert best > 1e-14
assert np.abs(centred / exact - 1)[0] > 1e-3

# %%
# Symbols grow, graphs do not
# ---------------------------
# A chain of :math:`x \leftarrow x\,(1 + \sin x)`. Written out as one formula it doubles with every link, since each
# link uses :math:`x` twice; the graph of automatic differentiation grows by the same few operations.
links = np.arange(1, 13)
counts = []
for n in links:

    def chain(x, n=n):
        for _ in range(n):
            x = x * (1 + np.sin(x))
        return x

    counts.append(sum(md.trace(md.grad(chain), 0.5).counts().values()))
formula = [1]
for _ in links[1:]:
    formula.append(2 * formula[-1] + 3)  # every link has two copies of the formula before it
figure, (right,) = panels(1, size=(6.4, 3.2))
right.semilogy(links, formula, "o-", color=ORANGE, label="terms of the written formula")
right.semilogy(links, counts, "o-", color=BLUE, label="operations of md.grad")
right.set(xlabel="links of the chain", title="The graph of the derivative stays small")
right.legend(fontsize=9)
growth = np.diff(counts)
assert growth.max() <= 2 * max(growth.min(), 4)
assert formula[-1] > 10 * counts[-1]

# %%
# Forward or reverse
# ------------------
# Operations for the whole Jacobian of :math:`\tanh(xW)`, counted from the programs. Forward mode is cheaper for few
# inputs, reverse mode for few outputs. Right: Speelpenning's product of :math:`d` numbers, which has one output.
sizes = (1, 2, 5, 10, 20, 31, 41, 46, 50)
figure, (left, right) = panels(2, size=(4.6, 3.4))
flops = {}
for mode, color in (("forward", ORANGE), ("reverse", BLUE)):
    flops[mode] = []
    for n_in in sizes:
        W = np.random.default_rng(0).normal(size=(n_in, 51 - n_in))
        jacobian = md.jacobian(lambda x, W=W: np.tanh(x @ W), mode=mode)
        flops[mode].append(md.trace(jacobian, np.ones(n_in)).flops())
    left.loglog([n / (51 - n) for n in sizes], flops[mode], "o-", color=color, label=f"{mode} mode")
    cost = [md.trace(md.jacobian(np.prod, mode=mode), np.ones(d)).flops() for d in sizes]
    right.loglog(sizes, cost, "o-", color=color)
    if mode == "reverse":
        assert cost[-1] < 15 * sizes[-1]
left.axvline(1.0, color=GREY, linestyle=":", linewidth=1)
left.set(xlabel="inputs / outputs", ylabel="operations", title="A Jacobian of n inputs and 51 - n outputs")
left.legend(fontsize=9, loc="lower center")
right.plot(sizes, np.array(sizes, float) ** 2, ":", color=GREEN)
right.annotate("d²", (2, 4), xytext=(0, -14), textcoords="offset points", color=GREEN)
right.set(xlabel="d", title="The gradient of a product of d numbers")
assert flops["forward"][0] < flops["reverse"][0]
assert flops["reverse"][-1] < flops["forward"][-1]
