"""The page without a server, for a few nets: what it holds. tests/web/live opens it."""

from __future__ import annotations

import base64
import gzip
import json
import re

import numpy as np
import pytest

from madaline.errors import ConfigError
from madaline.web.play.exercise import Exercise
from madaline.web.play.lessons import LESSONS
from madaline.web.play.offline.catalogue import catalogue, net_key, step_key
from madaline.web.play.offline.pack import Pack, data_sets
from madaline.web.play.offline.page import write_page
from madaline.web.play.offline.starts import drawn, starts
from madaline.web.play.problem import make_problem
from madaline.web.play.settings import Settings
from madaline.web.play.tables import TableStore


def exercise(**settings):
    given = Settings(**settings)
    return Exercise(given, make_problem(given, TableStore()))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "page.html"
    sizes = write_page(file, [Settings(), Settings(optimizer="sgd"), Settings(init="orthogonal")])
    return file.read_text("utf-8"), sizes


def part(text, name):
    content = re.search(rf'id="offline-{name}">(.*?)</script>', text)[1]
    return gzip.decompress(base64.b64decode(content))


def test_the_page_is_one_file(page):
    text, sizes = page
    assert sizes["training programs"] == 2
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert part(text, "core").startswith(b"\0asm")
    modules = json.loads(re.search(r'<script type="importmap">(.*?)</script>', text)[1])["imports"]
    for url in modules.values():
        source = base64.b64decode(url.partition(",")[2]).decode()
        assert set(re.findall(r'from "(play/[a-z_]+\.js)"', source)) <= modules.keys()
        assert 'from "./' not in source


def test_programs_belong_to_keys(page):
    index, content = json.loads(part(page[0], "index")), part(page[0], "programs")
    net = net_key(exercise())
    assert list(index["steps"]) == [f"{net}|adam|0|none", f"{net}|sgd|0|none"]
    assert sum(size for _, size, _ in index["programs"]) == len(content)
    inputs, outputs, counts, _ = index["kinds"][index["programs"][index["steps"][f"{net}|adam|0|none"]][2]]
    assert inputs == ["w", "slot.m", "slot.v", "x[0]", "y[0]", "key", "t", "lr"]
    assert outputs[:2] == ["objective", "metric.accuracy"]
    assert counts == [[1, 0]]


def test_choices_that_the_page_cannot_run_are_not_offered(page):
    fields = {field["name"]: field for field in json.loads(part(page[0], "about"))["fields"]}
    assert "orthogonal" not in [choice["value"] for choice in fields["init"]["choices"]]
    assert "table" not in [choice["value"] for choice in fields["data"]["choices"]]
    assert [choice["value"] for choice in fields["n"]["choices"]] == ["200", "400"]


def test_keys_tell_apart_what_a_program_depends_on():
    base = exercise()
    assert net_key(exercise(rate=0.5, seed=3, noise=0.1, batch=7)) == net_key(base)
    assert net_key(exercise(dropout=0.2)) != net_key(base)
    assert step_key(exercise(momentum=0.9)) == step_key(base)
    assert step_key(exercise(optimizer="sgd", momentum=0.9)) == "sgd|0.9|none"
    assert step_key(exercise(regularizer="l2", strength=0.01)) == "adam|0|l2:0.01"


@pytest.mark.parametrize("layers", ["6tanh,4tanh", "5relu", "3sigmoid,2identity"])
def test_weights_begin_as_those_of_the_model(layers):
    model = exercise(layers=layers).net().init(np.zeros((4, 2)), seed=5)
    assert drawn(starts(model), 5, model.network.n_params) == pytest.approx(model.params.flat, rel=1e-5, abs=1e-7)


def test_an_initializer_that_the_page_lacks_is_refused():
    model = exercise(init="sparse").net().init(np.zeros((4, 2)), seed=0)
    with pytest.raises(ConfigError, match="does not have"):
        starts(model)


def test_the_catalogue_has_every_lesson():
    links = {settings.link() for settings in catalogue()}
    assert {Settings.of_link(lesson.link).link() for lesson in LESSONS} <= links
    pack = Pack()
    for lesson in LESSONS:
        pack.add(Settings.of_link(lesson.link))
    assert pack.refused == {}


def test_data_are_those_of_the_playground():
    index, content = data_sets()
    numbers, place = np.frombuffer(content, "<f4"), 0
    for each in index:
        n, width = each["n"], each["width"]
        if (each["name"], n, each["draw"]) == ("circles", 200, 1):
            problem = make_problem(Settings(data="circles", n=200, draw=1), TableStore())
            X = np.concatenate([problem.coordinates, problem.coordinates_test])
            assert numbers[place : place + n * width].reshape(n, width) == pytest.approx(X, abs=1e-6)
        place += n * (width + 1)
    assert place == len(numbers)
