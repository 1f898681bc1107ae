"""Options of ``madaline train`` that set parameters of the estimator, with their descriptions."""

from __future__ import annotations

from typing import Any

import typer

from madaline.estimators.parameters import ClassifierParameters, described

NET = "Net and training (by default chosen by the size of the data)"
CHOSEN = "depends on the size of the data"
SHORT_TEXTS = {
    "activation": "Activation of the hidden layers, for example relu, tanh, gelu or mish.",
    "norm": "Normalization before each activation: batch, layer, rms or group.",
    "weight_decay": "Decoupled weight decay, as in AdamW.",
    "max_iter": "Maximum number of epochs.",
    "n_iter_no_change": "Number of epochs without improvement before training stops.",
    "class_weight": "Give all classes the same total weight.",
}
"Descriptions of parameters that take more in Python than on the command line."


def of_net(parameter: str, default: str = CHOSEN, **options: Any) -> Any:
    """An option that sets a parameter of the estimator, with the first sentence of its description."""
    first = described(ClassifierParameters)[parameter].does.replace("`", "").partition(". ")[0].rstrip(".")
    text = SHORT_TEXTS.get(parameter, f"{first}.")
    return typer.Option(help=text, rich_help_panel=NET, show_default=default, **options)
