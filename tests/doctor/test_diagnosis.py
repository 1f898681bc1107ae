"""A diagnosis as text, page and data."""

from __future__ import annotations

import json
from dataclasses import replace

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
    for part in ("rate_too_high, warning; learning rate", "learning rate 3", "Because & so.", "--learning-rate 0.1"):
        assert part in text


def test_what_follows_from_another_finding_is_no_alarm_and_stands_below_its_cause(sick):
    alarm, info = sick.findings
    dead = Finding("dead_units", "Many units are 0.", "warning", 0.5, "layer '1'", {}, "So.", explained_by=alarm.name)
    found = Diagnosis((replace(alarm, explains=("dead_units",)), dead, info))
    assert [finding.name for finding in found.alarms] == ["rate_too_high"]
    assert "   This explains: Many units are 0 [dead_units]." in str(found).split("\n")
    assert "2. i Few rows." in str(found)
    again = Diagnosis.from_dict(json.loads(json.dumps(found.to_dict()).replace("NaN", "null")))
    assert again["rate_too_high"].explains == ("dead_units",)
    assert again["dead_units"].explained_by == "rate_too_high"
    assert "This explains: Many units are 0 [dead_units]." in found.to_html()


def test_remedies_that_were_not_tried_are_shown_only_if_none_was(sick):
    other = Remedy("Use more.")
    both = replace(sick.findings[0], remedies=(*sick.findings[0].remedies, other))
    assert "Use more." not in str(Diagnosis((both,)))
    assert "Use more." in str(Diagnosis((replace(both, remedies=(other,)),)))


def test_remedies_that_were_tried_together_say_so(sick):
    tried = replace(sick.findings[0].remedies[0], losses=(2.0, 0.5), tried_with=("unscaled_inputs",))
    both = Diagnosis((replace(sick.findings[0], remedies=(tried,)),))
    assert "Tried together with the remedy of unscaled_inputs: the loss on held-out rows falls from 2 to 0.5." in str(
        both
    )
    again = Diagnosis.from_dict(json.loads(json.dumps(both.to_dict()).replace("NaN", "null")))
    assert str(again) == str(both)


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


@pytest.mark.parametrize(
    ("name", "value"),
    [("severity", "grave"), ("title", 3), ("confidence", "high"), ("evidence", []), ("remedies", {}), ("gain", None)],
)
def test_damaged_data_are_refused_before_they_are_shown(sick, name, value):
    data = sick.to_dict()
    data["findings"][0][name] = value
    with pytest.raises(TypeError, match=name):
        Diagnosis.from_dict(data)


def test_damaged_reasons_and_remedies_are_refused(sick):
    with pytest.raises(TypeError, match="reasons"):
        Diagnosis.from_dict(sick.to_dict() | {"reasons": [1]})
    data = sick.to_dict()
    data["findings"][0]["remedies"][0]["gain"] = "half"
    with pytest.raises(TypeError, match="gain"):
        Diagnosis.from_dict(data)


def test_losses_of_a_remedy_are_a_pair(sick):
    data = sick.to_dict()
    data["findings"][0]["remedies"][0]["losses"] = [0.5]
    with pytest.raises(ValueError, match="losses is"):
        Diagnosis.from_dict(data)
