"""A recorder for training loops of PyTorch, so that the doctor can examine them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.doctor.intercept import planned
from madaline.doctor.record import Record
from madaline.errors import ConfigError, MadalineError
from madaline.functional.model import Model
from madaline.nn.activations import ACTIVATIONS
from madaline.nn.initializers import Constant
from madaline.nn.network import Entry
from madaline.optim.adam import Adam, AdamW
from madaline.optim.rmsprop import RMSprop
from madaline.optim.sgd import SGD
from madaline.train.history import History
from madaline.train.probe_samples import GRADIENT, UNITS, UPDATE, ProbeLayout, ProbeSamples
from madaline.train.trainer import Trainer

if TYPE_CHECKING:
    import torch

SAMPLE_EVERY = 10
ACTIVATION_NAMES = {
    "relu": "relu", "relu6": "relu6", "tanh": "tanh", "hardtanh": "hard_tanh", "sigmoid": "sigmoid",
    "softsign": "softsign",
}  # fmt: skip
"Classes of PyTorch's activations in lower case, and our names."
OTHER_ACTIVATIONS = ("gelu", "elu", "selu", "silu", "mish", "leakyrelu", "softplus", "celu", "hardsigmoid", "hardswish")
LOSSES = {
    "MSELoss": "mse", "L1Loss": "mae", "CrossEntropyLoss": "cross_entropy", "BCEWithLogitsLoss": "binary_cross_entropy",
    "HuberLoss": "huber",
}  # fmt: skip


class TorchRecorder:
    """Watches the training loop of a PyTorch module, so that :func:`madaline.diagnose` can examine it.

    Hooks of the module and of the optimizer sample activations, gradients and updates. With the data, the loss and a
    module that can be translated, an ``nn.Sequential`` of common layers, remedies are tried as for our own nets;
    without them, the diagnosis is based on the history only.

    Parameters
    ----------
    module : torch.nn.Module
    optimizer : torch.optim.Optimizer
    loss : torch loss module or str, optional
        For example ``nn.MSELoss()``.
    X, y : array or tensor, optional
        The training set.
    validation : (X, y), optional
        Rows that are not trained on.
    batch_size : int, optional
        Mini-batch size of the loop. By default that of the first recorded step.
    sample_every : int, default 10
        Number of steps between samples.

    Attributes
    ----------
    history : History
        As for our own trainers, with ``history.probes``.

    Examples
    --------
    Call :meth:`step` after every step, and :meth:`epoch` after every epoch::

        recorder = md.doctor.TorchRecorder(module, optimizer, nn.MSELoss(), X, y)
        for epoch in range(20):
            for rows in batches:
                optimizer.zero_grad()
                loss = loss_function(module(X[rows]), y[rows])
                loss.backward()
                optimizer.step()
                recorder.step(loss)
            recorder.epoch()
        print(md.diagnose(recorder))
    """

    def __init__(
        self,
        module: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] | None = None,
        X: torch.Tensor | np.ndarray | None = None,
        y: torch.Tensor | np.ndarray | None = None,
        *,
        validation: tuple[torch.Tensor | np.ndarray, torch.Tensor | np.ndarray] | None = None,
        batch_size: int | None = None,
        sample_every: int = SAMPLE_EVERY,
    ) -> None:
        if sample_every < 1:
            raise ConfigError(f"sample_every={sample_every!r} must be at least 1.")
        self.module, self.optimizer, self.loss = module, optimizer, loss
        self.data = None if X is None or y is None else (_array(X), _array(y))
        self.validation = None if validation is None else (_array(validation[0]), _array(validation[1]))
        self.batch_size, self.sample_every = batch_size, sample_every
        self.history = History()
        self.why_not_tried = ""
        "Why no remedy can be tried, if so."
        self._start = _state(module)
        self._t, self._losses, self._started = 0, list[float](), time.perf_counter()
        self._units: dict[str, dict[str, np.ndarray]] = {}
        self._samples: ProbeSamples | None = None
        self._before: np.ndarray | None = None
        self._gradient: np.ndarray | None = None
        self._rows = 0
        self._handles = [leaf.register_forward_hook(self._hook(path)) for path, leaf in _leaves(module).items()]
        self._handles += [
            optimizer.register_step_pre_hook(self._before_step),
            optimizer.register_step_post_hook(self._after_step),
        ]

    def step(self, loss: torch.Tensor | float) -> None:
        """Record the loss of a step; call it after ``optimizer.step()``."""
        self._losses.append(float(loss.detach() if hasattr(loss, "detach") else loss))

    def epoch(self, **values: float) -> None:
        """End an epoch; ``values``, such as ``val_loss``, become columns of the history."""
        now = time.perf_counter()
        loss = float(np.mean(self._losses)) if self._losses else float("nan")
        rate = float(self.optimizer.param_groups[0]["lr"])
        row = {"epoch": self.history.n_rows + 1, "loss": loss, "learning_rate": rate, "seconds": now - self._started}
        self.history.add(**row, **{name: float(value) for name, value in values.items()})
        self.history.stopped = "finished" if np.isfinite(loss) else "diverged"
        self._losses, self._started = [], now

    def close(self) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @property
    def record(self) -> Record | None:
        """The run as one of our own, on which remedies can be tried; None if it cannot be translated."""
        try:
            trainer, final = self._translated()
        except (MadalineError, ImportError) as error:
            self.why_not_tried = str(error)
            return None
        assert self.data is not None
        epochs = max(self.history.n_rows, 1)
        found = planned(
            trainer,
            *self.data,
            epochs=epochs,
            batch_size=self.batch_size or self._rows or 32,
            validation=self.validation,
        )
        return replace(found, history=self.history, model=final)

    def _translated(self) -> tuple[Trainer, Model]:
        """A trainer with the initial parameters of the module, and the trained model."""
        from madaline.ship.from_torch import from_torch

        if self.data is None:
            raise ConfigError("the data were not given: TorchRecorder(module, optimizer, loss, X, y)")
        name = self.loss if isinstance(self.loss, str) else LOSSES.get(type(self.loss).__name__)
        if name is None:
            raise ConfigError(f"the loss {type(self.loss).__name__} is not known. Known: {', '.join(LOSSES)}")
        width = self.data[0].shape[1]
        start, final = (
            from_torch(state, str(self.module), inputs=width) for state in (self._start, _state(self.module))
        )
        return Trainer(start, loss=name, optimizer=_optimizer(self.optimizer), threads=1), final

    @property
    def _is_due(self) -> bool:
        return self._t % self.sample_every == 0

    def _hook(self, path: str) -> Callable[..., None]:
        def note(module: Any, inputs: Any, output: Any) -> None:
            if module.training and self._is_due and getattr(output, "ndim", 0) == 2:
                self._rows = len(output)
                y, x = _array(output), _array(inputs[0])
                self._units[path] = {"mean": y.mean(0), "square": (y * y).mean(0), "zero": (y == 0).mean(0)}
                ends = _saturation(module)
                if ends is not None:
                    self._units[path]["saturated"] = ((x < ends[0]) | (x > ends[1])).mean(0)

        return note

    def _before_step(self, *_: Any) -> None:
        if self._is_due:
            self._before = self._flat(lambda p: p)
            self._gradient = self._flat(lambda p: p.grad)

    def _after_step(self, *_: Any) -> None:
        self._t += 1
        if self._before is None or self._gradient is None or not self._units:
            return
        layout = self._layout()
        if self._samples is None or self._samples.layout.units != layout.units:
            self._samples = ProbeSamples(layout, None if self.data is None else len(self.data[0]))
        units = [
            np.concatenate([self._units[path][name] for path in layout.units]) for name in ("mean", "square", "zero")
        ]
        units += [self._units[path]["saturated"] for path in layout.saturating]
        after = self._flat(lambda p: p)
        sample = {UNITS: np.concatenate(units), GRADIENT: self._gradient, UPDATE: after - self._before}
        self.history.probes.add_columns(self._samples.columns(sample, after, t=self._t, n_rows=self._rows))
        self._before = self._gradient = None
        self._units = {}

    def _flat(self, part: Callable[[Any], Any]) -> np.ndarray:
        """One vector of all parameters, or of their gradients."""
        pieces = [(part(p), p) for p in self.module.parameters()]
        return np.concatenate(
            [np.zeros(p.numel()) if v is None else _array(v).ravel().astype(float) for v, p in pieces]
        )

    def _layout(self) -> ProbeLayout:
        units, saturating, entries = {}, {}, dict[str, tuple[Entry, ...]]()
        offset = place = 0
        for path, found in self._units.items():
            width = len(found["mean"])
            units[path], offset = slice(offset, offset + width), offset + width
        n_units, offset = offset, 0
        for path, found in self._units.items():
            if "saturated" in found:
                saturating[path] = slice(offset, offset + len(found["saturated"]))
                offset += len(found["saturated"])
        for name, parameter in self.module.named_parameters():
            path = name.rpartition(".")[0]
            if path in units and parameter.requires_grad:
                entry = Entry(name, tuple(parameter.shape), place, Constant(0.0))
                entries[path] = (*entries.get(path, ()), entry)
            place += parameter.numel()
        leaves = _leaves(self.module)
        activations = frozenset(path for path in units if _is_activation(leaves[path]))
        return ProbeLayout(tuple(units), units, saturating, n_units, entries, activations)


def _leaves(module: Any) -> dict[str, Any]:
    """The modules without parts, by path."""
    return {path: each for path, each in module.named_modules() if not list(each.children())}


def _is_activation(module: Any) -> bool:
    name = type(module).__name__.lower()
    return name in ACTIVATION_NAMES or name in OTHER_ACTIVATIONS


def _saturation(module: Any) -> tuple[float, float] | None:
    name = ACTIVATION_NAMES.get(type(module).__name__.lower())
    return None if name is None else ACTIVATIONS[name].saturation


def _array(values: Any) -> np.ndarray:
    """A copy of a tensor, or an array."""
    return np.array(values.detach().cpu().numpy()) if hasattr(values, "detach") else np.asarray(values)


def _state(module: Any) -> dict[str, np.ndarray]:
    return {name: _array(value) for name, value in module.state_dict().items()}


def _optimizer(optimizer: Any) -> Any:
    """Our optimizer for one of PyTorch."""
    group, name = optimizer.param_groups[0], type(optimizer).__name__
    rate, decay = float(group["lr"]), float(group.get("weight_decay", 0.0))
    if name == "Adam":
        return Adam(rate, beta1=group["betas"][0], beta2=group["betas"][1], eps=group["eps"], weight_decay=decay)
    if name == "AdamW":
        return AdamW(rate, beta1=group["betas"][0], beta2=group["betas"][1], eps=group["eps"], weight_decay=decay)
    if name == "SGD":
        return SGD(rate, momentum=group["momentum"], weight_decay=decay)
    if name == "RMSprop":
        return RMSprop(rate, weight_decay=decay)
    raise ConfigError(f"the optimizer {name} is not known. Known: Adam, AdamW, SGD, RMSprop")
