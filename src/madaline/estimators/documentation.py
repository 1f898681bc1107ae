"""The docstrings of estimators and the table of the guide, made from the parameters."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, TypeVar, cast

from madaline.estimators.parameters import ClassifierParameters, Parameter, default_of, described

ATTRIBUTES = """\
model_ : Model
    The net with its arrays.
history_ : History
    A row for each epoch of the last fit: loss, metrics, validation, learning rate, seconds.
coefs_, intercepts_ : list of array
    Weights, (n_in, n_out), and biases of the Linear layers in order. They are views: changes to them change the
    net.
loss_ : float
    Loss of the last epoch including the penalty, as scikit-learn defines it.
loss_curve_ : list of float
    Loss of each epoch; with a warm start and ``partial_fit``, of earlier calls too.
best_loss_ : float or None
    Smallest loss; None with ``early_stopping``.
validation_scores_ : list of float or None
    With ``early_stopping``, the score on the validation set after each epoch.
best_validation_score_ : float or None
    Best validation score.
n_iter_ : int
    Number of epochs of the last fit.
t_ : int
    Number of rows seen in all epochs; 0 for L-BFGS.
epochs_without_improvement_ : int
    Number of latest epochs that did not improve the loss or score by ``tol``.
best_weights_ : tuple of array or None
    With ``early_stopping`` on a score, parameters and state of the net at its best epoch.
loss_function_ : Loss
    The loss that was minimized.
n_layers_ : int
    Number of layers, including input and output.
n_outputs_ : int
    Number of outputs of the net.
out_activation_ : str
    Function that turns outputs into predictions.
n_samples_ : int
    Number of training rows of the last fit, without the validation set.
n_features_in_ : int
    Number of columns of ``X`` in fit.
feature_names_in_ : array of str
    Their names, if they had any.
table_plan_ : TablePlan
    With ``data``: how each column is used.
resolved_params_ : dict
    The parameters that were used: those given, and what a preset chose for the others."""
"The attributes of fitted estimators."

Class = TypeVar("Class", bound=type[Any])


def documented(cls: Class) -> Class:
    """Fill the parameters and attributes into the docstring of a class."""
    lines = []
    for name, parameter in described(cast(Any, cls)).items():
        default = default_of(cls, name)
        ending = "optional" if default is None else f"default {default!r}"
        lines.append(f"{name} : {parameter.takes}, {ending}")
        lines += textwrap.wrap(_rst(parameter.does), 104, initial_indent="    ", subsequent_indent="    ")
    own = cls.__doc__ or ""
    for place, text in (("    {parameters}", "\n".join(lines)), ("    {attributes}", ATTRIBUTES)):
        own = own.replace(place, textwrap.indent(text, "    "))
    cls.__doc__ = own
    return cls


def _rst(text: str) -> str:
    """Code in double backticks, whichever way it was marked."""
    return text.replace("``", "`").replace("`", "``")


def wider_parameters() -> dict[str, Parameter]:
    """The parameters of the classifier that scikit-learn does not have, or accepts less for."""
    from sklearn.neural_network import MLPClassifier

    theirs = inspect.signature(MLPClassifier).parameters
    return {n: p for n, p in described(ClassifierParameters).items() if p.extends == n or n not in theirs}


def table() -> str:
    """The table of the guide."""
    rows = ["| parameter | takes | does | goes beyond | requested in |", "| --- | --- | --- | --- | --- |"]
    for name, wider in wider_parameters().items():
        beyond = f"`{wider.extends}`" if wider.extends else ""
        does = wider.does.replace("``", "`")
        rows.append(f"| `{name}` | {wider.takes.replace('|', '/')} | {does} | {beyond} | {wider.requests} |")
    return "\n".join(rows)
