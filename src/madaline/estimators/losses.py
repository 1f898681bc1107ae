"""Losses as scikit-learn counts them, made of ours."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from madaline.description import description
from madaline.errors import ConfigError, UnknownNameError
from madaline.graph.shapes import Shape
from madaline.losses.cross_entropy import CrossEntropy
from madaline.losses.custom import as_loss
from madaline.losses.log_link import Poisson
from madaline.losses.loss import LOSSES, Loss, as_array, softmax
from madaline.losses.squared import HalfMSE
from madaline.losses.targets import Target, columns

SCIKIT_NAMES: dict[str, str] = {"squared_error": "half_mse", "absolute_error": "mae"}
"What scikit-learn calls otherwise."


@description
class SummedOverOutputs(Loss):
    r"""The sum over the outputs of a loss that is their mean, :math:`D\ell`: what scikit-learn's gradients are of."""

    single: Loss

    @property
    def name(self) -> str:  # type: ignore[override]  # that of the loss it sums; it is in no registry
        """That of the loss it sums."""
        return self.single.name

    @property
    def out_activation(self) -> str:  # type: ignore[override]  # of each object
        """That of the loss it sums."""
        return self.single.out_activation

    def to_dict(self) -> dict[str, Any]:
        """Plain data by which checkpoints tell one loss from another."""
        return {"over_outputs": self.single.to_dict()}

    def rows(self, prediction: Any, target: Any) -> Any:
        return float(columns(prediction).shape[1]) * self.single.rows(prediction, target)

    def n_outputs(self, target: Target) -> int:
        return self.single.n_outputs(target)

    def check(self, prediction_shape: Shape, target: Any) -> None:
        self.single.check(prediction_shape, target)


@description
class SeveralClasses(Loss):
    """Cross entropies of several targets, each with its own classes, summed; the outputs of the first come first."""

    out_activation: ClassVar[str] = "own"
    n_classes: tuple[int, ...]

    @property
    def name(self) -> str:  # type: ignore[override]  # in no registry: it is made for one data set
        """For messages."""
        return "cross_entropy"

    def to_dict(self) -> dict[str, Any]:
        """Plain data by which checkpoints tell one loss from another."""
        return {"several_classes": list(self.n_classes)}

    def blocks(self, outputs: Any) -> list[Any]:
        """The outputs of each target."""
        ends = np.cumsum((0, *self.n_classes)).tolist()
        return [outputs[:, start:stop] for start, stop in pairwise(ends)]

    def rows(self, prediction: Any, target: Any) -> Any:
        single = CrossEntropy()
        parts = [single.rows(z, target[:, place]) for place, z in enumerate(self.blocks(prediction))]
        return sum(parts[1:], parts[0])

    def n_outputs(self, target: Target) -> int:
        return sum(self.n_classes)

    def predict(self, raw: Any) -> Any:
        return np.concatenate([softmax(z) for z in self.blocks(as_array(raw))], axis=1)

    def check(self, prediction_shape: Shape, target: Any) -> None:
        pass  # the classes were numbered by whoever made it


def scikit_loss(given: Any, *, n_outputs: int = 1) -> Loss:
    """The loss meant by scikit-learn's name, or by anything :func:`madaline.losses.as_loss` takes."""
    if isinstance(given, (tuple, list, int)):
        raise ConfigError(f"loss={given!r} is not a loss. For hidden layers, write hidden_layer_sizes={given!r}.")
    if not isinstance(given, str):
        return as_loss(given)
    if given not in LOSSES and given not in SCIKIT_NAMES:
        known = sorted((*LOSSES.names(), *SCIKIT_NAMES, "log_loss"))
        near = difflib.get_close_matches(given, known, n=1)
        raise UnknownNameError(
            f"loss={given!r} is not a known loss.{f' Did you mean {near[0]!r}?' if near else ''}\n"
            f"Known: {', '.join(known)}"
        )
    loss = as_loss(SCIKIT_NAMES.get(given, given))
    return SummedOverOutputs(loss) if given in ("squared_error", "poisson") and n_outputs > 1 else loss


def reported_by_scikit_learn(loss: Loss, y: np.ndarray, weight: np.ndarray | None) -> Callable[[float], float]:
    """What scikit-learn would report for a mean loss of ours: half the mean square, and the whole Poisson deviance."""
    plain = loss.single if isinstance(loss, SummedOverOutputs) else loss
    if isinstance(plain, HalfMSE) and isinstance(loss, SummedOverOutputs):
        n_outputs = y.shape[1] if y.ndim > 1 else 1
        return lambda value: value / n_outputs
    if isinstance(plain, Poisson):
        counts = columns(np.asarray(y, dtype=np.float64))
        rest = float(np.average(np.sum(xlogy(counts, counts) - counts, axis=1), weights=weight))
        return lambda value: value + rest
    return float
