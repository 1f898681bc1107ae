"""A training shown live in a notebook, by the code of the playground's page."""

from __future__ import annotations

import base64
import math
import re
import time
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from madaline.doctor.finding import Finding
from madaline.doctor.watch import Doctor
from madaline.errors import MadalineError
from madaline.extras import require
from madaline.functional.model import Model
from madaline.train.events import TrainingView
from madaline.web.examination import examine, only_trains_longer

SECONDS = 0.25
"Time between two pictures."
MOST_EPOCHS = 1000
"Epochs that are sent; of more, evenly spaced ones."
FIRST_EXAMINATION, FIRST_SECONDS, EXAM_SECONDS = 20, 1.0, 1.0
"Epochs and seconds before the first examination of a run that goes on, and the time limit of an examination."
SHARE = 5
"Training takes at least this many times as long as the examination before it, until there is another one."
IMPORT = re.compile(r'from "\./([a-z_]+\.js)"')
OF_LAYERS = ("mean", "std", "zero", "gradient_norm", "update_ratio")


class LiveTraining(Doctor):
    """Shows a training in a notebook while it runs: loss and metric, statistics of the layers, the doctor's findings.

    Display it in one cell, and pass it to ``fit`` as a callback. It is a :class:`madaline.Doctor`, so that
    :func:`madaline.diagnose` can examine the training afterwards. It works in Jupyter, VS Code, Colab and marimo, and
    needs ``pip install "madaline[notebook]"``.

    Parameters
    ----------
    sample_every : int, optional
        Number of steps between samples of the layers; by default two samples per epoch, fewer if they would take more
        than about 2 % of the time.

    Attributes
    ----------
    widget : anywidget.AnyWidget
        What is displayed, with the traits ``status``, ``loss``, ``metric``, ``epochs``, ``history``, ``layers`` and
        ``findings``.

    Examples
    --------
    In a notebook, ``live`` alone on the last line of a cell displays it:

    >>> from madaline.web.notebook import LiveTraining
    >>> live = LiveTraining()  # doctest: +SKIP
    >>> md.MLPClassifier(callbacks=live).fit(X, y)  # doctest: +SKIP
    """

    watches_epochs = True
    has_ticks = True

    def __init__(self, *, sample_every: int | None = None) -> None:
        require("anywidget", "LiveTraining")
        super().__init__(sample_every=sample_every)
        self.widget: Any = _widget_class()()
        self._sent = self._next_examination = 0.0

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def on_fit_start(self, trainer: TrainingView) -> None:
        super().on_fit_start(trainer)
        self._sent, self._next_examination = 0.0, time.monotonic() + FIRST_SECONDS
        self._before = Model(trainer.model.network, trainer.model.params.flat.copy(), trainer.model.state.flat.copy())
        loss = trainer.recipe.loss
        metrics = trainer.run.metrics
        with self.widget.hold_sync():
            self.widget.loss = "sum of losses" if isinstance(loss, dict) else loss.name
            self.widget.metric = metrics[0].name if metrics else ""
            self.widget.epochs, self.widget.history, self.widget.layers = 0, {}, []
            self.widget.findings = _no_findings()
            self.widget.status = "Training starts."

    def on_epoch_end(self, trainer: TrainingView, row: Mapping[str, float]) -> None:
        epoch = trainer.progress.epoch
        began = time.monotonic()
        if epoch >= FIRST_EXAMINATION and began >= self._next_examination:
            self._examine(trainer, is_over=False)
            now = time.monotonic()
            self._next_examination = now + SHARE * (now - began)
        if time.monotonic() - self._sent > SECONDS:
            self._send(trainer, f"Epoch {epoch:,}")

    def on_fit_end(self, trainer: TrainingView) -> None:
        super().on_fit_end(trainer)
        self._examine(trainer, is_over=True)
        how = trainer.history.stopped
        self._send(trainer, f"Epoch {trainer.progress.epoch:,}, {'finished' if how == 'finished' else f'ended: {how}'}")

    def _send(self, trainer: TrainingView, status: str) -> None:
        self._sent = time.monotonic()
        table = trainer.history
        wanted = [name for name in ("loss", self.widget.metric) if name]
        columns = [name for each in wanted for name in (each, f"val_{each}") if name in table]
        step = max(1, math.ceil(table.epochs / MOST_EPOCHS))
        with self.widget.hold_sync():
            self.widget.epochs = table.epochs
            self.widget.history = {name: _plain(table[name][::-1][::step][::-1]) for name in columns}
            self.widget.layers = _layers(table.probes)
            self.widget.status = status

    def _examine(self, trainer: TrainingView, *, is_over: bool) -> None:
        model = trainer.model
        now = Model(model.network, model.params.flat.copy(), model.state.flat.copy())
        try:
            diagnosis, epoch = examine(trainer.run, self._before, now, seconds=EXAM_SECONDS)
        except (MadalineError, ArithmeticError, ValueError) as error:
            self.widget.findings = _no_findings() | {"note": f"The training could not be examined: {error}"}
            return
        findings = [_finding(each) for each in diagnosis.findings if is_over or not only_trains_longer(each)]
        self.widget.findings = {"epoch": epoch, "findings": findings, "reasons": list(diagnosis.reasons), "busy": False}


def _finding(finding: Finding) -> dict[str, Any]:
    remedies = [
        {"text": each.text, "tried": each.gain is not None, "changes": {}, "python": each.python}
        for each in finding.remedies[:3]
    ]
    names = ("name", "title", "severity", "where", "why", "explained_by")
    return {name: getattr(finding, name) for name in names} | {"remedies": remedies}


def _no_findings() -> dict[str, Any]:
    return {"epoch": 0, "findings": [], "reasons": [], "busy": False}


def _layers(probes: Any) -> list[dict[str, Any]]:
    """The last sample of every layer."""
    if probes is None or not probes.n_rows:
        return []
    last = np.flatnonzero(probes["step"] == probes["step"][-1])
    columns = {name: _plain(probes[name][last]) for name in OF_LAYERS if name in probes}
    return [
        {"layer": str(probes["layer"][row]), **{name: columns.get(name, [None] * len(last))[k] for name in OF_LAYERS}}
        for k, row in enumerate(last)
    ]


def _plain(values: np.ndarray) -> list[float | None]:
    """Numbers for JSON, which has no NaN."""
    return [float(value) if np.isfinite(value) else None for value in values]


@cache
def _widget_class() -> Any:
    import anywidget
    import traitlets

    class TrainingWidget(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
        """The traits that widget.js draws."""

        _esm = module("widget.js")
        _css = style()
        status = traitlets.Unicode("Not started. Pass this to fit as a callback.").tag(sync=True)
        loss = traitlets.Unicode("").tag(sync=True)
        metric = traitlets.Unicode("").tag(sync=True)
        epochs = traitlets.Int(0).tag(sync=True)
        history = traitlets.Dict().tag(sync=True)
        layers = traitlets.List().tag(sync=True)
        findings = traitlets.Dict(_no_findings()).tag(sync=True)

    return TrainingWidget


def module(name: str) -> str:
    """A module of the page with those that it imports inside, since a widget is one file."""

    def inlined(match: re.Match[str]) -> str:
        text = base64.b64encode(module(match[1]).encode()).decode()
        return f'from "data:text/javascript;base64,{text}"'

    return IMPORT.sub(inlined, _page_file(name))


def style() -> str:
    """The style of the page inside the widget only."""
    text = _page_file("style.css")
    colours, _, rest = text.partition("* { box-sizing")
    own = (
        ".madaline-live { background: var(--card); color: var(--text); padding: 12px; border-radius: 8px; "
        "font: 14px/1.45 system-ui, sans-serif; }\n"
        ".madaline-live .below { grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); }\n"
        ".madaline-live .curves { display: grid; grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); "
        "gap: 16px; }\n"
        ".madaline-live .doctor { display: grid; gap: 10px; }\n"
    )
    colours = colours.partition("@media")[0].replace(":root", ".madaline-live")  # widget.js finds out what is dark
    return f"{colours}.madaline-live {{\n* {{ box-sizing{rest}}}\n{own}"


def _page_file(name: str) -> str:
    return files("madaline.web.play").joinpath("page", name).read_text("utf-8")
