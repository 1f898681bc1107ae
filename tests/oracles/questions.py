"""What the oracles are asked: each question has our answer and, where torch and JAX are installed, theirs.

One list serves three tests: ours against the recorded answers (``test_recorded.py``, part of ``make test``), ours
against the live ones, and the recorded against the live ones (``test_live.py``, part of ``make test-oracles``).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from graph_files import from_data
from program_questions import program_questions

import madaline as md
import madaline.graph.numpy_api.dispatch
from graph_values import largest_value
from madaline.graph.node import constant, is_float, new_input
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise
from madaline.graph.reverse_mode import cotangents
from madaline.graph.trace import Graph
from madaline.kernels.execute import Executable
from random_graphs import Case

RECORDED = Path(__file__).parent / "recorded"
EXPRESSIONS = RECORDED / "expressions.json.gz"
N_EXPRESSIONS = 250

Arrays = list[np.ndarray]


@dataclass(frozen=True)
class Question:
    """Something both can compute. ``oracle`` is asked only where the library is installed."""

    name: str
    ours: Callable[[], Arrays]
    oracle: Callable[[], Arrays]
    rtol: float = 1e-12
    atol: float = 1e-14


def arrays(*values: Any) -> Arrays:
    return [np.asarray(value) for value in values]


# A net with two hidden layers


def mlp_loss(params, x, y, np=np):
    """Mean cross entropy of a two-hidden-layer net."""
    h = np.tanh(x @ params["W1"] + params["b1"])
    h = np.maximum(h @ params["W2"] + params["b2"], 0.0)
    z = h @ params["W3"] + params["b3"]
    z = z - z.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -(log_p * y).sum(axis=1).mean() + 1e-3 * sum((W**2).sum() for name, W in params.items() if name[0] == "W")


def mlp_arguments(dtype, sizes=(7, 12, 9, 4), n_rows=30):
    rng = np.random.default_rng(1986)
    params = {}
    for layer, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:], strict=True), start=1):  # noqa: RUF007 - as in the lecture
        params[f"W{layer}"] = (rng.normal(size=(n_in, n_out)) / n_in**0.5).astype(dtype)
        params[f"b{layer}"] = rng.normal(size=n_out).astype(dtype) / 10
    y = np.eye(sizes[-1], dtype=dtype)[rng.integers(0, sizes[-1], size=n_rows)]
    return params, rng.normal(size=(n_rows, sizes[0])).astype(dtype), y


def mlp_by_us(dtype):
    value, slopes = md.value_and_grad(mlp_loss)(*mlp_arguments(dtype))
    return arrays(value, *slopes.values())


def mlp_by_torch(dtype):
    import torch

    params, x, y = mlp_arguments(dtype)
    leaves = {name: torch.tensor(value, requires_grad=True) for name, value in params.items()}
    h = torch.tanh(torch.tensor(x) @ leaves["W1"] + leaves["b1"])
    h = torch.relu(h @ leaves["W2"] + leaves["b2"])
    z = h @ leaves["W3"] + leaves["b3"]
    loss = torch.nn.functional.cross_entropy(z, torch.tensor(y))
    loss = loss + 1e-3 * sum((W**2).sum() for name, W in leaves.items() if name[0] == "W")
    loss.backward()
    return arrays(loss.detach(), *(leaf.grad for leaf in leaves.values()))


def mlp_questions():
    for dtype, rtol in (("float64", 1e-12), ("float32", 2e-5)):
        yield Question(
            f"mlp {dtype}",
            lambda dtype=dtype: mlp_by_us(dtype),
            lambda dtype=dtype: mlp_by_torch(dtype),
            rtol,
            atol=rtol / 20,
        )


# Random expressions


@cache
def expressions() -> list[tuple[int, dict[str, Any]]]:
    """The recorded expressions: a seed for the arguments, and a graph."""
    return (
        [tuple(item) for item in json.loads(gzip.decompress(EXPRESSIONS.read_bytes()))] if EXPRESSIONS.exists() else []
    )


def expression_questions():
    for number, (seed, data) in enumerate(expressions()):
        yield expression_question(number, seed, data)


def expression_question(number, seed, data):
    @cache
    def case():
        return Case(from_data(data), seed)

    def ours():
        return [
            *Executable(case().graph)(case().arguments()),
            *Executable(case().gradient)(case().arguments()),
        ]

    def oracle():
        import in_jax

        floats = [node for node in case().graph.outputs if is_float(node.dtype)]
        weights = [float(np.cos(1.0 + index)) for index in range(len(floats))]
        outputs, slopes = in_jax.value_and_gradient(case().graph, case().arguments(), weights)
        return [*outputs, *slopes]

    return Question(f"expression {number}", ours, oracle, rtol=0.0, atol=expression_tolerance(data))


def expression_tolerance(data):
    """Some roundings of the largest value, which the recording notes; of float32 if any node is one."""
    coarse = any(node["dtype"] == "float32" for node in data["nodes"])
    return 200 * float(np.finfo(np.float32 if coarse else np.float64).eps) * data["largest"]


def largest_in(case: Case) -> float:
    graphs = (case.graph, case.gradient)
    return max(largest_value(graph, case.arguments()) for graph in graphs if graph is not None)


# Elementwise primitives: value and derivative, kinks and ties included

POINTS = np.array([-2.0, -1.0, -0.75, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.5])
NO_TORCH = {"cbrt", "floor_divide", "rint", "trunc"}
TORCH_NAMES = {"absolute": "abs", "power": "pow", "softplus": "nn.functional.softplus", "arctan2": "atan2"}
DIFFERENT = {"absolute": "0 at 0; JAX has 1", "copysign": "0 by a at a = 0, whatever b; JAX has 1 or -1"}
"Derivatives where our convention is PyTorch's and not JAX's; for these JAX is asked with PyTorch's."


def elementwise_primitives():
    skipped = {"cast", "where", "identity", "stop_gradient"}
    for primitive in PRIMITIVES:
        if (
            isinstance(primitive, Elementwise)
            and primitive.types in ("float", "number")
            and primitive.name not in skipped
            and not primitive.library  # whose values are SciPy's own
        ):
            yield primitive


def elementwise_arguments(primitive):
    """The points of the domain; for two arguments, all pairs, so that ties occur."""
    if len(primitive.domains) == 1:
        return [POINTS[inside(POINTS, primitive, 0)]]
    a, b = (grid.ravel() for grid in np.meshgrid(POINTS, POINTS, indexing="ij"))
    chosen = inside(a, primitive, 0) & inside(b, primitive, 1)
    return [a[chosen], b[chosen]]


def inside(x, primitive, position):
    """Real arguments may be anything; others stay where the function is defined and smooth."""
    low, _ = primitive.domains[position]
    if low >= 1.0:
        return x > 1.0
    if low > 0.0:
        return x > 0.0
    return (x >= -2.0) if low <= -2.0 else (np.abs(x) < 1.0) & (x > -1.0)


def elementwise_by_us(primitive):
    args = elementwise_arguments(primitive)
    inputs = tuple(new_input(index, arg.shape, arg.dtype) for index, arg in enumerate(args))
    y = primitive(*inputs)
    seeds = [np.broadcast_to(constant(1.0), y.shape)]
    bars = cotangents([y], list(inputs), seeds)
    slopes = [node._zeros() if bar is None else bar for node, bar in zip(inputs, bars, strict=True)]
    return Executable(Graph(inputs, (y, *slopes)))(args)


def elementwise_by_torch(primitive):
    import torch

    args = [torch.tensor(arg, requires_grad=True) for arg in elementwise_arguments(primitive)]
    function: Any = torch
    for part in TORCH_NAMES.get(primitive.name, primitive.name).split("."):
        function = getattr(function, part)
    options = {"threshold": 1000.0} if primitive.name == "softplus" else {}
    y = function(*args, **options)
    if y.requires_grad:
        y.sum().backward()
    return arrays(y.detach(), *(torch.zeros_like(arg) if arg.grad is None else arg.grad for arg in args))


def elementwise_by_jax(primitive):
    import in_jax
    import jax

    args = elementwise_arguments(primitive)
    function = in_jax.function_of(primitive.name)
    slopes = jax.grad(lambda *x: function(*x).sum(), argnums=tuple(range(len(args))))(*args)
    return arrays(function(*args), *slopes)


def elementwise_questions():
    for primitive in elementwise_primitives():
        oracles = {"JAX": elementwise_by_jax, "torch": elementwise_by_torch}
        for oracle, by in oracles.items():
            if oracle == "torch" and primitive.name in NO_TORCH:
                continue
            yield Question(
                f"{primitive.name} by {oracle}",
                lambda primitive=primitive: elementwise_by_us(primitive),
                lambda primitive=primitive, by=by: by(primitive),
                rtol=1e-13,
                atol=1e-14,
            )


# Reductions, with ties and zeros

MATRIX = np.array([[1.0, 3.0, 3.0, 0.5], [2.0, 2.0, 2.0, 2.0], [0.0, 1.5, 0.0, 4.0], [-1.0, 0.0, 2.5, -1.0]])
REDUCTIONS = {
    "sum": lambda x: x.sum(1),
    "prod": lambda x: x.prod(1),
    "amax": lambda x: x.amax(1),
    "amin": lambda x: x.amin(1),
    "logsumexp": lambda x: x.logsumexp(1),
    "cumsum": lambda x: x.cumsum(1),
    "var": lambda x: x.var(1),
    "softmax": lambda x: x.softmax(1),
}
OURS = {
    "sum": lambda x: np.sum(x, axis=1),
    "prod": lambda x: np.prod(x, axis=1),
    "amax": lambda x: np.max(x, axis=1),
    "amin": lambda x: np.min(x, axis=1),
    "logsumexp": lambda x: md.functional.logsumexp(x, axis=1),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "var": lambda x: np.var(x, axis=1, ddof=1),
    "softmax": lambda x: np.exp(x - md.functional.logsumexp(x, axis=1)[:, None]),
}


def reduction_by_us(name):
    value, pullback = md.vjp(OURS[name], MATRIX)
    return arrays(value, *pullback(np.cos(np.arange(value.size, dtype=float)).reshape(value.shape)))


def reduction_by_torch(name):
    import torch

    x = torch.tensor(MATRIX, requires_grad=True)
    value = REDUCTIONS[name](x)
    value.backward(torch.cos(torch.arange(value.numel(), dtype=torch.float64)).reshape(value.shape))
    return arrays(value.detach(), x.grad)


def reduction_questions():
    for name in REDUCTIONS:
        yield Question(f"{name} by torch", lambda n=name: reduction_by_us(n), lambda n=name: reduction_by_torch(n))


# Second derivatives


def rosenbrock(x, np=np):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def logistic(w, np=np):
    X = np.cos(np.arange(60.0)).reshape(12, 5)
    return np.mean(np.log1p(np.exp(X @ w))) + 0.01 * np.sum(w**2)


def small_net(w, np=np):
    """A net with tanh units whose parameters are one vector."""
    X = np.sin(np.arange(24.0)).reshape(8, 3)
    W, b, v = w[:12].reshape(3, 4), w[12:16], w[16:20]
    return np.mean((np.tanh(X @ W + b) @ v - np.cos(np.arange(8.0))) ** 2)


SECOND_ORDER = {"rosenbrock": (rosenbrock, 6), "logistic": (logistic, 5), "small net": (small_net, 20)}


def point(size):
    return np.sin(1.0 + np.arange(float(size))), np.cos(np.arange(float(size)))


def second_order_by_us(f, size):
    x, v = point(size)
    return arrays(md.hessian(f)(x), md.hvp(f, (x,), (v,)), md.jacobian(md.grad(f))(x), md.grad(f)(x))


def second_order_by_jax(f, size):
    import in_jax  # noqa: F401 - which asks for float64
    import jax
    import jax.numpy as jnp

    x, v = point(size)
    g = jax.grad(lambda x: f(x, jnp))
    return arrays(jax.hessian(lambda x: f(x, jnp))(x), jax.jvp(g, (x,), (v,))[1], jax.jacrev(g)(x), g(x))


def second_order_questions():
    for name, (f, size) in SECOND_ORDER.items():
        yield Question(
            f"second derivatives of {name}",
            lambda f=f, size=size: second_order_by_us(f, size),
            lambda f=f, size=size: second_order_by_jax(f, size),
            rtol=1e-11,
            atol=1e-12,
        )


def loss_questions():
    import loss_questions as losses  # it needs this module

    yield from losses.loss_questions()


def activation_questions():
    import activation_questions as activations  # it needs this module

    yield from activations.activation_questions()


def optimizer_questions():
    import optimizer_questions as optimizers  # it needs this module

    yield from optimizers.optimizer_questions()


def layer_questions():
    import layer_questions as layers  # it needs this module

    yield from layers.layer_questions()


def training_questions():
    import training_questions as trainings  # it needs this module

    yield from trainings.training_questions()


FAMILIES: dict[str, Callable[[], Any]] = {
    "mlp": mlp_questions,
    "expressions": expression_questions,
    "elementwise": elementwise_questions,
    "reductions": reduction_questions,
    "second_order": second_order_questions,
    "losses": loss_questions,
    "activations": activation_questions,
    "optimizers": optimizer_questions,
    "layers": layer_questions,
    "training": training_questions,
    "programs": lambda: program_questions(Question),
}


def all_questions() -> list[tuple[str, Question]]:
    return [(family, question) for family, questions in FAMILIES.items() for question in questions()]


def compare(found: Arrays, expected: Arrays, question: Question) -> None:
    assert len(found) == len(expected)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.shape == other.shape
        np.testing.assert_allclose(
            one, other, rtol=question.rtol, atol=question.atol, err_msg=f"{question.name}, answer {number}"
        )
