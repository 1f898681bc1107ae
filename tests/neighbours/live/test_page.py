"""The examples of the page "With other tools", section by section."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")
PAGE = Path(__file__).parents[3] / "docs" / "guides" / "other-tools.md"
FIRST, *SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
NEEDED = {"Files": ["Data frames"], "ONNX": ["scikit-learn"], "feature": ["Data frames", "scikit-learn"]}
"Sections that use names of earlier ones."
EXAMPLES = [text for text in SECTIONS if ">>> " in text]


def title(text):
    return text.split("\n", 1)[0]


def run_section(text):
    """Run the introduction, the sections that it needs, and the section."""
    earlier = next((names for start, names in NEEDED.items() if title(text).startswith(start)), [])
    before = [each for name in earlier for each in EXAMPLES if title(each).startswith(name)]
    code = "\n".join([FIRST, *before, text])
    test = doctest.DocTestParser().get_doctest(code, {}, title(text), str(PAGE), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    printed = []
    runner.run(test, out=printed.append, clear_globs=False)
    assert runner.failures == 0, "".join(printed)


@pytest.mark.parametrize("text", [text for text in EXAMPLES if title(text) != "MLflow"], ids=title)
def test_an_example_runs(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_section(text)
