"""Exported JavaScript in a browser: every primitive, net and estimator."""

from __future__ import annotations

import json

import numpy as np
import pytest

from madaline.graph.shapes import is_symbolic
from madaline.ship.js_module import js_functions
from ship.cases import NETS, agree, integer_case, integer_primitives, net_case, primitive_case, primitive_samples
from ship.estimator_cases import MAKERS, fitted

MAKE = {
    "nets": lambda: [net_case(net, "float32") for net in NETS],
    "primitives": lambda: [primitive_case(name, number, "float64") for name, number in primitive_samples()],
    "whole numbers": lambda: [integer_case(name) for name in integer_primitives()],
    "estimators": lambda: [fitted(name).exported() for name in MAKERS],
}

RUN = """
rows => rows.map(row => Object.values(run(row.map(values => Float64Array.from(values, Number))))
  .map(values => Array.from(values, String)))
"""


@pytest.mark.parametrize("kind", MAKE)
def test_scripts_answer_as_models_do(kind, browser):
    page = browser.new_page()
    wrong = []
    for case in MAKE[kind]():
        has_rows = is_symbolic(case.inference.inputs[0].shape)
        n_rows = len(case.inputs[0]) if has_rows else 1
        inputs = [[_texts(x.reshape(n_rows, -1)[row]) for x in case.inputs] for row in range(n_rows)]
        source = js_functions([("run", case.inference)])
        found = page.evaluate(f"{{ {source}\n ({RUN})({json.dumps(inputs)}) }}")
        outputs = []
        for place, output in enumerate(map(np.asarray, case.outputs)):
            values = np.array([[float(value) for value in row[place]] for row in found])
            outputs.append(values.ravel()[: output.size].reshape(output.shape))
        try:
            agree(outputs, case)
        except AssertionError as error:
            wrong.append(f"{case.name}: {error}")
    page.close()
    assert not wrong


def _texts(values):
    """Numbers as JavaScript reads them; JSON has no infinity."""
    return [str(value).replace("inf", "Infinity").replace("nan", "NaN") for value in values.astype(float).tolist()]
