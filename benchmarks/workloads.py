"""The workloads of the benchmarks: nets, data, initial weights, and the minimum cost of a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
RATES = {"adam": 1e-3, "sgd": 1e-2}
PASSES = {"adam": 7, "sgd": 3}
"Passes over arrays as large as the weights per step: weights forward, backward and written; moments read and written."
ARRAYS = {"adam": 3, "sgd": 1}
"Number of arrays as large as the weights."


@dataclass(frozen=True)
class Workload:
    """A net and its training settings: float32, rows shuffled in every epoch.

    ``target`` is the target speedup of madaline relative to the best peer.
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
        """Number of steps per epoch."""
        return self.rows // self.batch

    @property
    def layers(self) -> list[tuple[int, int]]:
        """Inputs and outputs of every Linear."""
        return list(pairwise(self.widths))

    @property
    def n_weights(self) -> int:
        return sum(n_in * n_out for n_in, n_out in self.layers)

    def flops(self) -> int:
        """Flops of the matrix products of a step: forward, and gradients of weights and (except layer 1) of inputs."""
        first = self.widths[0] * self.widths[1]
        return 2 * self.batch * (3 * self.n_weights - first)

    def bytes(self) -> int:
        """Bytes that a step must move for weights and moments."""
        return 4 * self.n_weights * PASSES[self.optimizer]

    def footprint(self) -> int:
        """Bytes of weights and moments, which determine the cache that a step needs."""
        return 4 * self.n_weights * ARRAYS[self.optimizer]

    def data(self) -> tuple[Array, Array]:
        """Random rows with labels from a random linear map."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((self.rows, self.widths[0]), dtype=np.float32)
        scores = X @ rng.standard_normal((self.widths[0], self.widths[-1]), dtype=np.float32)
        if self.loss == "mse":
            return X, np.tanh(scores)
        return X, scores.argmax(axis=1)

    def start(self) -> list[tuple[Array, Array]]:
        """Initial weights and biases of every linear layer, the same for all contestants."""
        rng = np.random.default_rng(1)
        weights = []
        for n_in, n_out in self.layers:
            W = rng.standard_normal((n_in, n_out), dtype=np.float32) * np.float32(np.sqrt(2 / n_in))
            weights.append((W, np.zeros(n_out, np.float32)))
        return weights

    def for_agreement(self) -> Workload:
        """The same workload with few rows and without dropout, whose masks differ between libraries.

        Deep nets with batch norm get two batches only: rounding can change the sign of the input of one of 50,000
        rectifiers, after which the float32 results of the libraries diverge.
        """
        batches = 2 if self.batch_norm and len(self.widths) > 8 else max(4, min(32, 2_048 // self.batch))
        return replace(self, rows=batches * self.batch, dropout=0.0, input_dropout=0.0)

    def describe(self) -> str:
        """Widths, batch size and special settings, such as ``64-32x16-2, batch 100, batch norm``."""
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
        # The example of SimpleChains.jl: the exponential of 2x2 matrices, full batches.
        Workload("simplechains", (4, 32, 16, 4), 10_000, 10_000, 1.0, loss="mse", activation="tanh"),
    )
}
