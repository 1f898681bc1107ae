"""A real Ray cluster of two nodes on this machine."""

from __future__ import annotations

import contextlib
import os
import secrets
import warnings
from pathlib import Path

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


def own_workers():
    """Busy workers of the clusters that this process has started."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            names[int(folder.name)] = (folder / "cmdline").read_bytes()
    found = []
    for process, name in names.items():
        above = process
        while above > 1 and above != os.getpid():
            above = parents.get(above, 0)
        if above == os.getpid() and name.startswith(b"ray::_checked"):
            found.append(process)
    return found


@pytest.fixture
def busy_workers():
    """A function that lists them: only these may be killed, since others may use Ray on this machine."""
    return own_workers
