"""Files are read by a process that has imported nothing but madaline, whatever they hold."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import madaline as md
from losses.cases import CASES as LOSS_CASES
from madaline.data.plans import COLUMN_PLANS
from madaline.losses.classes import ClassLoss, LabelLoss
from madaline.nn.activation_function import ACTIVATIONS
from madaline.nn.initializers import INITIALIZERS, Hinges
from madaline.nn.layers.norm import NORMS
from madaline.optim.averaging import AVERAGES
from madaline.optim.constraints import CONSTRAINTS
from madaline.optim.regularizers import REGULARIZERS
from madaline.optim.schedule import SCHEDULES
from madaline.train.metrics import METRICS
from nn.layer_cases import CASES as LAYER_CASES

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to read some files in a process each")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 4))
Y = np.exp(X[:, 0])
CLASSES = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])]
LABELS = (X[:, :2] > 0).astype(int)
TABLE = {
    "size": X[:, 0].tolist(),
    "city": RNG.choice(["Rome", "Oslo", "Bonn"], 24).tolist(),
    "street": [f"street {k % 12}" for k in range(24)],
    "new": (X[:, 1] > 0).tolist(),
    "built": [f"20{k:02d}-03-01" for k in range(24)],
    "row_id": list(range(24)),
    "note": [f"bright flat number {k} with {k % 3} rooms near the park" for k in range(24)],
}


def kinked(x):
    return np.maximum(x, 0.1 * x)


def off(z, y):
    return np.mean(np.abs(z - y[:, None]) ** 1.5, axis=1)


SMALL = {"max_iter": 2, "random_state": 0, "hidden_layer_sizes": (5,)}


def regressor(y=Y, rows=X, **parameters):
    return lambda: (md.MLPRegressor(**SMALL | parameters).fit(rows, y), "predict", rows)


def classifier(y=CLASSES, rows=X, method="predict_proba", **parameters):
    return lambda: (md.MLPClassifier(**SMALL | parameters).fit(rows, y), method, rows)


def other(make, y=None, method="predict", rows=X):
    return lambda: (make().fit(rows, y), method, rows)


def net(case):
    """A model that is called with the rows themselves."""
    return lambda: (case.model(np.float32), None, case.inputs(np.float32))


def with_loss(case):
    loss = case.loss
    if isinstance(loss, LabelLoss) and not isinstance(loss, ClassLoss):
        return classifier(LABELS, loss=loss)
    if isinstance(loss, ClassLoss):
        return classifier(loss=loss, method="predict")
    width = case.arguments()[1]
    y = Y if width.ndim == 1 or width.shape[1] == 1 else np.column_stack([Y, Y + 1.0, Y + 2.0])[:, : width.shape[1]]
    return regressor(y, loss=loss)


NO_LOSS_OF_AN_MLP = {
    "kl_divergence": "targets are distributions",
    "quantile": "several quantiles are those of QuantileMLPRegressor, which is among the estimators",
    "heteroscedastic_gaussian": "that of GaussianMLPRegressor",
    "mixture_density": "that of MixtureDensityRegressor",
}
ESTIMATORS = {
    "classifier": classifier(),
    "classifier of two": classifier(X[:, 0] > 0),
    "classifier of labels": classifier(LABELS),
    "classifier of several": classifier(np.stack([CLASSES, CLASSES[::-1]], axis=1), method="predict"),
    "classifier of a table": classifier(rows=TABLE, data="auto"),
    "classifier with a preset": classifier(rows=TABLE, preset="auto"),
    "classifier of labels with a preset": classifier(LABELS, rows=TABLE, preset="auto"),
    "regressor": regressor(),
    "regressor of two": regressor(X[:, :2]),
    "regressor of a table": regressor(rows=TABLE, data="auto"),
    "regressor with a preset": regressor(rows=TABLE, preset="auto"),
    "regressor of counts with a preset": regressor(np.round(Y), rows=TABLE, preset="auto", loss="poisson"),
    "intervals": lambda: (regressor(rows=TABLE, preset="auto")()[0], "predict_interval", TABLE),
    "gaussian": other(lambda: md.GaussianMLPRegressor(**SMALL), Y, "predict_interval"),
    "gaussian of a table": other(lambda: md.GaussianMLPRegressor(data="auto", **SMALL), Y, rows=TABLE),
    "quantiles": other(lambda: md.QuantileMLPRegressor(**SMALL), Y, "predict_quantiles"),
    "quantiles of a table": other(lambda: md.QuantileMLPRegressor(data="auto", **SMALL), Y, rows=TABLE),
    "mixture": other(lambda: md.MixtureDensityRegressor(**SMALL), X[:, :2], "predict_mode"),
    "mixture of a table": other(lambda: md.MixtureDensityRegressor(data="auto", **SMALL), Y, rows=TABLE),
    "a search": lambda: (
        md.search(md.MLPClassifier(preset="auto", **SMALL), TABLE, CLASSES, trials=3, max_seconds=None),
        "predict_proba",
        TABLE,
    ),
    "perceptron": other(lambda: md.classical.Perceptron(max_iter=3), X[:, 0] > 0),
    "adaline": other(lambda: md.classical.Adaline(max_iter=3), CLASSES),
    "madaline": other(lambda: md.classical.Madaline(max_iter=3, random_state=0), CLASSES),
    "threshold unit": other(lambda: md.classical.ThresholdLogicUnit([1.0, 2.0, -1.0, 0.5], 0.1), X[:, 0] > 0),
    "scaler": other(lambda: md.data.ColumnScaler("robust"), method="transform"),
    "pca": other(lambda: md.data.PCA(2), method="transform"),
    "zca": other(md.data.ZCA, method="transform"),
    "images": other(lambda: md.data.ImageScaler("image", "image"), method="transform", rows=X.reshape(24, 2, 2, 1)),
    "a custom activation": regressor(activation=kinked),
    "a custom loss": regressor(loss=off),
    "lbfgs": regressor(optimizer=md.LBFGS(5)),
    "groups": regressor(
        regularizer=[md.optim.L1(1e-3), "l2"], schedule=md.optim.schedules.LinearWarmup(2) * md.optim.schedules.Cosine()
    ),
    "a sum of waves": regressor(rows=TABLE, data={"waves": 3}),
    "words of a text": regressor(rows=TABLE, data={"text": ["note"]}),
}
NETS = {f"net: {case.name}": net(case) for case in LAYER_CASES}
NETS["net: custom"] = lambda: (md.Sequential(md.Linear(3), md.nn.Activation(kinked)).init(4, seed=0), None, X)
PARAMETERS = {
    **{f"activation: {name}": regressor(activation=name) for name in ACTIVATIONS.names()},
    **{f"activation layer: {name}": regressor(activation=md.nn.Activation(name)) for name in ("mish", "softplus")},
    **{f"norm: {name}": regressor(norm=name) for name in NORMS.names() if name != "instance"},
    **{f"loss: {case.name}": with_loss(case) for case in LOSS_CASES if case.loss.name not in NO_LOSS_OF_AN_MLP},
    **{f"optimizer: {kind.name}": regressor(optimizer=kind()) for kind in md.optim.OPTIMIZERS},
    **{f"schedule: {kind.name}": regressor(schedule=kind(), validation=0.3) for kind in SCHEDULES},
    **{f"regularizer: {kind.name}": regressor(regularizer=kind(0.01)) for kind in REGULARIZERS},
    **{f"constraint: {kind.name}": regressor(constraint=kind()) for kind in CONSTRAINTS},
    **{f"average: {kind.name}": regressor(average=kind()) for kind in AVERAGES},
    **{
        f"initializer: {name}": regressor(init=each)
        for name, each in INITIALIZERS.items()
        if not isinstance(each, Hinges)  # for biases: every small net has it by default
    },
    **{f"metric: {kind.name}": classifier(metrics=kind()) for kind in METRICS if kind.name in ("accuracy", "auc")},
    "metric: top_k": classifier(metrics=md.train.TopK(2)),
    **{f"metric: {kind.name}": regressor(metrics=kind()) for kind in METRICS if kind.name in ("mae", "mse", "r2")},
}
CASES = ESTIMATORS | NETS | PARAMETERS
ALONE = [
    "regressor with a preset", "net: linear", "net: custom", "classifier", "classifier of a table", "mixture",
    "madaline", "a search", "schedule: one_cycle", "metric: auc", "a custom loss",
]  # fmt: skip
"One of each kind, read by a process that has not read anything before."

READER = """
import json, os, pickle, sys, traceback

import madaline as md


def same(found, expected):
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    import numpy as np

    return np.array_equal(found, expected)


def read(file):
    model = md.load(file)
    with open(file + ".answer", "rb") as kept:
        method, rows, answer, parameters = pickle.load(kept)
    found = model(rows) if method is None else getattr(model, method)(rows)
    if not same(found, answer):
        return f"predicts {found!r:.200} in place of {answer!r:.200}"
    now = {} if method is None else model.get_params()
    other = [name for name, value in parameters.items() if repr(now[name]) != value]
    return "" if not other else f"has other parameters: {other}"


def outcome(file):
    try:
        return read(file)
    except BaseException:
        return traceback.format_exc()


names, alone = json.load(sys.stdin)
results = {}
for place, name in enumerate(alone):
    if place == 1:  # modules of others know nothing of madaline; imported once, they need not be imported by each child
        import numpy, polars, safetensors.numpy, scipy.sparse, sklearn.pipeline, sklearn.utils.validation
    into, out_of = os.pipe()
    child = os.fork()
    if not child:
        os.write(out_of, outcome(names[name]).encode()[:60_000])
        os._exit(0)
    os.close(out_of)
    with os.fdopen(into, "rb") as pipe:
        results[name + " alone"] = pipe.read().decode()
    os.waitpid(child, 0)
for name, file in names.items():
    results[name] = outcome(file)
print(json.dumps(results))
"""


def test_there_is_a_file_with_each_thing_that_has_a_name():
    known = {*ACTIVATIONS.names()} - {key.removeprefix("activation: ") for key in PARAMETERS}
    assert not known
    in_nets = {part.name for case in LAYER_CASES for part in [case.layer]}
    assert len(in_nets) >= 18  # tests of layers see to it that each is among their cases
    assert {case.loss.name for case in LOSS_CASES} == {*md.losses.LOSSES.names()}
    assert {kind.name for kind in METRICS} == {"accuracy", "auc", "mae", "mse", "r2", "top_k"}
    columns = md.data.TablePlan.fit(TABLE, text=["note"]).to_dict()["columns"]
    assert {column["name"] for column in columns} == set(COLUMN_PLANS.names())


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What a fresh process says of each file: nothing, or what went wrong."""
    folder = tmp_path_factory.mktemp("files")
    names = {}
    for place, (name, make) in enumerate(CASES.items()):
        file = folder / f"{place}.madaline"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nets that are trained too little, columns that look like ids
            model, method, rows = make()
        md.save(model, file)
        answer = model(rows) if method is None else getattr(model, method)(rows)
        given = {} if method is None else model.get_params()
        # Functions are saved as their formulas.
        parameters = {name: repr(value) for name, value in given.items() if not inspect.isfunction(value)}
        file.with_name(f"{file.name}.answer").write_bytes(pickle.dumps((method, rows, answer, parameters)))
        names[name] = str(file)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", READER],
        input=json.dumps([names, ALONE]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", [*(f"{name} alone" for name in ALONE), *CASES])
def test_a_fresh_process_reads_it_and_predicts_the_same(results, name):
    assert not results[name], results[name]
