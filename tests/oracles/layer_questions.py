"""Questions about layers: outputs, gradients by inputs and parameters, and running statistics after some steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from questions import Question, arrays

import madaline as md
from madaline.graph.tree import flatten, tree_map, unflatten
from nn.layer_cases import CASES, N_ROWS

N_STEPS = 3


def batches(case, train):
    """One for each step; several where running statistics follow them."""
    n_steps = N_STEPS if train and case.network().n_state else 1
    everything = case.inputs(n_rows=N_ROWS * n_steps)
    return [tree_map(lambda a, k=k: a[k * N_ROWS : (k + 1) * N_ROWS], everything) for k in range(n_steps)]


def cotangent(y: Any) -> Any:
    """By which outputs are multiplied, as the sum of a norm's outputs has no slope."""
    return np.cos(1.0 + np.arange(y.size, dtype=np.float64)).reshape(y.shape)


def by_us(case, train):
    network = case.network()
    w, state = case.arrays()

    def outputs(w, state, x):
        context = network.run(w, state, x, train=train)
        return context.outputs[""], network.state_after(context, state)

    program = md.compile(outputs, rows=[2])
    answers = []
    for x in batches(case, train):
        y, new_state = program(w, state, x)
        weights = tree_map(cotangent, y)
        leaves, structure = flatten(x)
        floats = [index for index, leaf in enumerate(leaves) if leaf.dtype.kind == "f"]

        def loss(w, chosen, state=state, weights=weights, leaves=leaves, floats=floats, structure=structure):
            given = list(leaves)
            for index, value in zip(floats, chosen, strict=True):
                given[index] = value
            y = outputs(w, state, unflatten(structure, given))[0]
            return sum(np.sum(a * b) for a, b in zip(flatten(y)[0], flatten(weights)[0], strict=True))

        slopes = md.grad(loss, argnums=(0, 1))(w, [leaves[index] for index in floats])
        answers += [*flatten(y)[0], slopes[0], *slopes[1], new_state]
        state = new_state
    return arrays(*answers)


def by_torch(case, train):
    import torch

    network = case.network()
    w, state = case.arrays()
    s = {path: torch.tensor(entry.of(state)) for path, entry in network.state.items()}
    answers = []
    for batch in batches(case, train):
        p = {path: torch.tensor(entry.of(w), requires_grad=True) for path, entry in network.params.items()}
        x = tree_map(lambda a: torch.tensor(a, requires_grad=a.dtype.kind == "f"), batch)
        y = flatten(case.by_torch(torch, x, p, s, train))[0]
        total = sum((one * torch.tensor(cotangent(one.detach().numpy()))).sum() for one in y)
        total.backward()
        floats = [leaf for leaf in flatten(x)[0] if leaf.requires_grad]
        slopes = [leaf.grad.numpy().ravel() for leaf in p.values()]
        kept = [value.numpy().ravel() for value in s.values()]
        answers += [one.detach() for one in y]
        answers += [np.concatenate([*slopes, []]), *(leaf.grad for leaf in floats), np.concatenate([*kept, []])]
    return arrays(*answers)


def layer_questions():
    for case in CASES:
        if case.by_torch is None:
            continue
        for mode in ("eval", "train"):
            yield Question(
                f"layer {case.name}, {mode}",
                lambda case=case, mode=mode: by_us(case, mode == "train"),
                lambda case=case, mode=mode: by_torch(case, mode == "train"),
                rtol=1e-12,
                atol=1e-13,
            )
