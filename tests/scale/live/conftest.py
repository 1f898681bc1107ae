"""A real Ray cluster of two nodes on this machine."""

from __future__ import annotations

import os
import secrets
import warnings

import pytest

# Every cluster of the tests needs a token, as clusters do by default once one was made.
os.environ["RAY_AUTH_MODE"] = "token"
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))

ray = pytest.importorskip("ray", reason="needs Ray: make test-scale")


@pytest.fixture(scope="session")
def cluster():
    """Two nodes, one CPU each; a test that removes a node adds another."""
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        found.add_node(num_cpus=1)
        yield found
        ray.shutdown()
        found.shutdown()
