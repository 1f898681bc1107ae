"""Multilayer perceptrons you can train, understand and ship from Python, on the CPU you have.

Every public name is listed here and loaded when it is first used, so that ``import madaline`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # For type checkers and editors; a test holds it equal to the table below.
    from madaline import losses as losses
    from madaline import optim as optim
    from madaline.config import show_config as show_config
    from madaline.data.encode import TablePlan as TablePlan
    from madaline.data.reading.table_file import read_table as read_table
    from madaline.estimators.attributions import gradient_x_input as gradient_x_input
    from madaline.estimators.attributions import integrated_gradients as integrated_gradients
    from madaline.estimators.classical.adaline import Adaline as Adaline
    from madaline.estimators.classical.madaline import Madaline as Madaline
    from madaline.estimators.classical.perceptron import Perceptron as Perceptron
    from madaline.estimators.classical.threshold_logic import ThresholdLogicUnit as ThresholdLogicUnit
    from madaline.estimators.classical.threshold_logic import threshold_net as threshold_net
    from madaline.estimators.classifier import MLPClassifier as MLPClassifier
    from madaline.estimators.density.gaussian import GaussianMLPRegressor as GaussianMLPRegressor
    from madaline.estimators.density.mixture import MixtureDensityRegressor as MixtureDensityRegressor
    from madaline.estimators.density.quantile import QuantileMLPRegressor as QuantileMLPRegressor
    from madaline.estimators.explanations import explain as explain
    from madaline.estimators.preprocessing import PCA as PCA
    from madaline.estimators.preprocessing import ZCA as ZCA
    from madaline.estimators.preprocessing import ColumnScaler as ColumnScaler
    from madaline.estimators.preprocessing import ImageScaler as ImageScaler
    from madaline.estimators.regressor import MLPRegressor as MLPRegressor
    from madaline.estimators.report import write_report as write_report
    from madaline.functional.check_gradient import check_gradient as check_gradient
    from madaline.functional.collapse import collapse as collapse
    from madaline.functional.compile import compile as compile
    from madaline.functional.files import load as load
    from madaline.functional.files import save as save
    from madaline.functional.gradient import grad as grad
    from madaline.functional.gradient import value_and_grad as value_and_grad
    from madaline.functional.jacobian import hessian as hessian
    from madaline.functional.jacobian import jacobian as jacobian
    from madaline.functional.model import Model as Model
    from madaline.functional.products import hvp as hvp
    from madaline.functional.products import jvp as jvp
    from madaline.functional.products import vjp as vjp
    from madaline.graph import random as random
    from madaline.graph.numpy_api.dispatch import supported_functions as supported_functions
    from madaline.graph.numpy_api.reduce import logsumexp as logsumexp
    from madaline.graph.primitives.elementwise import erf as erf
    from madaline.graph.primitives.elementwise import relu as relu
    from madaline.graph.primitives.elementwise import sigmoid as sigmoid
    from madaline.graph.primitives.elementwise import softplus as softplus
    from madaline.graph.primitives.elementwise import stop_gradient as stop_gradient
    from madaline.graph.trace import trace as trace
    from madaline.kernels.threads import get_threads as get_threads
    from madaline.kernels.threads import set_threads as set_threads
    from madaline.losses.cross_entropy import BinaryCrossEntropy as BinaryCrossEntropy
    from madaline.losses.cross_entropy import CrossEntropy as CrossEntropy
    from madaline.losses.cross_entropy import KLDivergence as KLDivergence
    from madaline.losses.custom import CustomLoss as CustomLoss
    from madaline.losses.custom import as_loss as as_loss
    from madaline.losses.density import Gaussian as Gaussian
    from madaline.losses.density import HeteroscedasticGaussian as HeteroscedasticGaussian
    from madaline.losses.focal import BinaryFocal as BinaryFocal
    from madaline.losses.focal import Focal as Focal
    from madaline.losses.log_link import Gamma as Gamma
    from madaline.losses.log_link import Poisson as Poisson
    from madaline.losses.log_link import Tweedie as Tweedie
    from madaline.losses.loss import LOSSES as LOSSES
    from madaline.losses.loss import Loss as Loss
    from madaline.losses.margin import Hinge as Hinge
    from madaline.losses.margin import SquaredHinge as SquaredHinge
    from madaline.losses.mixture import MixtureDensity as MixtureDensity
    from madaline.losses.mixture_density import GaussianMixture as GaussianMixture
    from madaline.losses.ordinal import Ordinal as Ordinal
    from madaline.losses.quantile import Quantile as Quantile
    from madaline.losses.robust import MAE as MAE
    from madaline.losses.robust import Huber as Huber
    from madaline.losses.robust import LogCosh as LogCosh
    from madaline.losses.squared import MSE as MSE
    from madaline.losses.squared import HalfMSE as HalfMSE
    from madaline.losses.weights import balanced_class_weight as balanced_class_weight
    from madaline.nn import activations as activations
    from madaline.nn import initializers as initializers
    from madaline.nn.activation import activation as activation
    from madaline.nn.activation import as_activation as as_activation
    from madaline.nn.activations import ACTIVATIONS as ACTIVATIONS
    from madaline.nn.initializers import INITIALIZERS as INITIALIZERS
    from madaline.nn.initializers import LSUV as LSUV
    from madaline.nn.initializers import FanScaled as FanScaled
    from madaline.nn.initializers import Initializer as Initializer
    from madaline.nn.initializers import Kraehenbuehl as Kraehenbuehl
    from madaline.nn.initializers import Normal as Normal
    from madaline.nn.initializers import Orthogonal as Orthogonal
    from madaline.nn.initializers import RandomWalk as RandomWalk
    from madaline.nn.initializers import Sparse as Sparse
    from madaline.nn.initializers import Uniform as Uniform
    from madaline.nn.initializers import as_initializer as as_initializer
    from madaline.nn.layer import Layer as Layer
    from madaline.nn.layer import Param as Param
    from madaline.nn.layers import LAYERS as LAYERS
    from madaline.nn.layers.activation import CELU as CELU
    from madaline.nn.layers.activation import ELU as ELU
    from madaline.nn.layers.activation import GELU as GELU
    from madaline.nn.layers.activation import SELU as SELU
    from madaline.nn.layers.activation import Activation as Activation
    from madaline.nn.layers.activation import Hardshrink as Hardshrink
    from madaline.nn.layers.activation import HardSigmoid as HardSigmoid
    from madaline.nn.layers.activation import HardSwish as HardSwish
    from madaline.nn.layers.activation import HardTanh as HardTanh
    from madaline.nn.layers.activation import LeakyReLU as LeakyReLU
    from madaline.nn.layers.activation import LearnedHinge as LearnedHinge
    from madaline.nn.layers.activation import LogSigmoid as LogSigmoid
    from madaline.nn.layers.activation import LogSoftmax as LogSoftmax
    from madaline.nn.layers.activation import Mish as Mish
    from madaline.nn.layers.activation import PReLU as PReLU
    from madaline.nn.layers.activation import ReLU as ReLU
    from madaline.nn.layers.activation import ReLU6 as ReLU6
    from madaline.nn.layers.activation import ShiftedReLU as ShiftedReLU
    from madaline.nn.layers.activation import Sigmoid as Sigmoid
    from madaline.nn.layers.activation import Sinc as Sinc
    from madaline.nn.layers.activation import Softmax as Softmax
    from madaline.nn.layers.activation import Softplus as Softplus
    from madaline.nn.layers.activation import Softshrink as Softshrink
    from madaline.nn.layers.activation import Softsign as Softsign
    from madaline.nn.layers.activation import Step as Step
    from madaline.nn.layers.activation import Swish as Swish
    from madaline.nn.layers.activation import Tanh as Tanh
    from madaline.nn.layers.activation import TanhShrink as TanhShrink
    from madaline.nn.layers.activation import Threshold as Threshold
    from madaline.nn.layers.dropout import Dropout as Dropout
    from madaline.nn.layers.dropout import SpatialDropout as SpatialDropout
    from madaline.nn.layers.embedding import Embedding as Embedding
    from madaline.nn.layers.linear import Linear as Linear
    from madaline.nn.layers.linear import Maxout as Maxout
    from madaline.nn.layers.mlp import mlp as mlp
    from madaline.nn.layers.norm import BatchNorm as BatchNorm
    from madaline.nn.layers.norm import GroupNorm as GroupNorm
    from madaline.nn.layers.norm import InstanceNorm as InstanceNorm
    from madaline.nn.layers.norm import LayerNorm as LayerNorm
    from madaline.nn.layers.norm import RMSNorm as RMSNorm
    from madaline.nn.layers.parallel import Add as Add
    from madaline.nn.layers.parallel import Concat as Concat
    from madaline.nn.layers.parallel import Parallel as Parallel
    from madaline.nn.layers.periodic import Periodic as Periodic
    from madaline.nn.layers.reshape import Flatten as Flatten
    from madaline.nn.layers.reshape import Identity as Identity
    from madaline.nn.layers.reshape import Input as Input
    from madaline.nn.layers.residual import Residual as Residual
    from madaline.nn.layers.sequential import Sequential as Sequential
    from madaline.nn.layers.standardize import Standardize as Standardize
    from madaline.nn.layers.weight_norm import WeightNorm as WeightNorm
    from madaline.optim import schedules as schedules
    from madaline.optim.adadelta import Adadelta as Adadelta
    from madaline.optim.adagrad import Adagrad as Adagrad
    from madaline.optim.adam import Adam as Adam
    from madaline.optim.adam import AdaMax as AdaMax
    from madaline.optim.adam import AdamW as AdamW
    from madaline.optim.adam import AMSGrad as AMSGrad
    from madaline.optim.adam import Nadam as Nadam
    from madaline.optim.annealing import Cosine as Cosine
    from madaline.optim.annealing import CosineRestarts as CosineRestarts
    from madaline.optim.annealing import CosineWarmup as CosineWarmup
    from madaline.optim.annealing import Coslog4 as Coslog4
    from madaline.optim.annealing import LinearWarmup as LinearWarmup
    from madaline.optim.annealing import OneCycle as OneCycle
    from madaline.optim.averaging import AVERAGES as AVERAGES
    from madaline.optim.averaging import EMA as EMA
    from madaline.optim.averaging import SWA as SWA
    from madaline.optim.clipping import CLIPPINGS as CLIPPINGS
    from madaline.optim.clipping import AdaptiveClip as AdaptiveClip
    from madaline.optim.clipping import ClipNorm as ClipNorm
    from madaline.optim.clipping import ClipValue as ClipValue
    from madaline.optim.constraints import CONSTRAINTS as CONSTRAINTS
    from madaline.optim.constraints import MaxNorm as MaxNorm
    from madaline.optim.constraints import NonNegative as NonNegative
    from madaline.optim.constraints import UnitNorm as UnitNorm
    from madaline.optim.lbfgs import LBFGS as LBFGS
    from madaline.optim.lion import Lion as Lion
    from madaline.optim.moments import AdaptiveMoments as AdaptiveMoments
    from madaline.optim.optimizer import OPTIMIZERS as OPTIMIZERS
    from madaline.optim.optimizer import Optimizer as Optimizer
    from madaline.optim.optimizer import as_optimizer as as_optimizer
    from madaline.optim.plateau import ReduceOnPlateau as ReduceOnPlateau
    from madaline.optim.regularizers import L1 as L1
    from madaline.optim.regularizers import L2 as L2
    from madaline.optim.regularizers import REGULARIZERS as REGULARIZERS
    from madaline.optim.regularizers import Activity as Activity
    from madaline.optim.regularizers import Elastic as Elastic
    from madaline.optim.regularizers import GroupLasso as GroupLasso
    from madaline.optim.regularizers import Orthogonality as Orthogonality
    from madaline.optim.rmsprop import RMSprop as RMSprop
    from madaline.optim.rprop import Rprop as Rprop
    from madaline.optim.schedule import SCHEDULES as SCHEDULES
    from madaline.optim.schedule import ExponentialSteps as ExponentialSteps
    from madaline.optim.schedule import InverseRoot as InverseRoot
    from madaline.optim.schedule import InverseScaling as InverseScaling
    from madaline.optim.schedule import InverseTime as InverseTime
    from madaline.optim.schedule import Multistep as Multistep
    from madaline.optim.schedule import Schedule as Schedule
    from madaline.optim.schedule import as_schedule as as_schedule
    from madaline.optim.sgd import SGD as SGD
    from madaline.report.first_layer import FirstLayerDisplay as FirstLayerDisplay
    from madaline.report.layer_statistics import LayerStatisticsDisplay as LayerStatisticsDisplay
    from madaline.report.loss_curve import LossCurveDisplay as LossCurveDisplay
    from madaline.ship.export import export as export
    from madaline.ship.from_keras import from_keras as from_keras
    from madaline.ship.from_sklearn import from_sklearn as from_sklearn
    from madaline.ship.from_torch import from_torch as from_torch
    from madaline.train.events import Callback as Callback
    from madaline.train.history import History as History
    from madaline.train.loggers import MLflow as MLflow
    from madaline.train.loggers import TensorBoard as TensorBoard
    from madaline.train.metrics import METRICS as METRICS
    from madaline.train.metrics import Metric as Metric
    from madaline.train.metrics import TopK as TopK
    from madaline.train.probes import Probes as Probes
    from madaline.train.recipe import Group as Group
    from madaline.train.sampling import SAMPLERS as SAMPLERS
    from madaline.train.stopping import EarlyStopping as EarlyStopping
    from madaline.train.stream import Stream as Stream
    from madaline.train.trainer import Trainer as Trainer

__version__ = "0.1.0.dev0"

_NAMES_BY_MODULE = {
    "madaline": ("losses", "optim"),
    "madaline.config": ("show_config",),
    "madaline.data.encode": ("TablePlan",),
    "madaline.data.reading.table_file": ("read_table",),
    "madaline.estimators.attributions": ("gradient_x_input", "integrated_gradients"),
    "madaline.estimators.classical.adaline": ("Adaline",),
    "madaline.estimators.classical.madaline": ("Madaline",),
    "madaline.estimators.classical.perceptron": ("Perceptron",),
    "madaline.estimators.classical.threshold_logic": ("ThresholdLogicUnit", "threshold_net"),
    "madaline.estimators.classifier": ("MLPClassifier",),
    "madaline.estimators.density.gaussian": ("GaussianMLPRegressor",),
    "madaline.estimators.density.mixture": ("MixtureDensityRegressor",),
    "madaline.estimators.density.quantile": ("QuantileMLPRegressor",),
    "madaline.estimators.explanations": ("explain",),
    "madaline.estimators.preprocessing": ("ColumnScaler", "ImageScaler", "PCA", "ZCA"),
    "madaline.estimators.regressor": ("MLPRegressor",),
    "madaline.estimators.report": ("write_report",),
    "madaline.functional.check_gradient": ("check_gradient",),
    "madaline.functional.collapse": ("collapse",),
    "madaline.functional.compile": ("compile",),
    "madaline.functional.files": ("load", "save"),
    "madaline.functional.gradient": ("grad", "value_and_grad"),
    "madaline.functional.jacobian": ("hessian", "jacobian"),
    "madaline.functional.model": ("Model",),
    "madaline.functional.products": ("hvp", "jvp", "vjp"),
    "madaline.graph": ("random",),
    "madaline.graph.numpy_api.dispatch": ("supported_functions",),
    "madaline.graph.numpy_api.reduce": ("logsumexp",),
    "madaline.graph.primitives.elementwise": ("erf", "relu", "sigmoid", "softplus", "stop_gradient"),
    "madaline.graph.trace": ("trace",),
    "madaline.kernels.threads": ("get_threads", "set_threads"),
    "madaline.losses.cross_entropy": ("BinaryCrossEntropy", "CrossEntropy", "KLDivergence"),
    "madaline.losses.custom": ("CustomLoss", "as_loss"),
    "madaline.losses.density": ("Gaussian", "HeteroscedasticGaussian"),
    "madaline.losses.focal": ("BinaryFocal", "Focal"),
    "madaline.losses.log_link": ("Gamma", "Poisson", "Tweedie"),
    "madaline.losses.loss": ("LOSSES", "Loss"),
    "madaline.losses.margin": ("Hinge", "SquaredHinge"),
    "madaline.losses.mixture": ("MixtureDensity",),
    "madaline.losses.mixture_density": ("GaussianMixture",),
    "madaline.losses.ordinal": ("Ordinal",),
    "madaline.losses.quantile": ("Quantile",),
    "madaline.losses.robust": ("Huber", "LogCosh", "MAE"),
    "madaline.losses.squared": ("HalfMSE", "MSE"),
    "madaline.losses.weights": ("balanced_class_weight",),
    "madaline.nn": ("activations", "initializers"),
    "madaline.nn.activation": ("activation", "as_activation"),
    "madaline.nn.activations": ("ACTIVATIONS",),
    "madaline.nn.initializers": (
        "FanScaled",
        "INITIALIZERS",
        "Initializer",
        "Kraehenbuehl",
        "LSUV",
        "Normal",
        "Orthogonal",
        "RandomWalk",
        "Sparse",
        "Uniform",
        "as_initializer",
    ),
    "madaline.nn.layer": ("Layer", "Param"),
    "madaline.nn.layers": ("LAYERS",),
    "madaline.nn.layers.activation": (
        "Activation",
        "CELU",
        "ELU",
        "GELU",
        "HardSigmoid",
        "HardSwish",
        "HardTanh",
        "Hardshrink",
        "LeakyReLU",
        "LearnedHinge",
        "LogSigmoid",
        "LogSoftmax",
        "Mish",
        "PReLU",
        "ReLU",
        "ReLU6",
        "SELU",
        "ShiftedReLU",
        "Sigmoid",
        "Sinc",
        "Softmax",
        "Softplus",
        "Softshrink",
        "Softsign",
        "Step",
        "Swish",
        "Tanh",
        "TanhShrink",
        "Threshold",
    ),
    "madaline.nn.layers.dropout": ("Dropout", "SpatialDropout"),
    "madaline.nn.layers.embedding": ("Embedding",),
    "madaline.nn.layers.linear": ("Linear", "Maxout"),
    "madaline.nn.layers.mlp": ("mlp",),
    "madaline.nn.layers.norm": ("BatchNorm", "GroupNorm", "InstanceNorm", "LayerNorm", "RMSNorm"),
    "madaline.nn.layers.parallel": ("Add", "Concat", "Parallel"),
    "madaline.nn.layers.periodic": ("Periodic",),
    "madaline.nn.layers.reshape": ("Flatten", "Identity", "Input"),
    "madaline.nn.layers.residual": ("Residual",),
    "madaline.nn.layers.sequential": ("Sequential",),
    "madaline.nn.layers.standardize": ("Standardize",),
    "madaline.nn.layers.weight_norm": ("WeightNorm",),
    "madaline.optim": ("schedules",),
    "madaline.optim.adadelta": ("Adadelta",),
    "madaline.optim.adagrad": ("Adagrad",),
    "madaline.optim.adam": ("AMSGrad", "AdaMax", "Adam", "AdamW", "Nadam"),
    "madaline.optim.annealing": ("Cosine", "CosineRestarts", "CosineWarmup", "Coslog4", "LinearWarmup", "OneCycle"),
    "madaline.optim.averaging": ("AVERAGES", "EMA", "SWA"),
    "madaline.optim.clipping": ("AdaptiveClip", "CLIPPINGS", "ClipNorm", "ClipValue"),
    "madaline.optim.constraints": ("CONSTRAINTS", "MaxNorm", "NonNegative", "UnitNorm"),
    "madaline.optim.lbfgs": ("LBFGS",),
    "madaline.optim.lion": ("Lion",),
    "madaline.optim.moments": ("AdaptiveMoments",),
    "madaline.optim.optimizer": ("OPTIMIZERS", "Optimizer", "as_optimizer"),
    "madaline.optim.plateau": ("ReduceOnPlateau",),
    "madaline.optim.regularizers": ("Activity", "Elastic", "GroupLasso", "L1", "L2", "Orthogonality", "REGULARIZERS"),
    "madaline.optim.rmsprop": ("RMSprop",),
    "madaline.optim.rprop": ("Rprop",),
    "madaline.optim.schedule": (
        "ExponentialSteps",
        "InverseRoot",
        "InverseScaling",
        "InverseTime",
        "Multistep",
        "SCHEDULES",
        "Schedule",
        "as_schedule",
    ),
    "madaline.optim.sgd": ("SGD",),
    "madaline.report.first_layer": ("FirstLayerDisplay",),
    "madaline.report.layer_statistics": ("LayerStatisticsDisplay",),
    "madaline.report.loss_curve": ("LossCurveDisplay",),
    "madaline.ship.export": ("export",),
    "madaline.ship.from_keras": ("from_keras",),
    "madaline.ship.from_sklearn": ("from_sklearn",),
    "madaline.ship.from_torch": ("from_torch",),
    "madaline.train.events": ("Callback",),
    "madaline.train.history": ("History",),
    "madaline.train.loggers": ("MLflow", "TensorBoard"),
    "madaline.train.metrics": ("METRICS", "Metric", "TopK"),
    "madaline.train.probes": ("Probes",),
    "madaline.train.recipe": ("Group",),
    "madaline.train.sampling": ("SAMPLERS",),
    "madaline.train.stopping": ("EarlyStopping",),
    "madaline.train.stream": ("Stream",),
    "madaline.train.trainer": ("Trainer",),
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}

_MADE_OF_SKLEARN = tuple(
    f"madaline.estimators.{name}" for name in ("classical", "classifier", "density", "preprocessing", "regressor")
)

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605  computed, so that a name is written once


def __getattr__(name: str) -> Any:
    try:
        module = _MODULE_OF[name]
    except KeyError:
        raise AttributeError(f"module 'madaline' has no attribute {name!r}") from None
    if module.startswith(_MADE_OF_SKLEARN):
        # From here, where the stack is low. CPython maps its stack in pieces of 16 kB, and unmaps one as soon as it is
        # left: begun a few imports deeper down, scikit-learn's own cross an end of a piece ten thousand times more.
        import sklearn  # noqa: F401
    package = vars(importlib.import_module(module))
    value = package[name] if name in package else importlib.import_module(f"{module}.{name}")
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
