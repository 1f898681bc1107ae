"""The configuration of this installation: versions, native core, threads, caches."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any, Literal, overload

from madaline.errors import ConfigError
from madaline.kernels import core, threads


@overload
def show_config(mode: Literal["text"] = "text") -> None: ...
@overload
def show_config(mode: Literal["dict"]) -> dict[str, Any]: ...
def show_config(mode: Literal["text", "dict"] = "text") -> dict[str, Any] | None:
    """Print the configuration of this installation, for example for a bug report.

    Parameters
    ----------
    mode : {"text", "dict"}, default "text"
        "text" prints a table and returns None; "dict" prints nothing and returns the same as data.

    Examples
    --------
    >>> import madaline as md
    >>> md.show_config("dict")["executor"] in ("native", "reference")
    True
    """
    if mode not in ("text", "dict"):
        raise ConfigError(f"mode={mode!r} is not known. Choose 'text' or 'dict'.")
    config = _collect()
    if mode == "dict":
        return config
    rows = {
        "madaline": config["version"],
        "Python": config["python"],
        "NumPy": config["numpy"],
        "CPU": config["cpu"],
        "executor": _executor(config),
        "instructions": _instructions(config),
        "threads": f"{config['threads']} ({config['threads_reason']})",
        "caches": ", ".join(f"{name} {size // 1024} KiB" for name, size in config["caches"].items()) or "unknown",
    }
    for name, text in rows.items():
        print(f"{name:<13} {text}")
    return None


def _collect() -> dict[str, Any]:
    import numpy as np

    import madaline
    from madaline.kernels.execute import executor

    isa = core.isa()
    n_threads = threads.current()
    return {
        "version": madaline.__version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "numpy": np.__version__,
        "cpu": _cpu_name(),
        "executor": "reference" if isa is None else executor(),
        "compiler": None if isa is None else str(core.load(isa).compiler),
        "isa": isa,
        "isas_built": core.built_isas(),
        "isas_cpu": core.cpu_isas(),
        "threads": n_threads.n,
        "threads_reason": n_threads.reason,
        "caches": cache_sizes(),
    }


def _executor(config: dict[str, Any]) -> str:
    if config["isa"] is None:
        return "reference (NumPy): installed without the native core"
    if config["executor"] == "reference":
        return "reference (NumPy): asked for by MADALINE_EXECUTOR"
    return f"native, compiled by {config['compiler']}"


def _instructions(config: dict[str, Any]) -> str:
    if config["isa"] is None:
        return "none built"
    built, cpu = ", ".join(config["isas_built"]), ", ".join(config["isas_cpu"])
    return f"{config['isa']} in use; {built} built; {cpu} on this CPU"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or 'unknown'} ({platform.machine()})"


def cache_sizes(cpu: Path = Path("/sys/devices/system/cpu/cpu0")) -> dict[str, int]:
    """Data caches of the first CPU, in bytes: ``{"L1d": 32768, "L2": 524288, ...}``; empty if unknown."""
    sizes = {}
    for folder in sorted(cpu.glob("cache/index*")):
        try:
            level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
            n_bytes = int(size.removesuffix("K")) * 1024 if size.endswith("K") else int(size)
        except (OSError, ValueError):
            continue
        if kind != "Instruction":
            sizes[f"L{level}{'d' if kind == 'Data' else ''}"] = n_bytes
    return sizes
