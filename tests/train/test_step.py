"""One step in float32 is that in float64, but for rounding."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

NETS = {
    "plain": md.Sequential(md.Linear(24), "tanh", md.Linear(10)),
    "batch norm": md.Sequential(md.Linear(24, bias=False), md.BatchNorm(), "relu", md.Linear(10)),
    "residual": md.Sequential(md.Linear(24), md.Residual(md.Linear(24), "swish"), md.LayerNorm(), md.Linear(10)),
}


def after_a_step(start, X, y, optimizer, dtype):
    trainer = md.Trainer(start, loss="cross_entropy", optimizer=optimizer, dtype=dtype)
    trainer.fit(X.astype("float32"), y, epochs=1, batch_size=None)
    return trainer.model.params.flat.astype(np.float64)


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("optimizer", md.optim.OPTIMIZERS, ids=lambda rule: rule.name)
def test_parameters_after_a_step_are_within_a_few_ulp(digits, net, optimizer):
    X, y = digits[0][:64], digits[1][:64]
    start = NETS[net].init(X)
    before = start.params.flat.astype(np.float64)
    single, double = (after_a_step(start, X, y, optimizer, dtype) for dtype in ("float32", "float64"))
    largest = np.abs(double - before).max()
    assert largest > 0.0
    few_ulp = 4 * np.spacing(np.abs(before).astype(np.float32)).astype(np.float64)
    # Rules that divide by the size of the gradient cannot be exact where that is next to nothing.
    g = np.abs(after_a_step(start, X, y, md.SGD(1.0), "float64") - before)
    clear = g > 1e-3 * g.max()
    assert clear.mean() > 0.7
    # Adadelta's first step is nearly the sign of the gradient: over sets of rows its error is 1e-6 to 3e-5 of a step.
    share = 5e-5 if optimizer is md.optim.Adadelta else 1e-5
    assert (np.abs(single - double) <= few_ulp + share * largest)[clear].all()
