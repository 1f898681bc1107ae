"""The loss by epoch, as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from madaline.errors import UnknownNameError
from madaline.report.curves import pyplot
from madaline.report.subject import history_of
from madaline.train.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = np.ndarray[Any, Any]
TRAINING, VALIDATION, BEST = "#0072B2", "#D55E00", "#555555"
"Blue and vermilion of Okabe & Ito, safe for colour-blind readers."
WIDE = 30.0
"The axis is logarithmic if the loss falls by more than this factor."


class LossCurveDisplay:
    """The loss of every epoch on the training and validation set, with the best epoch marked.

    Created by :meth:`from_estimator`; follows scikit-learn's convention for Display objects.

    Parameters
    ----------
    epochs, training : array of shape (n_epochs,)
    validation : array of shape (n_epochs,), optional
    best_epoch : int, optional
        The epoch to mark.
    name : str
        Label of the y-axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_, validation_line_, best_line_ : matplotlib lines, or None if they are not drawn
    """

    def __init__(
        self,
        *,
        epochs: Array,
        training: Array,
        validation: Array | None = None,
        best_epoch: int | None = None,
        name: str = "loss",
    ) -> None:
        self.epochs, self.training, self.validation = epochs, training, validation
        self.best_epoch, self.name = best_epoch, name

    @classmethod
    def from_estimator(cls, estimator: object, *, metric: str = "loss", ax: Axes | None = None) -> Self:
        """Plot the history of a fit.

        Parameters
        ----------
        estimator : estimator, Trainer or History
            Fitted. Estimators of scikit-learn, which record only the training loss, are accepted, too.
        metric : str
            A column of the history, for example ``"accuracy"``; ``"val_accuracy"`` is drawn, too, if it exists.
        ax : matplotlib axes, optional
            Axes to draw on. By default a new figure is created.

        Notes
        -----
        The best epoch is the one whose parameters early stopping kept, or else the best one on the validation set.
        """
        if metric == "loss" and not hasattr(estimator, "history_") and hasattr(estimator, "loss_curve_"):
            curve = np.asarray(estimator.loss_curve_)
            return cls(epochs=np.arange(1, len(curve) + 1), training=curve).plot(ax)
        history = history_of(estimator)
        if metric not in history:
            known = [
                name for name in history if name not in ("epoch", "seconds", "learning_rate") and name[:4] != "val_"
            ]
            raise UnknownNameError(f"metric={metric!r} is not in the history. Known: {', '.join(known) or 'none'}.")
        validation = history.get(f"val_{metric}")
        best = history.best_epoch
        epochs = np.asarray(history["epoch"], dtype=int)
        if best is None and validation is not None and not np.isnan(validation).all():
            rises = metric in METRICS and METRICS[metric].larger_is_better
            best = int(epochs[np.nanargmax(validation) if rises else np.nanargmin(validation)])
        display = cls(epochs=epochs, training=history[metric], validation=validation, best_epoch=best, name=metric)
        return display.plot(ax)

    def plot(self, ax: Axes | None = None, *, log: bool | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib axes, optional
        log : bool, optional
            Whether the y-axis is logarithmic. By default it is if the values fall by a large factor.
        """
        ax = pyplot().subplots(layout="constrained")[1] if ax is None else ax
        few: dict[str, Any] = {"marker": "o", "markersize": 4} if len(self.epochs) <= 12 else {}
        self.line_: Any
        (self.line_,) = ax.plot(self.epochs, self.training, color=TRAINING, label="training", **few)
        self.validation_line_: Any = None
        self.best_line_: Any = None
        if self.validation is not None:
            (self.validation_line_,) = ax.plot(
                self.epochs, self.validation, color=VALIDATION, linestyle="--", label="validation", **few
            )
        if self.best_epoch is not None:
            label = f"best epoch: {self.best_epoch}"
            self.best_line_ = ax.axvline(self.best_epoch, color=BEST, linestyle=":", linewidth=1.2, label=label)
        if self._falls_far() if log is None else log:
            ax.set_yscale("log")
        ax.set(xlabel="epoch", ylabel=self.name)
        ax.locator_params(axis="x", integer=True)
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _falls_far(self) -> bool:
        values = self.training if self.validation is None else np.concatenate((self.training, self.validation))
        values = values[np.isfinite(values)]
        return len(values) > 0 and values.min() > 0.0 and values.max() > WIDE * values.min()
