"""``madaline train`` leaves a report."""

from __future__ import annotations

import pytest

TITLES = {
    "penguins": ("Which classes are mixed up", "accuracy on rows that training did not see"),
    "auto_mpg": ("Predictions and the truth", "How far to believe intervals", "R2 on rows that training did not see"),
}


@pytest.mark.parametrize("name", TITLES)
def test_train_writes_a_report_with_all_its_parts(madaline, tmp_path, name):
    result = madaline("train", name, "--out", "run", "--epochs", "5", "--hidden", "16", "--no-baselines")
    assert result.code == 0, result.err
    assert "report.html" in result.out
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    for section in ("result", "learning", "predictions", "columns", "net", "data", "use", "config"):
        assert f'<section id="{section}">' in text
    for title in (*TITLES[name], "Importance of columns", "Size of activations", "Gradients", "Updates"):
        assert title in text
    assert "madaline predict run/model.madaline" in text
    assert (tmp_path / "run" / "config.toml").read_text().splitlines()[-1].replace('"', "&quot;") in text
