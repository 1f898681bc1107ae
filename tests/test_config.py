"""What is in use and why: native core, threads, caches."""

from __future__ import annotations

import os

import pytest

import madaline as md
from madaline import config
from madaline.errors import ConfigError
from madaline.kernels import core, threads

needs_core = pytest.mark.skipif(core.isa() is None, reason="installed without the native core")


@pytest.fixture(autouse=True)
def _same_number_of_threads_afterwards(monkeypatch):
    monkeypatch.setattr(threads, "_current", threads.current())


def test_show_config_prints_a_table_and_returns_none(capsys):
    assert md.show_config() is None
    printed = capsys.readouterr().out
    for name in ("madaline", "Python", "NumPy", "executor", "instructions", "threads", "caches"):
        assert any(line.split()[0] == name for line in printed.splitlines()), name
    assert md.__version__ in printed


def test_show_config_gives_the_same_as_data(capsys):
    shown = md.show_config("dict")
    assert capsys.readouterr().out == ""
    assert shown["version"] == md.__version__
    assert shown["threads"] == md.get_threads()
    assert (shown["executor"] == "native") == (shown["isa"] is not None)


def test_show_config_refuses_a_mode_it_does_not_have():
    with pytest.raises(ConfigError, match=r"mode='json' is not known\. Choose 'text' or 'dict'"):
        md.show_config("json")


def test_cache_sizes_are_read_from_the_system(tmp_path):
    for i, (level, kind, size) in enumerate(
        [("1", "Data", "32K"), ("1", "Instruction", "32K"), ("2", "Unified", "512K")]
    ):
        folder = tmp_path / "cache" / f"index{i}"
        folder.mkdir(parents=True)
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(text + "\n")
    assert config.cache_sizes(tmp_path) == {"L1d": 32 * 1024, "L2": 512 * 1024}


def test_cache_sizes_are_empty_where_the_system_does_not_tell(tmp_path):
    assert config.cache_sizes(tmp_path) == {}


# The native core.


@needs_core
def test_the_best_instruction_set_this_cpu_can_run_is_chosen(run_python):
    run = run_python("from madaline.kernels import core; print(core.isa())")
    best = [name for name in core.KNOWN_ISAS if name in core.built_isas() and name in core.cpu_isas()][-1]
    assert run.stdout.strip() == best, run.stderr


@needs_core
@pytest.mark.parametrize("name", core.KNOWN_ISAS)
def test_every_instruction_set_that_can_run_here_can_be_asked_for(run_python, name):
    if name not in core.built_isas() or name not in core.cpu_isas():
        pytest.skip(f"{name} is not built, or not on this CPU")
    assert core.load(name).isa == name
    run = run_python("from madaline.kernels import core; print(core.core().isa)", MADALINE_ISA=name)
    assert run.stdout.strip() == name, run.stderr


@needs_core
def test_all_modules_can_be_loaded_into_one_process(run_python):
    code = """
from madaline.kernels import core
names = [name for name in core.built_isas() if name in core.cpu_isas()]
assert [core.load(name).isa for name in names] == names
print(len(names))
"""
    run = run_python(code)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""  # nanobind warns here about types registered twice and leaked


def test_an_unknown_instruction_set_gets_all_that_are_known_built_and_runnable(run_python):
    run = run_python("from madaline.kernels import core; core.core()", MADALINE_ISA="sse9")
    last = run.stderr.strip().splitlines()[-1]
    assert "ConfigError: MADALINE_ISA='sse9' is not a known instruction set." in last
    assert "Known: baseline, avx2, avx512." in last
    assert f"Built: {', '.join(core.built_isas()) or 'none'}." in last
    assert f"This CPU can run: {', '.join(core.cpu_isas()) or 'none'}." in last


@needs_core
def test_an_instruction_set_that_this_cpu_lacks_is_refused_not_crashed_into(monkeypatch):
    monkeypatch.setattr(core, "cpu_isas", lambda: ("baseline",))
    monkeypatch.setattr(core, "built_isas", lambda: core.KNOWN_ISAS)
    with pytest.raises(ConfigError, match="isa_name='avx512' is more than this CPU can run"):
        core.load("avx512")


WITHOUT_CORE = """
import importlib.util, warnings
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if ".kernels._" in name else find_spec(name)
from madaline.kernels import core
"""


def test_without_a_native_core_there_is_one_warning_and_no_module(run_python):
    code = f"""{WITHOUT_CORE}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert core.core() is None and core.core() is None and core.isa() is None
(warning,) = caught
print(warning.category.__name__, warning.message, sep=": ")
"""
    run = run_python(code)
    assert run.stdout.startswith("NativeCoreWarning: madaline was installed without its native core"), run.stderr
    assert "MADALINE_PURE_PYTHON" in run.stdout


def test_looking_at_the_configuration_does_not_warn_about_a_missing_core(run_python):
    run = run_python(f"{WITHOUT_CORE}\nimport madaline; madaline.show_config()")
    assert run.returncode == 0, run.stderr
    assert "reference (NumPy)" in run.stdout


def test_a_core_that_is_there_but_broken_is_an_error_not_a_slow_run(run_python):
    code = """
import importlib, importlib.util
importlib.util.find_spec = lambda name: True
def broken(name):
    raise ImportError("undefined symbol: _Z3foo")
importlib.import_module = broken
from madaline.kernels import core
core.core()
"""
    last = run_python(code).stderr.strip().splitlines()[-1]
    assert "NativeCoreError: The native core madaline.kernels._baseline is installed but cannot be loaded" in last
    assert "undefined symbol: _Z3foo" in last


# Threads.


def test_set_threads_is_what_get_threads_gives():
    md.set_threads(3)
    assert md.get_threads() == 3
    assert threads.current().reason == "set_threads"


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True, None])
def test_a_number_of_threads_is_a_positive_integer(wrong):
    with pytest.raises(ConfigError, match="is not a number of threads"):
        md.set_threads(wrong)


def test_madaline_threads_comes_before_omp_num_threads():
    asked = threads.from_environment({"MADALINE_THREADS": "7", "OMP_NUM_THREADS": "1"})
    assert asked == (7, "MADALINE_THREADS")


@pytest.mark.parametrize("wrong", ["0", "-2", "two", "1.5", "²"])
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
@pytest.mark.parametrize(("limit", "expected"), [("250000 100000", 2), ("50000 100000", 1), ("max 100000", 16)])
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
