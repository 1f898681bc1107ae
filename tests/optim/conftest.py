"""What the tests of this folder may ask for."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["native", "reference"])
def executor(request, monkeypatch):
    """Run a traced rule by both executors."""
    monkeypatch.setenv("MADALINE_EXECUTOR", request.param)
    return request.param
