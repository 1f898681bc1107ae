"""Multilayer perceptrons you can train, understand and ship from Python, on the CPU you have.

The names that most programs need are here; the others are in submodules:

- ``md.nn``: layers, activations, initializers
- ``md.losses``: losses
- ``md.optim``: optimizers, learning-rate schedules, regularizers, constraints, clipping, averages
- ``md.functional``: derivatives, and functions for custom formulas
- ``md.train``: callbacks, metrics, samplers, streams, loggers
- ``md.classical``: Perceptron, Adaline, Madaline and threshold units
- ``md.data``: tables, preprocessing
- ``md.doctor``: diagnoses of training, tests of nets and data
- ``md.report``: reports, pictures, attributions
- ``md.ship``: exports and imports
- ``madaline.tune``: hyperparameter search
- ``md.errors``: exceptions and warnings

Every name is loaded when it is first used, so ``import madaline`` takes little time.
"""

from madaline.public import lazy

__version__ = "0.1.0.dev0"

# The one list of the names of this module. ``__init__.pyi``, which type checkers and editors read, is generated from it
# by ``python docs/stubs.py``; a test compares.
__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline": (
            "classical",
            "data",
            "doctor",
            "errors",
            "functional",
            "losses",
            "nn",
            "optim",
            "report",
            "ship",
            "train",
        ),
        "madaline.config": ("show_config",),
        "madaline.data.datasets": ("load_dataset",),
        "madaline.data.reading.table_file": ("read_table",),
        "madaline.doctor.checkup": ("checkup",),
        "madaline.doctor.diagnose": ("diagnose",),
        "madaline.doctor.heal": ("heal",),
        "madaline.doctor.watch": ("Doctor",),
        "madaline.errors": ("MadalineError", "MadalineWarning"),
        "madaline.estimators.classifier": ("MLPClassifier",),
        "madaline.estimators.density.gaussian": ("GaussianMLPRegressor",),
        "madaline.estimators.density.mixture": ("MixtureDensityRegressor",),
        "madaline.estimators.density.quantile": ("QuantileMLPRegressor",),
        "madaline.estimators.explanations": ("explain",),
        "madaline.estimators.regressor": ("MLPRegressor",),
        "madaline.estimators.report": ("write_report",),
        "madaline.functional.check_gradient": ("check_gradient",),
        "madaline.functional.compile": ("compile",),
        "madaline.functional.files": ("load", "save"),
        "madaline.functional.gradient": ("grad", "value_and_grad"),
        "madaline.functional.jacobian": ("hessian", "jacobian"),
        "madaline.functional.model": ("Model",),
        "madaline.functional.products": ("hvp", "jvp", "vjp"),
        "madaline.functional.rules": ("checkpoint", "custom_derivative"),
        "madaline.functional.vmap": ("vmap",),
        "madaline.graph.creation": ("array", "zeros"),
        "madaline.graph": ("random",),
        "madaline.graph.trace": ("trace",),
        "madaline.kernels.threads": ("get_threads", "set_threads"),
        "madaline.losses": ("BinaryCrossEntropy", "CrossEntropy", "Huber", "MAE", "MSE"),
        "madaline.nn": (
            "BatchNorm",
            "Concat",
            "Dropout",
            "Embedding",
            "LayerNorm",
            "Linear",
            "Parallel",
            "ReLU",
            "Residual",
            "Sequential",
            "mlp",
        ),
        "madaline.optim": ("Adam", "AdamW", "LBFGS", "RMSprop", "SGD"),
        "madaline.ship.export": ("export",),
        "madaline.train.events": ("Callback",),
        "madaline.train.history": ("History",),
        "madaline.train.population": ("Population",),
        "madaline.train.stopping": ("EarlyStopping",),
        "madaline.train.stream": ("Stream",),
        "madaline.train.trainer": ("Trainer",),
        "madaline.tune.search": ("search",),
    },
)
