"""Programs as bytes, for a core that Python does not call; ``native/wasm/reader.h`` reads them.

The bytes are the calls that build the program in the native core, one after another.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

from madaline.kernels.native import encode
from madaline.plan.program import Program

NONE, SHORT, INT, LONG, DOUBLE, LIST, TEXT = range(0x80, 0x87)
"Bytes that precede a value; smaller ones are the numbers 0 to 127 themselves."
INTEGERS = ((SHORT, "<h", 1 << 15), (INT, "<i", 1 << 31), (LONG, "<q", 1 << 63))


def serialise(program: Program, core: ModuleType) -> bytes:
    """The program as bytes; the native core says which number each operation and each type has."""
    recorder = _Recorder(core)
    encode(program, cast(ModuleType, recorder))
    return b"".join(recorder.parts)


class _Recorder:
    """Stands for the native core, and for a program in it: keeps the calls."""

    def __init__(self, core: ModuleType) -> None:
        self.SPACES, self.DTYPES = core.SPACES, core.DTYPES
        self.REDUCTIONS, self.OPCODES = core.REDUCTIONS, core.OPCODES
        self.parts: list[bytes] = []

    def Program(self, *arena: int) -> _Recorder:  # noqa: N802 - the name of the core's class
        self.parts.extend(map(written, arena))
        return self

    def __getattr__(self, name: str) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            text = name.encode()
            self.parts.append(bytes([TEXT, len(text)]) + text + written(arguments))

        return call


def written(value: Any) -> bytes:
    """A value as bytes.

    Examples
    --------
    >>> written([3, -1, None]).hex(" ")
    '85 03 00 03 81 ff ff 80'
    """
    if value is None:
        return bytes([NONE])
    if isinstance(value, (list, tuple)):
        return struct.pack("<BH", LIST, len(value)) + b"".join(map(written, value))
    if isinstance(value, float):
        return struct.pack("<Bd", DOUBLE, value)
    number = int(value)
    if 0 <= number < NONE:
        return bytes([number])
    tag, form, _ = next(each for each in INTEGERS if -each[2] <= number < each[2])
    return bytes([tag]) + struct.pack(form, number)
