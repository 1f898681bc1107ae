"""Models trained with PyTorch: weights from a state file, layers from what ``print(net)`` shows."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madaline import container
from madaline.errors import ConfigError, FileFormatError, MissingPackageError
from madaline.functional.model import Model
from madaline.nn.layer import Layer
from madaline.nn.layers.embedding import Embedding
from madaline.nn.layers.linear import Linear
from madaline.nn.network import build
from madaline.ship.foreign import model_with
from madaline.ship.torch_layers import net_of

RENAMED = {"weight": "W", "bias": "b", "running_mean": "mean", "running_var": "variance"}
"Our names for the arrays of PyTorch; norms keep ``weight`` and ``bias``."


def from_torch(weights: Any, net: Layer | str | None = None, *, inputs: Any = None, prefix: str = "") -> Model:
    """Create a model with the weights of an ``nn.Sequential`` of PyTorch.

    Reading a file runs no code from it.

    Parameters
    ----------
    weights : path, dict or nn.Sequential
        A safetensors file, a file written by ``torch.save(net.state_dict(), path)`` (requires torch, and is read with
        ``weights_only=True``), a state dict, or the module itself.
    net : str or Layer, optional
        The result of ``str(net)`` in PyTorch, ``"Sequential((0): Linear(in_features=4, ..."``, or one of our nets with
        its layers in the same positions. Not needed with a module.
    inputs : int or tuple, optional
        The number of columns, or the shape of a row. Required if the net does not begin with a linear layer.
    prefix : str
        Common prefix of the names in the file, such as ``"model."``. Names without it are ignored.

    Raises
    ------
    FileFormatError
        If the file is damaged, or if its weights do not fit the net.

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
        raise ConfigError(
            "from_torch needs the net: the result of str(net) in PyTorch, or one of our nets with the same layers."
        )
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
    if is_torch_file:
        return _from_torch_file(path)
    return container.read_safetensors(path, "a file of safetensors or torch.save")[0]


def _as_array(value: Any) -> np.ndarray:
    value = value.detach().cpu() if hasattr(value, "detach") else value
    if str(getattr(value, "dtype", "")) in ("torch.bfloat16", "torch.float16"):
        value = value.float()
    return np.asarray(value)


def _from_torch_file(path: Path) -> dict[str, np.ndarray]:
    try:
        import torch
    except ImportError:
        raise MissingPackageError(
            f"{str(path)!r} was written by torch.save, which only torch can read. Install torch, or save the weights "
            "with safetensors: safetensors.torch.save_file(net.state_dict(), path)."
        ) from None
    with container.reading(path, "a file of torch.save"):
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:  # its message recommends to run the code of the file
            raise FileFormatError(
                f"{str(path)!r} is damaged or contains more than weights. Save net.state_dict() with torch.save."
            ) from error
        if not isinstance(state, Mapping):
            raise FileFormatError(
                f"{str(path)!r} contains a {type(state).__name__}. Save net.state_dict() instead of the net."
            )
        return {str(name): _as_array(value) for name, value in state.items()}


def _width(net: Layer, state: Mapping[str, np.ndarray]) -> Any:
    """The number of input columns, from the weights of the first linear layer."""
    leaves = _leaves(net)
    first, layer = next((leaf for leaf in leaves if isinstance(leaf[1], (Linear, Embedding))), ("", None))
    if not isinstance(layer, Linear):
        raise ConfigError(
            "The shape of a row cannot be inferred from the weights. Pass it: inputs=20 or inputs=(28, 28)."
        )
    weights = state.get(f"{first}.weight")
    if weights is None or weights.ndim != 2:
        raise FileFormatError(f"The weights of the first linear layer, '{first}.weight', are missing or not a matrix.")
    return int(weights.shape[1])


def _leaves(net: Layer, path: str = "") -> list[tuple[str, Layer]]:
    parts = net.parts()
    if not parts:
        return [(path, net)]
    return [leaf for name, layer in parts for leaf in _leaves(layer, f"{path}.{name}" if path else name)]


def _renamed(net: Layer, inputs: Any, state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with the names and the layout of our net."""
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
    # Norms may lack a bias in PyTorch; here it is 0.
    return found | {path: np.zeros(entry.shape, np.float32) for path, entry in absent.items()}
