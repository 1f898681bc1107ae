"""Find the native core: one extension module per instruction set, of which the best one for this CPU is used.

``MADALINE_ISA`` selects a particular one. If none is installed, :func:`core` returns None and warns once; the reference
executor is then used.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import warnings
from types import ModuleType

from madaline.errors import ConfigError, NativeCoreError, NativeCoreWarning

#: All instruction sets for which the core can be compiled, slowest first.
KNOWN_ISAS = ("baseline", "avx2", "avx512")


def core() -> ModuleType | None:
    """The extension module in use, or None if the package was installed without its native core.

    Warns
    -----
    NativeCoreWarning
        The first time that it returns None.
    """
    module = _chosen()
    if module is None:
        _warn_once()
    return module


def isa() -> str | None:
    """The instruction set in use, or None without a native core."""
    module = _chosen()
    return None if module is None else str(module.isa)


@functools.cache
def load(isa_name: str) -> ModuleType:
    """The extension module for one instruction set, even if it is not the one in use.

    Raises
    ------
    ConfigError
        If the instruction set is unknown, was not compiled, or is not supported by this CPU.
    """
    return _load(isa_name, argument=f"isa_name={isa_name!r}")


@functools.cache
def built_isas() -> tuple[str, ...]:
    """The instruction sets for which this installation has a module, slowest first."""
    return tuple(name for name in KNOWN_ISAS if importlib.util.find_spec(_module_name(name)) is not None)


@functools.cache
def cpu_isas() -> tuple[str, ...]:
    """The instruction sets that this CPU supports, slowest first; empty without a native core."""
    return tuple(_import("baseline").cpu_isas()) if "baseline" in built_isas() else ()


@functools.cache
def _chosen() -> ModuleType | None:
    asked = os.environ.get("MADALINE_ISA", "").strip().lower()
    if asked:
        return _load(asked, argument=f"MADALINE_ISA={asked!r}")
    runnable = [name for name in built_isas() if name in cpu_isas()]
    return load(runnable[-1]) if runnable else None


def _load(name: str, *, argument: str) -> ModuleType:
    if name not in KNOWN_ISAS:
        reason = "is not a known instruction set"
    elif name not in built_isas():
        reason = "is not part of this installation"
    elif name not in cpu_isas():
        reason = "is more than this CPU can run"
    else:
        return _import(name)
    raise ConfigError(
        f"{argument} {reason}. Known: {_list(KNOWN_ISAS)}. Built: {_list(built_isas())}. "
        f"This CPU can run: {_list(cpu_isas())}. Choose one that is in all three, or leave the choice to madaline."
    )


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(_module_name(name))
    except ImportError as error:
        raise NativeCoreError(
            f"The native core {_module_name(name)} is installed but cannot be loaded: {error}. "
            "It was probably built for another Python or system library; install madaline again."
        ) from error


def _module_name(isa_name: str) -> str:
    return f"{__package__}._{isa_name}"


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


@functools.cache
def _warn_once() -> None:
    warnings.warn(
        "madaline was installed without its native core, so NumPy runs every program: same results, many times slower. "
        "To get the core, install a C++20 compiler and reinstall madaline without MADALINE_PURE_PYTHON.",
        NativeCoreWarning,
        stacklevel=3,
    )
