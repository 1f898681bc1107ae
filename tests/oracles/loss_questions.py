"""Questions about losses: the loss of each row, and the gradient of their mean."""

from __future__ import annotations

import numpy as np
from questions import Question, arrays

import madaline as md
from losses.cases import CASES


def by_us(case, dtype):
    z, y = case.arguments(dtype)
    return arrays(case.loss(z, y, reduction="none"), md.grad(case.loss)(z, y))


def by_torch(case):
    import torch

    z, y = map(torch.tensor, case.arguments())
    z.requires_grad_(True)
    rows = case.torch_rows(z, y, torch)
    rows.mean().backward()
    return arrays(rows.detach(), z.grad)


def loss_questions():
    """PyTorch answers in float64; float32 may be some roundings of the numbers in the formula away."""
    for case in (case for case in CASES if case.torch_rows is not None):
        for dtype, rtol, atol in (("float64", 1e-12, 1e-14), ("float32", case.float32_rtol, 2e-7)):
            yield Question(
                f"loss {case.name} {dtype}",
                lambda case=case, dtype=dtype: by_us(case, np.dtype(dtype)),
                lambda case=case: by_torch(case),
                rtol,
                atol,
            )
