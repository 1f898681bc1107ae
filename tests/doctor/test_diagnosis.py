"""A diagnosis as text, page and data."""

from __future__ import annotations

import json

import pytest

from madaline.doctor import Diagnosis, Finding, Remedy
from madaline.doctor.picture import Picture


@pytest.fixture
def sick() -> Diagnosis:
    remedy = Remedy("Use less.", None, {"learning_rate_init": 0.1}, "--learning-rate 0.1", "fit(...)", 0.5)
    alarm = Finding(
        "rate_too_high",
        "The <rate> is too high.",
        "warning",
        0.9,
        "learning rate",
        {"learning rate": 3.0},
        "Because & so.",
        remedies=(remedy,),
        gain=0.5,
        picture=Picture("loss", [3.0, float("nan"), 1.0]),
    )
    info = Finding("small_validation", "Few rows.", "info", 0.9, "", {"rows": 30.0}, "Noise.")
    return Diagnosis((alarm, info))


def test_it_survives_the_way_through_json(sick):
    again = Diagnosis.from_dict(json.loads(json.dumps(sick.to_dict()).replace("NaN", "null")))
    assert str(again) == str(sick)
    assert again.names == sick.names
    assert str(again["rate_too_high"].remedies[0].options) == "--learning-rate 0.1"
    assert again.to_dict()["findings"][1] == sick.to_dict()["findings"][1]


def test_information_is_not_an_alarm(sick):
    assert [finding.name for finding in sick.alarms] == ["rate_too_high"]
    assert Diagnosis(sick.findings[1:]).is_healthy


def test_the_text_names_problem_evidence_and_what_to_do(sick):
    text = str(sick)
    assert text.startswith("The <rate> is too high.\n")
    for part in ("rate_too_high, warning, at learning rate", "learning rate 3", "Because & so.", "--learning-rate 0.1"):
        assert part in text


def test_the_page_escapes_texts(sick):
    page = sick._repr_html_()
    assert "The &lt;rate&gt; is too high." in page
    assert "<rate>" not in page
    assert "<svg" in page


def test_no_finding_is_a_good_answer():
    assert str(Diagnosis(reasons=("the loss is low",))) == "Training looks healthy, because the loss is low."


def test_an_unknown_finding_is_an_error_that_lists_the_known_ones(sick):
    with pytest.raises(KeyError, match="Findings: rate_too_high, small_validation"):
        sick["overfitting"]
