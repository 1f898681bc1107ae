"""Exported PyTorch modules, run by PyTorch."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import madaline as md
from ship.cases import NETS, agree, integer_case, integer_primitives, net_case, primitive_case, primitive_samples
from ship.estimator_cases import MAKERS, fitted
from ship.renamed import answers, renamed_model, renamed_rows
from ship.test_hostile_names import ALIKE, WORST

torch = pytest.importorskip("torch", reason="needs PyTorch: make test-oracles")


def run(case, tmp_path):
    """The outputs of the module, loaded from its two files."""
    from madaline.ship.torch_script import torch_files

    for path, content in torch_files(case.inference, tmp_path / "model.py").items():
        path.write_bytes(content)
    model = runpy.run_path(str(tmp_path / "model.py"))["load"]()
    with torch.no_grad():
        found = model(*(torch.tensor(x) for x in case.inputs))
    return [y.numpy() for y in (found.values() if isinstance(found, dict) else [found])]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("net", NETS, ids=lambda net: net.name)
def test_every_net_gives_what_the_model_gives(net, dtype, tmp_path):
    case = net_case(net, dtype)
    found = run(case, tmp_path)
    agree(found, case)
    assert [y.dtype for y in found] == [y.dtype for y in case.outputs]


@pytest.mark.parametrize("name", integer_primitives())
def test_whole_numbers_are_computed_as_such(name, tmp_path):
    case = integer_case(name)
    agree(run(case, tmp_path), case)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "number"), primitive_samples())
def test_every_primitive_is_written_right(name, number, dtype, tmp_path):
    case = primitive_case(name, number, dtype)
    agree(run(case, tmp_path), case)


@pytest.mark.parametrize("name", MAKERS)
def test_every_estimator_answers_the_same_from_its_columns(name, tmp_path):
    case = fitted(name)
    exported = case.exported()
    agree(run(exported, tmp_path), exported)
    if hasattr(case.rows, "columns"):
        script = runpy.run_path(str(tmp_path / "model.py"))
        with torch.no_grad():
            found = script["load"]()(*script["inputs"](case.rows))
        agree([y.numpy() for y in (found.values() if isinstance(found, dict) else [found])], exported)


@pytest.mark.parametrize("names", [{}, WORST, ALIKE], ids=["plain", "worst", "alike"])
def test_names_made_to_do_harm_are_only_texts(names, tmp_path):
    path = tmp_path / "a'); print('PWNED') #\\.py"
    script, _ = md.export(renamed_model(names, tmp_path), path, to="torch")
    space = runpy.run_path(str(script))
    rows = renamed_rows(names)
    with torch.no_grad():
        found = space["load"]()(*space["inputs"]({key: [row[key] for row in rows] for key in rows[0]}))
    probabilities, classes = answers(names)
    np.testing.assert_allclose(found["probabilities"].numpy(), probabilities, rtol=1e-5)
    assert [space["CLASSES"][place] for place in found["label"]] == classes
