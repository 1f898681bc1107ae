"""What a page draws at a moment of a run, as bytes: a line of JSON, then arrays.

A frame begins with the length of its JSON (4 bytes, little-endian), which is padded so that arrays begin at multiples
of four. The JSON says for each array its type, its shape and where it begins.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np

from madaline.functional.gradient import grad
from madaline.functional.model import Model
from madaline.losses.loss import softmax
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.residual import Residual
from madaline.nn.layers.sequential import Sequential
from madaline.web.play.exercise import Exercise
from madaline.web.play.run import RunState, Snapshot

SURFACE, CURVE, SMALL = 72, 160, 24
"Points of a side of a surface, of a curve, and of a side of the map of a unit."
MOST_ROWS = 1000
"Rows of the training set whose activations and gradients are shown."
MOST_MAPS = 12
"Units of a layer with a map: as many as page/network.js draws."
BINS = 24
"Bins of the histogram of the activations of a layer."


class Viewer:
    """Draws the frames of a run."""

    def __init__(self, exercise: Exercise, model: Model) -> None:
        problem = exercise.problem
        self._exercise, self._loss = exercise, exercise.loss
        self._model = Model(model.network, model.params.flat.copy(), model.state.flat.copy())
        self.stages = stages(model)
        is_surface = problem.n_coordinates == 2
        self._side = SURFACE if is_surface else CURVE
        self._grid = problem.grid(self._side).astype(np.float32)
        self._rows = problem.X[:MOST_ROWS].astype(np.float32)
        targets = problem.y[:MOST_ROWS]
        self._gradient = grad(lambda w: np.mean(self._loss.rows(self._model.with_parameters(w)(self._rows), targets)))
        self._is_surface = is_surface
        self._lock = threading.Lock()

    def frame(self, state: RunState, *, at: int | None = None, seen_rows: int = 0) -> bytes:
        """The frame near a step, by default the last one, with the rows of the history after those that were seen."""
        kept = state.snapshots
        snapshot = kept[-1] if at is None else min(kept, key=lambda each: abs(each.step - at))
        with self._lock, np.errstate(all="ignore"):
            self._model.params.flat[...] = snapshot.params
            self._model.state.flat[...] = snapshot.state
            arrays, layers = self._arrays(snapshot)
        header = {
            "status": state.status,
            "message": state.message,
            "version": state.version,
            "step": snapshot.step,
            "epoch": snapshot.epoch,
            "last": state.step,
            "first": seen_rows,
            "history": {name: values[seen_rows:] for name, values in state.history.items() if name != "seconds"},
            "moments": [each.step for each in kept],
            "layers": layers,
        }
        return packed(header, arrays)

    def _arrays(self, snapshot: Snapshot) -> tuple[dict[str, np.ndarray], list[dict[str, Any]]]:
        model, side = self._model, self._side
        maps = model.activations(self._grid)
        rows = model.activations(self._rows)
        slopes = self._slopes(snapshot.params)
        arrays = {"output": self._output(maps[""]), "inputs": self._small(self._grid, side)}
        layers = []
        for place, (weights, output) in enumerate(self.stages):
            W = model.params[f"{weights}.W"]
            shape = W.shape
            arrays[f"W{place}"] = W
            for letter, flat in (("g", slopes), ("u", snapshot.params - snapshot.before)):
                arrays[f"{letter}{place}"] = Model(model.network, flat, model.state.flat).params[f"{weights}.W"]
            if f"{weights}.b" in model.params:
                arrays[f"b{place}"] = model.params[f"{weights}.b"]
            if place < len(self.stages) - 1:
                arrays[f"maps{place}"] = self._small(maps[output], side)
            layers.append(_statistics(rows[output], arrays[f"g{place}"], W) | {"path": weights, "units": shape[1]})
        return arrays, layers

    def _slopes(self, params: np.ndarray) -> np.ndarray:
        if not np.isfinite(params).all():
            return np.full_like(params, np.nan)
        return np.asarray(self._gradient(params), dtype=np.float32)

    def _output(self, raw: np.ndarray) -> np.ndarray:
        """Numbers; probabilities times 255, of several classes as bytes. One is not rounded: its boundary is smooth."""
        if self._exercise.problem.task == "numbers":
            return np.asarray(self._loss.predict(raw), dtype=np.float32).reshape(len(raw), -1)[:, :1]
        found = softmax(raw) if self._loss.out_activation == "identity" else self._loss.predict(raw)
        found = np.asarray(found).reshape(len(raw), -1)
        found = np.nan_to_num(np.clip(found * 255.0, 0, 255))
        return found.astype(np.float32) if found.shape[1] == 1 else found.round().astype(np.uint8)

    def _small(self, values: np.ndarray, side: int) -> np.ndarray:
        """The outputs of the first units as bytes, 128 for 0; a map for each unit, or a curve."""
        values = values[:, :MOST_MAPS]
        if self._is_surface:
            pick = np.linspace(0, side - 1, SMALL).round().astype(int)
            values = values.reshape(side, side, -1)[np.ix_(pick, pick)].reshape(SMALL * SMALL, -1)
        else:
            values = values[np.linspace(0, side - 1, 2 * SMALL).round().astype(int)]
        largest = np.maximum(np.abs(values).max(axis=0), 1e-12)
        return np.nan_to_num(np.clip(128 + 127 * values / largest, 0, 255), nan=128).round().astype(np.uint8).T


def stages(model: Model) -> list[tuple[str, str]]:
    """For each layer with weights: the path of its weights, and of the layer that gives the outputs of its units."""
    net = model.net
    assert isinstance(net, Sequential)
    found: list[tuple[str, str]] = []
    for place, layer in enumerate(net.layers):
        if isinstance(layer, Linear):
            found.append((str(place), str(place)))
        elif isinstance(layer, Residual):
            found.append((f"{place}.0", str(place)))
        elif found and layer.first_activation() is not None:
            found[-1] = (found[-1][0], str(place))
    return found


def _statistics(outputs: np.ndarray, slope: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Mean, spread and histogram of the outputs of a layer, and the size of its gradient."""
    values = outputs[np.isfinite(outputs)]
    if not values.size:
        return {"mean": None, "std": None, "dead": 0, "low": 0, "high": 1, "bins": [0] * BINS, "gradient": None}
    low, high = float(values.min()), float(values.max())
    bins, _ = np.histogram(values, BINS, (low, high if high > low else low + 1.0))
    size = float(np.sqrt(np.mean(slope**2)))
    return {
        "mean": float(values.mean()),
        "std": float(values.std()),
        "dead": int((np.abs(outputs).max(axis=0) == 0).sum()),
        "low": low,
        "high": high,
        "bins": bins.tolist(),
        "gradient": size if np.isfinite(size) else None,
        "weight": float(np.sqrt(np.mean(weights**2))) if np.isfinite(weights).all() else None,
    }


def packed(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """A frame."""
    parts, place, listed = [], 0, []
    for name, array in arrays.items():
        kind = "u1" if array.dtype == np.uint8 else "f4"
        content = np.ascontiguousarray(array, dtype=kind).tobytes()
        listed.append({"name": name, "type": kind, "shape": list(array.shape), "start": place})
        content += b"\0" * (-len(content) % 4)
        parts.append(content)
        place += len(content)
    text = json.dumps(_plain(header | {"arrays": listed}), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + b"".join(parts)


def _plain(value: Any) -> Any:
    """The same with null in place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
