"""Values and slopes of every activation, in the words of torch, or of JAX where torch has none."""

from __future__ import annotations

from typing import Any

import numpy as np
from questions import Question

import madaline as md
from madaline.nn import activations
from madaline.nn.activation_function import ACTIVATIONS

# Kinks and jumps are among them: 0, -1, 1, 0.5, -0.5, 3, 6.
X = np.concatenate(
    [
        np.linspace(-30.0, 30.0, 25),
        np.linspace(-6.0, 6.0, 25),
        [-1.0, -0.5, -0.125, -1e-3, -1e-6, -1e-12, 1e-12, 1e-6, 1e-3, 0.125, 0.5, 1.0],
        np.sin(np.arange(10.0)),
    ]
).reshape(8, 9)

OTHER_PARAMETERS = {
    "leaky_relu": {"slope": 0.2},
    "elu": {"alpha": 0.7},
    "celu": {"alpha": 2.0},
    "softplus": {"beta": 2.5},
    "swish": {"beta": 1.7},
    "softshrink": {"width": 1.0},
    "hardshrink": {"width": 1.0},
    "threshold": {"theta": -0.5, "value": 3.0},
    "softmax": {"axis": 0},
    "log_softmax": {"axis": 0},
}
"A second question for each activation that has parameters."


def asked() -> list[tuple[str, Any]]:
    """Each activation once, then those with other parameters."""
    once = [(name, thing) for name, thing in ACTIVATIONS.items() if hasattr(activations, name)]
    assert {thing.name for _, thing in once if thing.parameters} == set(OTHER_PARAMETERS)
    return once + [(repr(t), t) for t in (ACTIVATIONS[n].with_parameters(**p) for n, p in OTHER_PARAMETERS.items())]


WEIGHTS = 1.0 + 0.5 * np.cos(np.arange(72.0)).reshape(X.shape)
"By which the slopes are multiplied, as for a row of a softmax they would all be 0."


def by_us(activation, dtype):
    value, pullback = md.vjp(activation, X.astype(dtype))
    return [np.asarray(value), *map(np.asarray, pullback(WEIGHTS.astype(dtype)))]


def in_torch() -> dict[str, Any]:
    """Functions of the array and the parameters, in their order."""
    import torch
    import torch.nn.functional as F  # noqa: N812 - its usual name

    return {
        "celu": F.celu,
        "elu": F.elu,
        "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "hard_sigmoid": lambda x: F.relu6(x + 3.0) / 6.0,  # the slope of F.hardsigmoid is 1/6 of float32
        "hard_swish": F.hardswish,
        "hard_tanh": F.hardtanh,
        "hardshrink": F.hardshrink,
        "identity": lambda x: x * 1.0,
        "leaky_relu": F.leaky_relu,
        "log_sigmoid": F.logsigmoid,
        "log_softmax": lambda x, axis: F.log_softmax(x, dim=axis),
        "mish": F.mish,
        "relu": F.relu,
        "relu6": F.relu6,
        "selu": F.selu,
        "shifted_relu": lambda x: F.threshold(x, -1.0, -1.0),
        "sigmoid": torch.sigmoid,
        "softmax": lambda x, axis: F.softmax(x, dim=axis),
        "softplus": lambda x, beta: F.softplus(x, beta, threshold=1000.0),
        "softshrink": F.softshrink,
        "softsign": F.softsign,
        "step": lambda x: (x >= 0.0).to(x.dtype),
        "swish": lambda x, beta: F.silu(x) if beta == 1.0 else x * torch.sigmoid(beta * x),
        "tanh": torch.tanh,
        "tanh_shrink": F.tanhshrink,
        "threshold": F.threshold,
    }


def by_torch(activation, dtype):
    import torch

    x = torch.tensor(X.astype(dtype), requires_grad=True)
    y = in_torch()[activation.name](x, *(value for _, value in activation.parameters))
    if y.requires_grad:
        y.backward(torch.tensor(WEIGHTS.astype(dtype)))
    return [y.detach().numpy(), np.zeros_like(X, dtype) if x.grad is None else x.grad.numpy()]


def sinc_by_jax(activation, dtype):
    import in_jax  # noqa: F401 - which asks for float64
    import jax
    import jax.numpy as jnp

    y, pullback = jax.vjp(lambda x: jnp.sinc(x / np.pi), X.astype(dtype))
    return [np.asarray(y), np.asarray(pullback(WEIGHTS.astype(dtype))[0])]


def activation_questions():
    for name, thing in asked():
        by = sinc_by_jax if thing.name == "sinc" else by_torch  # torch's sinc has pi x for x, and no series near 0
        yield Question(
            f"{name} by {'JAX' if by is sinc_by_jax else 'torch'}",
            lambda thing=thing: by_us(thing, np.float64),
            lambda thing=thing, by=by: by(thing, np.float64),
            rtol=1e-12,
            atol=1e-10 if thing.name == "sinc" else 1e-15,  # JAX's slope cancels near 0
        )
