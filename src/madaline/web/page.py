"""The form page of the server. It holds nothing about the models: its script asks for their schemas."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from madaline.ship.html_page import asset, page


@cache
def form_page() -> tuple[str, str]:
    """The page and its content security policy."""
    engine = files("madaline.web").joinpath("remote_engine.js").read_text(encoding="utf-8")
    return page(
        "madaline",
        "Loading the model ...",
        "Leave a field empty for a missing value. Served by madaline.",
        "\n".join(['"use strict";', asset("form.js"), engine]),
        allowed="; connect-src 'self'",
    )
