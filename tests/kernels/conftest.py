from __future__ import annotations

from types import ModuleType

import pytest

from madaline.kernels import core as cores


@pytest.fixture(params=cores.cpu_isas())
def core(request) -> ModuleType:
    return cores.load(request.param)
