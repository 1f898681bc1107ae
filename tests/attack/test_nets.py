"""Deep nets: the work to save, load and export them grows as they do."""

from __future__ import annotations

from functools import partial

import pytest

import madaline as md
from attack.work import lines_run

WAYS = {
    "python": lambda model, folder: md.export(model, folder / "net.py", to="python", overwrite=True),
    "python-only": lambda model, folder: md.export(model, folder / "net.py", to="python-only", overwrite=True),
    "c": lambda model, folder: md.export(model, folder / "net.c", to="c", overwrite=True),
    "onnx": lambda model, folder: md.export(model, folder / "net.onnx", to="onnx", overwrite=True),
    "torch": lambda model, folder: md.export(model, folder / "net.py", to="torch", overwrite=True),
    "save": lambda model, folder: md.save(model, folder / "net"),
    "load": lambda model, folder: (md.save(model, folder / "net"), md.load(folder / "net")),
}


def deep(n_layers):
    return md.Sequential(*[layer for _ in range(n_layers) for layer in (md.Linear(3), "mish")], md.Linear(1)).init(3)


@pytest.mark.parametrize("way", WAYS)
def test_the_work_grows_as_the_net_does(way, tmp_path):
    WAYS[way](deep(2), tmp_path)  # imports
    small, large = (lines_run(partial(WAYS[way], deep(n), tmp_path)) for n in (15, 60))
    assert large < 4.5 * small
