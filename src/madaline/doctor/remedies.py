"""Remedies that several sicknesses share, each as a change of a setup, of an estimator and of the command line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from madaline.doctor import net_edits as nets
from madaline.doctor.exam import Exam
from madaline.doctor.finding import Remedy
from madaline.doctor.reference import robust_front
from madaline.doctor.setup import Setup
from madaline.optim.adam import Adam
from madaline.optim.optimizer import Optimizer
from madaline.optim.schedule import as_schedule
from madaline.train.stopping import EarlyStopping

USUAL_ADAM = {"solver": "adam", "optimizer": None, "learning_rate_init": 3e-3}
"Parameters of an estimator that trains with Adam and a usual rate."


def rate_times(exam: Exam, factor: float) -> Remedy:
    """Another learning rate."""
    now = exam.setup.learning_rate or 1e-3
    rate = float(f"{now * factor:.2g}")
    return Remedy(
        f"Use a learning rate of {rate:.2g} instead of {now:.2g}.",
        lambda setup: _with_rate(setup, factor),
        {"learning_rate_init": rate},
        f"--learning-rate {rate:.2g}",
    )


def _with_rate(setup: Setup, factor: float) -> Setup:
    optimizer = setup.recipe.optimizer
    return (
        setup.with_optimizer(learning_rate=float(f"{optimizer.learning_rate * factor:.2g}"))
        if isinstance(optimizer, Optimizer)
        else setup
    )


def usual_rate(exam: Exam) -> float:
    """A learning rate that suits most nets."""
    return 3e-3 if scales_steps(exam) else 0.03


def scales_steps(exam: Exam) -> bool:
    """Whether the optimizer scales its steps by the size of gradients, so that rates of different runs compare."""
    return "eps" in vars(exam.setup.recipe.optimizer)


def rates(exam: Exam, *factors: float) -> list[Remedy]:
    """Several other learning rates, and the usual one if it is further away."""
    found = [rate_times(exam, factor) for factor in factors]
    now = exam.setup.learning_rate or 1e-3
    far = usual_rate(exam) / now
    is_further = far < min(factors) if factors[0] < 1 else far > max(factors)
    return [*found, rate_times(exam, far)] if is_further else found


def adam(exam: Exam, rate: float = 3e-3) -> Remedy:
    """Adam with a usual rate."""
    return Remedy(
        f"Use Adam with a learning rate of {rate:.2g}.",
        lambda setup: setup.with_recipe(optimizer=Adam(rate)),
        USUAL_ADAM | {"learning_rate_init": rate},
        f"--learning-rate {rate:.2g}",
    )


def whole_schedule(exam: Exam) -> Remedy:
    """A schedule that falls over the whole run, in place of one that is over early."""
    return Remedy(
        "Let the learning rate fall over the whole run: schedule='cosine'.",
        lambda setup: setup.with_recipe(schedule=as_schedule("cosine")),
        {"schedule": "cosine"},
    )


def more_epochs(exam: Exam, factor: int) -> Remedy:
    """A longer run."""
    epochs = exam.setup.epochs * factor
    return Remedy(
        f"Train for {epochs} epochs instead of {exam.setup.epochs}.",
        lambda setup: replace(setup, epochs=setup.epochs * factor),
        {"max_iter": epochs},
        f"--epochs {epochs}",
    )


def other_batches(exam: Exam, batch_size: int, epochs: int | None = None) -> Remedy:
    """Mini-batches of another size, and perhaps more epochs."""
    longer = "" if epochs is None else f" for {epochs} epochs"
    return Remedy(
        f"Train with mini-batches of {batch_size} rows{longer}.",
        lambda setup: replace(setup, batch_size=batch_size, epochs=epochs or setup.epochs, accumulate=1),
        {"batch_size": batch_size} | ({} if epochs is None else {"max_iter": epochs}),
        f"--batch-size {batch_size}" + ("" if epochs is None else f" --epochs {epochs}"),
    )


def scaled_inputs(exam: Exam) -> Remedy:
    """Standardised inputs."""
    return Remedy(
        "Scale every input column to mean 0 and standard deviation 1: begin the net with md.nn.Standardize().",
        lambda setup: setup.with_net(nets.scaled_inputs(setup.net)),
        {"data": "auto"},
        estimator_text="Scale every input column to mean 0 and standard deviation 1; data='auto' does that.",
    )


def clipped_inputs(exam: Exam) -> Remedy:
    """Inputs scaled by median and quartiles and bounded."""
    front = robust_front(exam.columns)
    return Remedy(
        "Scale the columns by median and quartiles and bound them: begin the net with "
        "md.nn.Standardize(median, quartile_range), 'softsign'.",
        lambda setup: setup.with_net(nets.scaled_inputs(setup.net, front)),
        {"data": "auto"},
        estimator_text="Bound extreme values and scale the columns; data='auto' does that.",
    )


def scaled_target(exam: Exam, *, with_adam: bool = False) -> Remedy:
    """A net that learns the standardised target and predicts in the target's own units."""
    y = np.asarray(exam.problem.train.y, dtype=np.float64).reshape(len(exam.problem.train), -1)
    mean = y.mean(axis=0)
    std = np.where(y.std(axis=0) > 0, y.std(axis=0), 1.0)

    def change(setup: Setup) -> Setup:
        changed = setup.with_net(nets.scaled_output(setup.net, mean.tolist(), std.tolist()))
        optimizer = setup.recipe.optimizer
        if with_adam:
            return changed.with_recipe(optimizer=Adam(3e-3))
        if isinstance(optimizer, Optimizer) and type(optimizer).__name__ == "SGD":
            # The gradient is larger by the square of the scale.
            changed = changed.with_optimizer(learning_rate=optimizer.learning_rate / float(np.mean(std**2)))
        return changed

    adam_too = "Use Adam with a learning rate of 0.003. " if with_adam else ""
    return Remedy(
        f"{adam_too}Train on the standardised target, (y - mean) / std, and scale predictions back: end the net with "
        "md.nn.Standardize(mean=[-mean / std], std=[1 / std]).",
        change,
        {"data": "auto"} | (USUAL_ADAM if with_adam else {}),
        estimator_text=f"{adam_too}Train on the standardised target; data='auto' does that, and scales back.",
    )


def activation(exam: Exam, name: str) -> Remedy:
    """Another activation in all hidden layers."""
    return Remedy(
        f"Use the activation {name!r} in the hidden layers, with initial weights that fit it.",
        lambda setup: setup.with_net(nets.with_activation(setup.net, name)),
        {"activation": name, "init": None},
        f"--activation {name}",
    )


def default_init(exam: Exam) -> Remedy:
    """Initial weights that fit the activations."""
    return Remedy(
        'Draw initial weights that fit the activations: init="auto" of md.Linear and md.mlp.',
        lambda setup: setup.with_net(nets.with_default_init(setup.net)),
        {"init": None},
        estimator_text="Draw initial weights that fit the activations, which is the default: init=None.",
    )


def early_stopping(exam: Exam, patience: int = 10) -> Remedy:
    """Keep the parameters of the best epoch."""
    return Remedy(
        f"Stop early and keep the best epoch: early_stopping={patience} with a validation set.",
        lambda setup: replace(setup, early_stopping=EarlyStopping("val_loss", patience=patience)),
        {"early_stopping": True, "n_iter_no_change": patience},
        f"--patience {patience}",
        estimator_text=f"Stop early and keep the best epoch: early_stopping=True, n_iter_no_change={patience}.",
    )


def more_patience(exam: Exam, rule: EarlyStopping, patience: int) -> Remedy:
    """Early stopping that waits longer, for any improvement of the loss."""
    column = "loss" if rule.metric == "loss" else "val_loss"
    longer = replace(rule, patience=patience, min_delta=0.0, metric=column, mode="auto")
    return Remedy(
        f"Wait longer, and count every improvement of the loss: patience {patience}, min_delta 0, on {column}.",
        lambda setup: replace(setup, early_stopping=longer, epochs=max(setup.epochs, 200)),
        {"n_iter_no_change": patience, "tol": 0.0},
        f"--patience {patience}",
        estimator_text=f"Wait longer, and count every improvement: n_iter_no_change={patience}, tol=0.",
    )


def wider(exam: Exam, width: int) -> Remedy:
    """Wider hidden layers."""
    return Remedy(
        f"Use hidden layers of at least {width} units.",
        lambda setup: setup.with_net(nets.with_width(setup.net, width)),
        {"hidden_layer_sizes": (width, width)},
        f"--hidden {width},{width}",
    )


def less_dropout(exam: Exam, p: float = 0.0) -> Remedy:
    """Less dropout."""
    return Remedy(
        "Use no dropout." if not p else f"Use at most {p:g} dropout.",
        lambda setup: setup.with_net(nets.with_dropout(setup.net, p)),
        {"dropout": p},
        f"--dropout {p:g}",
    )


def both(first: Remedy, second: Remedy) -> Remedy:
    """Two remedies at once."""

    def change(setup: Setup) -> Setup:
        for remedy in (first, second):
            setup = remedy.change(setup) if remedy.change is not None else setup
        return setup

    return Remedy(
        f"{first.text} {second.text}",
        change,
        {**first.parameters, **second.parameters},
        f"{first.options} {second.options}".strip(),
    )
