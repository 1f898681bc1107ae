"""Exported pages in a browser: typed values, sliders, equal answers, hostile names, phones."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import madaline as md
from madaline.data.datasets import DATASETS
from madaline.ship.fields import fields_of
from ship.renamed import PLAIN, renamed_model, renamed_rows, table

PHONE, DESKTOP = 360, 1280
PAGES = {
    "penguins": {"max_iter": 12},
    "auto_mpg": {"max_iter": 12},
    "breast_cancer": {"max_iter": 6},
    "penguins, best": {"preset": "best", "max_iter": 8},
}


@functools.cache
def data_set(name):
    """A model of a data set, and its rows."""
    found = DATASETS[name.partition(",")[0]]
    frame = found.table()
    target = found.target
    X, y = frame.drop(target), frame[target]
    kind = md.MLPRegressor if y.dtype.is_numeric() else md.MLPClassifier
    options = {"preset": "auto", "random_state": 0, **PAGES[name]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**options).fit(X, y), X


@pytest.fixture(params=PAGES)
def case(request, tmp_path):
    """A model, rows and the address of its page."""
    model, X = data_set(request.param)
    (path,) = md.export(model, tmp_path / "page.html", to="html")
    return model, X, path.as_uri()


def settled(page):
    page.wait_for_selector("body[data-settled]", state="attached", timeout=60_000)
    return page


ASK = """
async rows => {
  const engine = localEngine(about, predict, attribute);
  return (await engine.ask(rows)).map(each => each.kind === "numbers"
    ? [each.values[0].value, each.values[0].low, each.values[0].high] : [each.label, ...each.p]);
}
"""
EXPLAIN = """
async row => {
  const engine = localEngine(about, predict, attribute), [answer] = await engine.ask([row]);
  const found = await engine.explain(row, answer, () => false);
  return [found.base, found.prediction, Object.fromEntries(found.parts.map(each => [each.column, each.contribution]))];
}
"""


def test_200_rows_are_answered_as_predict_does(case, new_page):
    model, X, address = case
    rows = X[:200] if len(X) >= 200 else X
    found = np.array(settled(new_page(address)).evaluate(ASK, rows.to_dicts()))
    assert len(found) == 200
    if hasattr(model, "classes_"):
        np.testing.assert_allclose(found[:, 1:], model.predict_proba(rows), rtol=1e-5, atol=1e-6)
        assert (model.classes_[found[:, 0].astype(int)] == model.predict(rows)).all()
    else:
        low, high = model.predict_interval(rows, 0.9)
        np.testing.assert_allclose(found, np.stack([model.predict(rows), low, high], axis=1), rtol=1e-5)


def test_contributions_are_those_of_explain(case, new_page):
    model, X, address = case
    row = X[7:8]
    base, prediction, parts = settled(new_page(address)).evaluate(EXPLAIN, row.to_dicts()[0])
    expected = md.explain(model, row)
    assert (base, prediction) == pytest.approx((expected.base[0], expected.prediction[0]), rel=1e-4, abs=1e-5)
    scale = np.abs(expected.contributions).max()
    for column, contribution in zip(expected.columns, expected.contributions[0], strict=True):
        assert parts.get(column, 0.0) == pytest.approx(contribution, abs=0.01 * scale)


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_typed_values_and_chosen_categories_change_the_answer(width, tmp_path, new_page):
    model, X = data_set("penguins")
    (path,) = md.export(model, tmp_path / "page.html", to="html")
    page = settled(new_page(path.as_uri(), width))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    seen = set()
    for row in X.sample(8, seed=1).to_dicts():
        for name, value in row.items():
            if isinstance(value, str) or (value is None and name in ("island", "sex")):
                group = page.get_by_role("group", name=name, exact=True)
                group.get_by_role("button", name=value or "missing", exact=True).click()
            else:
                page.get_by_label(name, exact=True).fill("" if value is None else str(value))
        (expected,) = model.predict([row])
        page.wait_for_function("text => document.querySelector('.big').textContent === text", arg=str(expected))
        p = model.predict_proba([row]).max()
        shown = float(page.locator(".bar.first span").inner_text().split()[0])
        assert shown == pytest.approx(100 * p, abs=0.06)
        seen.add(expected)
    assert len(seen) > 1


def test_a_moved_slider_changes_number_answer_and_curve(tmp_path, new_page):
    model, _ = data_set("auto_mpg")
    (path,) = md.export(model, tmp_path / "page.html", to="html")
    page = settled(new_page(path.as_uri()))
    before = page.locator(".big").inner_text()
    slider, box = page.get_by_label("weight, slider"), page.get_by_label("weight", exact=True)
    slider.focus()
    slider.press("Home")
    (low,) = (field.low for field in fields_of(model) if field.name == "weight")
    assert float(box.input_value()) == low
    page.wait_for_function("text => document.querySelector('.big').textContent !== text", arg=before)
    row = page.evaluate("Object.fromEntries(about.fields.map(each => [each.name, each.default]))")
    (expected,) = model.predict([{**row, "weight": low, "name": "a"}])
    assert float(page.locator(".big").inner_text()) == pytest.approx(expected, rel=1e-3)
    for name in ("acceleration", "displacement"):
        for key in ("Home", "End"):
            page.get_by_label(f"{name}, slider").press(key)
            assert page.locator(".field.outside").count() == 0
    assert "prediction interval" in page.locator("#answer").inner_text()
    assert page.locator("#parts .part").count() >= 7


def test_a_number_outside_of_the_training_range_is_marked(tmp_path, new_page):
    model, _ = data_set("auto_mpg")
    (path,) = md.export(model, tmp_path / "page.html", to="html")
    page = settled(new_page(path.as_uri()))
    page.get_by_label("weight", exact=True).fill("99999")
    assert "Outside of the training range" in page.locator(".field.outside").inner_text()
    assert page.locator(".field.outside").count() == 1


def test_hostile_names_are_shown_as_text(tmp_path, new_page):
    script = "</script><script>alert(1)</script>"
    image = "<img src=x onerror=alert(1)>"
    names = dict(zip(PLAIN, [
        f"n {script}", f"c {image}", f"e {script}", image, script, "__proto__", f"k {script}", f"k {image}", "toString",
    ], strict=True))  # fmt: skip
    model = renamed_model(names, tmp_path)
    (path,) = md.export(model, tmp_path / "page.html", to="html")
    for width in (PHONE, DESKTOP):
        page = settled(new_page(path.as_uri(), width))
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        text = page.locator("body").inner_text()
        assert names[PLAIN[0]] in text
        assert image in text
        found = page.evaluate(ASK, renamed_rows(names))
        p = model.predict_proba(_rows(names))
        np.testing.assert_allclose(np.array(found)[:, 1:], p, rtol=1e-5, atol=1e-6)


def _rows(names):
    return {names.get(key, key): [names.get(value, value) for value in column] for key, column in table().items()}


def test_a_page_asks_the_network_for_nothing(case, browser):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(case[2])
    settled(page)
    page.close()
    assert asked == [case[2]]
