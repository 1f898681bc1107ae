"""The notebook widget, as far as it needs no browser; tests/web/live has the rest."""

from __future__ import annotations

import importlib.util
import re

import pytest

from madaline.errors import MissingPackageError
from madaline.web.notebook import LiveTraining, module, style


@pytest.mark.skipif(importlib.util.find_spec("anywidget") is not None, reason="anywidget is installed")
def test_without_anywidget_the_command_to_install_it_is_named():
    with pytest.raises(MissingPackageError, match=r"madaline\[notebook\]"):
        LiveTraining()


def test_the_script_is_one_module_and_the_style_stays_inside():
    assert not re.search(r'from "\./', module("widget.js"))
    text = style()
    assert ":root {" not in text
    assert text.count("{") == text.count("}")
