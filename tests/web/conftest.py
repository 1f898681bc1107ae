"""A service that all tests of a file may ask."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from web.served import client_of, service

# Browsers, MLflow and load: `make test-web` runs them, in an environment that has what they need.
collect_ignore = [] if find_spec("playwright") and find_spec("mlflow") else ["live"]


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    """A client of a service with a regressor, ``price``, and a classifier, ``kind``."""
    return client_of(service(tmp_path_factory.mktemp("models"), "price", "kind"))
