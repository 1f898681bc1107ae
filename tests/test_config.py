"""What the configuration shows: versions, native core, threads, caches."""

from __future__ import annotations

import pytest

import madaline as md
from madaline import config
from madaline.errors import ConfigError
from madaline.kernels import core


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


@pytest.mark.skipif(core.isa() is None, reason="without a native core the reference executor is in use anyway")
def test_show_config_names_the_executor_that_was_asked_for(monkeypatch, capsys):
    monkeypatch.setenv("MADALINE_EXECUTOR", "reference")
    md.show_config()
    assert "reference (NumPy): asked for by MADALINE_EXECUTOR" in capsys.readouterr().out
    assert md.show_config("dict")["executor"] == "reference"


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
