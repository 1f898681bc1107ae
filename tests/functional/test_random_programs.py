"""Random programs: both modes, second order, compiled and in batches, against central differences."""

from __future__ import annotations

import numpy as np
import pytest

from functional.random_programs import Program, failures


@pytest.mark.parametrize("seed", range(16))
def test_derivatives_of_a_random_program_are_right(seed):
    program = Program(seed)
    with np.errstate(all="ignore"):
        assert not failures(program), program
