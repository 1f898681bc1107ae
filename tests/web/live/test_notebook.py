"""The notebook widget: its traits during a training, and its script in a browser."""

from __future__ import annotations

import json

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import madaline as md
from madaline.web.notebook import LiveTraining

PAGE = """
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Widget</title></head><body><main id="cell"></main></body></html>
"""
RENDER = """
async ([source, css, state]) => {
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
  const { default: widget } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const listeners = {};
  const model = {
    get: (name) => state[name],
    on: (event, listener) => { (listeners[event] ??= new Set()).add(listener); },
    off: (event, listener) => listeners[event].delete(listener),
  };
  globalThis.receive = (name, value) => {
    state[name] = value;
    listeners[`change:${name}`]?.forEach((each) => each());
  };
  globalThis.cleanUp = widget.render({ model, el: document.getElementById("cell") });
  globalThis.listening = () => Object.values(listeners).reduce((sum, each) => sum + each.size, 0);
}
"""
TRAITS = ("status", "loss", "metric", "epochs", "history", "layers", "findings")


@pytest.fixture(scope="module")
def trained():
    """A widget after a training, and what it was told meanwhile."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    live, told = LiveTraining(), []
    live.widget.observe(lambda change: told.append(change["name"]), list(TRAITS))
    net = md.Sequential(md.Linear(8), md.Linear(8), md.Linear(1))
    trainer = md.Trainer(net, loss="binary_cross_entropy", optimizer=md.Adam(0.01))
    trainer.fit(X, y, epochs=60, batch_size=32, validation=0.25, metrics="accuracy", callbacks=live, progress=False)
    return live, told, trainer


def test_traits_follow_the_training(trained):
    live, told, trainer = trained
    widget = live.widget
    assert told.count("history") >= 2
    assert widget.status == "Epoch 60, finished"
    assert widget.history["val_loss"] == pytest.approx(trainer.history["val_loss"].tolist())
    assert (widget.loss, widget.metric) == ("binary_cross_entropy", "accuracy")
    assert [layer["layer"] for layer in widget.layers] == ["0", "1", "2"]
    assert "missing_nonlinearity" in [each["name"] for each in widget.findings["findings"]]
    assert "missing_nonlinearity" in [each.name for each in md.diagnose(trainer).findings]
    json.dumps({name: getattr(widget, name) for name in TRAITS}, allow_nan=False)


def test_an_estimator_takes_it(trained):
    live = LiveTraining()
    X = np.linspace(-1, 1, 80).reshape(-1, 1)
    md.MLPRegressor("mse", 4, schedule="cosine", max_iter=3, callbacks=live, random_state=0).fit(X, X[:, 0] ** 2)
    assert len(live.widget.history["loss"]) == 3
    assert "application/vnd.jupyter.widget-view+json" in live._repr_mimebundle_()[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_script_draws_the_traits(trained, browser, scheme):
    widget = trained[0].widget
    page = browser.new_page(color_scheme=scheme)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(PAGE)
    state = {name: getattr(widget, name) for name in TRAITS}
    empty = {
        "status": "Not started.",
        "loss": "",
        "metric": "",
        "epochs": 0,
        "history": {},
        "layers": [],
        "findings": {"findings": [], "epoch": 0, "reasons": []},
    }
    page.evaluate(RENDER, [widget._esm, widget._css, empty])
    assert "Not started." in page.inner_text(".madaline-live")
    for name in ("loss", "metric", *TRAITS):
        page.evaluate("([name, value]) => receive(name, value)", [name, state[name]])
    text = page.inner_text(".madaline-live")
    assert "Epoch 60, finished" in text
    assert "There is no activation between the linear layers" in text
    assert page.locator("path.line").count() == 4
    assert page.locator(".layers tbody tr").count() == 3
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    page.evaluate("cleanUp()")
    assert page.evaluate("listening()") == 0
    page.close()
    assert not errors
