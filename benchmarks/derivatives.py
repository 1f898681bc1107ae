"""Gradients of eight small programs: one call without compilation, and the first call of a compiled gradient.

python benchmarks/derivatives.py [--seconds 1] [--programs pendulum,attention]

All libraries run in this process, on one thread, alternately in short bursts; times are CPU times.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["MADALINE_THREADS"] = "1"

import harness
import numpy as np

import madaline as md

Program = Callable[..., Any]
rng = np.random.default_rng(0)


def rosenbrock(np: Any, x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def logistic_regression(np: Any, w: Any, X: Any, y: Any) -> Any:
    z = X @ w
    return np.mean(np.log(1.0 + np.exp(-y * z))) + 0.1 * np.sum(w**2)


def softmax_regression(np: Any, W: Any, X: Any, one_hot: Any) -> Any:
    z = X @ W
    return np.mean(np.log(np.sum(np.exp(z), 1)) - np.sum(one_hot * z, 1))


def two_layer_net(np: Any, W: Any, X: Any, y: Any) -> Any:
    h = np.tanh(X @ W[:8] + W[8])
    return np.mean((h @ W[9] - y) ** 2)


def gaussian_mixture(np: Any, p: Any, x: Any) -> Any:
    scale = np.exp(p[2])
    parts = p[0] - 0.5 * ((x - p[1]) / scale) ** 2 - p[2]
    return -np.sum(np.log(np.sum(np.exp(parts), 1)))


def attention(np: Any, W: Any, X: Any) -> Any:
    q, k, v = X @ W[:8], X @ W[8:16], X @ W[16:]
    weights = np.exp(q @ k.T / 3.0)
    return np.sum((weights / np.sum(weights, 1)[:, None] @ v) ** 2)


def pendulum(np: Any, p: Any, steps: int) -> Any:
    angle, speed, energy = p[0], p[1], 0.0
    for _ in range(steps):
        speed = speed - 0.05 * 9.81 / p[2] * np.sin(angle)
        angle = angle + 0.05 * speed
        energy = energy + speed**2
    return angle**2 + 0.1 * energy


def kalman_filter(np: Any, p: Any, series: Any) -> Any:
    q, r = np.exp(p[0]), np.exp(p[1])
    mean, variance, loss = 0.0, 1.0, 0.0
    for value in series:
        variance = variance + q
        error, spread = value - mean, variance + r
        loss = loss + 0.5 * (error**2 / spread + np.log(spread))
        gain = variance / spread
        mean, variance = mean + gain * error, (1.0 - gain) * variance
    return loss


def arguments(name: str, size: int) -> tuple[Any, ...]:
    """The arguments of a program; programs of different sizes are compiled anew."""
    X = rng.normal(size=(size, 8))
    return {
        "rosenbrock": lambda: (rng.normal(size=size),),
        "logistic_regression": lambda: (rng.normal(size=8), X, np.sign(X[:, 0])),
        "softmax_regression": lambda: (rng.normal(size=(8, 3)), X, np.eye(3)[np.arange(size) % 3]),
        "two_layer_net": lambda: (0.5 * rng.normal(size=(10, 16))[:, :16], X, X[:, 1]),
        "gaussian_mixture": lambda: (rng.normal(size=(3, 4)), rng.normal(size=(size, 1))),
        "attention": lambda: (0.3 * rng.normal(size=(24, 8)), X),
        "pendulum": lambda: (np.array([0.4, 0.1, 1.2]), size),
        "kalman_filter": lambda: (np.array([-1.0, -0.5]), tuple(rng.normal(size=size).tolist())),
    }[name]()


PROGRAMS: dict[str, tuple[Program, int]] = {
    program.__name__: (program, size)
    for program, size in (
        (rosenbrock, 50),
        (logistic_regression, 100),
        (softmax_regression, 100),
        (two_layer_net, 100),
        (gaussian_mixture, 100),
        (attention, 16),
        (pendulum, 20),
        (kalman_filter, 15),
    )
}
"Each with the size at which it is measured."

PEERS = ("autograd", "jax", "torch")


def uncompiled(program: Program, args: tuple[Any, ...]) -> dict[str, Callable[[], Any]]:
    """For each library that is installed, one call of the gradient by the first argument."""
    w, *rest = args
    calls = {"madaline": partial(md.grad(partial(program, np)), *args)}
    if importlib.util.find_spec("autograd"):
        import autograd
        import autograd.numpy

        calls["autograd"] = partial(autograd.grad(partial(program, autograd.numpy)), *args)
    if importlib.util.find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        arrays = [jax.numpy.asarray(item) if isinstance(item, np.ndarray) else item for item in args]
        calls["jax"] = lambda: jax.block_until_ready(jax.grad(partial(program, jax.numpy))(*arrays))
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        fixed = [torch.as_tensor(item) if isinstance(item, np.ndarray) else item for item in rest]
        leaf = torch.as_tensor(w).requires_grad_()
        calls["torch"] = lambda: torch.autograd.grad(program(torch, leaf, *fixed), leaf)[0]
    return calls


def first_calls(program: Program, size: int) -> dict[str, Callable[[], Any]]:
    """The first call of a compiled gradient; every call has another size, so that nothing was compiled before."""
    sizes = {"madaline": size, "jax": size}

    def larger(name: str) -> tuple[Any, ...]:
        sizes[name] += 1
        return arguments(program.__name__, sizes[name])

    def ours() -> Any:
        args = larger("madaline")
        return md.compile(md.grad(partial(program, np)))(*args)

    calls = {"madaline": ours}
    if importlib.util.find_spec("jax"):
        import jax

        def jaxs() -> Any:
            args = larger("jax")
            static = tuple(i for i, item in enumerate(args) if not isinstance(item, np.ndarray))
            return jax.block_until_ready(jax.jit(jax.grad(partial(program, jax.numpy)), static_argnums=static)(*args))

        calls["jax"] = jaxs
    return calls


def check(calls: dict[str, Callable[[], Any]]) -> None:
    """All libraries must give the same gradient."""
    expected = np.asarray(calls["madaline"]())
    for name, call in calls.items():
        np.testing.assert_allclose(np.asarray(call()), expected, rtol=1e-8, atol=1e-10, err_msg=name)


def measured(calls: dict[str, Callable[[], Any]], seconds: float, rounds: int) -> dict[str, Any]:
    timings = harness.interleave(calls, seconds=seconds, rounds=rounds, clock=time.process_time)
    ratios = harness.ratios(timings, "madaline")
    return {"seconds": {name: timing.median for name, timing in timings.items()}, "ratios": ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=harness.words, default=list(PROGRAMS))
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    for name in options.programs:
        program, size = PROGRAMS[name]
        calls = uncompiled(program, arguments(name, size))
        check(calls)
        found = measured(calls, options.seconds, options.rounds)
        first = measured(first_calls(program, size), 0.0, options.rounds)
        harness.update("derivatives", name, {"call": found, "first_compiled_call": first})
        shown = ", ".join(f"{peer} {harness.show_ratio(ratio)}" for peer, ratio in found["ratios"].items())
        compiled = ", ".join(f"{peer} {harness.show_ratio(ratio)}" for peer, ratio in first["ratios"].items())
        print(
            f"{name}: {found['seconds']['madaline'] * 1e6:.0f} us; {shown}; first compiled call: {compiled}", flush=True
        )


if __name__ == "__main__":
    main()
