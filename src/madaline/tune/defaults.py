"""The spaces that are searched by default, by the number of rows."""

from __future__ import annotations

from typing import Any

FEW_ROWS, MANY_ROWS = 5_000, 100_000
"Below and above these numbers of rows, the ranges of widths and mini-batch sizes are others."


def default_space(n_rows: int, *, has_preset: bool = True) -> dict[str, Any]:
    """The space that :func:`madaline.search` searches by default.

    Parameters
    ----------
    n_rows : int
        Number of training rows.
    has_preset : bool
        Whether the estimator has a preset, whose recipe has decoupled weight decay. Without one, the penalty ``alpha``
        is searched.

    Notes
    -----
    The ranges follow published spaces for multilayer perceptrons on tables: Gorishniy et al. 2021 ("Revisiting deep
    learning models for tabular data"), Holzmüller et al. 2024 ("Better by default", RealMLP) and Gorishniy et al. 2025
    ("TabM"), restricted to widths that a CPU trains in little time. Learning rates are those of nets with a schedule.

    Examples
    --------
    >>> default_space(1000)["width"]
    {'low': 32, 'high': 256, 'log': True}
    """
    width = (32, 256) if n_rows < FEW_ROWS else (64, 384) if n_rows < MANY_ROWS else (128, 512)
    batch = (16, 256) if n_rows < FEW_ROWS else (64, 512) if n_rows < MANY_ROWS else (256, 1024)
    penalty: dict[str, Any] = (
        {"weight_decay": {"low": 1e-4, "high": 0.3, "log": True}}
        if has_preset
        else {"alpha": {"low": 1e-6, "high": 10.0, "log": True}}
    )
    return {
        "learning_rate_init": {"low": 5e-4, "high": 3e-2, "log": True},
        "layers": {"low": 1, "high": 4},
        "width": {"low": width[0], "high": width[1], "log": True},
        "dropout": {"low": 0.0, "high": 0.5},
        **penalty,
        "batch_size": {"low": batch[0], "high": max(min(batch[1], n_rows // 2), batch[0] + 1), "log": True},
        "activation": ["mish", "relu", "selu"] if has_preset else ["relu", "tanh", "mish"],
    }
