"""``preset="auto"``: one word for a sensible modern recipe, sized to the data. What users give themselves is kept."""

from __future__ import annotations

import math
from typing import Any

from madaline.estimators.parameters import SAME_THING, Settings, is_given
from madaline.estimators.rows import Rows
from madaline.optim.annealing import Cosine, LinearWarmup

WARM_UP = 0.05
"The share of the steps in which the rate rises."

BATCH_SIZES = ((1_000, 32), (5_000, 64), (20_000, 128), (100_000, 256), (math.inf, 512))
"Up to so many rows, batches of that many."


def before_reading(estimator: Any, settings: Settings) -> Settings:
    """What must be known before the table is looked at: columns of any kind, robustly scaled and smoothly clipped."""
    return _with(estimator, settings, {"data": "auto", "dtype": "float32"})


def sized(estimator: Any, settings: Settings, rows: Rows, *, goes_on: bool) -> Settings:
    """The recipe for so many rows: AdamW with a warm-up and a cosine, light dropout, early stopping.

    In ``partial_fit`` the end is not known, so there the rate is constant and nothing stops.
    """
    n_rows = len(rows)
    batch_size = next(size for most, size in BATCH_SIZES if n_rows <= most)
    epochs = int(min(max(4_000_000 / max(n_rows, 1), 20), 150))
    width = 128 if n_rows < 2_000 else 256
    recipe: dict[str, Any] = {
        "hidden_layer_sizes": (width, width),
        "batch_size": min(batch_size, max(n_rows // 2, 1)),
        "learning_rate_init": 1e-3,
        "optimizer": "adamw",
        "weight_decay": 1e-2,
        "dropout": 0.1,
    }
    if not goes_on:
        steps = epochs * -(-n_rows // batch_size)
        recipe |= {
            "max_iter": epochs,
            "schedule": LinearWarmup(max(int(WARM_UP * steps), 1)) * Cosine(),
            "early_stopping": n_rows >= 20,
            "n_iter_no_change": max(epochs // 4, 10),
            "tol": 0.0,
        }
    return _with(estimator, settings, recipe)


def _with(estimator: Any, settings: Settings, recipe: dict[str, Any]) -> Settings:
    """The settings with those of the recipe that users did not choose, by this name or by scikit-learn's."""
    chosen = {
        name
        for name in recipe
        if is_given(estimator, name) or any(is_given(estimator, theirs) for theirs in SAME_THING.get(name, ()))
    }
    if "weight_decay" in recipe and is_given(estimator, "regularizer"):
        chosen.add("weight_decay")
    return Settings(**vars(settings) | {name: value for name, value in recipe.items() if name not in chosen})
