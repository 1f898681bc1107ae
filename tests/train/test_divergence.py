"""A loss that is not finite: the run ends at that step and says where it began and why."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import DivergenceError


def too_fast(**options):
    net = md.Sequential(md.Linear(16), "relu", md.Linear(16), "relu", md.Linear(1))
    return md.Trainer(net, optimizer=md.SGD(1e4), **options)


@pytest.mark.parametrize("options", [{}, {"validation": 0.2}, {"probes": True}], ids=["together", "epochs", "probes"])
def test_steps_too_large_are_named_with_step_epoch_layer_and_rate(diabetes, options):
    trainer = too_fast()
    with pytest.raises(DivergenceError) as caught:
        trainer.fit(*diabetes, epochs=30, batch_size=100, record_steps=True, **options)
    error, history = caught.value, trainer.history
    assert history.stopped == "diverged"
    assert error.step == trainer.run.progress.t + 1 == history.steps.n_rows + 1
    per_epoch = trainer.run.steps_an_epoch
    assert f"The loss of step {error.step} (epoch {(error.step - 1) // per_epoch + 1}) is not finite" in str(error)
    assert history.epochs == (error.step - 1) // per_epoch
    assert "learning rate 1e+04" in str(error)
    assert error.layer in {"0", "2", "4", "1", "3"}
    assert f"{error.layer}" in str(error)
    assert np.isfinite(history.steps["loss"]).all()


def test_the_model_keeps_the_last_whole_step(diabetes):
    trainer, other = too_fast(), too_fast()
    with pytest.raises(DivergenceError) as caught:
        trainer.fit(*diabetes, epochs=30, batch_size=100)
    history = other.fit(*diabetes, epochs=30, batch_size=100, on_divergence="stop")
    assert history.stopped == "diverged"
    assert other.run.progress.t == caught.value.step - 1
    np.testing.assert_array_equal(trainer.model.params.flat, other.model.params.flat)


def bad_row(value):
    """Finite in float64, but not once it is a float32."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[37, 1] = value
    return X, X[:, :1].clip(-1, 1)


def test_inputs_too_large_for_the_net_are_blamed():
    X, y = bad_row(1e300)
    with pytest.raises(
        DivergenceError, match="inputs of this batch are not finite after conversion to the type of the net"
    ) as caught:
        md.Trainer(md.mlp(4, 1)).fit(X, y, batch_size=10, epochs=1, shuffle=False)
    assert caught.value.step == 4
    assert caught.value.layer == "0"


def test_such_batches_can_be_left_out():
    X, y = bad_row(1e300)
    trainer = md.Trainer(md.mlp(4, 1), dtype="float32")
    history = trainer.fit(
        X, y, batch_size=10, epochs=2, shuffle=False, on_divergence="skip", record_steps=True, metrics="mae"
    )
    assert history.stopped == "finished"
    assert trainer.run.progress.t == 12
    assert np.isfinite(history["loss"]).all()
    assert np.isfinite(trainer.model.params.flat).all()
    kept = np.arange(60) // 10 != 3
    other = md.Trainer(md.mlp(4, 1), optimizer=md.SGD(1e-3))
    plain = md.Trainer(md.mlp(4, 1), optimizer=md.SGD(1e-3))
    other.fit(X, y, batch_size=10, epochs=2, shuffle=False, on_divergence="skip")
    plain.fit(X[kept], y[kept], batch_size=10, epochs=2, shuffle=False)
    np.testing.assert_array_equal(other.model.params.flat, plain.model.params.flat)
    np.testing.assert_allclose(other.history["loss"], plain.history["loss"], rtol=1e-12)


def test_a_loss_that_is_not_finite_by_itself_is_told_from_a_layer(rng):
    X = rng.normal(size=(20, 2))
    with pytest.raises(DivergenceError, match="the output of every layer is finite, but the loss is not") as caught:
        md.Trainer(md.Linear(1), loss=lambda z, y: np.log(-np.abs(z[:, 0]))).fit(X, X[:, :1], epochs=1)
    assert caught.value.layer == ""


def test_a_solver_that_starts_where_there_is_no_loss_says_so():
    X, y = bad_row(1e300)
    with pytest.raises(DivergenceError, match="The loss of step 1 "):
        md.Trainer(md.mlp(4, 1), optimizer="lbfgs").fit(X, y)


def test_other_words_for_it_are_refused(diabetes):
    with pytest.raises(ValueError, match="on_divergence='ignore' must be one of 'raise', 'stop', 'skip'"):
        too_fast().fit(*diabetes, on_divergence="ignore")


def test_a_batch_that_was_left_out_has_no_loss_of_its_own():
    X, y = bad_row(1e300)
    history = md.Trainer(md.mlp(4, 1)).fit(
        X, y, batch_size=10, epochs=1, shuffle=False, on_divergence="skip", record_steps=True
    )
    np.testing.assert_array_equal(np.isnan(history.steps["loss"]), np.arange(6) == 3)
    assert history["loss"][0] == pytest.approx(np.nanmean(history.steps["loss"]))


def test_leaving_out_ends_where_no_batch_is_left(diabetes):
    """Nothing changes any more then, so going on would be for nothing."""
    trainer = too_fast()
    with pytest.raises(DivergenceError, match=r"No batch of epoch \d+ had a finite loss; in the last one") as caught:
        trainer.fit(*diabetes, epochs=30, batch_size=100, on_divergence="skip")
    assert trainer.history.stopped == "diverged"
    assert caught.value.step == trainer.run.progress.t


def test_parameters_that_are_not_finite_after_the_last_step_are_named(rng):
    X = 1e10 * rng.normal(size=(20, 2))
    trainer = md.Trainer(md.Linear(1), optimizer=md.SGD(1e30))
    with pytest.raises(DivergenceError, match="After step 1 the parameter 'W' is no longer finite") as caught:
        trainer.fit(X, X[:, :1], epochs=1, batch_size=None)
    assert (caught.value.step, caught.value.layer) == (1, "")
    assert trainer.history.stopped == "diverged"
    assert trainer.fit(X, X[:, :1], epochs=1, batch_size=None, on_divergence="stop").stopped == "diverged"
