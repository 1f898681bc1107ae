"""Read ahead: the next part of a stream is prepared by another thread while the net is trained with the current one."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Part = TypeVar("Part")

LOOK_SECONDS = 0.1
"Seconds after which a thread whose part is not wanted looks whether the reader has gone."


def ahead(parts: Iterator[Part]) -> Iterator[Part]:
    """The same parts, each made while the one before is in use; at most two are in memory besides that.

    An error is raised when its part is asked for. The thread ends with the last part, or soon after the caller has
    closed the iterator.
    """
    ready: queue.Queue[tuple[list[Part], BaseException | None]] = queue.Queue(maxsize=1)
    is_over = threading.Event()

    def put(part: list[Part], error: BaseException | None) -> bool:
        while not is_over.is_set():
            try:
                ready.put((part, error), timeout=LOOK_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        error: BaseException | None = None
        try:
            for part in parts:
                if not put([part], None):
                    return
        except BaseException as found:  # noqa: BLE001 - raised by the thread that asks for the part
            error = found
        put([], error)

    thread = threading.Thread(target=work, name="madaline-ahead", daemon=True)
    thread.start()
    try:
        while True:
            part, error = ready.get()
            if error is not None:
                raise error
            if not part:
                return
            yield part[0]
    finally:
        is_over.set()
        thread.join()
