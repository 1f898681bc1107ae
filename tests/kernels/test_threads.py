"""How many threads a run may use, and why."""

from __future__ import annotations

import os

import pytest

import madaline as md
from madaline.errors import ConfigError
from madaline.kernels import threads


@pytest.fixture(autouse=True)
def _same_number_of_threads_afterwards(monkeypatch):
    monkeypatch.setattr(threads, "_current", threads.current())


def test_set_threads_is_what_get_threads_gives():
    md.set_threads(3)
    assert md.get_threads() == 3
    assert threads.current().reason == "set_threads"


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True, None, 1025, 2**70])
def test_a_number_of_threads_is_a_positive_integer(wrong):
    with pytest.raises(ConfigError, match="is not a number of threads"):
        md.set_threads(wrong)


def test_madaline_threads_comes_before_omp_num_threads():
    asked = threads.from_environment({"MADALINE_THREADS": "7", "OMP_NUM_THREADS": "1"})
    assert asked == (7, "MADALINE_THREADS")


@pytest.mark.parametrize("wrong", ["0", "-2", "two", "1.5", "²", "1025", "99999999999999999999"])
def test_a_wrong_madaline_threads_is_named_with_its_value(wrong):
    with pytest.raises(ConfigError, match=f"MADALINE_THREADS='{wrong}' is not a number of threads"):
        threads.from_environment({"MADALINE_THREADS": wrong})


@pytest.mark.parametrize("value", ["1", "1,4", " 1 "])
def test_omp_num_threads_limits_the_threads(value):
    assert threads.from_environment({"OMP_NUM_THREADS": value}) == (1, "OMP_NUM_THREADS")


def test_omp_num_threads_never_asks_for_more_than_the_cpus():
    assert threads.from_environment({"OMP_NUM_THREADS": "100000"}).n == threads.usable_cpus().n


@pytest.mark.parametrize("value", ["", "many", "0"])
def test_an_omp_num_threads_that_is_no_number_is_ignored(value):
    assert threads.from_environment({"OMP_NUM_THREADS": value}) == threads.usable_cpus()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity masks on this system")
def test_threads_follow_the_affinity_mask(run_python):
    code = """
import os, madaline as md
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(md.get_threads())
"""
    run = run_python(code)
    assert run.stdout.strip() == "1", run.stderr


@pytest.fixture
def many_cpus(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)


@pytest.mark.usefixtures("many_cpus")
@pytest.mark.parametrize(("limit", "expected"), [("290000 100000", 2), ("50000 100000", 1), ("max 100000", 16)])
def test_a_cgroup_quota_limits_the_threads(tmp_path, limit, expected):
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text("0::/box/inner\n")
    (groups / "box" / "inner").mkdir(parents=True)
    (groups / "box" / "cpu.max").write_text(limit + "\n")  # the quota of a group above counts too
    assert threads.usable_cpus(proc, groups).n == expected


@pytest.mark.usefixtures("many_cpus")
@pytest.mark.parametrize(("quota", "expected"), [("400000", 4), ("-1", 16)])
def test_a_quota_of_the_older_cgroups_limits_the_threads(tmp_path, quota, expected):
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text("5:memory:/box\n4:cpu,cpuacct:/box\n")
    (groups / "cpu,cpuacct" / "box").mkdir(parents=True)
    (groups / "cpu,cpuacct" / "box" / "cpu.cfs_quota_us").write_text(quota + "\n")
    (groups / "cpu,cpuacct" / "box" / "cpu.cfs_period_us").write_text("100000\n")
    assert threads.usable_cpus(proc, groups).n == expected


@pytest.mark.usefixtures("many_cpus")
def test_without_control_groups_the_affinity_mask_counts(tmp_path):
    assert threads.usable_cpus(tmp_path, tmp_path) == (16, "CPUs of the affinity mask")
