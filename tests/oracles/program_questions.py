"""Programs as NumPy users write them: value and gradient by JAX, which runs the same program with ``jax.numpy``."""

from __future__ import annotations

import functools

import numpy as np

import madaline as md
from functional.programs import PROGRAMS


def program_questions(question):
    """One question for each program; ``question`` makes them."""
    for program, x in PROGRAMS.items():
        yield question(
            f"program {program.__name__}",
            functools.partial(by_us, program, x),
            functools.partial(by_jax, program, x),
            rtol=1e-8,
            atol=1e-9,
        )


def by_us(program, x):
    value, slope = md.value_and_grad(functools.partial(program, np))(x)
    return [np.asarray(value), np.asarray(slope)]


def by_jax(program, x):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    value, slope = jax.value_and_grad(functools.partial(program, jnp))(jnp.asarray(x))
    return [np.asarray(value), np.asarray(slope)]
