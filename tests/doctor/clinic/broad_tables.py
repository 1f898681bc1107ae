"""Tables of the fourth half with columns of text, dates and categories, for estimators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from clinic_data import Table

GOOD, BAD = ("great", "fine", "quick", "lovely", "solid"), ("poor", "slow", "broken", "late", "dull")
OTHER = ("the", "box", "came", "with", "a", "note", "and", "we", "used", "it", "for", "days", "blue", "cable", "desk")
CITIES = ("Rome", "Oslo", "Lima", "Cairo", "Quito", "Delhi")


def _table(columns: dict[str, object], y: np.ndarray, task: str, n: int) -> Table:
    frame = pl.DataFrame(columns)
    n_out = int(y.max()) + 1 if task == "classes" else 1
    return Table(frame[:n], y[:n], frame[n:], y[n:], task, n_out)


def _sentences(rng: np.random.Generator, share: np.ndarray) -> list[str]:
    """Sentences with as many good words as the share says."""
    found = []
    for p in share:
        words = [*rng.choice(OTHER, 6), *(rng.choice(GOOD if rng.random() < p else BAD) for _ in range(3))]
        found.append(" ".join(rng.permutation(words)))
    return found


def reviews(seed: int) -> Table:
    """A column of text, a category and a number; two classes."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.6, 0.6, 1500)
    city, stars = rng.choice(CITIES, 1500), rng.normal(size=1500)
    y = (2 * share - 1 + 0.4 * (city == "Rome") + 0.2 * stars + 0.3 * rng.normal(size=1500) > 0).astype(int)
    return _table({"text": _sentences(rng, share), "city": city, "stars": stars}, y, "binary", 800)


def shop(seed: int) -> Table:
    """Categories, numbers with missing values, and a skewed amount; a number to predict."""
    rng = np.random.default_rng(seed)
    kind, city = rng.choice(["book", "toy", "tool"], 1800), rng.choice(CITIES, 1800)
    amount, age = rng.lognormal(3, 0.8, 1800), rng.uniform(18, 80, 1800)
    y = (
        np.log(amount) * np.where(kind == "tool", 1.5, 0.7)
        + 0.01 * age * (city == "Oslo")
        + 0.4 * rng.normal(size=1800)
    )
    hidden = [None if gap else value for gap, value in zip(rng.random(1800) < 0.1, age.tolist(), strict=True)]
    return _table({"kind": kind, "city": city, "amount": amount, "age": hidden}, y, "regression", 900)


def tickets(seed: int) -> Table:
    """Short texts and a category; three classes."""
    rng = np.random.default_rng(seed)
    share, channel = rng.uniform(size=1500), rng.choice(["mail", "phone", "chat"], 1500)
    z = share + 0.15 * (channel == "chat") + 0.1 * rng.normal(size=1500)
    y = np.digitize(z, [0.35, 0.7])
    return _table(
        {"message": _sentences(rng, share), "channel": channel, "length": rng.poisson(40, 1500)}, y, "classes", 800
    )


def rentals(seed: int) -> Table:
    """Dates, categories and numbers; a number to predict."""
    rng = np.random.default_rng(seed)
    days = np.datetime64("2021-01-01") + rng.integers(0, 700, 1800)
    season = np.sin(2 * np.pi * (days - np.datetime64("2021-01-01")).astype(int) / 365)
    kind, heat = rng.choice(["town", "sport", "cargo"], 1800), rng.normal(15, 8, 1800)
    y = 3 * season + 0.15 * heat * (kind == "sport") + 0.8 * rng.normal(size=1800)
    return _table({"day": days.astype("datetime64[us]"), "kind": kind, "heat": heat}, y, "regression", 900)


BROAD_TABLES: dict[str, Callable[[int], Table]] = {
    function.__name__: function for function in (reviews, shop, tickets, rentals)
}
