"""Whole trainings on real data as PyTorch does them: same start, batches and settings, losses of hundreds of steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from questions import Question, arrays
from sklearn.datasets import load_digits

import madaline as md
from madaline.train.sampling import Shuffled, epoch_batches

N_EPOCHS = 18
"Of 29 steps: more than 500 in all."
EVERY = 10
BATCH_SIZE = 64


@cache
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def row_weights():
    return 0.5 + np.cos(np.arange(1797.0)) ** 2


# Nets, and how PyTorch runs them: p and s are parameters and running statistics by our paths


def linear(p, path, x):
    return x @ p[f"{path}.W"] + p.get(f"{path}.b", 0.0)


def batch_norm(torch, p, s, path, x):
    return torch.nn.functional.batch_norm(
        x, s[f"{path}.mean"], s[f"{path}.variance"], p[f"{path}.weight"], p[f"{path}.bias"], training=True
    )


def plain(torch, p, s, x):
    return linear(p, "2", torch.tanh(linear(p, "0", x)))


def with_batch_norm(torch, p, s, x):
    h = torch.relu(batch_norm(torch, p, s, "1", linear(p, "0", x)))
    return linear(p, "6", torch.tanh(batch_norm(torch, p, s, "4", linear(p, "3", h))))


def with_residuals(torch, p, s, x):
    h = linear(p, "0", x)
    for path in ("1", "2"):
        h = h + torch.nn.functional.silu(linear(p, f"{path}.0", h))
    return linear(p, "4", torch.nn.functional.layer_norm(h, (24,), p["3.weight"], p["3.bias"]))


PLAIN = md.Sequential(md.Linear(24), "tanh", md.Linear(10)), plain
# Before a norm a bias has no slope but rounding errors, which Adam would make as large as its rate.
BATCH_NORM = (
    md.Sequential(
        md.Linear(24, bias=False),
        md.BatchNorm(),
        "relu",
        md.Linear(16, bias=False),
        md.BatchNorm(),
        "tanh",
        md.Linear(10),
    ),
    with_batch_norm,
)
RESIDUALS = (
    md.Sequential(
        md.Linear(24),
        md.Residual(md.Linear(24), "swish"),
        md.Residual(md.Linear(24), "swish"),
        md.LayerNorm(),
        md.Linear(10),
    ),
    with_residuals,
)


@dataclass(frozen=True)
class Training:
    """What is trained and how: our settings, and PyTorch's in its words."""

    net: tuple[md.nn.Layer, Callable[..., Any]]
    optimizer: Any
    torch_name: str
    torch_options: dict[str, Any]
    ours: dict[str, Any] = field(default_factory=dict)
    l2: float = 0.0
    clip: float | None = None
    weighted: bool = False
    decays_all: bool = True


TRAININGS = {
    "sgd": Training(PLAIN, md.SGD(0.1), "SGD", {"lr": 0.1}),
    "nesterov": Training(
        PLAIN, md.SGD(0.02, momentum=0.9, nesterov=True), "SGD", {"lr": 0.02, "momentum": 0.9, "nesterov": True}
    ),
    "adagrad": Training(PLAIN, md.optim.Adagrad(0.02), "Adagrad", {"lr": 0.02}),
    "rmsprop": Training(
        PLAIN,
        md.RMSprop(0.002, centered=True, momentum=0.5),
        "RMSprop",
        {"lr": 0.002, "centered": True, "momentum": 0.5},
    ),
    "adadelta": Training(PLAIN, md.optim.Adadelta(1.0), "Adadelta", {"lr": 1.0}),
    "adam": Training(PLAIN, md.Adam(2e-3), "Adam", {"lr": 2e-3}),
    "adamw": Training(
        PLAIN, md.AdamW(2e-3, weight_decay=0.1), "AdamW", {"lr": 2e-3, "weight_decay": 0.1}, decays_all=False
    ),
    "amsgrad": Training(PLAIN, md.optim.AMSGrad(2e-3), "Adam", {"lr": 2e-3, "amsgrad": True}),
    "adamax": Training(PLAIN, md.optim.AdaMax(2e-3), "Adamax", {"lr": 2e-3}),
    "nadam": Training(PLAIN, md.optim.Nadam(2e-3), "NAdam", {"lr": 2e-3}),
    "rprop": Training(PLAIN, md.optim.Rprop(1e-3, step_max=5e-3), "Rprop", {"lr": 1e-3, "step_sizes": (1e-6, 5e-3)}),
    "batch norm, sgd": Training(BATCH_NORM, md.SGD(0.05, momentum=0.9), "SGD", {"lr": 0.05, "momentum": 0.9}),
    "batch norm, adam": Training(BATCH_NORM, md.Adam(1e-3), "Adam", {"lr": 1e-3}),
    "residuals, adam": Training(RESIDUALS, md.Adam(1e-3), "Adam", {"lr": 1e-3}),
    "penalty, clipping and weights": Training(
        PLAIN,
        md.SGD(0.2, momentum=0.5),
        "SGD",
        {"lr": 0.2, "momentum": 0.5},
        ours={"regularizer": md.optim.L2(1e-3), "clip_norm": 0.5},
        l2=1e-3,
        clip=0.5,
        weighted=True,
    ),
}


def by_us(training: Training):
    X, y = digits()
    trainer = md.Trainer(
        training.net[0], loss="cross_entropy", optimizer=training.optimizer, dtype="float64", **training.ours
    )
    weight = row_weights() if training.weighted else None
    history = trainer.fit(X, y, epochs=N_EPOCHS, batch_size=BATCH_SIZE, sample_weight=weight, record_steps=True)
    return arrays(history.steps["loss"][::EVERY], trainer.model.state.flat)


def by_torch(training: Training):
    import torch

    X, y = digits()
    x, target, weight = torch.tensor(X), torch.tensor(y), torch.tensor(row_weights())
    model = training.net[0].init(X, dtype="float64")
    entries = model.network.params
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        p = {path: torch.tensor(model.params[path], requires_grad=True) for path in entries}
        s = {path: torch.tensor(model.state[path]) for path in model.state}
        groups = [{"params": [p[path] for path in p if training.decays_all or entries[path].decays]}]
        if not training.decays_all:
            groups.append({"params": [p[path] for path in p if not entries[path].decays], "weight_decay": 0.0})
        rule = getattr(torch.optim, training.torch_name)(groups, **training.torch_options)
        losses = []
        for epoch in range(N_EPOCHS):
            batches = epoch_batches(
                np.arange(len(y)), None, batch_size=BATCH_SIZE, sampler=Shuffled(), seed=0, epoch=epoch
            )
            for k in range(len(batches)):
                rows = torch.tensor(batches.part(k, k + 1).order)
                rule.zero_grad()
                z = training.net[1](torch, p, s, x[rows])
                each = torch.nn.functional.cross_entropy(z, target[rows], reduction="none")
                w = weight[rows] if training.weighted else torch.ones(len(rows))
                loss = (each * w).sum() / w.sum()
                penalty = training.l2 * sum((p[path] ** 2).sum() for path in p if entries[path].decays)
                (loss + penalty).backward()
                if training.clip is not None:
                    torch.nn.utils.clip_grad_norm_(list(p.values()), training.clip)
                rule.step()
                losses.append(float(loss.detach()))
    finally:
        torch.set_default_dtype(usual)
    return arrays(losses[::EVERY], np.concatenate([*(value.numpy().ravel() for value in s.values()), []]))


def training_questions():
    for name, training in TRAININGS.items():
        yield Question(
            f"training by {name}",
            lambda training=training: by_us(training),
            lambda training=training: by_torch(training),
            rtol=1e-9,
            atol=1e-12,
        )
