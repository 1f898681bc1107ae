"""Every test of this folder runs with both executors."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["native", "reference"], autouse=True)
def executor(request, monkeypatch):
    monkeypatch.setenv("MADALINE_EXECUTOR", request.param)
    return request.param
