"""The layers of an ``nn.Sequential``, from its string representation."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from madaline.description import short
from madaline.errors import FileFormatError, MadalineError
from madaline.nn.layer import Layer
from madaline.nn.layers.activation import Activation, PReLU
from madaline.nn.layers.dropout import Dropout
from madaline.nn.layers.embedding import Embedding
from madaline.nn.layers.linear import Linear
from madaline.nn.layers.norm import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from madaline.nn.layers.reshape import Flatten, Identity
from madaline.nn.layers.sequential import Sequential

MAX_LENGTH = 1_000_000
"Maximum length of a description."
MAX_DEPTH = 32
"Maximum nesting depth of nets."


def net_of(text: str) -> Sequential:
    """Convert the string representation of a net to a net.

    Examples
    --------
    >>> net_of("Sequential((0): Linear(in_features=4, out_features=8, bias=True) (1): ReLU())")
    Sequential(Linear(8), ReLU())
    """
    if len(text) > MAX_LENGTH:
        raise FileFormatError(
            f"The description of the net has {len(text)} characters; at most {MAX_LENGTH} are allowed."
        )
    reader = _ModuleReader(text)
    net = reader.module(0)
    reader.end()
    if not isinstance(net, Sequential):
        raise FileFormatError(f"The net is {net!r}; an nn.Sequential is needed.")
    return net


class _ModuleReader:
    """Read ``Name(arguments)`` and ``Sequential((0): Name(...) (1): Name(...))`` with any white space."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def module(self, depth: int) -> Layer:
        name = self._match(r"\s*(\w+)\(", "a layer, such as Linear(in_features=4, ...)")
        if name != "Sequential":
            return _layer(name, self._arguments())
        if depth > MAX_DEPTH:
            raise FileFormatError(f"Nets are nested more than {MAX_DEPTH} levels deep.")
        layers: list[Layer] = []
        while not re.compile(r"\s*\)").match(self._text, self._at):
            number = self._match(r"\s*\((\w+)\):", "the number of a layer, such as (0):")
            if number != str(len(layers)):
                raise FileFormatError(f"Layer ({number}) was found where ({len(layers)}) is expected.")
            layers.append(self.module(depth + 1))
        for layer, following in pairwise([*layers, None]):
            if isinstance(layer, Embedding) and not isinstance(following, Flatten):
                raise FileFormatError("An Embedding must be followed by Flatten: here its vectors are concatenated.")
        self._match(r"\s*(\))", "the end of a Sequential")
        return Sequential(*layers)

    def end(self) -> None:
        self._match(r"(\s*)\Z", "the end")

    def _arguments(self) -> str:
        start, depth = self._at, 1
        while depth:
            if self._at >= len(self._text):
                raise FileFormatError("The description of the net ends inside a layer.")
            depth += {"(": 1, ")": -1}.get(self._text[self._at], 0)
            self._at += 1
        return self._text[start : self._at - 1]

    def _match(self, pattern: str, wanted: str) -> str:
        found = re.compile(pattern).match(self._text, self._at)
        if not found:
            there = self._text[self._at : self._at + 40]
            raise FileFormatError(
                f"{there!r} in the description of the net is not {wanted}. Pass the result of str(net)."
            )
        self._at = found.end()
        return found[1]


def _layer(name: str, arguments: str) -> Layer:
    make = LAYERS.get(name)
    if make is None:
        shown = f"{name}({short(arguments)[1:-1]})"
        raise FileFormatError(f"The layer {shown} is not supported. Supported: {', '.join(sorted(LAYERS))}.")
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        assert isinstance(call, ast.Call)
        args = [ast.literal_eval(item) for item in call.args]
        options = {str(item.arg): ast.literal_eval(item.value) for item in call.keywords}
        options.pop("inplace", None)
        return make(*args, **options)
    except MadalineError:
        raise
    except (SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError, RecursionError) as error:
        raise FileFormatError(
            f"The layer {name}({short(arguments)[1:-1]}) has unsupported arguments: {error}"
        ) from error


def _named(name: str, **renamed: str) -> Callable[..., Layer]:
    """An activation; ``renamed`` maps its arguments in PyTorch, in their order, to ours."""

    def make(*args: float, **options: float) -> Layer:
        options = dict(zip(renamed, args, strict=False)) | options
        given: Any = {renamed[key]: value for key, value in options.items()}
        return Activation(name, **given)

    return make


def _gelu(approximate: str = "none") -> Layer:
    return Activation("gelu" if approximate == "none" else "gelu_tanh")


def _hardtanh(min_val: float = -1.0, max_val: float = 1.0) -> Layer:
    if (min_val, max_val) != (-1.0, 1.0):
        raise FileFormatError(f"Hardtanh(min_val={min_val}, max_val={max_val}) must have the bounds -1 and 1.")
    return Activation("hard_tanh")


def _flatten(start_dim: int = 1, end_dim: int = -1) -> Layer:
    if (start_dim, end_dim) != (1, -1):
        raise FileFormatError(f"Flatten(start_dim={start_dim}, end_dim={end_dim}) must keep only the first axis.")
    return Flatten()


def _linear(in_features: int, out_features: int, bias: bool = True) -> Layer:
    return Linear(out_features, bias=bias)


def _batch_norm(num_features: int, *, eps: float, momentum: float, affine: bool, **rest: Any) -> Layer:
    if not rest.pop("track_running_stats", True):
        raise FileFormatError(
            "BatchNorm1d(track_running_stats=False) has no running statistics, which predictions need."
        )
    return BatchNorm(eps=eps, momentum=momentum, affine=affine)


def _layer_norm(shape: tuple[int, ...], *, eps: float, elementwise_affine: bool, bias: bool = True) -> Layer:
    return LayerNorm(n_axes=len(shape), eps=eps, affine=elementwise_affine)


def _rms_norm(shape: tuple[int, ...], *, eps: float | None, elementwise_affine: bool) -> Layer:
    smallest = 2.0**-23  # the machine epsilon of float32, which PyTorch uses for None
    return RMSNorm(n_axes=len(shape), eps=smallest if eps is None else eps, affine=elementwise_affine)


def _group_norm(groups: int, channels: int, *, eps: float, affine: bool, bias: bool = True) -> Layer:
    return GroupNorm(groups, eps=eps, affine=affine)


def _embedding(n_categories: int, width: int, padding_idx: int | None = None) -> Layer:
    return Embedding(n_categories, width)


def _prelu(num_parameters: int) -> Layer:
    return PReLU(per="layer" if num_parameters == 1 else "unit")


LAYERS: dict[str, Callable[..., Layer]] = {
    "BatchNorm1d": _batch_norm,
    "CELU": _named("celu", alpha="alpha"),
    "Dropout": Dropout,
    "ELU": _named("elu", alpha="alpha"),
    "Embedding": _embedding,
    "Flatten": _flatten,
    "GELU": _gelu,
    "GroupNorm": _group_norm,
    "Hardshrink": _named("hardshrink", lambd="width"),
    "Hardsigmoid": _named("hard_sigmoid"),
    "Hardswish": _named("hard_swish"),
    "Hardtanh": _hardtanh,
    "Identity": Identity,
    "LayerNorm": _layer_norm,
    "LeakyReLU": _named("leaky_relu", negative_slope="slope"),
    "Linear": _linear,
    "LogSigmoid": _named("log_sigmoid"),
    "LogSoftmax": _named("log_softmax", dim="axis"),
    "Mish": _named("mish"),
    "PReLU": _prelu,
    "RMSNorm": _rms_norm,
    "ReLU": _named("relu"),
    "ReLU6": _named("relu6"),
    "SELU": _named("selu"),
    "SiLU": _named("swish"),
    "Sigmoid": _named("sigmoid"),
    "Softmax": _named("softmax", dim="axis"),
    "Softplus": lambda beta=1.0, threshold=20.0: Activation("softplus", beta=beta),
    "Softshrink": _named("softshrink", lambd="width"),
    "Softsign": _named("softsign"),
    "Tanh": _named("tanh"),
    "Tanhshrink": _named("tanh_shrink"),
    "Threshold": _named("threshold", threshold="theta", value="value"),
}
"Functions from the printed arguments of a PyTorch layer to ours, by the name of the layer."
