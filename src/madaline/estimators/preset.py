"""``preset="auto"``: one word for a sensible modern recipe, sized to the data. What users give themselves is kept."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from madaline.estimators.parameters import SAME_THING, Settings, is_given
from madaline.estimators.recipe import is_lbfgs
from madaline.optim.annealing import Cosine, LinearWarmup
from madaline.optim.averaging import EMA

CLASSES_FROM = {"waves": 16}
"What the preset asks of a table's plan for classification, besides robust scaling and smooth clipping."

NUMBERS_FROM = {"waves": 16, "scaling": "standard"}
"And for regression: where the target follows a column far out, as delays do, clipping would lose it."

WARM_UP = 0.1
"The share of the steps in which the rate rises."

AVERAGE = EMA(0.99, warmup=True)
"""What is judged and kept is the average over the last hundred steps. Where data are noisy the best epoch is an early
one, whose rate is high and whose weights jump about; their average is judged more surely, and it predicts better.
"""

FEW_ROWS = 20_000
"Below, a larger share of the rows tells when to stop."

MANY_ROWS = 100_000
"From so many rows on the net is wider and steps are on more rows."


NEEDS_STEPS = ("schedule", "weight_decay", "average")
"What is left out where a user has chosen L-BFGS."


def before_reading(estimator: Any, settings: Settings) -> Settings:
    """What must be known before the table is looked at: columns of any kind, numbers scaled and as waves."""
    data = CLASSES_FROM if is_classifier(estimator) else NUMBERS_FROM
    return _with(estimator, settings, {"data": data, "dtype": "float32"})


def sized(estimator: Any, settings: Settings, n_rows: int, *, goes_on: bool) -> Settings:
    """The recipe for so many rows: AdamW with a warm-up and a cosine, light dropout, averaged weights, early stopping.

    Chosen on twelve open tabular sets; ``benchmarks/presets.py`` compares it with other models on all of them.
    In ``partial_fit`` the end is not known, so there the rate is constant and nothing stops.
    """
    is_large = n_rows >= MANY_ROWS
    batch_size = 512 if is_large else min(max(n_rows // 4, 16), 256)
    epochs = int(min(max(600_000 / max(n_rows, 1), 20), 150))
    recipe: dict[str, Any] = {
        "hidden_layer_sizes": (256, 256, 256) if is_large else (128, 128, 128),
        "activation": "mish",
        "init": "auto",
        "batch_size": min(batch_size, n_rows),
        "learning_rate_init": 3e-3 if is_large else 5e-3,
        "optimizer": "adamw",
        "weight_decay": 1e-2,
        "dropout": 0.1,
    }
    if not goes_on:
        steps = epochs * -(-n_rows // batch_size)
        recipe |= {
            "max_iter": epochs,
            "schedule": LinearWarmup(max(int(WARM_UP * steps), 1)) * Cosine(),
            "average": AVERAGE,
            "early_stopping": n_rows >= 20,
            "validation_fraction": 0.15 if n_rows < FEW_ROWS else 0.1,
            "monitor": "val_loss",  # of few rows the share that is right has few values, and many epochs reach the best
            "n_iter_no_change": max(epochs // 2, 10),
            "tol": 0.0,
        }
    if is_lbfgs(estimator):
        recipe = {name: value for name, value in recipe.items() if name not in NEEDS_STEPS}
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
