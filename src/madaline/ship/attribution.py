r"""Contributions of columns to a prediction as a graph, so that they can be exported.

Integrated gradients are a mean over points :math:`\alpha x` between a neutral row, 0, and the row :math:`x` of numbers
and embedding vectors that the net is given. The exported function computes one point; whoever calls it adds up points
and weights of a quadrature, as :func:`madaline.estimators.attributions.attribute` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from madaline.data.encode import NUMBERS, TablePlan
from madaline.estimators.base import NetEstimator
from madaline.estimators.explained import meaning_of
from madaline.graph.node import Node, new_input, substitute
from madaline.graph.reverse_mode import cotangents
from madaline.graph.shapes import Rows
from madaline.graph.trace import open_trace
from madaline.ship.columns import TableColumns
from madaline.ship.inference import InferenceGraph, completed, number_type, run

SHARE, CHOSEN = "share", "chosen"
"Additional inputs: the point between the neutral row and the row, and the weight of each explained output."


def attribution_of(estimator: NetEstimator) -> InferenceGraph:
    """A graph with the inputs of the estimator, ``share`` and ``chosen``.

    Its outputs are ``parts`` (n, columns), the value of each column times the derivative at the point, and ``value``
    (n,), the explained quantity there.
    """
    model, plan = estimator.model_, getattr(estimator, "table_plan_", None)
    number = number_type(model, None)
    columns = None if plan is None else TableColumns(plan)
    spec = model.network.inputs
    inputs = list(columns.inputs) if columns else [new_input(0, (Rows(), *spec.shape), number, "x")]
    meaning = meaning_of(estimator, raw=False)
    share = new_input(len(inputs), (Rows(), 1), number, SHARE)
    with open_trace(inputs):
        x = columns.encoded() if columns else inputs[0]
        x = dict.fromkeys(spec, x) if isinstance(spec, dict) and not isinstance(x, dict) else x
        x = next(iter(x.values())) if isinstance(x, dict) and not isinstance(spec, dict) else x
        passed = run(model, x, number, columns.layers if columns else None)
        outputs = meaning(passed.y)
    chosen = new_input(len(inputs) + 1, (Rows(), int(outputs.shape[1])), outputs.dtype, CHOSEN)
    matrix = x.get(NUMBERS) if isinstance(x, dict) else x
    leaves = [*([] if matrix is None else [("", matrix)]), *passed.vectors]
    points = [new_input(k, leaf.shape, leaf.dtype, f"point {k}") for k, (_, leaf) in enumerate(leaves)]
    with open_trace([*inputs, share, chosen, *points]):
        replaced = {id(leaf): point for (_, leaf), point in zip(leaves, points, strict=True)}
        (moved,) = substitute([outputs], replaced)
        value = np.sum(moved * chosen, axis=1)
        slopes = cotangents([value], points, [np.ones_like(value)])
        products = [
            (name, leaf * (np.zeros_like(leaf) if slope is None else slope))
            for (name, leaf), slope in zip(leaves, slopes, strict=True)
        ]
        parts = products[0][1] if plan is None else _by_column(plan, products)
        there = {id(point): share * leaf for point, (_, leaf) in zip(points, leaves, strict=True)}
        parts, value = substitute([parts, value], there)
    return completed(
        [*inputs, share, chosen],
        {"parts": parts, "value": value},
        "Contributions of the columns",
        passed,
        frozenset(model.network.params),
        columns=columns.known if columns else None,
    )


def _by_column(plan: TablePlan, products: list[tuple[str, Any]]) -> Any:
    """Sums over the matrix columns and the embedding vectors of each used column."""
    by_input: dict[str, list[Any]] = {}
    for name, product in products:
        by_input.setdefault(name, []).append(product)
    names: Mapping[str, str] = plan.inputs()
    found: list[Node] = []
    start = 0
    for column in plan.used():
        width = len(column.features())
        terms = [np.sum(product, axis=1) for product in by_input.get(names.get(column.column, "\0"), [])]
        if width:
            terms.append(np.sum(by_input[""][0][:, start : start + width], axis=1))
        start += width
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        found.append(total[:, None])
    return np.concatenate(found, axis=1)
