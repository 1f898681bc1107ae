"""``madaline train`` leaves a report."""

from __future__ import annotations

import pytest

TITLES = {
    "penguins": ("Confusion matrix", "accuracy on the test set"),
    "auto_mpg": ("Predicted and true values", "Coverage of prediction intervals", "R2 on the test set"),
}


@pytest.mark.parametrize("name", TITLES)
def test_train_writes_a_report_with_all_its_parts(madaline, tmp_path, name):
    result = madaline("train", name, "--out", "run", "--epochs", "5", "--hidden", "16", "--no-baselines")
    assert result.code == 0, result.err
    assert "report.html" in result.out
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    for section in ("result", "learning", "predictions", "columns", "net", "data", "use", "config"):
        assert f'<section id="{section}">' in text
    for title in (*TITLES[name], "Permutation importance", "Activations", "Gradient norm", "Relative update size"):
        assert title in text
    assert "madaline predict run/model.madaline" in text
    assert (tmp_path / "run" / "config.toml").read_text().splitlines()[-1].replace('"', "&quot;") in text
