"""PyTorch: fused optimizers, rows shuffled once per epoch; eager, and with net and loss compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from workloads import Array, Workload

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}
OPTIMIZERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
LOSSES = {"cross_entropy": nn.functional.cross_entropy, "mse": nn.functional.mse_loss}


def net(workload: Workload) -> nn.Sequential:
    """A net with the initial weights of the workload."""
    layers: list[nn.Module] = [nn.Dropout(workload.input_dropout)] if workload.input_dropout else []
    for position, (W, b) in enumerate(workload.start()):
        n_in, n_out = W.shape
        is_hidden = position < len(workload.layers) - 1
        linear = nn.Linear(n_in, n_out, bias=not (is_hidden and workload.batch_norm))
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(W.T))
            if linear.bias is not None:
                linear.bias.copy_(torch.from_numpy(b))
        layers.append(linear)
        if is_hidden:
            layers += [nn.BatchNorm1d(n_out)] if workload.batch_norm else []
            layers.append(ACTIVATIONS[workload.activation]())
            layers += [nn.Dropout(workload.dropout)] if workload.dropout else []
    return nn.Sequential(*layers)


def train(workload: Workload, threads: int, shuffle: bool = True, *, compiled: bool = False) -> Callable[[int], float]:
    torch.set_num_threads(threads)
    X, y = map(torch.from_numpy, workload.data())
    model = net(workload)
    optimizer = OPTIMIZERS[workload.optimizer](model.parameters(), lr=workload.rate, fused=True)
    loss_function = LOSSES[workload.loss]

    def forward(x: Any, y: Any) -> Any:
        return loss_function(model(x), y)

    if compiled:
        torch._dynamo.reset()
        forward = torch.compile(forward)

    def epochs(count: int) -> float:
        for _ in range(count):
            order = torch.randperm(workload.rows) if shuffle else slice(None)
            total = torch.zeros(())
            for x, target in zip(X[order].split(workload.batch), y[order].split(workload.batch), strict=True):
                optimizer.zero_grad(set_to_none=True)
                loss = forward(x, target)
                loss.backward()
                optimizer.step()
                total += loss.detach()
        return float(total) / workload.steps

    return epochs


def predict(workload: Workload, threads: int) -> Callable[[Array], Array]:
    torch.set_num_threads(threads)
    model = nn.Sequential(net(workload), nn.Softmax(dim=1)).eval()

    def call(X: Array) -> Array:
        with torch.inference_mode():
            return model(torch.from_numpy(X)).numpy()

    return call


TRAINERS = {"torch": train, "torch.compile": partial(train, compiled=True)}
PREDICTORS = {"torch": predict}
