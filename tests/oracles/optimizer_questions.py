"""Optimizers, schedules, clipping and averages as PyTorch and Optax have them."""

from __future__ import annotations

import numpy as np
from questions import Question, arrays

from madaline.optim.adadelta import Adadelta
from madaline.optim.adagrad import Adagrad
from madaline.optim.adam import Adam, AdaMax, AdamW, AMSGrad, Nadam
from madaline.optim.annealing import Cosine, CosineRestarts, LinearWarmup, OneCycle, Polynomial
from madaline.optim.averaging import EMA, SWA
from madaline.optim.clipping import AdaptiveClip, ClipNorm, ClipValue
from madaline.optim.lion import Lion
from madaline.optim.optimizer import Optimizer
from madaline.optim.plateau import ReduceOnPlateau
from madaline.optim.rmsprop import RMSprop
from madaline.optim.rprop import Rprop
from madaline.optim.schedules import Exponential, Multistep, Step
from madaline.optim.sgd import SGD

# A bumpy valley with noise that depends on the step, as mini-batches have it

N = 12
MATRIX = np.cos(np.arange(float(N * N))).reshape(N, N)
CURVATURE = MATRIX @ MATRIX.T / N + np.diag(np.linspace(0.05, 2.0, N))
START = 2.0 * np.sin(1.0 + np.arange(float(N)))
N_STEPS = 100
KEPT = (1, 2, 3, 10, 30, 100)


def gradient(w, t):
    return CURVATURE @ w + 0.5 * np.sin(3.0 * w) + 0.3 * np.cos(t + np.arange(float(N)) ** 2)


# Name: ours, and the name and options of PyTorch's, in its words

BY_TORCH = {
    "sgd": (SGD(0.02), "SGD", {"lr": 0.02}),
    "sgd momentum": (SGD(0.02, momentum=0.9), "SGD", {"lr": 0.02, "momentum": 0.9}),
    "sgd nesterov": (
        SGD(0.02, momentum=0.8, nesterov=True, weight_decay=0.1),
        "SGD",
        {"lr": 0.02, "momentum": 0.8, "nesterov": True, "weight_decay": 0.1},
    ),
    "sgd dampening": (
        SGD(0.05, momentum=0.9, dampening=0.3),
        "SGD",
        {"lr": 0.05, "momentum": 0.9, "dampening": 0.3},
    ),
    "adagrad": (Adagrad(), "Adagrad", {}),
    "adagrad options": (
        Adagrad(0.3, lr_decay=0.01, initial_sum=0.2, weight_decay=0.05, eps=1e-6),
        "Adagrad",
        {"lr": 0.3, "lr_decay": 0.01, "initial_accumulator_value": 0.2, "weight_decay": 0.05, "eps": 1e-6},
    ),
    "rmsprop": (RMSprop(), "RMSprop", {}),
    "rmsprop centered": (RMSprop(0.01, centered=True, alpha=0.9), "RMSprop", {"centered": True, "alpha": 0.9}),
    "rmsprop momentum": (
        RMSprop(0.003, momentum=0.9, centered=True, weight_decay=0.1),
        "RMSprop",
        {"lr": 0.003, "momentum": 0.9, "centered": True, "weight_decay": 0.1},
    ),
    "adadelta": (Adadelta(), "Adadelta", {}),
    "adam": (Adam(), "Adam", {}),
    "adam options": (
        Adam(0.05, beta1=0.8, beta2=0.95, eps=1e-3, weight_decay=0.1),
        "Adam",
        {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1},
    ),
    "adamw": (AdamW(0.05), "AdamW", {"lr": 0.05}),
    "adamw decay": (AdamW(0.05, weight_decay=0.3), "AdamW", {"lr": 0.05, "weight_decay": 0.3}),
    "amsgrad": (AMSGrad(0.05, beta2=0.9), "Adam", {"lr": 0.05, "betas": (0.9, 0.9), "amsgrad": True}),
    "adamax": (AdaMax(), "Adamax", {}),
    "adamax options": (
        AdaMax(0.05, beta1=0.7, weight_decay=0.1),
        "Adamax",
        {"lr": 0.05, "betas": (0.7, 0.999), "weight_decay": 0.1},
    ),
    "nadam": (Nadam(), "NAdam", {}),
    "nadam decoupled": (
        Nadam(0.05, momentum_decay=0.02, weight_decay=0.1, decoupled=True),
        "NAdam",
        {"lr": 0.05, "momentum_decay": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True},
    ),
    "rprop": (Rprop(), "Rprop", {}),
    "rprop bounds": (
        Rprop(0.05, shrink=0.4, grow=1.5, step_min=0.01, step_max=0.3),
        "Rprop",
        {"lr": 0.05, "etas": (0.4, 1.5), "step_sizes": (0.01, 0.3)},
    ),
}
BY_OPTAX = {
    "lion": (Lion(0.01), "lion", {"learning_rate": 0.01, "weight_decay": 0.0}),
    "lion decay": (
        Lion(0.01, beta1=0.8, beta2=0.95, weight_decay=0.2),
        "lion",
        {"learning_rate": 0.01, "b1": 0.8, "b2": 0.95, "weight_decay": 0.2},
    ),
}


def optimizer_by_us(rule: Optimizer):
    w, slots, kept = START, rule.state(START), []
    for t in range(1, N_STEPS + 1):
        w, slots = rule.step(w, gradient(w, t), slots, t=t)
        if t in KEPT:
            kept.append(w)
    return kept


def optimizer_by_torch(name, options):
    import torch

    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # in which NAdam keeps its product of coefficients, whatever w is
    try:
        w = torch.tensor(START, requires_grad=True)
        rule = getattr(torch.optim, name)([w], **options)
        kept = []
        for t in range(1, N_STEPS + 1):
            w.grad = torch.tensor(gradient(w.detach().numpy(), t))
            rule.step()
            if t in KEPT:
                kept.append(w.detach().numpy().copy())
    finally:
        torch.set_default_dtype(usual)
    return kept


def optimizer_by_optax(name, options):
    import in_jax  # noqa: F401 - which asks for float64
    import jax.numpy as jnp
    import optax

    rule = getattr(optax, name)(**options)
    w = jnp.asarray(START)
    state, kept = rule.init(w), []
    for t in range(1, N_STEPS + 1):
        updates, state = rule.update(jnp.asarray(gradient(np.asarray(w), t)), state, w)
        w = w + updates
        if t in KEPT:
            kept.append(np.asarray(w))
    return kept


# Schedules: factors of the first so many steps

N_RATES = 60
RATES_BY_TORCH = {
    "step": (Step(7, gamma=0.3), "StepLR", {"step_size": 7, "gamma": 0.3}),
    "multistep": (Multistep((5, 9, 30), gamma=0.3), "MultiStepLR", {"milestones": [5, 9, 30], "gamma": 0.3}),
    "exponential": (Exponential(0.93), "ExponentialLR", {"gamma": 0.93}),
    "polynomial": (Polynomial(2.0, steps=40), "PolynomialLR", {"total_iters": 40, "power": 2.0}),
    "cosine": (Cosine(end=0.1), "CosineAnnealingLR", {"T_max": N_RATES, "eta_min": 0.1}),
    "cosine restarts": (
        CosineRestarts(5, longer=2, end=0.05),
        "CosineAnnealingWarmRestarts",
        {"T_0": 5, "T_mult": 2, "eta_min": 0.05},
    ),
    "even restarts": (CosineRestarts(7), "CosineAnnealingWarmRestarts", {"T_0": 7}),
    "one cycle": (OneCycle(), "OneCycleLR", {"max_lr": 1.0, "total_steps": N_RATES}),
    "one cycle options": (
        OneCycle(rise=0.45, start=0.1, end=0.001),
        "OneCycleLR",
        {"max_lr": 1.0, "total_steps": N_RATES, "pct_start": 0.45, "div_factor": 10.0, "final_div_factor": 100.0},
    ),
    "linear warmup": (
        LinearWarmup(10, start=0.2),
        "LinearLR",
        {"start_factor": 0.2 + 0.8 / 10, "total_iters": 9},
    ),
}
METRICS = np.concatenate([1.0 / np.arange(1.0, 12.0), 0.1 + 0.02 * np.cos(np.arange(49.0))])
PLATEAUS = {
    "plateau": (ReduceOnPlateau(0.5, patience=3), {"factor": 0.5, "patience": 3, "eps": 0.0}),
    "plateau options": (
        ReduceOnPlateau(0.3, patience=2, threshold=0.1, cooldown=4, minimum=0.02, mode="max"),
        {
            "factor": 0.3,
            "patience": 2,
            "threshold": 0.1,
            "cooldown": 4,
            "min_lr": 0.02,
            "mode": "max",
            "eps": 0.0,
        },
    ),
}


def torch_rates(make, *, metrics=None):
    """The rates of an optimizer with rate 1, step by step."""
    import torch

    w = torch.zeros(1, requires_grad=True)
    w.grad = torch.zeros(1)
    rule = torch.optim.SGD([w], lr=1.0)
    scheduler = make(rule)
    rates = []
    for index in range(N_RATES):
        if metrics is None:
            rates.append(rule.param_groups[0]["lr"])
        rule.step()
        if index < N_RATES - 1 or metrics is not None:
            scheduler.step(*([] if metrics is None else [metrics[index]]))
        if metrics is not None:
            rates.append(rule.param_groups[0]["lr"])
    return arrays(np.array(rates))


def schedule_by_torch(name, options):
    import torch

    extra = {"cycle_momentum": False} if name == "OneCycleLR" else {}
    return torch_rates(lambda rule: getattr(torch.optim.lr_scheduler, name)(rule, **options, **extra))


def plateau_by_us(schedule):
    plateau = schedule.start()
    return arrays(np.array([plateau.observe(metric) for metric in METRICS]))


def plateau_by_torch(options):
    import torch

    return torch_rates(lambda rule: torch.optim.lr_scheduler.ReduceLROnPlateau(rule, **options), metrics=METRICS)


# Clipping and averages

GRADIENT, WEIGHTS = 3.0 * MATRIX[:5, :4], np.sin(np.arange(20.0)).reshape(5, 4) * np.array([0.0, 1.0, 5.0, 0.1])


def clip_by_torch(name, limit):
    import torch

    w = torch.zeros(GRADIENT.shape, dtype=torch.float64)
    w.grad = torch.tensor(GRADIENT)
    getattr(torch.nn.utils, name)([w], limit)
    return arrays(w.grad)


def clip_by_optax():
    import in_jax  # noqa: F401 - which asks for float64
    import jax.numpy as jnp
    import optax

    rule = optax.adaptive_grad_clip(0.2)
    return [
        np.asarray(rule.update(jnp.asarray(g), rule.init(jnp.asarray(w)), jnp.asarray(w))[0])
        for g, w in ((GRADIENT, WEIGHTS), (GRADIENT[0], WEIGHTS[1]))
    ]


def average_by_us(rule):
    a = START + np.cos(1.0)
    for t in range(2, 30):
        a = rule.update(a, START + np.cos(float(t)), t=t)
    return arrays(a)


def average_by_torch(decay):
    import torch
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    net = torch.nn.Linear(N, 1, bias=False, dtype=torch.float64)
    average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(decay) if decay else None)
    for t in range(1, 30):
        net.weight.data[0] = torch.tensor(START + np.cos(float(t)))
        average.update_parameters(net)
    return arrays(average.module.weight.detach()[0])


def optimizer_questions():
    for name, (rule, theirs, options) in BY_TORCH.items():
        yield Question(
            f"{name} by torch",
            lambda rule=rule: optimizer_by_us(rule),
            lambda theirs=theirs, options=options: optimizer_by_torch(theirs, options),
            rtol=1e-10,
            atol=1e-12,
        )
    for name, (rule, theirs, options) in BY_OPTAX.items():
        yield Question(
            f"{name} by Optax",
            lambda rule=rule: optimizer_by_us(rule),
            lambda theirs=theirs, options=options: optimizer_by_optax(theirs, options),
            rtol=1e-10,
            atol=1e-12,
        )
    for name, (schedule, theirs, options) in RATES_BY_TORCH.items():
        yield Question(
            f"schedule {name} by torch",
            lambda schedule=schedule: arrays(schedule.table(N_RATES)),
            lambda theirs=theirs, options=options: schedule_by_torch(theirs, options),
        )
    for name, (schedule, options) in PLATEAUS.items():
        yield Question(
            f"schedule {name} by torch",
            lambda schedule=schedule: plateau_by_us(schedule),
            lambda options=options: plateau_by_torch(options),
        )
    for clip, theirs in ((ClipValue(0.7), "clip_grad_value_"), (ClipNorm(2.0), "clip_grad_norm_")):
        yield Question(
            f"{theirs} by torch",
            lambda clip=clip: arrays(clip(GRADIENT)),
            lambda clip=clip, theirs=theirs: clip_by_torch(theirs, clip.limit),
        )
    yield Question(
        "adaptive clipping by Optax",
        lambda: arrays(AdaptiveClip(0.2)(GRADIENT, WEIGHTS), AdaptiveClip(0.2)(GRADIENT[0], WEIGHTS[1])),
        clip_by_optax,
    )
    for rule, decay in ((EMA(0.9), 0.9), (SWA(), None)):
        yield Question(
            f"average {rule.name} by torch",
            lambda rule=rule: average_by_us(rule),
            lambda decay=decay: average_by_torch(decay),
        )
