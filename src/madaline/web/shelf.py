"""The models of a server by name, loaded again when their files change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from madaline.web.errors import RequestError
from madaline.web.metrics import Metrics
from madaline.web.served_model import ServedModel

Stamp = tuple[int, int, int]
log = logging.getLogger("madaline.web")


class ModelShelf:
    """Models by name. A request takes a model once, so that a change of the file does not affect it.

    Parameters
    ----------
    files : mapping of str to Path
        Model files by name; the first is the default.
    metrics : Metrics
    """

    def __init__(self, files: Mapping[str, Path], metrics: Metrics) -> None:
        self._files = dict(files)
        self._metrics = metrics
        self._stamps = {name: _stamp(file) for name, file in files.items()}
        self._models: dict[str, ServedModel] = {}
        for name, file in files.items():
            self._put(ServedModel.load(name, file))

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._models.values())

    def get(self, name: str | None) -> ServedModel:
        """The model of a name, or the default one."""
        if name is None:
            return next(iter(self))
        if name not in self._models:
            raise RequestError(404, f"There is no model {name!r}. Known: {', '.join(self._models)}.")
        return self._models[name]

    async def watch(self, seconds: float) -> None:
        """Look at the files again and again; load those that have changed."""
        while True:
            await asyncio.sleep(seconds)
            await self.refresh()

    async def refresh(self) -> None:
        """Load the files that have changed. If that fails, the old model stays."""
        for name, file in self._files.items():
            stamp = _stamp(file)
            if stamp is None or stamp == self._stamps[name]:
                continue  # a file that is being replaced may be absent for a moment
            self._stamps[name] = stamp
            try:
                self._put(await asyncio.to_thread(ServedModel.load, name, file))
            except Exception as error:  # noqa: BLE001 - whatever is wrong with the new file, the old model answers
                self._stamps[name] = stamp
                self._metrics.count("madaline_reloads_total", model=name, result="failed")
                log.warning("%s has changed and cannot be loaded, so the earlier model stays. %s", file, error)
            else:
                self._metrics.count("madaline_reloads_total", model=name, result="loaded")
                log.warning("%s has changed and was loaded.", file)

    def _put(self, model: ServedModel) -> None:
        self._models[model.name] = model
        self._metrics.set("madaline_model_loaded_timestamp_seconds", model.loaded, model=model.name)


def _stamp(file: Path) -> Stamp | None:
    """What changes when a file is replaced; None if there is no file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
