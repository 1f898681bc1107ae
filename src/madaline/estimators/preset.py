"""``preset="auto"``: a modern recipe sized to the data. Parameters that the user gives are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import is_classifier

from madaline.estimators.parameters import SAME_THING, NetParameters, is_given
from madaline.estimators.recipe import is_lbfgs
from madaline.optim.annealing import Cosine, LinearWarmup
from madaline.optim.averaging import EMA

CLASSES_FROM: dict[str, Any] = {"bins": 16, "waves": 16}
"Options of the table plan for classification, in addition to robust scaling and smooth clipping."

NUMBERS_FROM: dict[str, Any] = {"bins": 16, "waves": 16, "scale_rate": 6.0, "scaling": "winsorized", "clip": "log"}
"""Options for regression. Far values are compressed, not clipped: where the target follows a column far out, as delays
do, clipping would lose it."""

WARM_UP = 0.1
"Fraction of the steps in which the learning rate rises."

AVERAGE = EMA(0.99, warmup=True)
"""The average over about the last hundred steps is what is validated and kept. On noisy data the best epoch is an early
one, when the learning rate is high and the weights jump; their average is judged more reliably and predicts better.
"""

FEW_ROWS = 5_000
"Below this, a larger fraction of the rows is the validation set."

MANY_ROWS = 100_000
"From this number of rows on, the net is wider and mini-batches are larger."


EPOCH_ROWS, FEWEST_EPOCHS, MOST_EPOCHS = 600_000, 20, 150
"A member of an ensemble sees so many rows in all its epochs, whose number is in this range."
ALONE, ALONE_BATCH = 1.5, 128
"""A net by itself is trained for this many times the epochs of a member of an ensemble, in mini-batches of at most so
many rows. The errors of members average out, and they gain nothing from it."""

NEEDS_STEPS = ("schedule", "weight_decay", "average")
"Left out if the user chose L-BFGS."


def before_reading(estimator: NetParameters, settings: NetParameters) -> NetParameters:
    """The settings that are needed before the table is read: columns of any kind, scaled numbers, bins and waves."""
    data: dict[str, Any] = CLASSES_FROM if is_classifier(estimator) else NUMBERS_FROM
    settings = _with(estimator, settings, {"data": data, "dtype": "float32"})
    if isinstance(settings.data, dict):  # options that the user gave are added to those of the preset
        settings.data = data | settings.data
    elif settings.data == "auto":
        settings.data = data
    return settings


def sized(estimator: NetParameters, settings: NetParameters, n_rows: int, *, continues: bool) -> NetParameters:
    """The recipe for a number of rows: AdamW, warm-up and cosine, light dropout, averaged weights, early stopping.

    Chosen on twelve open tabular data sets; ``benchmarks/table_ranks.py`` compares it with other models. In
    ``partial_fit`` the end is not known, so the learning rate is constant and nothing stops.
    """
    is_large = n_rows >= MANY_ROWS
    is_alone = estimator.preset == "auto" and not is_large
    batch_size = 512 if is_large else min(max(n_rows // 4, 16), ALONE_BATCH if is_alone else 256)
    epochs = min(max(EPOCH_ROWS / max(n_rows, 1), FEWEST_EPOCHS), MOST_EPOCHS)
    epochs = int(epochs * (ALONE if is_alone else 1.0))
    has_penalty = is_given(estimator, "alpha") or is_given(estimator, "regularizer")  # in place of weight decay
    recipe: dict[str, Any] = {
        "hidden_layer_sizes": (256, 256, 256) if is_large else (128, 128, 128),
        "activation": "mish",
        "init": "auto",
        "batch_size": min(batch_size, n_rows),
        "learning_rate_init": 3e-3 if is_large else 5e-3,
        "optimizer": "adam" if has_penalty else "adamw",
        "weight_decay": 1e-2,
        "dropout": 0.1,
    }
    if not continues:
        epochs = estimator.max_iter if is_given(estimator, "max_iter") else epochs
        size = estimator.batch_size if is_given(estimator, "batch_size") else batch_size
        recipe |= _for_epochs(epochs, n_rows, min(200 if isinstance(size, str) else size, n_rows))
        recipe |= {
            "average": AVERAGE,
            "early_stopping": n_rows >= 20,
            "validation_fraction": 0.15 if n_rows < FEW_ROWS else 0.1,
            "monitor": "val_loss",  # accuracy on few rows has few values, and many epochs reach the best
            "tol": 0.0,
        }
    if is_lbfgs(estimator):
        recipe = {name: value for name, value in recipe.items() if name not in NEEDS_STEPS}
    return _with(estimator, settings, recipe)


def shortened(estimator: NetParameters, settings: NetParameters, epochs: int, n_rows: int) -> NetParameters:
    """The settings for fewer epochs, unless the user chose them; ``n_rows`` are in an epoch."""
    batch_size = 200 if isinstance(settings.batch_size, str) else settings.batch_size
    return _with(estimator, settings, _for_epochs(epochs, n_rows, min(batch_size, n_rows)))


def _for_epochs(epochs: int, n_rows: int, batch_size: int) -> dict[str, Any]:
    """The parameters that depend on the number of epochs."""
    steps = epochs * -(-n_rows // batch_size)
    return {
        "max_iter": epochs,
        "schedule": LinearWarmup(max(int(WARM_UP * steps), 1)) * Cosine(),
        "n_iter_no_change": max(epochs // 2, 10),
    }


def _with(estimator: NetParameters, settings: NetParameters, recipe: dict[str, Any]) -> NetParameters:
    """The settings with those of the recipe that the user did not choose, by this name or by scikit-learn's."""
    chosen = {
        name
        for name in recipe
        if is_given(estimator, name) or any(is_given(estimator, theirs) for theirs in SAME_THING.get(name, ()))
    }
    if is_given(estimator, "regularizer"):
        chosen.add("weight_decay")
    if "monitor" in recipe and "early_stopping" in chosen and not estimator.early_stopping:
        chosen.add("monitor")
    return replace(settings, **{name: value for name, value in recipe.items() if name not in chosen})
