"""Pages that predict in the browser: what they hold. ``tests/web/live`` opens them in a browser."""

from __future__ import annotations

import html.parser
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import madaline as md
from graph_values import output_values
from madaline.errors import ExportError
from madaline.estimators.attributions import attribute
from madaline.ship.answers import inference_of_estimator
from madaline.ship.attribution import attribution_of
from madaline.ship.html_page import html_files
from madaline.ship.numpy_script import python_files
from ship.estimator_cases import fitted
from ship.renamed import PLAIN, plain_model, renamed_model

HOSTILE = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--<script>", "]]>", "&lt;", '"', "'",
    "`${1}`", "\u2028", "\\", "</style>", "{0}", "\ud800",
]  # fmt: skip


class Tags(html.parser.HTMLParser):
    """The tags of a page, and the texts between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple]] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self._inside = tag
        kept = tuple((name, value) for name, value in attrs if name != "content")
        self.found.append((tag, kept))

    def handle_data(self, data):
        if self._inside == "script" and data.strip():
            self.scripts.append(data)


def page_of(estimator, folder):
    (content,) = html_files(estimator, None, folder / "page.html").values()
    return content.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


TEXTS = st.lists(st.sampled_from(HOSTILE) | st.characters(codec="utf-8"), min_size=1, max_size=3).map("".join)


@settings(max_examples=15)
@given(names=st.lists(TEXTS.filter(lambda t: "." not in t and t != "x"), min_size=9, max_size=9, unique=True))
@example(names=[f"{text}{k}" for k, text in enumerate(HOSTILE[:9])])
def test_hostile_names_are_data_and_nothing_else(names, folder):
    """The page is the one of harmless names but for the JSON document and the comments of the script."""
    given_names = dict(zip(PLAIN, [name.replace("\ud800", "") + "a" for name in names], strict=True))
    if len(set(given_names.values())) < len(given_names) or any(p in n for p in PLAIN for n in names):
        return
    ours = Tags(page_of(plain_model(), folder))
    theirs = Tags(page_of(renamed_model(given_names, folder), folder))
    assert theirs.found == ours.found
    assert len(theirs.scripts) == len(ours.scripts) == 2
    fields = json.loads(theirs.scripts[0])["fields"]
    assert [field["name"] for field in fields] == [given_names[name] for name in PLAIN[:3]]
    for code, same in zip(_statements(theirs.scripts[1]), _statements(ours.scripts[1]), strict=True):
        assert code == same


def _statements(script):
    """The lines of a script without comments and without identifiers that are made of names."""
    lines = [re.sub(r"^\s*//.*", "", line) for line in script.splitlines()]
    return [re.sub(r"\b(x|layer)_\w+", "name", line) for line in lines]


def test_a_page_of_a_net_of_three_times_128_has_less_than_500_kb(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 12))
    table = {f"column {k}": x for k, x in enumerate(X.T)}
    net = md.MLPRegressor(hidden_layer_sizes=(128, 128, 128), data="auto", max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is trained for one epoch
        net.fit(table, X[:, 0])
    (path,) = md.export(net, tmp_path / "page.html", to="html")
    assert path.stat().st_size < 500_000


def test_a_page_loads_nothing_and_runs_its_own_script_only(folder):
    text = page_of(plain_model(), folder)
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy.startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy
    assert "connect-src" not in policy


@pytest.mark.parametrize(
    "name",
    ["classifier of a table", "regressor of a table", "classifier of three", "classifier of two", "gaussian",
     "classifier with a preset", "regressor with a preset", "counts with a preset"],
)  # fmt: skip
def test_contributions_of_the_exported_graph_are_those_of_the_report(name):
    case = fitted(name)
    estimator, rows = case.estimator, case.rows[:6]
    graph = attribution_of(estimator)
    *columns, _, chosen = graph.inputs
    inputs = [replace(case, rows=rows).array(port) for port in columns]
    expected = attribute(estimator, rows, steps=64)
    ones = np.eye(chosen.size, dtype=chosen.dtype)[expected.outputs]
    places, weights = np.polynomial.legendre.leggauss(64)

    def at(share):
        point = np.full((len(rows), 1), share, graph.inputs[-2].dtype)
        return output_values(graph.graph, [*inputs, point, ones], len(rows))

    total = sum(0.5 * weight * at(0.5 + 0.5 * place)[0] for place, weight in zip(places, weights, strict=True))
    used = [port.place for port in columns] if columns[0].is_column else slice(None)
    scale = np.abs(expected.parts).max()
    np.testing.assert_allclose(total, expected.parts[:, used], atol=1e-4 * scale)
    np.testing.assert_allclose(at(0.0)[1], expected.base, rtol=1e-4)
    np.testing.assert_allclose(at(1.0)[1], expected.prediction, rtol=1e-4)


def test_intervals_of_the_exported_graph_are_those_of_predict_interval(tmp_path):
    case = fitted("regressor of a table")
    rng = np.random.default_rng(0)
    estimator = case.estimator.calibrate(case.rows, case.answers["prediction"] + rng.normal(size=len(case.rows)))
    space: dict = {}
    (content,) = python_files(inference_of_estimator(estimator, interval=0.8), tmp_path / "ends.py").values()
    exec(compile(content, "ends.py", "exec"), space)
    found = space["predict"](case.rows)
    low, high = estimator.predict_interval(case.rows, 0.8)
    np.testing.assert_allclose(found["low"], low, rtol=1e-5)
    np.testing.assert_allclose(found["high"], high, rtol=1e-5)


def test_a_model_without_columns_is_refused(tmp_path):
    with pytest.raises(ExportError, match="needs a fitted estimator"):
        md.export(md.mlp(3, 1).init(2), tmp_path / "page.html", to="html")
