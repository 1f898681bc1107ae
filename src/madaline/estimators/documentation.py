"""What the wider parameters of estimators do, said once: for docstrings and for the table of the guide."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any, TypeVar

SCIKIT_LEARN = (
    *("hidden_layer_sizes", "activation", "solver", "alpha", "batch_size", "learning_rate", "learning_rate_init"),
    *("power_t", "max_iter", "shuffle", "random_state", "tol", "verbose", "warm_start", "momentum"),
    *("nesterovs_momentum", "early_stopping", "validation_fraction", "beta_1", "beta_2", "epsilon"),
    *("n_iter_no_change", "max_fun"),
)
"The parameters that are scikit-learn's."


@dataclass(frozen=True)
class Wider:
    """A parameter that scikit-learn's MLP does not have, or takes less for.

    Parameters
    ----------
    takes : str
        What it may be.
    does : str
        What it does.
    extends : str
        scikit-learn's parameter that it goes beyond, if any.
    issue : str
        Numbers of scikit-learn's issues that ask for it.
    """

    takes: str
    does: str
    extends: str = ""
    issue: str = ""


WIDER: dict[str, Wider] = {
    "activation": Wider(
        "str, function or layer, or one for each hidden layer",
        "Besides scikit-learn's four, any of madaline's by name, a function written with NumPy, or a layer as "
        "`md.PReLU()`.",
        "activation",
        "10097",
    ),
    "loss": Wider(
        "str, Loss or function",
        'Besides `"log_loss"` (classifier) and `"squared_error"`, `"poisson"` (regressor) any loss of madaline\'s, as '
        '`"huber"`, `"hinge"`, `md.CrossEntropy(label_smoothing=0.1)`, or a function of raw outputs and targets '
        "(class numbers).",
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
    "constraint": Wider("str or Constraint", "What weights keep to after each step, as `md.MaxNorm(3.0)`."),
    "average": Wider(
        "str or Average", "The net gets the average of its weights over the steps: `md.EMA()`, `md.SWA()`."
    ),
    "validation": Wider(
        "float, (X, y) or (X, y, sample_weight)",
        "Rows on which each epoch is judged: a share of the rows, or a set of your own. `history_` shows their loss "
        "and metrics; with `early_stopping` they decide.",
        "validation_fraction",
        "18748, 18507",
    ),
    "metrics": Wider(
        "str, Metric, function, or list of them",
        'Columns of `history_` besides the loss: `["accuracy", "auc"]`.',
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
        "`md.TablePlan.fit`. Targets of regression are scaled.",
    ),
    "preset": Wider(
        '"auto"',
        'A modern recipe sized to the data for all that is not given: `data="auto"`, AdamW with warm-up and cosine, '
        "dropout, early stopping, float32.",
    ),
}
"In the order of the table; all but activation and the regressor's loss are keyword-only."

Class = TypeVar("Class", bound=type[Any])


def documented(cls: Class) -> Class:
    """Fill the parameters into a class's docstring."""
    theirs = [name for name in SCIKIT_LEARN if name not in WIDER]
    lines = [", ".join(theirs), "    scikit-learn's, with its meanings and defaults."]
    for name, wider in WIDER.items():
        if name not in cls._get_param_names():
            continue
        lines.append(f"{name} : {wider.takes}")
        lines += textwrap.wrap(wider.does.replace("`", "``"), 104, initial_indent="    ", subsequent_indent="    ")
    indented = textwrap.indent(textwrap.fill(lines[0], 108) + "\n" + "\n".join(lines[1:]), "    ")
    cls.__doc__ = (cls.__doc__ or "").replace("    {parameters}", indented)
    return cls


def table() -> str:
    """The table of the guide."""
    rows = ["| parameter | takes | does | goes beyond | asked for in |", "| --- | --- | --- | --- | --- |"]
    for name, wider in WIDER.items():
        beyond = f"`{wider.extends}`" if wider.extends else ""
        rows.append(f"| `{name}` | {wider.takes.replace('|', '/')} | {wider.does} | {beyond} | {wider.issue} |")
    return "\n".join(rows)
