"""The nets that are measured: the one table of them, their data, their first weights, and what a step must cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
RATES = {"adam": 1e-3, "sgd": 1e-2}
PASSES = {"adam": 7, "sgd": 3}
"How often a step goes over memory as large as the weights: weights forward, backward and written; moments both ways."
ARRAYS = {"adam": 3, "sgd": 1}
"How many arrays as large as the weights it keeps."


@dataclass(frozen=True)
class Workload:
    """A net and how it is trained: float32, rows in a new order every epoch.

    ``target`` is how many times faster than the best peer madaline has to be.
    """

    name: str
    widths: tuple[int, ...]
    batch: int
    rows: int
    target: float
    loss: str = "cross_entropy"
    optimizer: str = "adam"
    activation: str = "relu"
    batch_norm: bool = False
    dropout: float = 0.0
    input_dropout: float = 0.0

    @property
    def rate(self) -> float:
        return RATES[self.optimizer]

    @property
    def steps(self) -> int:
        """Of an epoch."""
        return self.rows // self.batch

    @property
    def layers(self) -> list[tuple[int, int]]:
        """Inputs and outputs of every Linear."""
        return list(pairwise(self.widths))

    @property
    def n_weights(self) -> int:
        return sum(n_in * n_out for n_in, n_out in self.layers)

    def flops(self) -> int:
        """Of the matrix products of a step: forward, by the weights, and (but for the first layer) by the inputs."""
        first = self.widths[0] * self.widths[1]
        return 2 * self.batch * (3 * self.n_weights - first)

    def bytes(self) -> int:
        """That a step must move for weights and moments."""
        return 4 * self.n_weights * PASSES[self.optimizer]

    def footprint(self) -> int:
        """Bytes of weights and moments: they decide which cache a step lives in."""
        return 4 * self.n_weights * ARRAYS[self.optimizer]

    def data(self) -> tuple[Array, Array]:
        """Rows that a random linear map labels, so that there is something to learn."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((self.rows, self.widths[0]), dtype=np.float32)
        scores = X @ rng.standard_normal((self.widths[0], self.widths[-1]), dtype=np.float32)
        if self.loss == "mse":
            return X, np.tanh(scores)
        return X, scores.argmax(axis=1)

    def start(self) -> list[tuple[Array, Array]]:
        """The first weights and biases of every Linear: what all contestants begin with."""
        rng = np.random.default_rng(1)
        weights = []
        for n_in, n_out in self.layers:
            W = rng.standard_normal((n_in, n_out), dtype=np.float32) * np.float32(np.sqrt(2 / n_in))
            weights.append((W, np.zeros(n_out, np.float32)))
        return weights

    def for_agreement(self) -> Workload:
        """The same with few rows and without dropout, whose masks are every library's own.

        Deep nets with batch norm get two batches: a sum that is rounded to the other side of zero turns one of 50,000
        rectifiers of a step on or off, and from then on float32 goes other ways in every library.
        """
        batches = 2 if self.batch_norm and len(self.widths) > 8 else max(4, min(32, 2_048 // self.batch))
        return replace(self, rows=batches * self.batch, dropout=0.0, input_dropout=0.0)

    def describe(self) -> str:
        """Widths, batch and what is special, as ``64-32x16-2, batch 100, batch norm``."""
        hidden = self.widths[1:-1]
        same = len(hidden) > 3 and len(set(hidden)) == 1
        shown = f"{hidden[0]}x{len(hidden)}" if same else "-".join(map(str, hidden))
        words = [f"{self.widths[0]}-{shown}-{self.widths[-1]}", f"batch {self.batch:,}"]
        words += [] if self.activation == "relu" else [self.activation]
        words += [] if self.loss == "cross_entropy" else ["MSE"]
        words += [] if self.optimizer == "adam" else ["plain SGD"]
        words += ["batch norm"] if self.batch_norm else []
        words += [f"dropout {self.dropout}"] if self.dropout else []
        words += [f"input dropout {self.input_dropout}"] if self.input_dropout else []
        return ", ".join(words)


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("tiny", (2, 32, 32, 2), 32, 4_096, 2.5),
        Workload("small", (20, 64, 64, 2), 32, 4_096, 2.5),
        Workload("regression", (8, 64, 64, 1), 32, 4_096, 2.5, loss="mse"),
        Workload("online", (20, 64, 64, 2), 1, 4_096, 1.5, optimizer="sgd"),
        Workload("deep", (64, *(32,) * 16, 2), 100, 12_800, 2.5, batch_norm=True),
        Workload("tabular", (54, 256, 256, 7), 256, 32_768, 1.4),
        Workload("tabular_bn_do", (54, 256, 256, 7), 256, 32_768, 2.5, batch_norm=True, dropout=0.1),
        Workload("mnist", (784, 256, 128, 10), 128, 16_384, 1.4),
        Workload("dropout_paper", (784, 1024, 1024, 1024, 10), 128, 8_192, 1.3, dropout=0.5, input_dropout=0.2),
        Workload("wide", (784, 2048, 2048, 10), 1_024, 8_192, 1.15),
        # SimpleChains.jl's example: the exponential of 2x2 matrices, all rows at once.
        Workload("simplechains", (4, 32, 16, 4), 10_000, 10_000, 1.0, loss="mse", activation="tanh"),
    )
}
