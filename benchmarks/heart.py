"""Speed of the graph and its executors compared with NumPy, PyTorch and JAX: chains, products, gradients, dispatch.

    python benchmarks/heart.py [--threads N] [--quick]

Peers that are not installed are left out. Every comparison is interleaved; ratios above 1 mean madaline is faster.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="run for a tenth of the time, as a test")
    return parser.parse_args()


OPTIONS = arguments()
# The libraries read these when they are imported.
for variable in ("MADALINE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(OPTIONS.threads)
several = "true" if OPTIONS.threads > 1 else "false"
os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={several} intra_op_parallelism_threads={OPTIONS.threads}"

import harness
import numpy as np

import madaline as md
from madaline.kernels.core import core

try:
    import torch

    torch.set_num_threads(OPTIONS.threads)
except ImportError:
    torch = None
try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_platform_name", "cpu")
except ImportError:
    jax = None

SECONDS = 0.1 if OPTIONS.quick else 1.0


def chain() -> tuple[str, Any]:
    """Mish and its derivative, six primitives each, on vectors of increasing length."""
    rows, data = [], []
    for size in (1_000, 100_000, 1_000_000):
        x = np.random.default_rng(0).normal(size=size).astype(np.float32)

        def mish(v: Any) -> Any:
            return v * np.tanh(md.functional.softplus(v))

        ours = md.compile(lambda v: md.vjp(mish, v)[1](np.ones_like(v))[0])
        contestants = {"madaline": lambda: ours(x)}

        def by_numpy() -> Any:
            s = np.logaddexp(x, np.float32(0))
            t = np.tanh(s)
            return t + x * (1 - t * t) * np.exp(x - s)

        contestants["NumPy"] = by_numpy
        if torch is not None:
            tensor = torch.from_numpy(x.copy()).requires_grad_()

            def by_torch() -> Any:
                tensor.grad = None
                torch.nn.functional.mish(tensor).sum().backward()

            contestants["PyTorch"] = by_torch
        if jax is not None:
            jitted = jax.jit(jax.vmap(jax.grad(lambda v: v * jnp.tanh(jax.nn.softplus(v)))))
            placed = jnp.asarray(x)
            contestants["JAX"] = lambda: jitted(placed).block_until_ready()
        timings = harness.interleave(contestants, seconds=SECONDS)
        rows.append(_row(f"{size:,}", timings, size))
        data.append(_record({"elements": size}, timings))
    header = ["elements", "ns/element", *_peers()]
    return harness.table("Elementwise chain: derivative of mish, float32", header, rows), data


def gradients() -> tuple[str, Any]:
    """value_and_grad of the cross-entropy of a ReLU net with two hidden layers, written as usual in each library."""
    rows, data = [], []
    nets = {
        "tiny": (2, 32, 32, 2, 32),
        "small": (20, 64, 64, 2, 32),
        "tabular": (54, 256, 256, 7, 256),
        "mnist": (784, 256, 128, 10, 128),
    }
    for name, (*widths, batch) in nets.items():
        rng = np.random.default_rng(0)
        x = rng.normal(size=(batch, widths[0])).astype(np.float32)
        y = rng.integers(0, widths[-1], size=batch)
        params = []
        for n_in, n_out in pairwise(widths):
            W = rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)
            params.append((W.astype(np.float32), np.zeros(n_out, np.float32)))
        contestants = _gradient_contestants(params, x, y)
        timings = harness.interleave(contestants, seconds=SECONDS)
        rows.append(_row(f"{name} {'-'.join(map(str, widths))}, batch {batch}", timings, 1, unit=1e6))
        data.append(_record({"net": name, "widths": widths, "batch": batch}, timings))
    return harness.table("value_and_grad of an MLP loss, float32", ["net", "us", *_peers()], rows), data


def _cross_entropy(params: Any, x: Any, y: Any) -> Any:
    h = x
    for W, b in params[:-1]:
        h = md.functional.relu(h @ W + b)
    z = h @ params[-1][0] + params[-1][1]
    return np.mean(md.functional.logsumexp(z, axis=1) - np.take_along_axis(z, y[:, None], axis=1)[:, 0])


def _gradient_contestants(params: Any, x: Any, y: Any) -> dict[str, Any]:
    ours = md.compile(md.value_and_grad(_cross_entropy), rows=[1, 2])
    contestants: dict[str, Any] = {"madaline": lambda: ours(params, x, y)}
    contestants["NumPy"] = lambda: _by_hand(params, x, y)
    if torch is not None:
        weights = [(torch.from_numpy(W).requires_grad_(), torch.from_numpy(b).requires_grad_()) for W, b in params]
        flat = [item for pair in weights for item in pair]
        tx, ty = torch.from_numpy(x), torch.from_numpy(y)

        def by_torch() -> Any:
            h = tx
            for W, b in weights[:-1]:
                h = torch.relu(torch.addmm(b, h, W))
            z = torch.addmm(weights[-1][1], h, weights[-1][0])
            return torch.autograd.grad(torch.nn.functional.cross_entropy(z, ty), flat)

        contestants["PyTorch"] = by_torch
    if jax is not None:

        def jax_loss(params: Any, x: Any, y: Any) -> Any:
            h = x
            for W, b in params[:-1]:
                h = jax.nn.relu(h @ W + b)
            z = h @ params[-1][0] + params[-1][1]
            return jnp.mean(jax.nn.logsumexp(z, axis=1) - jnp.take_along_axis(z, y[:, None], axis=1)[:, 0])

        jitted = jax.jit(jax.value_and_grad(jax_loss))
        placed = jax.tree_util.tree_map(jnp.asarray, (params, x, y))
        contestants["JAX"] = lambda: jax.block_until_ready(jitted(*placed))
    return contestants


def _by_hand(params: Any, x: Any, y: Any) -> Any:
    """Backpropagation written by hand with NumPy."""
    hidden = [x]
    for W, b in params[:-1]:
        hidden.append(np.maximum(hidden[-1] @ W + b, 0))
    z = hidden[-1] @ params[-1][0] + params[-1][1]
    z -= z.max(axis=1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    value = -np.log(p[rows, y]).mean()
    p[rows, y] -= 1
    bar = p / np.float32(len(y))
    slopes = []
    for (W, _), h in zip(reversed(params), reversed(hidden), strict=True):
        slopes.append((h.T @ bar, bar.sum(axis=0)))
        if h is not x:  # the gradient with respect to the inputs is not needed
            bar = (bar @ W.T) * (h > 0)
    return value, slopes


def dispatch() -> tuple[str, Any]:
    """Overhead of running a program, without arithmetic; it dominates the time of very small nets."""
    module = core()
    rows, data = [], []
    for count in (1, 40, 400):
        program = module.Program(0, 0, 0, 0)
        source = program.buffer(module.SPACES["input"], module.DTYPES["float32"], 0)
        target = program.buffer(module.SPACES["output"], module.DTYPES["float32"], 0)
        program.shared_stage()
        for _ in range(count):
            operands = [(source, 0, 0, [1]), (target, 0, 0, [1])]
            ops = [(module.OPCODES["add"], 1, 0, 2, -1)]
            program.elementwise(module.DTYPES["float32"], [(8, False)], operands, [1.0], 0, ops)
        x, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
        timing = harness.interleave({"run": lambda: program.run([x], [y], 0, 1)}, seconds=SECONDS)["run"]
        rows.append([str(count), f"{timing.best * 1e6:.2f}", f"{timing.best * 1e9 / count:.0f}"])
        data.append({"instructions": count, "seconds": timing.best})
    step = md.compile(lambda a: a + 1.0)
    whole = harness.interleave({"call": lambda: step(x)}, seconds=SECONDS)["call"]
    rows.append(["1, through md.compile", f"{whole.best * 1e6:.2f}", ""])
    data.append({"compiled_call_seconds": whole.best})
    return harness.table("Dispatch", ["instructions (8 floats each)", "us per run", "ns per instruction"], rows), data


def planning() -> tuple[str, Any]:
    """Time before the first step: tracing, planning and encoding (three hidden layers, cross-entropy, Adam)."""
    from madaline.kernels.native import encode
    from madaline.plan.planner import plan

    arguments = _adam_arguments()
    graph = md.trace(_adam_step, *arguments, rows=[3, 4])
    program = plan(graph)
    stages = {
        "trace and differentiate": lambda: md.trace(_adam_step, *arguments, rows=[3, 4]),
        "plan": lambda: plan(graph),
        "encode": lambda: encode(program, core()),
    }
    timings = harness.interleave(stages, seconds=SECONDS)
    rows = [[name, f"{timing.median * 1e3:.2f}", f"{timing.best * 1e3:.2f}"] for name, timing in timings.items()]
    seconds = {name: timing.median for name, timing in timings.items()}
    return harness.table("Making a program", ["", "ms, median", "ms, best"], rows), {
        "nodes": len(graph.nodes),
        **seconds,
    }


def _adam_arguments() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    params = [
        (rng.normal(size=pair).astype(np.float32), np.zeros(pair[1], np.float32))
        for pair in pairwise((20, 64, 64, 64, 5))
    ]
    zeros = [tuple(np.zeros_like(item) for item in layer) for layer in params]
    x, y = rng.normal(size=(64, 20)).astype(np.float32), rng.integers(0, 5, size=64)
    return params, zeros, zeros, x, y, np.float32(1.0)


def _adam_step(params: Any, m: Any, v: Any, x: Any, y: Any, t: Any) -> Any:
    value, slopes = md.value_and_grad(_cross_entropy)(params, x, y)
    new = []
    for layer in zip(params, slopes, m, v, strict=True):
        for w, g, first, second in zip(*layer, strict=True):
            first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g * g  # noqa: PLW2901 - the names of the formula
            step = (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
            new.append((w - 1e-3 * step, first, second))
    return value, new


def speelpenning() -> tuple[str, Any]:
    """Flops and time of the gradient of a product of d numbers in both modes, relative to the product itself (A7)."""
    rows, data = [], []
    for d in (10, 100, 1000):
        x = np.random.default_rng(0).uniform(0.5, 1.5, size=d)
        flops = {
            "product": md.trace(np.prod, x).flops(),
            "reverse": md.trace(md.grad(np.prod), x).flops(),
            "forward": d * md.trace(lambda v, dot: md.jvp(np.prod, (v,), (dot,))[1], x, x).flops(),
        }
        product, reverse = md.compile(np.prod), md.compile(md.grad(np.prod))
        forward = md.jacobian(np.prod, mode="forward")
        timings = harness.interleave(
            {"product": lambda: product(x), "reverse": lambda: reverse(x), "forward": lambda: forward(x)},
            seconds=SECONDS / 2,
            rounds=5,
        )
        rows.append(
            [
                str(d),
                f"{flops['product']:,}",
                f"{flops['reverse']:,} ({flops['reverse'] / flops['product']:.2f}x)",
                f"{flops['forward']:,} ({flops['forward'] / flops['product']:.0f}x)",
                *(f"{timings[mode].median * 1e6:,.1f}" for mode in ("product", "reverse", "forward")),
            ]
        )
        data.append({"d": d, "flops": flops, "seconds": {mode: timing.median for mode, timing in timings.items()}})
    header = ["d", "flops: product", "gradient by reverse mode", "by forward mode", "us: product", "reverse", "forward"]
    return harness.table("Speelpenning's product", header, rows), data


def products() -> tuple[str, Any]:
    """Matrix products with the shapes of common nets, measured by ``native_matmul.cpp``."""
    folder = Path(__file__).parent.parent
    program = folder / "build" / "native_matmul"
    program.parent.mkdir(exist_ok=True)
    isa = md.show_config(mode="dict")["isa"]
    flags = ["-O3", "-std=c++20", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", f"-DMADALINE_ISA={isa}"]
    flags += {
        "avx2": ["-mavx2", "-mfma"],
        "avx512": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma"],
    }.get(isa, [])
    source = folder / "benchmarks" / "native_matmul.cpp"
    compiler = os.environ.get("CXX", "g++")
    libraries = ["-ldl", "-pthread"]
    subprocess.run(
        [compiler, *flags, f"-I{folder / 'native'}", str(source), "-o", str(program), *libraries], check=True
    )
    command = [str(program), *_blas_libraries()]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return f"## Matrix products, GFLOP/s, float32\n\n```\n{text.rstrip()}\n```\n\n", text.splitlines()


def split_products() -> tuple[str, Any]:
    """Products that are large enough to be split among threads."""
    module, rows, data = core(), [], []
    for m, n, k in ((256, 256, 256), (128, 256, 784), (128, 1024, 1024), (1024, 2048, 2048)):
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=(m, k)).astype(np.float32), rng.normal(size=(k, n)).astype(np.float32)
        c = np.zeros((m, n), np.float32)
        program = module.Program(0, 0, 0, 0)
        places = [(space, index) for space, index in (("input", 0), ("input", 1), ("output", 0))]
        A, B, C = (program.buffer(module.SPACES[space], module.DTYPES["float32"], index) for space, index in places)
        program.shared_stage()
        sizes = {"m": (m, False), "n": (n, False), "k": (k, False)}
        operands = {"A": (A, 0, 0, [k, 1]), "B": (B, 0, 0, [n, 1]), "C": (C, 0, 0, [n, 1])}
        program.matmul(module.DTYPES["float32"], batch=[], **sizes, **operands)
        bound = program.bind([a, b], [c], 0)
        contestants = {"madaline": lambda: bound.run(OPTIONS.threads), "NumPy": lambda: np.matmul(a, b, out=c)}
        if torch is not None:
            ta, tb, tc = (torch.from_numpy(item.copy()) for item in (a, b, c))
            contestants["PyTorch"] = lambda: torch.mm(ta, tb, out=tc)
        if jax is not None:
            jitted, ja, jb = jax.jit(jnp.matmul), jnp.asarray(a), jnp.asarray(b)
            contestants["JAX"] = lambda: jitted(ja, jb).block_until_ready()
        timings = harness.interleave(contestants, seconds=SECONDS)
        ratios = harness.ratios(timings, "madaline")
        speed = f"{2e-9 * m * n * k / timings['madaline'].median:.0f}"
        rows.append([f"{m}x{n}x{k}", speed, *(harness.show_ratio(ratios[name]) for name in _peers())])
        data.append(_record({"shape": [m, n, k]}, timings))
    return harness.table("Split products, float32", ["m x n x k", "GFLOP/s", *_peers()], rows), data


def _blas_libraries() -> list[str]:
    """The OpenBLAS library of SciPy's wheel and the MKL inside PyTorch, if they are installed."""
    import scipy

    found = []
    for library in sorted((Path(scipy.__file__).parent.parent / "scipy.libs").glob("libscipy_openblas*.so*")):
        found.append(f"OpenBLAS={library}:scipy_sgemm_")
        break
    if torch is not None:
        library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
        if library.exists():
            found.append(f"MKL={library}:sgemm_")
    return found


def _peers() -> list[str]:
    return [name for name, module in (("NumPy", np), ("PyTorch", torch), ("JAX", jax)) if module is not None]


def _row(label: str, timings: dict[str, harness.Timing], per: int, unit: float = 1e9) -> list[str]:
    ratios = harness.ratios(timings, "madaline")
    own = f"{timings['madaline'].median * unit / per:.2f}"
    return [label, own, *(harness.show_ratio(ratios[name]) for name in _peers())]


def _record(what: dict[str, Any], timings: dict[str, harness.Timing]) -> dict[str, Any]:
    seconds = {name: timing.median for name, timing in timings.items()}
    return {**what, "seconds": seconds, "ratios": harness.ratios(timings, "madaline")}


def main() -> None:
    shapes = products if OPTIONS.threads == 1 else split_products
    sections = [dispatch, planning, chain, gradients, shapes, speelpenning]
    texts, data = [], {"machine": harness.machine(), "threads": OPTIONS.threads}
    for section in sections:
        text, numbers = section()
        print(text, flush=True)
        texts.append(text)
        data[section.__name__] = numbers
    if not OPTIONS.quick:
        title = (
            f"# Graph and executors, threads: {OPTIONS.threads}\n\n"
            "Ratios above 1 mean that madaline is faster (median and interquartile range of the rounds). "
            f"Made by `python benchmarks/heart.py --threads {OPTIONS.threads}`.\n\n"
        )
        harness.save(f"heart-{OPTIONS.threads}", data, title + "".join(texts))


if __name__ == "__main__":
    sys.exit(main())
