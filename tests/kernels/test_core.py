"""Finding the native core: the best this CPU can run, the one asked for, or none."""

from __future__ import annotations

import pytest

from madaline.errors import ConfigError
from madaline.kernels import core

needs_core = pytest.mark.skipif(core.isa() is None, reason="installed without the native core")


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
    run = run_python(code, MADALINE_REPORT_LEAKS="1")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""  # nanobind warns here about types registered twice and about what was leaked


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
    core.load.cache_clear()  # an earlier test may have loaded it
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


@needs_core
def test_python_exits_cleanly_while_daemon_threads_compute(run_python):
    code = """
import threading, time
import numpy as np
import madaline as md

f = md.compile(lambda x, w: np.tanh(x @ w).sum())
x, w = np.ones((500, 200), np.float32), np.ones((200, 200), np.float32)
print(float(f(x, w)))

def compute():
    while True:
        f(x, w)

for _ in range(3):
    threading.Thread(target=compute, daemon=True).start()
time.sleep(0.05)
"""
    for _ in range(3):
        run = run_python(code)
        assert (run.returncode, run.stdout, run.stderr) == (0, "100000.0\n", "")
