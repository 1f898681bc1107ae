"""Full-batch descent on a model, for tests that ask what training does to a net."""

from __future__ import annotations

import numpy as np

import madaline as md


def loss_and_slope(model, loss):
    """A compiled function of weights, state, rows, targets and key: (loss, new state) and the gradient."""
    network = model.network

    def objective(w, state, X, y, key):
        context = network.run(w, state, X, key=key, train=True)
        return loss(context.outputs[""], y), network.state_after(context, state)

    return md.compile(md.value_and_grad(objective, has_aux=True))


def descend(model, loss, rule, X, y, steps, *, seed=0):
    """Train ``model`` in place; gives the loss of every step."""
    X = np.asarray(X, dtype=model.network.dtype)
    step, slots, losses = loss_and_slope(model, loss), rule.state(model.params.flat), []
    for t in range(1, steps + 1):
        w, state = model.params.flat, model.state.flat
        (value, new_state), slope = step(w, state, X, y, np.array([seed, t]))
        state[...] = new_state
        w[...], slots = rule.step(w, slope, slots, t=t)
        losses.append(float(value))
    return losses
