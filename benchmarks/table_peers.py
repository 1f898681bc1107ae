"""Other models for tables, with the encoding that each needs; used by table_ranks.py and recipe.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import tabular
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

MOST_CATEGORIES = 250
"Maximum number of categories per column of gradient boosting; rarer ones are treated as missing."


def in_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """The table as a pandas data frame, with dates as numbers."""
    dates = [name for name, dtype in frame.schema.items() if dtype.is_temporal()]
    return frame.with_columns(frame[name].to_physical() for name in dates).to_pandas()


def categories(data: tabular.Tabular, X: pd.DataFrame) -> list[str]:
    """Categorical columns, according to the data card or their type."""
    return [
        name
        for name in X.columns
        if name not in tabular.DATES and (name in data.categorical or not pd.api.types.is_numeric_dtype(X[name]))
    ]


class Peer:
    """A model of another library that takes polars frames.

    ``prepare`` turns a pandas frame with the names of its categorical columns into what the model takes.
    """

    def __init__(self, model: Any, data: tabular.Tabular, prepare: Callable[[pd.DataFrame, list[str]], Any]) -> None:
        self.model, self.data, self.prepare = model, data, prepare

    def fit(self, X: pl.DataFrame, y: np.ndarray, **options: Any) -> Peer:
        table = in_pandas(X)
        self.named = categories(self.data, table)
        self.common = {
            name: table[name].astype(str).where(table[name].notna()).value_counts().index[:MOST_CATEGORIES]
            for name in self.named
        }
        self.labels, codes = np.unique(y, return_inverse=True) if self.data.is_classification else (None, y)
        self.model.fit(self.table(X), codes, **options)
        if self.labels is not None:
            self.classes_ = self.labels[np.asarray(self.model.classes_).astype(int)]
        return self

    def table(self, X: pl.DataFrame) -> Any:
        return self.prepare(self._with_categories(in_pandas(X)), self.named)

    def _with_categories(self, frame: pd.DataFrame) -> pd.DataFrame:
        for name, common in self.common.items():
            texts = frame[name].astype(str).where(frame[name].notna())
            frame[name] = texts.astype(pd.CategoricalDtype(common))
        return frame

    def predict(self, X: pl.DataFrame) -> np.ndarray:
        found = np.asarray(self.model.predict(self.table(X))).ravel()
        return found if self.labels is None else self.labels[found.astype(int)]

    def predict_proba(self, X: pl.DataFrame) -> np.ndarray:
        return np.asarray(self.model.predict_proba(self.table(X)))


def _as_is(frame: pd.DataFrame, named: list[str]) -> pd.DataFrame:
    return frame


def _as_texts(frame: pd.DataFrame, named: list[str]) -> pd.DataFrame:
    """Categories as text, of which a missing one is another."""
    for name in named:
        frame[name] = frame[name].astype(object).where(frame[name].notna(), "missing")
    return frame


def _pipeline(model: Any, data: tabular.Tabular) -> Peer:
    """With an imputer and indicators, standardised numbers, and one-hot encoding."""

    def is_number(frame: pd.DataFrame) -> list[str]:
        return [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]

    def is_text(frame: pd.DataFrame) -> list[str]:
        return [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]

    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), is_number),
        (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2, sparse_output=False), is_text),
    )
    return Peer(make_pipeline(prepare, model), data, _as_texts)


def linear(data: tabular.Tabular, seed: int) -> Peer:
    """Ridge with its penalty by cross-validation, or logistic regression."""
    model = LogisticRegression(max_iter=500) if data.is_classification else RidgeCV(np.logspace(-3, 3, 13))
    return _pipeline(model, data)


def scikit_mlp(data: tabular.Tabular, seed: int) -> Peer:
    """scikit-learn's MLP with standardised inputs (and targets) and early stopping."""
    settings = {"early_stopping": True, "max_iter": 500, "random_state": seed}
    net: Any = MLPClassifier(**settings)
    if not data.is_classification:
        net = TransformedTargetRegressor(MLPRegressor(**settings), transformer=StandardScaler())
    return _pipeline(net, data)


def boosting(data: tabular.Tabular, seed: int) -> Peer:
    """scikit-learn's gradient boosting, which supports categories and missing values."""
    kind = HistGradientBoostingClassifier if data.is_classification else HistGradientBoostingRegressor
    return Peer(kind(random_state=seed, categorical_features="from_dtype"), data, _as_is)


def lightgbm(data: tabular.Tabular, seed: int) -> Peer:
    """LightGBM with its default parameters."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    def renamed(frame: pd.DataFrame, named: list[str]) -> pd.DataFrame:
        return frame.set_axis([f"c{place}" for place in range(frame.shape[1])], axis=1)  # it refuses some names

    kind = LGBMClassifier if data.is_classification else LGBMRegressor
    return Peer(kind(random_state=seed, n_jobs=1, verbose=-1), data, renamed)


def catboost(data: tabular.Tabular, seed: int) -> Peer:
    """CatBoost with its default parameters."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    named = categories(data, in_pandas(data.X[:100]))
    kind = CatBoostClassifier if data.is_classification else CatBoostRegressor
    model = kind(random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False, cat_features=named)
    return Peer(model, data, _as_texts)


def realmlp(data: tabular.Tabular, seed: int) -> Peer:
    """RealMLP-TD of pytabkit."""
    from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

    kind = RealMLP_TD_Classifier if data.is_classification else RealMLP_TD_Regressor
    return Peer(kind(random_state=seed, device="cpu", n_threads=1, verbosity=0), data, _without_gaps())


def tabm(data: tabular.Tabular, seed: int) -> Peer:
    """TabM with the default parameters of pytabkit."""
    from pytabkit import TabM_D_Classifier, TabM_D_Regressor

    kind = TabM_D_Classifier if data.is_classification else TabM_D_Regressor
    return Peer(kind(random_state=seed, device="cpu", n_threads=1, verbosity=0), data, _without_gaps())


def _without_gaps() -> Callable[[pd.DataFrame, list[str]], pd.DataFrame]:
    """Missing numbers are imputed by the median of the first table, with indicators."""
    medians: dict[str, float] = {}
    gaps: dict[str, bool] = {}

    def filled(frame: pd.DataFrame, named: list[str]) -> pd.DataFrame:
        is_first = not medians
        for name in [name for name in frame.columns if name not in named]:
            if is_first:
                medians[name] = float(frame[name].median()) if frame[name].notna().any() else 0.0
                gaps[name] = bool(frame[name].isna().any())
            if gaps[name]:
                frame[f"{name} missing"] = frame[name].isna().astype(np.float64)
            frame[name] = frame[name].fillna(medians[name]).astype(np.float64)
        return frame

    return filled


MODELS: dict[str, Callable[[tabular.Tabular, int], Peer]] = {
    "LightGBM": lightgbm,
    "CatBoost": catboost,
    "HistGradientBoosting": boosting,
    "scikit-learn MLP": scikit_mlp,
    "linear": linear,
    "RealMLP-TD": realmlp,
    "TabM": tabm,
}
"Each model by name."
