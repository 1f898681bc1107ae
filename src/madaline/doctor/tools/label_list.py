"""A list of labels that are probably wrong, by predictions for rows that were not trained on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.doctor.intercept import planned
from madaline.doctor.patients import Patient
from madaline.doctor.tools.axes import MARK, VALUE, axes
from madaline.errors import ConfigError
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs, Targets

UNLIKELY, SURE = 0.05, 0.9
"A label is suspected if its probability is below, and that of another class above."


@dataclass(frozen=True)
class LabelList:
    """The result of :func:`find_label_errors`.

    Attributes
    ----------
    rows : array of int
        Suspected rows, the most suspect first.
    given, suggested : array
        Their labels, and the classes that the net predicts.
    probability : array
        Probability of the given label.
    of_all_rows : array
        The same of every row, in the order of the data.
    expected : float
        Number of such rows if all labels were right and the probabilities true.
    """

    rows: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    probability: np.ndarray
    of_all_rows: np.ndarray
    expected: float

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [f"{len(self.rows)} labels are suspect; {self.expected:.1f} are expected if all are right."]
        for row, given, suggested, p in list(self._each())[:20]:
            lines.append(f"  row {row}: {given!r}, the net says {suggested!r} (probability of the label {p:.2g})")
        return "\n".join(lines)

    def _each(self) -> Iterator[tuple[int, Any, Any, float]]:
        parts = (self.rows.tolist(), self.given.tolist(), self.suggested.tolist(), self.probability.tolist())
        return zip(*parts, strict=True)

    def to_dict(self) -> dict[str, Any]:
        """The list as plain data."""
        names = ("row", "given", "suggested", "probability")
        return {"expected": self.expected, "rows": [dict(zip(names, each, strict=True)) for each in self._each()]}

    def plot(self, ax: Any = None) -> Any:
        """Draw how many rows have which probability of their label; red: the suspected ones."""
        ax = axes(ax)
        bins = np.linspace(0, 1, 41)
        ax.hist(self.of_all_rows, bins, color=VALUE, label="all rows")
        ax.hist(self.probability, bins, color=MARK, label=f"{len(self.rows)} suspected")
        ax.set(xlabel="probability of the given label", ylabel="rows", yscale="log", title="Labels that may be wrong")
        ax.legend()
        return ax


def find_label_errors(
    thing: Patient, X: Inputs | None, y: Targets | None, *, folds: int = 5, seed: int = 0, **fit_arguments: Any
) -> LabelList:
    """List rows whose label is probably wrong.

    Copies are trained on all folds but one and predict the rows of that one. A label is suspected if its probability
    is below 0.05 and that of another class above 0.9. Hard rows are suspected too: look at them before you change any.

    Parameters
    ----------
    thing : Trainer or estimator
        For classes. It does not change.
    X : array or data frame
    y : array
        Labels.
    folds : int, default 5
        Number of folds.
    seed : int
        Random seed of the folds.
    **fit_arguments
        Further arguments of ``fit``.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> X = np.random.default_rng(0).normal(size=(300, 2)); y = (X[:, 0] > 0).astype(int)
    >>> y[7] = 1 - y[7]
    >>> clf = md.MLPClassifier(16, learning_rate_init=0.01, max_iter=100, random_state=0)
    >>> 7 in md.doctor.find_label_errors(clf, X, y).rows
    True
    """
    y = np.asarray(y)
    if y.ndim != 1 or not 2 <= folds <= len(y):
        raise ConfigError(f"find_label_errors needs one label for each row, and folds={folds!r} from 2 to {len(y)}.")
    classes, labels = np.unique(y, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(y)) % folds
    p = np.zeros((len(y), len(classes)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(folds):
            train, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            found = _probabilities(thing, X, y, train, held, fit_arguments)
            if found.shape[1] != len(classes):
                raise ConfigError(f"A fold has {found.shape[1]} of {len(classes)} classes. Use fewer folds.")
            p[held] = found
    own, best = p[np.arange(len(y)), labels], p.max(axis=1)
    suspect = np.flatnonzero((own < UNLIKELY) & (best > SURE))
    rows = suspect[np.argsort(own[suspect], kind="stable")]
    expected = float(np.sum((1 - best)[best > SURE]))
    return LabelList(rows, y[rows], classes[p[rows].argmax(axis=1)], own[rows], own, expected)


def _probabilities(
    thing: Any, X: Any, y: np.ndarray, train: np.ndarray, held: np.ndarray, fit_arguments: dict[str, Any]
) -> np.ndarray:
    """Probabilities of the classes of the held-out rows."""
    part = X.iloc if hasattr(X, "iloc") else X
    if isinstance(thing, Trainer):
        setup = planned(thing, part[train], y[train], **fit_arguments).setup
        trainer = setup.trainer()
        trainer.fit(part[train], y[train], **{"progress": False} | fit_arguments | {"epochs": setup.epochs})
        p = np.asarray(trainer.recipe.loss.predict(np.asarray(trainer.model(part[held]))))  # type: ignore[union-attr]
        return np.column_stack([1 - p, p]) if p.ndim == 1 or p.shape[1] == 1 else p
    from sklearn.base import clone

    fitted = clone(thing).fit(part[train], y[train], **fit_arguments)
    return np.asarray(fitted.predict_proba(part[held]))
