"""Training by L-BFGS."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import madaline as md
from madaline.errors import ConfigError
from small_trainer import small


def test_lbfgs_ends_where_scipy_does(rows):
    X, y = rows
    trainer = small(optimizer=md.LBFGS(40, tol=1e-8, value_tol=1e-14), regularizer=md.optim.L2(0.01))
    history = trainer.fit(X, y)
    model = trainer.net.init(X, dtype="float64")
    loss = md.value_and_grad(
        lambda w: (
            md.CrossEntropy()(trainer.model.network.run(w, None, X).outputs[""], y)
            + 0.01 * (np.sum(w[:20] ** 2) + np.sum(w[25:40] ** 2))
        )
    )
    options = {"maxiter": 40, "gtol": 1e-8, "ftol": 1e-14, "maxcor": 10, "maxfun": 15_000}
    found = minimize(loss, model.params.flat, jac=True, method="L-BFGS-B", options=options)
    assert history["loss"][-1] + history["penalty"][-1] == pytest.approx(found.fun, rel=1e-10)
    np.testing.assert_allclose(trainer.model.params.flat, found.x, rtol=1e-5, atol=1e-7)
    assert not history.converged
    assert history.epochs == found.nit


def test_lbfgs_is_meant_by_name_class_and_plain_data(rows):
    for what in ("lbfgs", md.LBFGS, md.LBFGS().to_dict()):
        assert small(optimizer=what).recipe.optimizer == md.LBFGS()


def test_lbfgs_takes_no_clipping_constraints_or_averages(rows):
    with pytest.raises(ConfigError, match="clip and average cannot be used with"):
        small(optimizer="lbfgs", clip_norm=1.0, average="ema").fit(*rows)


def test_lbfgs_has_metrics_of_training_rows_and_may_stop_by_them(digits):
    trainer = md.Trainer(md.mlp(8, 10), loss="cross_entropy", optimizer=md.LBFGS(max_iter=15))
    history = trainer.fit(*digits, metrics=["accuracy", "auc"], validation=0.2, early_stopping="accuracy")
    assert list(history)[:6] == ["epoch", "loss", "accuracy", "auc", "val_loss", "val_accuracy"]
    assert history.best_epoch == np.argmax(history["accuracy"]) + 1
    again = md.Trainer(md.mlp(8, 10), loss="cross_entropy", optimizer=md.LBFGS(max_iter=15))
    history = again.fit(*digits, metrics=["accuracy", "auc"])
    found = again.evaluate(*digits)
    for name in ("accuracy", "auc", "loss"):
        assert found[name] == pytest.approx(history[name][-1], rel=1e-5)


def test_lbfgs_keeps_to_the_time_and_takes_no_rates(digits):
    trainer = md.Trainer(md.mlp(8, 10), loss="cross_entropy", optimizer=md.LBFGS(max_iter=50))
    history = trainer.fit(*digits, max_seconds=0)
    assert (history.stopped, history.epochs) == ("time", 1)
    for options in ({"schedule": "cosine"}, {"groups": {"0": {"rate": 0.1}}}):
        with pytest.raises(ConfigError, match=f"{next(iter(options))} cannot be used with LBFGS"):
            md.Trainer(md.mlp(8, 10), loss="cross_entropy", optimizer="lbfgs", **options).fit(*digits)
