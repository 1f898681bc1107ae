"""What a search found, as attributes of its estimator."""

from __future__ import annotations

from madaline.estimators.base import NetEstimator
from madaline.tune.rounds import RoundSearch
from madaline.tune.space import at_edges


def describe(estimator: NetEstimator, run: RoundSearch, *, seconds: float) -> None:
    """Set ``trials_``, ``best_params_`` and ``search_``, and the parameters of the best trial."""
    best = run.best
    records = sorted(run.study.records, key=lambda each: each.number)
    used = estimator.resolved_params_
    estimator.trials_ = [each.row() for each in records]
    estimator.best_params_ = {name: used[name] for name in run.parameter_names()}
    estimator.search_ = {
        "best_trial": best.number,
        "best_loss": best.loss,
        "default_loss": next((each.loss for each in records if each.number == 0), None),
        "ensemble_loss": run.ensemble_loss,
        "stopped": run.stopped,
        "seconds": seconds,
        "folds": len(run.nets.folds),
        "epochs": run.nets.epochs,
        "space": {name: part.to_plain() for name, part in run.space.items()},
        "importances": run.study.importances(),
        "edges": [
            {"name": name, "end": end, "value": best.labels[name]}
            for name, end in at_edges(run.template, run.space, best.labels)
        ],
    }
    estimator.set_params(**estimator.best_params_)
