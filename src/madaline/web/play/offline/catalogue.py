"""The nets of the page without a server. Planning needs Python, so that the page has the programs of a catalogue.

What is a number of the data or of the order of steps is free: noise, learning rate, batch size, random seed and so on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from madaline.web.play.choices import listed, names
from madaline.web.play.exercise import Exercise
from madaline.web.play.lessons import LESSONS
from madaline.web.play.settings import Settings

MOST_UNITS = 8
"Largest number of units of a layer in nets that can be composed freely."
FREE_ACTIVATIONS = ("tanh", "relu", "sigmoid", "identity")
FREE_OPTIMIZERS = ("adam", "sgd")
DROPOUTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
MOMENTA = (0.0, 0.5, 0.9, 0.99)
STRENGTHS = (0.0001, 0.001, 0.01, 0.1)
POINTS = (200, 400)
DRAWS = (0, 1)
"Sizes and seeds of generated data."
FEATURES = ("x1", "x2", "x1x1", "x2x2", "x1x2", "sin1", "sin2")
SCHEDULES = (
    "constant",
    "cosine",
    "polynomial",
    "exponential",
    "inverse_time",
    "inverse_root",
    "inverse_scaling",
    "linear_warmup",
)
"Schedules that the page computes, too: page/schedules.js."
LEFT_OUT = ("clip", "balance", "patience", "precision", "scaling")
"Settings that the page does not have."
DATA_OF_TASK = ("moons", "spirals", "wave", "hills")
"One set of data for each kind of target and number of inputs."


def catalogue() -> Iterator[Settings]:
    """Settings, one for each training program and for each initializer; similar ones follow each other."""
    yield from _free_nets()
    for lesson in LESSONS:
        yield from _varied(Settings.of_link(lesson.link), thoroughly=False)
    yield from _varied(Settings(), thoroughly=True)
    yield from _varied(Settings(data="wave", features="x1", layers="8tanh"), thoroughly=False)


def net_key(exercise: Exercise) -> str:
    """What the net of settings depends on; page/offline_keys.js makes the same text."""
    s, problem = exercise.settings, exercise.problem
    parts = [len(problem.inputs), s.layers, exercise.n_outputs, exercise.loss.name, s.norm, f"{s.dropout:g}"]
    return "|".join(map(str, [*parts, int(s.residual), s.init, int(s.standardize)]))


def step_key(exercise: Exercise) -> str:
    """What a training step depends on besides the net."""
    s = exercise.settings
    momentum = exercise.optimizer_options().get("momentum", 0.0)
    penalty = "none" if s.regularizer == "none" else f"{s.regularizer}:{s.strength:g}"
    return f"{s.optimizer}|{momentum:g}|{penalty}"


def _free_nets() -> Iterator[Settings]:
    for data in DATA_OF_TASK:
        is_main = data == "moons"
        for activation in FREE_ACTIVATIONS if is_main else FREE_ACTIVATIONS[:2]:
            for depth in range(4 if is_main else 3):
                if depth == 3 and activation not in FREE_ACTIVATIONS[:2]:
                    continue
                sizes = range(1, MOST_UNITS + 1) if is_main or depth < 2 else range(2, MOST_UNITS + 1, 2)
                for widths in itertools.product(sizes, repeat=depth):
                    layers = ",".join(f"{units}{activation}" for units in widths)
                    for optimizer in FREE_OPTIMIZERS if is_main and depth < 3 else FREE_OPTIMIZERS[:1]:
                        yield Settings(data=data, layers=layers, optimizer=optimizer)


def _varied(base: Settings, *, thoroughly: bool) -> Iterator[Settings]:
    """The settings with one of them changed."""
    yield base
    hidden = base.hidden
    activations = names("activations") if thoroughly else (*FREE_ACTIVATIONS, "leaky_relu")
    for activation in activations if hidden else ():
        yield base.changed(layers=",".join(f"{units}{activation}" for units, _ in hidden))
    for place in range(len(hidden)):
        without = [f"{units}{name}" for number, (units, name) in enumerate(hidden) if number != place]
        yield base.changed(layers=",".join(without))
        for activation in FREE_ACTIVATIONS:
            yield base.changed(layers=",".join([*without[:place], f"{hidden[place][0]}{activation}", *without[place:]]))
    for optimizer in names("optimizers") if thoroughly else FREE_OPTIMIZERS:
        yield base.changed(optimizer=optimizer)
    for momentum in MOMENTA:
        yield base.changed(optimizer="sgd", momentum=momentum)
    if not hidden and base.kind != "curves":
        yield base.changed(layers="4tanh")
    for norm in names("norms"):
        yield base.changed(norm=norm)
    for dropout in DROPOUTS if thoroughly or base.dropout else DROPOUTS[:1]:
        yield base.changed(dropout=dropout)
    yield base.changed(residual=not base.residual)
    yield base.changed(standardize=not base.standardize)
    for regularizer in names("regularizers")[1:] if thoroughly else ("l1", "l2"):
        for strength in STRENGTHS:
            yield base.changed(regularizer=regularizer, strength=strength)
    for init in names("initializers"):
        yield base.changed(init=init)
    if base.data != "wave":
        for count in range(1, len(FEATURES) + 1):
            yield base.changed(features=",".join(FEATURES[:count]))
    if thoroughly:
        for choice in listed("losses"):
            yield base.changed(loss=choice["value"])
