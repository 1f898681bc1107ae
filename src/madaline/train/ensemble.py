"""Models of equal nets as one model whose prediction is the mean of theirs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from madaline.errors import ConfigError
from madaline.functional.model import Model
from madaline.graph.tree import tree_map
from madaline.losses.loss import Loss
from madaline.nn.layers.ensemble import AVERAGES, Ensemble
from madaline.nn.network import build


def joined_model(
    models: Sequence[Model],
    average: str | dict[str, str],
    weights: Sequence[float] | None = None,
    temperature: float = 1.0,
) -> Model:
    """All models as one, by :class:`~madaline.nn.layers.ensemble.Ensemble`; those of weight 0 are left out.

    Raises
    ------
    ConfigError
        If the models have different inputs or outputs.
    """
    if weights is not None:
        if len(weights) != len(models):
            raise ConfigError(f"weights has {len(weights)} numbers for {len(models)} members.")
        kept = [position for position, weight in enumerate(weights) if weight != 0.0]
        models, weights = [models[position] for position in kept], [weights[position] for position in kept]
        if not models:
            raise ConfigError("weights are all 0; at least one member needs a weight above 0.")
    first = models[0].network
    for model in models[1:]:
        if (model.network.inputs, model.network.out_shape, model.network.dtype) != (
            first.inputs,
            first.out_shape,
            first.dtype,
        ):
            raise ConfigError("The members have different inputs, outputs or types, so they are not one ensemble.")
    # Copies, because one object in two places would share its parameters.
    nets = [copy.deepcopy(model.net) for model in models]
    net = Ensemble(*nets, weights=weights, average=average, temperature=temperature)
    network = build(net, first.inputs, dtype=first.dtype)
    arrays = {
        f"{position}.{path}": own[path]
        for position, model in enumerate(models)
        for own in (model.params, model.state)
        for path in own
    }
    return Model.from_arrays(network, arrays)


def shared_average(losses: Sequence[Loss | dict[str, Loss]]) -> str | dict[str, str]:
    """What is averaged, for members with these losses.

    Raises
    ------
    ConfigError
        If the losses have different kinds of predictions, or some that cannot be averaged by a net.
    """
    kinds: list[str | dict[str, str]] = [_average(loss) for loss in losses]
    if any(kind != kinds[0] for kind in kinds):
        raise ConfigError("The members have losses with different kinds of predictions, so they are not one ensemble.")
    return kinds[0]


def average_prediction(predictions: Sequence[Any]) -> Any:
    """The mean of arrays, or of dicts of arrays."""
    return tree_map(lambda *each: np.mean(each, axis=0, dtype=each[0].dtype), *predictions)


def _average(loss: Loss | dict[str, Loss]) -> Any:
    """What is averaged: the function by which the loss turns raw outputs into predictions."""
    if isinstance(loss, dict):
        return {name: _average(item) for name, item in loss.items()}
    kind = loss.out_activation
    if kind not in AVERAGES or type(loss).predict is not Loss.predict:
        raise ConfigError(
            f"The predictions of {loss!r} cannot be averaged by a net. Use population.predict(X), which averages the "
            "predictions."
        )
    return kind
