"""Settings and links."""

from __future__ import annotations

import pytest

from madaline.errors import ConfigError
from madaline.nn.activation_function import ACTIVATIONS
from madaline.optim.optimizer import OPTIMIZERS
from madaline.web.play import choices
from madaline.web.play.lessons import LESSONS
from madaline.web.play.settings import Settings, names_in, schema


def test_a_link_holds_what_differs_from_the_defaults():
    settings = Settings(data="xor", layers="4relu,3leaky_relu", rate=0.1, residual=True, seed=7)
    assert settings.link() == "data=xor&layers=4relu,3leaky_relu&residual=1&rate=0.1&seed=7"
    assert Settings.of_link(f"#{settings.link()}&at=40&token=x&vs=data%3Ddisc") == settings
    assert Settings().link() == ""


def test_names_with_commas_and_signs_survive_a_link():
    settings = Settings(data="table", table="a&b.csv", columns="price%2C net,50%25,größe")
    again = Settings.of_link(settings.link())
    assert again == settings
    assert names_in(again.columns) == ["price, net", "50%", "größe"]


@pytest.mark.parametrize(
    ("link", "word"),
    [
        ("data=nothing", "Data"),
        ("rate=fast", "Learning rate"),
        ("rate=nan", "Learning rate"),
        ("rate=-1", "Learning rate"),
        ("n=1e9", "Points"),
        ("n=99999999", "Points"),
        ("layers=8", "layers"),
        ("layers=8sotmax", "sotmax"),
        ("layers=8softmax", "softmax"),
        ("layers=900tanh", "64 units"),
        ("layers=" + ",".join(["1tanh"] * 9), "8 hidden layers"),
        ("residual=maybe", "Residual"),
        ("colour=red", "colour"),
        ("optimizer=sgdd", "Optimizer"),
    ],
)
def test_a_wrong_link_gets_a_sentence(link, word):
    with pytest.raises(ConfigError, match=word) as caught:
        Settings.of_link(link)
    assert str(caught.value).endswith(".")


def test_choices_are_those_of_the_registries():
    assert set(choices.names("optimizers")) == set(OPTIMIZERS.names())
    assert set(choices.names("activations")) == set(ACTIVATIONS.names()) - {"softmax", "log_softmax"}
    fields = {field["name"]: field for field in schema()}
    assert fields["loss"]["choices"][0]["value"] == "auto"
    assert {"data", "layers", "rate", "epochs", "seed"} <= fields.keys()


def test_there_are_twelve_lessons_of_three_sentences():
    assert len(LESSONS) == len({lesson.name for lesson in LESSONS}) == 12
    for lesson in LESSONS:
        assert Settings.of_link(lesson.link).link() == lesson.link  # the page recognises a lesson by its link
        assert lesson.text.count(". ") == 2, lesson.name
        assert lesson.text.endswith(".")
