"""Nets that PyTorch has trained: weights from a state file, the layers from what ``print(net)`` shows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madaline.errors import ConfigError, FileFormatError, MissingPackageError
from madaline.functional.model import Model
from madaline.nn.layer import Layer
from madaline.nn.layers.embedding import Embedding
from madaline.nn.layers.linear import Linear
from madaline.nn.network import build
from madaline.ship.foreign import model_with
from madaline.ship.torch_layers import net_of

RENAMED = {"weight": "W", "bias": "b", "running_mean": "mean", "running_var": "variance"}
"Our names of their arrays; norms keep ``weight`` and ``bias``."


def from_torch(weights: Any, net: Layer | str | None = None, *, inputs: Any = None, prefix: str = "") -> Model:
    """A model with the weights of an ``nn.Sequential`` of PyTorch. No code of a file is run.

    Parameters
    ----------
    weights : path, dict or nn.Sequential
        A safetensors file, or one of ``torch.save(net.state_dict(), path)`` (which needs torch, and is read with
        ``weights_only=True``); a state dict; or the module itself.
    net : str or Layer, optional
        What ``str(net)`` gives in PyTorch, ``"Sequential((0): Linear(in_features=4, ..."``; or a net of ours with
        layers in the same places. Not needed with a module.
    inputs : int or tuple, optional
        The number of columns, or the shape of a row, where the net does not begin with a linear layer.
    prefix : str
        What names in the file begin with before the number of a layer, as ``"model."``; others are left out.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> state = {"0.weight": np.ones((2, 3)), "0.bias": np.zeros(2)}
    >>> model = md.ship.from_torch(state, "Sequential((0): Linear(in_features=3, out_features=2, bias=True))")
    >>> model(np.ones((1, 3)))
    array([[3., 3.]])
    """
    if hasattr(weights, "state_dict"):
        net = str(weights) if net is None else net
        weights = weights.state_dict()
    if net is None:
        raise ConfigError("from_torch needs the net: what str(net) gives in PyTorch, or the same layers of ours.")
    state = {
        name.removeprefix(prefix): value
        for name, value in _state_of(weights).items()
        if name.startswith(prefix) and not name.endswith("num_batches_tracked")
    }
    ours = net_of(net) if isinstance(net, str) else net
    shape = _width(ours, state) if inputs is None else inputs
    return model_with(ours, shape, _renamed(ours, shape, state))


def _state_of(weights: Any) -> dict[str, np.ndarray]:
    """Arrays by name."""
    if isinstance(weights, Mapping):
        return {str(name): _as_array(value) for name, value in weights.items()}
    path = Path(os.fspath(weights))
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    with path.open("rb") as file:
        is_torch_file = file.read(2) in (b"PK", b"\x80\x02")
    return _from_torch_file(path) if is_torch_file else _from_safetensors(path)


def _as_array(value: Any) -> np.ndarray:
    value = value.detach().cpu() if hasattr(value, "detach") else value
    if str(getattr(value, "dtype", "")) in ("torch.bfloat16", "torch.float16"):
        value = value.float()
    return np.asarray(value)


def _from_safetensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no dict
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise FileFormatError(f"{str(path)!r} is neither a safetensors file nor one of torch.save: {error}.") from error


def _from_torch_file(path: Path) -> dict[str, np.ndarray]:
    try:
        import torch
    except ImportError:
        raise MissingPackageError(
            f"{str(path)!r} is a file of torch.save, which only torch can read. Install torch, or write the weights "
            "with safetensors: safetensors.torch.save_file(net.state_dict(), path)."
        ) from None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a damaged file makes of it
        raise FileFormatError(f"torch refuses {str(path)!r}: {error}") from error
    if not isinstance(state, Mapping):
        raise FileFormatError(f"{str(path)!r} holds a {type(state).__name__}. Save net.state_dict(), not the net.")
    return {str(name): _as_array(value) for name, value in state.items()}


def _width(net: Layer, state: Mapping[str, np.ndarray]) -> Any:
    """The number of columns that go in, as the first linear layer says it."""
    first = next((path for path, layer in _leaves(net) if isinstance(layer, (Linear, Embedding))), None)
    of_first = state.get(f"{first}.weight")
    if of_first is None or of_first.ndim != 2 or not isinstance(dict(_leaves(net))[first or ""], Linear):
        raise ConfigError("The shape of a row is not known from the weights. Give it: inputs=20, inputs=(28, 28).")
    return int(of_first.shape[1])


def _leaves(net: Layer, path: str = "") -> list[tuple[str, Layer]]:
    parts = net.parts()
    if not parts:
        return [(path, net)]
    return [leaf for name, layer in parts for leaf in _leaves(layer, f"{path}.{name}" if path else name)]


def _renamed(net: Layer, inputs: Any, state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays as our net calls them and lays them out."""
    network = build(net, inputs)
    wanted = {**network.params, **network.state}
    kinds = {row.path: row.layer for row in network.rows}
    found: dict[str, np.ndarray] = {}
    for name, array in state.items():
        home, _, own = name.rpartition(".")
        paths = [f"{home}.{each}" if home else each for each in (own, RENAMED.get(own, own), "slope")]
        path = next((each for each in paths if each in wanted), name)
        layer = kinds.get(home)
        found[path] = array.T if isinstance(layer, Linear) and array.ndim == 2 else array
    absent = {path: entry for path, entry in wanted.items() if path.endswith("bias") and path not in found}
    # Norms may lack a bias there; here it is 0.
    return found | {path: np.zeros(entry.shape, np.float32) for path, entry in absent.items()}
