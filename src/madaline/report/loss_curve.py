"""How the loss fell, as a picture."""

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
"Blue and vermilion of Okabe & Ito, which all eyes tell apart."
WIDE = 30.0
"A loss that falls by more than this factor is drawn with a logarithmic axis."


class LossCurveDisplay:
    """The loss of every epoch on training and validation rows, the best epoch marked.

    Made by :meth:`from_estimator`; follows scikit-learn's convention of Display objects.

    Parameters
    ----------
    epochs, training : array of shape (n_epochs,)
    validation : array of shape (n_epochs,), optional
    best_epoch : int, optional
        What to mark.
    name : str
        Of what is drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib's
    line_, validation_line_, best_line_ : matplotlib's lines; None for what is not drawn
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
    def from_estimator(cls, estimator: Any, *, metric: str = "loss", ax: Axes | None = None) -> Self:
        """Draw what training left behind.

        Parameters
        ----------
        estimator : estimator, Trainer or History
            Fitted. Also scikit-learn's, which has a training loss alone.
        metric : str
            A column of the history, as ``"accuracy"``; with its ``"val_accuracy"`` if there is one.
        ax : matplotlib axes, optional
            Where to draw; on a new figure unless told.

        Notes
        -----
        The best epoch is the one whose parameters early stopping has kept, or else the one that was best on validation
        rows.
        """
        if metric == "loss" and not hasattr(estimator, "history_") and hasattr(estimator, "loss_curve_"):
            curve = np.asarray(estimator.loss_curve_)
            return cls(epochs=np.arange(1, len(curve) + 1), training=curve).plot(ax)
        history = history_of(estimator)
        if metric not in history:
            known = [
                name for name in history if name not in ("epoch", "seconds", "learning_rate") and name[:4] != "val_"
            ]
            raise UnknownNameError(f"metric={metric!r} is not in the history. There are: {', '.join(known) or 'none'}.")
        validation = history.get(f"val_{metric}")
        best = history.best_epoch
        epochs = np.asarray(history["epoch"], dtype=int)
        if best is None and validation is not None and not np.isnan(validation).all():
            rises = metric in METRICS and METRICS[metric].larger_is_better
            best = int(epochs[np.nanargmax(validation) if rises else np.nanargmin(validation)])
        display = cls(epochs=epochs, training=history[metric], validation=validation, best_epoch=best, name=metric)
        return display.plot(ax)

    def plot(self, ax: Axes | None = None, *, log: bool | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
        log : bool, optional
            Whether the axis is logarithmic; if the values fall far, unless told.
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
