"""Statistics of the layers during training, as plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from madaline.errors import ConfigError, UnknownNameError
from madaline.report.curves import pyplot
from madaline.report.subject import history_of
from madaline.train.probes import OF_ACTIVATIONS, OF_PARAMETERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class _Look:
    title: str
    log: bool = False
    share: bool = False


LOOKS = {
    "mean": _Look("mean of outputs"),
    "std": _Look("standard deviation of outputs"),
    "zero": _Look("fraction of outputs that are 0", share=True),
    "saturated": _Look("fraction of outputs that are saturated", share=True),
    "dead": _Look("fraction of units that are always 0", share=True),
    "saturated_units": _Look("fraction of units that are always saturated", share=True),
    "gradient_norm": _Look("norm of the gradient", log=True),
    "weight_norm": _Look("norm of the weights"),
    "update_ratio": _Look("update relative to weights (dotted: 0.001)", log=True),
}
SHOWN = ("mean", "std", "zero", "saturated", "gradient_norm", "update_ratio")
HEALTHY_UPDATE = 1e-3
"A rule of thumb: updates should be about a thousandth of the weights."


class LayerStatisticsDisplay:
    """Activations, gradients and updates of each layer over the steps of training, one panel for each statistic.

    Created by :meth:`from_estimator`; follows scikit-learn's convention for Display objects.

    Parameters
    ----------
    layers : sequence of str
        Paths of the layers, the first layer first.
    steps : mapping from path to array
        Steps at which each layer was sampled.
    values : mapping from statistic to mapping from path to array
        Values of the statistics at these steps.
    titles : mapping from path to str, optional
        Names of the layers. By default their paths.

    Attributes
    ----------
    axes_ : array of matplotlib axes
        One for each statistic that was drawn.
    figure_ : matplotlib figure
    lines_ : dict from (statistic, path) to matplotlib lines
    """

    def __init__(
        self,
        *,
        layers: Sequence[str],
        steps: Mapping[str, Array],
        values: Mapping[str, Mapping[str, Array]],
        titles: Mapping[str, str] | None = None,
    ) -> None:
        self.layers, self.steps, self.values = tuple(layers), steps, values
        self.titles = {layer: layer for layer in self.layers} | dict(titles or {})

    @classmethod
    def from_estimator(cls, estimator: object, *, statistics: Sequence[str] = SHOWN, ax: Axes | None = None) -> Self:
        """Plot the statistics that the probes recorded.

        Parameters
        ----------
        estimator : estimator, Trainer or History
            Fitted with probes: ``callbacks=md.train.Probes()`` of an estimator, ``probes=True`` of ``Trainer.fit``.
        statistics : sequence of str
            Columns of ``history.probes``. Statistics of outputs are drawn for activations if there are any,
            statistics of gradients and weights for layers with parameters.
        ax : axes, or array of one for each statistic, optional
            Axes to draw on. By default a new figure is created.
        """
        probes = history_of(estimator).probes
        if not probes.n_rows:
            raise ConfigError(
                "The history has no probes. Train with callbacks=md.train.Probes() (estimators) or with "
                "fit(..., probes=True)."
            )
        rows_of = {path: probes["layer"] == path for path in dict.fromkeys(probes["layer"].tolist())}
        model = getattr(estimator, "model_", getattr(estimator, "model", None))
        rows = () if model is None else model.network.rows
        titles = {row.path: f"{row.path} {repr(row.layer).partition('(')[0]}" for row in rows}
        names = [name for name in (*OF_ACTIVATIONS, *OF_PARAMETERS) if name in probes]
        values: dict[str, dict[str, Array]] = {}
        for name in names:
            column = np.asarray(probes[name], dtype=float)
            seen = {path: column[rows] for path, rows in rows_of.items()}
            values[name] = {path: found for path, found in seen.items() if not np.isnan(found).all()}
        steps = {path: probes["step"][rows] for path, rows in rows_of.items()}
        return cls(layers=tuple(rows_of), steps=steps, values=values, titles=titles).plot(ax, statistics=statistics)

    def plot(self, ax: Axes | None = None, *, statistics: Sequence[str] = SHOWN) -> Self:
        """Draw the plot; parameters as in :meth:`from_estimator`."""
        if unknown := [name for name in statistics if name not in LOOKS]:
            raise UnknownNameError(f"statistics={unknown[0]!r} is not known. Known: {', '.join(LOOKS)}.")
        drawn = [name for name in statistics if self.values.get(name)]
        own = ax is None
        if own:
            n_columns = min(len(drawn), 3) or 1
            n_rows = -(-len(drawn) // n_columns) or 1
            size = (3.6 * n_columns + 1.4, 2.7 * n_rows)
            ax = pyplot().subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)[1]
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) < len(drawn):
            raise ConfigError(f"ax has {len(axes)} axes for {len(drawn)} statistics: {', '.join(drawn)}.")
        self.lines_: dict[tuple[str, str], Any] = {}
        for one, name in zip(axes, drawn, strict=False):
            self._panel(one, name)
        for one in axes[len(drawn) :]:
            one.set_axis_off()
        self.axes_ = axes[: len(drawn)]
        self.figure_ = axes[0].figure
        self._legend(outside=own)
        return self

    def _panel(self, ax: Any, name: str) -> None:
        colors = pyplot().get_cmap("viridis")(np.linspace(0.0, 0.88, len(self.layers)))  # dark to light
        look = LOOKS[name]
        for layer, color in zip(self.layers, colors, strict=True):
            if layer in self.shown(name):
                y = self.values[name][layer]
                if look.log:
                    y = np.where(y > 0.0, y, np.nan)
                few = {"marker": "o", "markersize": 3} if len(y) <= 12 else {}
                (line,) = ax.plot(self.steps[layer], y, color=color, linewidth=1.5, label=self.titles[layer], **few)
                self.lines_[name, layer] = line
        if look.log:
            ax.set_yscale("log")
        if look.share:
            ax.set_ylim(-0.03, 1.03)
        if name == "update_ratio":
            ax.axhline(HEALTHY_UPDATE, color="#555555", linestyle=":", linewidth=1.2)
        ax.set_title(look.title, fontsize=10)
        ax.set_xlabel("step", fontsize=9)
        ax.tick_params(labelsize=8)
        ax.grid(alpha=0.25, linewidth=0.6)

    def shown(self, name: str) -> list[str]:
        """The layers that are drawn: for statistics of outputs only the activations, if there are any."""
        has_weights = set(self.values.get("gradient_norm", ()))
        found = list(self.values[name])
        activations = [layer for layer in found if layer not in has_weights]
        return activations if name in OF_ACTIVATIONS and activations else found

    def _legend(self, *, outside: bool) -> None:
        """One legend for all panels."""
        lines = {layer: line for (_, layer), line in self.lines_.items()}
        handles = [lines[layer] for layer in self.layers if layer in lines]
        if not handles:
            return
        if outside:
            self.figure_.legend(handles=handles, loc="outside right upper", fontsize=8, frameon=False, title="layer")
        else:
            self.axes_[-1].legend(handles=handles, fontsize=7, title="layer", title_fontsize=7)
