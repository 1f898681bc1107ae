"""Our answers, and the recorded ones, against PyTorch and JAX as they are installed."""

from __future__ import annotations

import numpy as np
import pytest
from questions import DIFFERENT, all_questions, compare, elementwise_arguments, elementwise_by_us
from recordings import recorded

from madaline.graph.primitive import PRIMITIVES

pytest.importorskip("torch", reason="needs PyTorch: make test-oracles")
pytest.importorskip("jax", reason="needs JAX: make test-oracles")


@pytest.mark.parametrize(("family", "question"), [pytest.param(f, q, id=q.name) for f, q in all_questions()])
def test_we_agree_with_them_and_they_with_what_was_recorded(family, question):
    theirs = question.oracle()
    compare(question.ours(), theirs, question)
    compare(recorded(family, question.name), theirs, question)


@pytest.mark.parametrize("name", DIFFERENT)
def test_where_conventions_differ_they_do_so_at_the_kink_alone(name):
    """If JAX changes its mind, the exception for it should go."""
    import in_jax
    import jax
    import jax.numpy as jnp

    primitive = PRIMITIVES[name]
    assert name in in_jax.KINKS
    args = elementwise_arguments(primitive)
    theirs = np.asarray(jax.grad(lambda *x: getattr(jnp, name)(*x).sum())(*args))
    ours = elementwise_by_us(primitive)[1]
    np.testing.assert_array_equal(theirs != ours, args[0] == 0.0)
