"""A minimal multilayer perceptron for experiments with activations and initial weights on a part of MNIST."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import madaline as md

Array = np.ndarray[Any, Any]


@cache
def digits(folder: Path, *, scaled: bool = True, n_rows: int = 2000) -> tuple[Array, Array]:
    """The first rows of MNIST as (n_rows, 784), and their classes.

    If ``scaled``, the pixels together have mean 0 and variance 1. Otherwise only the mean of each pixel is subtracted,
    as for AlexNet, so that values go up to 255.
    """
    with np.load(folder / "image" / "mnist.npz") as file:
        X, y = file["x_train"][:n_rows], file["y_train"][:n_rows]
    X = X.reshape(n_rows, -1).astype(np.float32)
    return (X - X.mean()) / X.std() if scaled else X - X.mean(axis=0), y.astype(np.int64)


class Net:
    """A multilayer perceptron whose parameters are one flat vector, as required by ``md.optim``."""

    def __init__(self, name: str, widths: tuple[int, ...], init: str | md.nn.initializers.Initializer = "auto") -> None:
        self.activation = md.nn.as_activation(name)
        self.init = md.nn.initializers.as_initializer(init, activation=self.activation)
        self.shapes = [shape for n_in, n_out in pairwise(widths) for shape in ((n_in, n_out), (n_out,))]
        self.step = md.compile(md.value_and_grad(self.loss))

    def start(self, seed: int) -> Array:
        """Initial parameters: weights drawn by the initializer, zero biases."""
        drawn = [
            self.init.draw(shape, md.nn.initializers.stream(seed, f"{i}", "init"))
            if len(shape) == 2
            else np.zeros(shape)
            for i, shape in enumerate(self.shapes)
        ]
        return np.concatenate([part.ravel() for part in drawn]).astype(np.float32)

    def layers(self, w: Array) -> list[tuple[Any, Any]]:
        """Split the vector into weights and biases."""
        ends = np.cumsum([0, *map(prod, self.shapes)]).tolist()
        parts = [w[a:b].reshape(shape) for (a, b), shape in zip(pairwise(ends), self.shapes, strict=True)]
        return list(zip(parts[::2], parts[1::2], strict=True))

    def hidden(self, w: Array, X: Array) -> list[Any]:
        """The outputs of the hidden layers."""
        outputs, h = [], X
        for W, b in self.layers(w)[:-1]:
            h = self.activation(h @ W + b)
            outputs.append(h)
        return outputs

    def loss(self, w: Array, X: Array, y: Array) -> Any:
        """Cross entropy."""
        W, b = self.layers(w)[-1]
        return md.CrossEntropy()(self.hidden(w, X)[-1] @ W + b, y)

    def train(
        self, X: Array, y: Array, *, rate: float, steps: int, seed: int = 0, batch: int = 100, until: float = 0.0
    ) -> tuple[Array, list[float]]:
        """Mini-batch gradient descent; it ends early when the mean loss of the last 20 steps is below ``until``."""
        rule, w, losses = md.SGD(rate), self.start(seed), []
        rng = md.nn.initializers.stream(seed, "rows", "batches")
        for t in range(1, steps + 1):
            rows = rng.integers(0, len(X), batch)
            value, g = self.step(w, X[rows], y[rows])
            w, _ = rule.step(w, g, (), t=t)
            losses.append(float(value))
            if not np.isfinite(value) or (t >= 20 and np.mean(losses[-20:]) < until):
                break
        return w, losses
