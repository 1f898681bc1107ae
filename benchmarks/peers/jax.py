"""JAX: whole epochs as one compiled scan over their batches, parameters donated, Adam written out so that it fuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from workloads import Array, Workload

ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh}
MOMENTUM, EPS = 0.1, 1e-5


def dropped(x: Any, p: float, key: Any) -> Any:
    return jnp.where(jax.random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0) if p else x


def forward(workload: Workload, params: Any, statistics: Any, x: Any, key: Any) -> tuple[Any, Any]:
    """The net in training mode; returns its outputs and the new running statistics."""
    keys = jax.random.split(key, len(params)) if workload.dropout or workload.input_dropout else [None] * len(params)
    x, new = dropped(x, workload.input_dropout, keys[-1]), []
    for layer, old, own_key in zip(params[:-1], statistics, keys[:-1], strict=True):
        x = x @ layer["W"]
        if workload.batch_norm:
            mean, variance = x.mean(axis=0), x.var(axis=0)
            unbiased = variance * len(x) / (len(x) - 1)
            new.append([(1 - MOMENTUM) * was + MOMENTUM * now for was, now in zip(old, (mean, unbiased), strict=True)])
            x = (x - mean) * (layer["scale"] * jax.lax.rsqrt(variance + EPS)) + layer["shift"]
        else:
            x = x + layer["b"]
        x = dropped(ACTIVATIONS[workload.activation](x), workload.dropout, own_key)
    return x @ params[-1]["W"] + params[-1]["b"], new or statistics


def loss_of(workload: Workload, params: Any, statistics: Any, x: Any, y: Any, key: Any) -> tuple[Any, Any]:
    z, statistics = forward(workload, params, statistics, x, key)
    if workload.loss == "mse":
        return jnp.mean((z - y) ** 2), statistics
    chosen = jnp.take_along_axis(z, y[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(z, axis=1) - chosen), statistics


def update(workload: Workload, params: Any, gradient: Any, moments: Any, t: Any) -> tuple[Any, Any]:
    if workload.optimizer == "sgd":
        return jax.tree.map(lambda w, g: w - workload.rate * g, params, gradient), moments
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradient)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], gradient)
    by_m, by_v = 1 - 0.9**t, 1 - 0.999**t
    new = jax.tree.map(lambda w, m, v: w - workload.rate * (m / by_m) / (jnp.sqrt(v / by_v) + 1e-8), params, m, v)
    return new, (m, v)


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def epoch(workload: Workload, carried: Any, X: Any, y: Any, order: Any) -> tuple[Any, Any]:
    """All steps of an epoch; ``order`` holds the row indices if rows are shuffled."""
    rows = [array if order is None else array[order] for array in (X, y)]
    batches = [array.reshape(-1, workload.batch, *array.shape[1:]) for array in rows]

    def step(carried: Any, batch: Any) -> tuple[Any, Any]:
        params, statistics, moments, t, key = carried
        value_and_grad = jax.value_and_grad(partial(loss_of, workload), has_aux=True)
        now = jax.random.fold_in(key, t) if workload.dropout or workload.input_dropout else key
        (loss, statistics), gradient = value_and_grad(params, statistics, *batch, now)
        params, moments = update(workload, params, gradient, moments, (t + 1).astype(jnp.float32))
        return (params, statistics, moments, t + 1, key), loss

    carried, losses = jax.lax.scan(step, carried, batches)
    return carried, losses.mean()


def train(workload: Workload, threads: int, shuffle: bool = True) -> Callable[[int], float]:
    X, y = map(jnp.asarray, workload.data())
    params = _params(workload)
    zeros = jax.tree.map(jnp.zeros_like, params)
    hidden = workload.widths[1:-1]
    statistics = [[jnp.zeros(n), jnp.ones(n)] if workload.batch_norm else [] for n in hidden]
    moments = (zeros, jax.tree.map(jnp.copy, zeros)) if workload.optimizer == "adam" else ()
    carried = (params, statistics, moments, jnp.zeros((), jnp.int32), jax.random.key(0))
    rng = np.random.default_rng(0)

    def epochs(count: int) -> float:
        nonlocal carried
        for _ in range(count):
            order = rng.permutation(workload.rows).astype(np.int32) if shuffle else None
            carried, loss = epoch(workload, carried, X, y, order)
        return float(loss)

    return epochs


def train_population(workload: Workload, members: int) -> Callable[[int], list[float]]:
    """Several nets as one compiled program: the epoch above under ``jax.vmap``, each net with its own order of rows."""
    X, y = map(jnp.asarray, workload.data())
    params = jax.tree.map(lambda w: jnp.stack([w] * members), _params(workload))
    moments = (jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params))
    steps, keys = jnp.zeros(members, jnp.int32), jax.random.split(jax.random.key(0), members)
    carried = (params, [[] for _ in workload.widths[1:-1]], moments, steps, keys)
    together = jax.jit(jax.vmap(partial(epoch.__wrapped__, workload), in_axes=(0, None, None, 0)), donate_argnums=0)
    rng = np.random.default_rng(0)

    def epochs(count: int) -> list[float]:
        nonlocal carried
        for _ in range(count):
            order = np.stack([rng.permutation(workload.rows) for _ in range(members)]).astype(np.int32)
            carried, losses = together(carried, X, y, order)
        return [float(loss) for loss in losses]

    return epochs


def predict(workload: Workload, threads: int) -> Callable[[Array], Array]:
    params = _params(workload)

    @jax.jit
    def probabilities(params: Any, x: Any) -> Any:
        for layer in params[:-1]:
            x = ACTIVATIONS[workload.activation](x @ layer["W"] + layer["b"])
        return jax.nn.softmax(x @ params[-1]["W"] + params[-1]["b"], axis=1)

    return lambda X: np.asarray(probabilities(params, X))


def _params(workload: Workload) -> list[dict[str, Any]]:
    params = [{"W": jnp.asarray(W), "b": jnp.asarray(b)} for W, b in workload.start()]
    if workload.batch_norm:
        hidden = [{"W": layer["W"], "scale": jnp.ones_like(layer["b"]), "shift": layer["b"]} for layer in params[:-1]]
        params = [*hidden, params[-1]]
    return params


TRAINERS = {"jax": train}
PREDICTORS = {"jax": predict}
