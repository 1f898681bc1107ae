"""The parameters of estimators, each defined once: name, type, default, allowed values, description.

:class:`NetParameters` is that table. Signatures, checks, docstrings, the table of the guide and the options of the
command line are made from it. This module imports nothing heavy, so that ``madaline --help`` is quick.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from difflib import get_close_matches
from functools import cache, wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, dataclass_transform, get_type_hints

from madaline.errors import ConfigError
from madaline.estimators.defaults import as_default, is_default, plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

    from madaline.data.data_types import ClassWeights
    from madaline.data.encode import TablePlan
    from madaline.nn.activation_function import ActivationLike
    from madaline.nn.initializers import InitializerLike
    from madaline.nn.layer import Layer
    from madaline.optim.schedule import ScheduleLike
    from madaline.train.events import CallbackLike
    from madaline.train.metrics import MetricLike
    from madaline.train.options import ValidationLike
    from madaline.train.recipe import AverageLike, ConstraintsLike, LossesLike, RegularizersLike, SolverLike

    ActivationsLike: TypeAlias = ActivationLike | Layer | Sequence[ActivationLike | Layer]
    RandomState: TypeAlias = int | np.random.RandomState | None
else:  # for get_type_hints, so that nothing heavy is imported
    ActivationsLike = InitializerLike = Layer = SolverLike = ScheduleLike = RegularizersLike = ConstraintsLike = Any
    AverageLike = ValidationLike = MetricLike = CallbackLike = DTypeLike = TablePlan = LossesLike = ClassWeights = Any
    RandomState = Any


@dataclass(frozen=True)
class NumberRange:
    """Allowed numbers: an interval as in ``[0, 1)``, and whether they must be whole."""

    interval: str
    whole: bool = False


@dataclass(frozen=True)
class OneOf:
    """Allowed texts."""

    texts: tuple[str, ...]


Check = NumberRange | OneOf | str | type | None
"An allowed kind of value; a string is one of scikit-learn's, such as ``array-like``."


@dataclass(frozen=True)
class Parameter:
    """What is known about a parameter in addition to its name, type and default.

    Parameters
    ----------
    takes : str
        Allowed values, for the documentation.
    does : str
        What it does.
    checks : tuple
        Allowed kinds of values, checked before a fit. Names of activations, losses and so on are checked by their
        registries.
    extends : str
        scikit-learn's parameter that this one goes beyond, if any.
    requests : str
        Numbers of scikit-learn's issues that ask for it.
    """

    takes: str
    does: str
    checks: tuple[Check, ...] = ()
    extends: str = ""
    requests: str = ""


AT_LEAST_1 = NumberRange("[1, inf)", whole=True)
NOT_NEGATIVE = NumberRange("[0, inf)")
POSITIVE = NumberRange("(0, inf)")
FRACTION = NumberRange("[0, 1)")

CHOSEN_BY_PRESETS = ("early_stopping", "nesterovs_momentum")
"""Booleans of which presets must know whether the user gave them. Others are not marked: a marked one is an integer,
which JSON writes as 0 or 1.
"""

T = TypeVar("T")


@dataclass_transform()
def parameters(cls: type[T]) -> type[T]:
    """Make the annotated defaults of a class the arguments of its ``__init__``, each default marked as one.

    A marked default equals the plain value, but shows that the user did not choose it, also after ``clone``: a preset
    replaces only what was not chosen.
    """
    made = dataclass(eq=False, repr=False)(cls)
    init: Any = made.__init__
    init.__annotations__ = _types_as_written(made) | {"return": None}
    init.__signature__ = inspect.signature(init)  # with plain defaults
    init.__defaults__ = tuple(map(as_default, init.__defaults__ or ()))
    init.__kwdefaults__ = {
        name: value if isinstance(value, bool) and name not in CHOSEN_BY_PRESETS else as_default(value)
        for name, value in (init.__kwdefaults__ or {}).items()
    }

    @wraps(init)
    def check_names(self: Any, *args: Any, **kwargs: Any) -> None:
        known = list(init.__signature__.parameters)[1:]
        if unknown := [name for name in kwargs if name not in known]:
            near = get_close_matches(unknown[0], known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" Parameters: {', '.join(known)}."
            raise TypeError(f"{type(self).__name__} has no parameter {unknown[0]!r}.{hint}")
        init(self, *args, **kwargs)

    made.__init__ = check_names  # type: ignore[method-assign]  # the same signature
    return made


def _types_as_written(cls: type[Any]) -> dict[str, str]:
    """The types of the parameters, without their descriptions, as the source has them."""
    types = {}
    for owner in reversed(cls.__mro__):
        for name, text in inspect.get_annotations(owner).items():
            written = ast.parse(text, mode="eval").body
            is_described = isinstance(written, ast.Subscript) and ast.unparse(written.value) == "Annotated"
            types[name] = ast.unparse(written.slice.elts[0]) if is_described else text
    return {field.name: types[field.name] for field in fields(cls)}


P = Parameter


@parameters
class NetParameters:
    """The parameters that all estimators of nets share: scikit-learn's first, then those it does not have."""

    hidden_layer_sizes: Annotated[
        int | Sequence[int],
        P(
            "int or sequence of int",
            "Number of units in each hidden layer. ``()`` gives a linear model.",
            ("array-like", AT_LEAST_1),
        ),
    ] = (100,)
    activation: Annotated[
        ActivationsLike,
        P(
            "str, function or layer, or a list with one for each hidden layer",
            'Activation of the hidden layers: `"relu"`, `"tanh"`, `"logistic"`, `"identity"` as in scikit-learn, any '
            'activation of madaline by name such as `"mish"`, a NumPy function, or a layer such as `md.nn.PReLU()`.',
            extends="activation",
            requests="10097",
        ),
    ] = "relu"
    _: KW_ONLY
    solver: Annotated[
        str,
        P(
            '{"adam", "sgd", "lbfgs"}',
            "Training algorithm: Adam or stochastic gradient descent on mini-batches, or L-BFGS on all rows at once, "
            "which works well on small data sets.",
            (OneOf(("lbfgs", "sgd", "adam")),),
        ),
    ] = "adam"
    alpha: Annotated[
        float,
        P(
            "float",
            "Strength of the L2 penalty: ``alpha / 2`` times the sum of squared weights, divided by the number of rows "
            "in the mini-batch. Biases are not penalised.",
            (NOT_NEGATIVE,),
        ),
    ] = 0.0001
    batch_size: Annotated[
        int | str,
        P(
            'int or "auto"',
            'Number of rows per step (mini-batch size). `"auto"` is ``min(200, n_samples)``. Not used by L-BFGS.',
            (OneOf(("auto",)), AT_LEAST_1),
        ),
    ] = "auto"
    learning_rate: Annotated[
        str,
        P(
            '{"constant", "invscaling", "adaptive"}',
            "Learning rate schedule of ``solver='sgd'``: constant; divided by ``(t + 1) ** power_t`` where ``t`` "
            "counts the rows seen; or divided by 5 whenever training stops improving.",
            (OneOf(("constant", "invscaling", "adaptive")),),
        ),
    ] = "constant"
    learning_rate_init: Annotated[
        float, P("float", "Initial learning rate, the largest one if there is a schedule.", (POSITIVE,))
    ] = 0.001
    power_t: Annotated[float, P("float", 'Exponent of `learning_rate="invscaling"`.', (NOT_NEGATIVE,))] = 0.5
    max_iter: Annotated[int, P("int", "Maximum number of epochs; of iterations for L-BFGS.", (AT_LEAST_1,))] = 200
    shuffle: Annotated[bool, P("bool", "Whether to shuffle the rows in every epoch.", ("boolean",))] = True
    random_state: Annotated[
        RandomState,
        P(
            "int, RandomState or None",
            "Random seed of the initial weights, the order of rows, the validation set and dropout.",
            ("random_state",),
        ),
    ] = None
    tol: Annotated[
        float,
        P(
            "float",
            "Training stops when the loss (the validation score with ``early_stopping``) has not improved by at least "
            "``tol`` for ``n_iter_no_change`` epochs.",
            (NOT_NEGATIVE,),
        ),
    ] = 1e-4
    verbose: Annotated[bool | int, P("bool or int", "Whether to print the loss of each epoch.", ("verbose",))] = False
    warm_start: Annotated[
        bool, P("bool", "Whether ``fit`` continues from the weights of the previous fit.", ("boolean",))
    ] = False
    momentum: Annotated[float, P("float", "Momentum of ``solver='sgd'``.", (NumberRange("[0, 1]"),))] = 0.9
    nesterovs_momentum: Annotated[
        bool, P("bool", "Whether ``solver='sgd'`` uses Nesterov's momentum.", ("boolean",))
    ] = True
    early_stopping: Annotated[
        bool,
        P(
            "bool",
            "Whether to set a validation set aside, stop when the score on it no longer improves, and keep the weights "
            "of the best epoch. Not used by L-BFGS and ``partial_fit``.",
            ("boolean",),
        ),
    ] = False
    validation_fraction: Annotated[
        float,
        P("float", "Fraction of the rows in the validation set; stratified for binary targets.", (FRACTION,)),
    ] = 0.1
    beta_1: Annotated[float, P("float", "Decay rate of Adam's average of the gradient.", (FRACTION,))] = 0.9
    beta_2: Annotated[float, P("float", "Decay rate of Adam's average of the squared gradient.", (FRACTION,))] = 0.999
    epsilon: Annotated[float, P("float", "Adam's term for numerical stability.", (POSITIVE,))] = 1e-8
    n_iter_no_change: Annotated[
        int,
        P("int", "Number of epochs without improvement before training stops (patience).", (AT_LEAST_1, "inf")),
    ] = 10
    max_fun: Annotated[int, P("int", "Maximum number of loss evaluations of L-BFGS.", (AT_LEAST_1,))] = 15000
    dropout: Annotated[
        float | Sequence[float],
        P(
            "float, or a list with one for each hidden layer",
            "Probability of dropping a hidden unit during training.",
            (FRACTION, "array-like"),
            requests="6175",
        ),
    ] = 0.0
    input_dropout: Annotated[
        float, P("float", "Probability of dropping an input during training.", (FRACTION,), requests="6175")
    ] = 0.0
    norm: Annotated[
        str | Layer | None,
        P(
            "str or layer",
            'Normalization between each linear map and its activation: `"batch"`, `"layer"`, `"rms"`, `"group"` or a '
            "layer.",
        ),
    ] = None
    residual: Annotated[
        bool, P("bool", "Whether each hidden layer after the first has a skip connection.", ("boolean",))
    ] = False
    init: Annotated[
        InitializerLike | None,
        P("str or Initializer", 'Initial weights, such as `"he_normal"`. By default exactly those of scikit-learn.'),
    ] = None
    optimizer: Annotated[
        SolverLike | None,
        P(
            "str, Optimizer or function",
            "Any optimizer of madaline, or a custom update rule. A name uses `learning_rate_init` as its learning "
            "rate.",
            extends="solver",
        ),
    ] = None
    schedule: Annotated[
        ScheduleLike | None,
        P(
            "str, Schedule or function of the step",
            'Learning rate schedule, such as `"cosine"`. Training then runs for all epochs without a warning.',
            extends="learning_rate",
        ),
    ] = None
    weight_decay: Annotated[
        float | None,
        P(
            "float",
            "Decoupled weight decay, as in AdamW; it replaces `alpha`.",
            (NOT_NEGATIVE, None),
            extends="alpha",
        ),
    ] = None
    regularizer: Annotated[
        RegularizersLike | None,
        P("str, Regularizer, or list or dict of them", "Penalties that replace `alpha`.", extends="alpha"),
    ] = None
    clip_norm: Annotated[float | None, P("float", "Maximum norm of the gradient.", (POSITIVE, None))] = None
    constraint: Annotated[
        ConstraintsLike | None,
        P("str or Constraint", "Constraint on the weights after each step, such as `md.optim.MaxNorm(3.0)`."),
    ] = None
    average: Annotated[
        AverageLike | None,
        P("str or Average", "Average the weights over the steps: `md.optim.EMA()` or `md.optim.SWA()`."),
    ] = None
    validation: Annotated[
        ValidationLike | None,
        P(
            "float, (X, y) or (X, y, sample_weight)",
            "Validation set: a fraction of the rows, or separate data. `history_` shows its loss and metrics after "
            "every epoch; with `early_stopping` it decides when to stop.",
            extends="validation_fraction",
            requests="18748, 18507",
        ),
    ] = None
    metrics: Annotated[
        MetricLike | Sequence[MetricLike] | None,
        P(
            "str, Metric, scorer, function, or list of them",
            'Columns of `history_` besides the loss: `["accuracy", "auc"]`, scikit-learn\'s scores such as '
            '`"f1_macro"` or `make_scorer(...)`, or a function of predictions and targets (class numbers).',
            requests="18507",
        ),
    ] = None
    monitor: Annotated[
        str | None,
        P(
            "str",
            'Column of `history_` that early stopping watches, such as `"val_auc"`. By default accuracy or R2.',
            (str, None),
            extends="early_stopping",
        ),
    ] = None
    callbacks: Annotated[
        CallbackLike | Sequence[CallbackLike] | None,
        P(
            "Callback, function, or list of them",
            "Called during training; a function is called as `f(trainer, row)` after each epoch. scikit-learn's own "
            "callbacks are passed to `set_callbacks`.",
            requests="27676",
        ),
    ] = None
    progress: Annotated[
        bool | None,
        P(
            "bool",
            "Whether to show a progress bar; None shows one in a terminal.",
            ("boolean", None),
            extends="verbose",
            requests="27676",
        ),
    ] = False
    threads: Annotated[
        int | None,
        P(
            "int",
            "Maximum number of threads. By default all threads of the process, or one inside joblib's workers. Results "
            "do not depend on it.",
            (AT_LEAST_1, None),
            requests="7280, 25822",
        ),
    ] = None
    dtype: Annotated[
        DTypeLike | None,
        P('"float32" or "float64"', "Type of the weights and of the arithmetic; by default that of `X`."),
    ] = None
    data: Annotated[
        str | Mapping[str, Any] | TablePlan | None,
        P(
            '"auto", dict or TablePlan',
            "Accept tables with numbers, categories, text, booleans, dates and missing values. A dict holds options of "
            "`md.data.TablePlan.fit`. Regression targets are scaled.",
        ),
    ] = None
    preset: Annotated[
        str | None,
        P(
            '"auto" or "best"',
            'A modern recipe for all parameters that are not given. `"auto"` trains one net, sized to the data: '
            '`data="auto"`, AdamW with warm-up and cosine schedule, dropout, averaged weights, early stopping. '
            '`"best"` trains an ensemble of such nets, linear and additive models and a kernel machine on folds, '
            "weights it on rows that its members did not see, and calibrates probabilities and intervals. "
            "`resolved_params_` shows what was used.",
            (OneOf(("auto", "best")), None),
        ),
    ] = None


@parameters
class RegressorLoss:
    """The first parameter of a regressor, as in scikit-learn."""

    loss: Annotated[
        LossesLike,
        P(
            "str, Loss or function",
            'Loss to minimise: `"squared_error"` or `"poisson"` as in scikit-learn, `"absolute_error"`, `"huber"`, '
            '`"log_cosh"`, `md.losses.Quantile(q=0.9)`, or a function of raw outputs and targets.',
            extends="loss",
            requests="14571, 29270",
        ),
    ] = "squared_error"


@parameters
class RegressorParameters(NetParameters, RegressorLoss):
    """Parameters of a regressor: the loss, then those of every net."""


@parameters
class ClassifierParameters(NetParameters):
    """Parameters of a classifier in addition to those of every net."""

    _: KW_ONLY
    loss: Annotated[
        LossesLike,
        P(
            "str, Loss or function",
            'Loss to minimise: `"log_loss"`, `"hinge"`, `"focal"`, `"ordinal"`, '
            "`md.CrossEntropy(label_smoothing=0.1)`, or a function of raw outputs and class numbers.",
            extends="loss",
            requests="14571, 29270",
        ),
    ] = "log_loss"
    class_weight: Annotated[
        ClassWeights | None,
        P(
            'dict, list of dicts or "balanced"',
            "Weights of the classes; they multiply the sample weights.",
            (OneOf(("balanced",)), dict, list, None),
            requests="9113",
        ),
    ] = None


SAME_THING = {
    "optimizer": ("solver", "momentum", "nesterovs_momentum", "beta_1", "beta_2", "epsilon", "max_fun"),
    "schedule": ("learning_rate", "power_t"),
    "weight_decay": ("alpha",),
    "regularizer": ("alpha",),
    "validation": ("validation_fraction",),
}
"Parameters that scikit-learn does not have, each with those of scikit-learn that it replaces."


@cache
def described(cls: Any) -> Mapping[str, Parameter]:
    """The parameters of a class by name, in the order of its signature."""
    hints = get_type_hints(cls, include_extras=True)
    found = {field.name: _parameter(hints[field.name]) for field in fields(cls)}
    return {name: parameter for name, parameter in found.items() if parameter is not None}


def _parameter(hint: Any) -> Parameter | None:
    return next((item for item in getattr(hint, "__metadata__", ()) if isinstance(item, Parameter)), None)


def default_of(cls: Any, name: str) -> Any:
    """The default of a parameter, as a plain value."""
    return plain(next(field.default for field in fields(cls) if field.name == name))


def is_given(estimator: NetParameters, name: str) -> bool:
    """Whether the user chose the value of a parameter."""
    value = getattr(estimator, name, None)
    return value is not None and not is_default(value)


def resolved(estimator: NetParameters, **chosen: Any) -> NetParameters:
    """The parameters as plain values, with other values for those ``chosen``."""
    values = {field.name: plain(getattr(estimator, field.name)) for field in fields(NetParameters)}
    return NetParameters(**values | chosen)


def check_not_given_twice(estimator: NetParameters) -> None:
    """Raise an error if a parameter and one of scikit-learn's that it replaces are both given."""
    for wide, replaced in SAME_THING.items():
        value = getattr(estimator, wide)
        if value is None:
            continue
        has_rate = wide == "optimizer" and hasattr(value, "learning_rate") and not isinstance(value, type)
        names = (*replaced, "learning_rate_init") if has_rate else replaced
        given = [name for name in names if plain(getattr(estimator, name)) != default_of(type(estimator), name)]
        if given:
            name = given[0]
            raise ConfigError(
                f"{wide}={value!r} and {name}={getattr(estimator, name)!r} say the same thing. Give one of them: "
                f"{name} is scikit-learn's, {wide} accepts everything that madaline has."
            )
    if estimator.monitor is not None and not estimator.early_stopping and estimator.preset is None:
        raise ConfigError(f"monitor={estimator.monitor!r} is what early stopping watches: pass early_stopping=True.")
