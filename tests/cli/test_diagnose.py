"""madaline diagnose, and the examination at the end of madaline train."""

from __future__ import annotations

import shutil
from pathlib import Path

import madaline as md
from command_options import BARE


def test_a_run_has_a_diagnosis_on_the_screen_in_its_folder_and_in_its_report(madaline):
    ran = madaline("train", "penguins", "--out", "run", "--epochs", 30, "--no-baselines")
    assert ran.code == 0
    assert "The doctor found" in ran.out
    shown = madaline("diagnose", "run")
    assert shown.code == 0
    assert shown.out.strip() == str(md.diagnose("run")).strip()
    data = madaline("diagnose", "run", "--json").json()
    assert [each["name"] for each in data["findings"]] == md.diagnose("run").names
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "Diagnosis of the training" in page


def test_a_rate_that_is_far_too_low_is_found(madaline):
    ran = madaline(
        "train", "penguins", "--out", "run", "--epochs", 20, "--learning-rate", 1e-6, "--no-baselines", "--no-report"
    )
    assert ran.code == 0
    assert "rate_too_low" in madaline("diagnose", "run").out


def test_without_the_doctor(madaline, penguins, tmp_path):
    madaline("train", "penguins", "--out", "run", "--epochs", 2, *BARE)
    missing = madaline("diagnose", "run")
    assert missing.code == 1
    assert "has no diagnosis: the run was trained with --no-doctor" in missing.err
    other = madaline("diagnose", tmp_path / "nothing")
    assert other.code == 1
    assert "is not the folder of a run" in other.err


def test_a_run_folder_may_be_moved(madaline, penguins, tmp_path):
    shutil.copytree(penguins, tmp_path / "moved")
    assert madaline("diagnose", tmp_path / "moved").code == 0
