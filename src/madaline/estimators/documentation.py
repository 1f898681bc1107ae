"""What the wider parameters of estimators do, said once: for docstrings and for the table of the guide."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from typing import Any, TypeVar


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator.

    Parameters
    ----------
    takes : str
        What it may be.
    does : str
        What it does.
    """

    takes: str
    does: str


@dataclass(frozen=True)
class Wider(Parameter):
    """A parameter that scikit-learn's MLP does not have, or takes less for.

    Parameters
    ----------
    extends : str
        scikit-learn's parameter that it goes beyond, if any.
    issue : str
        Numbers of scikit-learn's issues that ask for it.
    """

    extends: str = ""
    issue: str = ""


THEIRS: dict[str, Parameter] = {
    "hidden_layer_sizes": Parameter(
        "int or sequence of int", "Units of each hidden layer; ``()`` has none, which is linear."
    ),
    "solver": Parameter(
        '{"adam", "sgd", "lbfgs"}',
        "How weights are found: by steps of Adam or of gradient descent on batches of rows, or by L-BFGS on all rows "
        "at once, which is best for few rows.",
    ),
    "alpha": Parameter(
        "float",
        "Strength of the L2 penalty: half of it times the sum of the squared weights, over the rows of a batch. Biases "
        "have none.",
    ),
    "batch_size": Parameter(
        'int or "auto"', "Rows of a step; auto takes 200, or all if there are fewer. Not for L-BFGS."
    ),
    "learning_rate": Parameter(
        '{"constant", "invscaling", "adaptive"}',
        "For sgd, what becomes of the rate: it stays; it is divided by ``(t + 1) ** power_t`` where ``t`` counts the "
        "rows seen; or it is divided by 5 each time training has come to a halt.",
    ),
    "learning_rate_init": Parameter("float", "The rate at the start, for sgd and adam."),
    "power_t": Parameter("float", 'The exponent of ``learning_rate="invscaling"``.'),
    "max_iter": Parameter("int", "How often to go through the rows at most; for L-BFGS, its iterations."),
    "shuffle": Parameter("bool", "Whether rows come in a new order each time."),
    "random_state": Parameter("int, RandomState or None", "Seed of first weights, orders, held back rows and masks."),
    "tol": Parameter(
        "float",
        "Training ends when the loss (with ``early_stopping`` the score) has not improved by so much "
        "``n_iter_no_change`` times in a row.",
    ),
    "verbose": Parameter("bool or int", "Whether to print the loss of each time through the rows."),
    "warm_start": Parameter("bool", "Whether ``fit`` goes on from the weights of the last fit."),
    "momentum": Parameter("float", "Share of the last step that is kept in the next, for sgd; from 0 to 1."),
    "nesterovs_momentum": Parameter("bool", "Whether the gradient is taken where momentum leads to, for sgd."),
    "early_stopping": Parameter(
        "bool",
        "Whether to hold rows back, to end when the score on them does not improve, and to keep the weights that were "
        "best. Not for L-BFGS, and not in ``partial_fit``.",
    ),
    "validation_fraction": Parameter(
        "float",
        "Share of the rows that ``early_stopping`` holds back; of two classes, their share.",
    ),
    "beta_1": Parameter("float", "How slowly Adam forgets the mean of the gradient."),
    "beta_2": Parameter("float", "How slowly Adam forgets the mean of its square."),
    "epsilon": Parameter("float", "What keeps Adam from dividing by 0."),
    "n_iter_no_change": Parameter("int", "Times through the rows without improvement by ``tol`` before training ends."),
    "max_fun": Parameter("int", "Evaluations of the loss at most, for L-BFGS."),
}
"The parameters that are scikit-learn's and no wider here: what they may be, and what they do."

SCIKIT_LEARN = (*THEIRS, "activation")
"The parameters that are scikit-learn's."


WIDER: dict[str, Wider] = {
    "activation": Wider(
        "str, function or layer, or one for each hidden layer",
        'Besides scikit-learn\'s `"relu"`, `"tanh"`, `"logistic"` and `"identity"` any of madaline\'s by name, as '
        '`"mish"`, a function written with NumPy, or a layer as `md.nn.PReLU()`.',
        "activation",
        "10097",
    ),
    "loss": Wider(
        "str, Loss or function",
        'For classes, besides `"log_loss"`: `"hinge"`, `"focal"`, `"ordinal"`, `md.CrossEntropy(label_smoothing=0.1)`. '
        'For numbers, besides `"squared_error"` and `"poisson"`: `"absolute_error"`, `"huber"`, `"log_cosh"`, '
        "`md.losses.Quantile(q=0.9)`. Or a function of raw outputs and targets (class numbers).",
        "loss",
        "14571, 29270",
    ),
    "class_weight": Wider(
        'dict, list of dicts or "balanced"',
        "Weights of the classes, which multiply those of the rows; classifier only.",
        "",
        "9113",
    ),
    "dropout": Wider("float, or one for each hidden layer", "Probability to drop a hidden unit.", "", "6175"),
    "input_dropout": Wider("float", "Probability to drop an input.", "", "6175"),
    "norm": Wider(
        "str or layer", 'Between Linear and activation: `"batch"`, `"layer"`, `"rms"`, `"group"` or a layer.'
    ),
    "residual": Wider("bool", "A way around each hidden layer after the first."),
    "init": Wider(
        "str or Initializer", 'How weights start, as `"he_normal"`; as scikit-learn\'s, number for number, unless told.'
    ),
    "optimizer": Wider(
        "str, Optimizer or function",
        "Any of madaline's, or a rule of your own. A name gets `learning_rate_init` as its rate.",
        "solver",
    ),
    "schedule": Wider(
        "str, Schedule or function of the step",
        'Factors of the learning rate, as `"cosine"`; the run then goes to its end without a warning.',
        "learning_rate",
    ),
    "weight_decay": Wider("float", "Decoupled weight decay, as AdamW's; `alpha` is 0 then.", "alpha"),
    "regularizer": Wider("str, Regularizer, or list or dict of them", "Penalties in place of `alpha`.", "alpha"),
    "clip_norm": Wider("float", "The largest norm of the gradient."),
    "constraint": Wider("str or Constraint", "What weights keep to after each step, as `md.optim.MaxNorm(3.0)`."),
    "average": Wider(
        "str or Average", "The net gets the average of its weights over the steps: `md.optim.EMA()`, `md.optim.SWA()`."
    ),
    "validation": Wider(
        "float, (X, y) or (X, y, sample_weight)",
        "Rows on which each epoch is judged: a share of the rows, or a set of your own. `history_` shows their loss "
        "and metrics; with `early_stopping` they decide.",
        "validation_fraction",
        "18748, 18507",
    ),
    "metrics": Wider(
        "str, Metric, scorer, function, or list of them",
        'Columns of `history_` besides the loss: `["accuracy", "auc"]`, scikit-learn\'s scores as `"f1_macro"` or '
        "`make_scorer(...)`, or a function of predictions and targets (class numbers).",
        "",
        "18507",
    ),
    "monitor": Wider(
        "str",
        'The column of `history_` that early stopping watches, as `"val_auc"`; accuracy or R2 unless told.',
        "early_stopping",
    ),
    "callbacks": Wider(
        "Callback, function, or list of them",
        "Listen to the trainer, as `lambda trainer, row: ...` after each epoch. Those of scikit-learn's kind are given "
        "to `set_callbacks`.",
        "",
        "27676",
    ),
    "progress": Wider("bool", "A progress bar; None shows one in a terminal.", "verbose", "27676"),
    "threads": Wider(
        "int",
        "At most so many; those of the process unless told, and one inside of joblib's threads. Results do not depend "
        "on it.",
        "",
        "7280, 25822",
    ),
    "dtype": Wider('"float32" or "float64"', "Of weights and arithmetic; that of `X` unless told."),
    "data": Wider(
        '"auto", dict or TablePlan',
        "Takes tables of numbers, categories, text, booleans, dates and gaps; a dict holds options of "
        "`md.data.TablePlan.fit`. Targets of regression are scaled.",
    ),
    "preset": Wider(
        '"auto"',
        'A modern recipe sized to the data for all that is not given: `data="auto"`, AdamW with warm-up and cosine, '
        "dropout, averaged weights, early stopping, float32.",
    ),
}
"In the order of the table; all but activation and the regressor's loss are keyword-only."

ATTRIBUTES = """\
model_ : Model
    The net with its arrays.
history_ : History
    A row for each epoch of the last fit: loss, metrics, validation, rate, seconds.
coefs_, intercepts_ : list of array
    Weights, (n_in, n_out), and biases of the Linear layers in order. They are views: what is written into them, or
    assigned, is in the net.
loss_ : float
    The loss of the last epoch, with the penalty, as scikit-learn counts it.
loss_curve_ : list of float
    That of each epoch; of a warm start and of ``partial_fit``, those before too.
best_loss_ : float or None
    The smallest of them; None with ``early_stopping``.
validation_scores_ : list of float or None
    With ``early_stopping``, the score on the rows held back after each epoch.
best_validation_score_ : float or None
    The best of them.
n_iter_ : int
    Epochs of the last fit.
t_ : int
    Rows seen in all epochs; 0 for L-BFGS.
n_layers_ : int
    Layers of units, with inputs and outputs.
n_outputs_ : int
    Outputs of the net.
out_activation_ : str
    What makes predictions of them.
n_features_in_ : int
    Columns of ``X`` in fit.
feature_names_in_ : array of str
    Their names, if they had any.
table_plan_ : TablePlan
    With ``data``: what became of each column."""
"What estimators have after a fit."

Class = TypeVar("Class", bound=type[Any])


def documented(cls: Class) -> Class:
    """Fill the parameters into a class's docstring, in the order of its signature and with its defaults."""
    lines = []
    own = cls.__doc__ or ""
    for name, parameter in inspect.signature(cls.__init__).parameters.items():
        said = WIDER.get(name) or THEIRS.get(name)
        if said is None:
            continue  # self, and what a class says itself
        lines.append(f"{name} : {said.takes}, default {parameter.default!r}".replace("default None", "optional"))
        does = said.does.replace("`", "``") if isinstance(said, Wider) else said.does
        lines += textwrap.wrap(does, 104, initial_indent="    ", subsequent_indent="    ")
    for place, text in (("    {parameters}", "\n".join(lines)), ("    {attributes}", ATTRIBUTES)):
        own = own.replace(place, textwrap.indent(text, "    "))
    cls.__doc__ = own
    return cls


def table() -> str:
    """The table of the guide."""
    rows = ["| parameter | takes | does | goes beyond | asked for in |", "| --- | --- | --- | --- | --- |"]
    for name, wider in WIDER.items():
        beyond = f"`{wider.extends}`" if wider.extends else ""
        rows.append(f"| `{name}` | {wider.takes.replace('|', '/')} | {wider.does} | {beyond} | {wider.issue} |")
    return "\n".join(rows)
