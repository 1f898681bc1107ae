"""One sweep over the initializers: moments, distributions, exactness, reproducibility; and those that look at data."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import stats

from madaline.errors import ConfigError, ShapeError, UnknownNameError
from madaline.nn.activation_function import ACTIVATIONS
from madaline.nn.activations import relu
from madaline.nn.initializers import (
    INITIALIZERS,
    LSUV,
    Constant,
    DataDependent,
    FanScaled,
    IdentityMatrix,
    Kraehenbuehl,
    Normal,
    Orthogonal,
    RandomWalk,
    Sparse,
    Uniform,
    as_initializer,
    auto,
    fans,
    stream,
)

each = pytest.mark.parametrize(("name", "initializer"), INITIALIZERS.items(), ids=INITIALIZERS.names())
SHAPE = (60, 40)
VARIANCES = {"lecun": 1 / 60, "xavier": 2 / 100, "glorot": 2 / 100, "he": 2 / 60}
SEEDS = range(40)


def draws(initializer, shape=SHAPE):
    """Many seeds together."""
    return np.concatenate([initializer.draw(shape, stream(seed, "0.W", "init")).ravel() for seed in SEEDS])


def test_all_of_the_lectures_are_there():  # B9, D4
    named = "zeros, normal, xavier_uniform, xavier_normal, he_uniform, he_normal, lecun_normal, orthogonal, lsuv"
    assert {*named.split(", "), "random_walk", "kraehenbuehl"} <= set(INITIALIZERS.names())


@each
def test_it_is_reproducible_and_gives_finite_float64_of_the_shape_asked_for(name, initializer):
    for shape in ((7, 5), (5, 7), (1, 1), (3, 4, 5)):
        W = initializer.draw(shape, stream(3, "1.W", "init"))
        assert W.shape == shape
        assert W.dtype == np.float64
        assert np.isfinite(W).all()
        np.testing.assert_array_equal(W, initializer.draw(shape, stream(3, "1.W", "init")))


@each
def test_adding_a_layer_does_not_change_the_others(name, initializer):
    def net(paths):
        return {path: initializer.draw((6, 6), stream(0, path, "init")) for path in paths}

    short, long = net(["0.W", "1.W"]), net(["2.W", "1.W", "0.W"])
    for path, W in short.items():
        np.testing.assert_array_equal(long[path], W)


@pytest.mark.parametrize("family", VARIANCES)
def test_scaled_weights_have_the_variance_their_fans_ask_for(family):  # D4
    """The deviation of a sample variance follows from the fourth moment; 5 of them are allowed."""
    kurtosis = {"normal": 3.0, "uniform": 1.8, "truncated": 2.4}
    for form, fourth in kurtosis.items():
        w = draws(INITIALIZERS[f"{family}_{form}"])
        assert abs(w.mean()) < 5 * w.std() / math.sqrt(w.size)
        assert w.var() == pytest.approx(VARIANCES[family], rel=5 * math.sqrt((fourth - 1) / w.size))
        assert INITIALIZERS[f"{family}_{form}"].std(SHAPE) ** 2 == pytest.approx(VARIANCES[family], rel=1e-12)


DISTRIBUTIONS = {
    "normal": stats.norm(scale=0.01),
    "uniform": stats.uniform(-0.05, 0.1),
    "lecun_normal": stats.norm(scale=math.sqrt(1 / 60)),
    "xavier_normal": stats.norm(scale=math.sqrt(2 / 100)),
    "he_normal": stats.norm(scale=math.sqrt(2 / 60)),
    "xavier_uniform": stats.uniform(-math.sqrt(6 / 100), 2 * math.sqrt(6 / 100)),
    "he_uniform": stats.uniform(-math.sqrt(6 / 60), 2 * math.sqrt(6 / 60)),  # lecture D misprints 2 / n_in
    "lecun_uniform": stats.uniform(-math.sqrt(3 / 60), 2 * math.sqrt(3 / 60)),
    "he_truncated": stats.truncnorm(-2, 2, scale=math.sqrt(2 / 60) / 0.8796256610342398),
    "random_walk": stats.norm(scale=math.sqrt(2 / 60) * math.exp(1.2 / 57.6)),
    "kraehenbuehl": stats.norm(scale=math.sqrt(1 / 60)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_distribution_is_the_one_in_the_formula(name):
    """Kolmogorov-Smirnov on all seeds together, and the p-values of single seeds are not piled up at 0."""
    distribution = DISTRIBUTIONS[name]
    assert stats.kstest(draws(INITIALIZERS[name]), distribution.cdf).pvalue > 1e-3
    single = [
        stats.kstest(INITIALIZERS[name].draw(SHAPE, stream(seed, "0.W", "init")).ravel(), distribution.cdf).pvalue
        for seed in SEEDS
    ]
    assert stats.kstest(single, "uniform").pvalue > 1e-3


def test_fixed_values_are_exact():
    rng = stream(0, "0.b", "init")
    np.testing.assert_array_equal(INITIALIZERS["zeros"].draw((3,), rng), np.zeros(3))
    np.testing.assert_array_equal(INITIALIZERS["ones"].draw((3,), rng), np.ones(3))
    np.testing.assert_array_equal(Constant(0.25).draw((2, 2), rng), np.full((2, 2), 0.25))
    np.testing.assert_array_equal(IdentityMatrix(2.0).draw((2, 3), rng), [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    assert Uniform(1.0, 2.0).draw((50, 2), rng).min() >= 1.0
    assert Uniform(0.3).draw((500, 2), rng).min() < -0.25
    assert np.abs(Uniform(0.3).draw((500, 2), rng)).max() <= 0.3


@pytest.mark.parametrize("shape", [(30, 30), (50, 20), (20, 50), (2, 10, 5)])
def test_orthogonal_weights_are_orthogonal(shape):  # D4
    W = Orthogonal(gain=1.5).draw(shape, stream(0, "0.W", "init")).reshape(fans(shape))
    product = W.T @ W if W.shape[0] >= W.shape[1] else W @ W.T
    np.testing.assert_allclose(product, 2.25 * np.eye(len(product)), atol=1e-13)


def test_orthogonal_weights_prefer_no_direction():
    """Haar measure: each entry of an orthogonal matrix has mean 0, and the determinant has either sign equally."""
    drawn = np.stack([Orthogonal().draw((4, 4), stream(seed, "0.W", "init")) for seed in range(400)])
    assert np.abs(drawn.mean(axis=0)).max() < 4 * 0.5 / math.sqrt(400)
    assert abs(np.sign(np.linalg.det(drawn)).mean()) < 4 / math.sqrt(400)


def test_sparse_units_have_as_many_connections_as_asked_for_anywhere():
    W = Sparse(n_connections=15).draw((100, 2000), stream(0, "0.W", "init"))
    np.testing.assert_array_equal((W != 0.0).sum(axis=0), 15)
    counts = (W != 0.0).sum(axis=1)
    assert stats.chisquare(counts).pvalue > 1e-3  # each input is chosen equally often
    assert stats.kstest(W[W != 0.0], "norm").pvalue > 1e-3
    assert (Sparse().draw((4, 3), stream(0, "0.W", "init")) != 0.0).all()


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("units", ["linear", "relu"])
def test_under_a_random_walk_the_log_of_the_gradient_does_not_drift(n, units):  # D4
    """Through 100 layers: one step backwards is a product with W^T, and for relu a mask of half the units."""
    init = RandomWalk(units)
    logs = []
    for seed in range(30):
        g = stream(seed, "gradient", "test").standard_normal(n)
        start = np.linalg.norm(g)
        for layer in range(100):
            W = init.draw((n, n), stream(seed, f"{layer}.W", "init"))
            g = W @ g
            if units == "relu":
                g = g * (stream(seed, str(layer), "mask").random(n) < 0.5)
        logs.append(np.log(np.linalg.norm(g) / start) / 100)
    deviation = np.std(logs) / math.sqrt(len(logs))
    # For relu the paper's gain is a fit; the root of 2 alone would drift by -1.25 / n.
    assert abs(np.mean(logs)) < 4 * deviation + (0.15 / n if units == "relu" else 0.0)


def through(layers, X, activation):
    for W, b in layers:
        X = activation(X @ W + b)
    return X


def initialised(init, X, sizes, activation):
    """A net whose layers are drawn and then adjusted from first to last, as the protocol says."""
    layers = []
    for number, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):  # noqa: RUF007 - as in the lecture
        W, b = init.draw((n_in, n_out), stream(0, f"{number}.W", "init")), np.zeros(n_out)
        before = through(layers, X, activation)
        layers.append(init.adjust(W, b, lambda W, b, before=before: before @ W + b))
    return layers


BADLY_SCALED = [40, 60, 30, 50, 10]


@pytest.fixture
def batch(rng):
    return 25.0 * rng.normal(size=(400, 40)) + 3.0


def test_lsuv_gives_every_layer_variance_one(batch):  # D4
    layers = initialised(LSUV(), batch, BADLY_SCALED, relu)
    for depth, (W, b) in enumerate(layers):
        y = through(layers[:depth], batch, relu) @ W + b
        assert y.var() == pytest.approx(1.0, abs=0.01)
        assert not b.any()
        product = W.T @ W if W.shape[0] >= W.shape[1] else W @ W.T
        np.testing.assert_allclose(product, product[0, 0] * np.eye(len(product)), atol=1e-12 * product[0, 0])


def test_kraehenbuehl_gives_every_unit_mean_beta_and_variance_one(batch):  # D4
    layers = initialised(Kraehenbuehl(beta=0.5), batch, BADLY_SCALED, relu)
    for depth, (W, b) in enumerate(layers):
        y = through(layers[:depth], batch, relu) @ W + b
        np.testing.assert_allclose(y.mean(axis=0), 0.5, atol=1e-10)
        np.testing.assert_allclose(y.std(axis=0), 1.0, rtol=1e-10)


@pytest.mark.parametrize("init", [thing for thing in INITIALIZERS if isinstance(thing, DataDependent)], ids=repr)
def test_data_that_does_not_vary_does_no_harm_and_nothing_is_changed_in_place(init):
    W, b = init.draw((5, 3), stream(0, "0.W", "init")), np.full(3, 2.0)
    W_before, b_before = W.copy(), b.copy()
    W_new, b_new = init.adjust(W, b, lambda W, b: np.zeros((10, 5)) @ W + b)
    np.testing.assert_array_equal(W_new, W_before)
    assert np.isfinite(b_new).all()
    np.testing.assert_array_equal(W, W_before)
    np.testing.assert_array_equal(b, b_before)


def test_auto_picks_by_activation():
    assert {name: auto(name) for name in ("relu", "gelu", "elu", "tanh", "sigmoid", "identity", "selu")} == {
        "relu": "he_normal", "gelu": "he_normal", "elu": "he_normal", "tanh": "xavier_normal",
        "sigmoid": "xavier_normal", "identity": "xavier_normal", "selu": "lecun_normal",
    }  # fmt: skip
    assert as_initializer("auto", activation="relu") == FanScaled(2.0, "in", "normal")
    assert as_initializer("auto") is INITIALIZERS["xavier_normal"]
    assert all(auto(thing) in INITIALIZERS for thing in ACTIVATIONS)


def test_initializers_are_found_by_name_or_are_themselves():
    assert as_initializer("glorot_uniform") is as_initializer("xavier_uniform")
    mine = Normal(std=0.3)
    assert as_initializer(mine) is mine
    with pytest.raises(UnknownNameError, match=r"init='he_norml' is not a known initializer. Did you mean 'he_normal'"):
        as_initializer("he_norml")


def test_wrong_arguments_are_all_named_at_once():
    with pytest.raises(
        ConfigError,
        match=re.escape(
            "FanScaled: scale=-1.0 must be a number in [0, inf); fan='inn' must be 'in' or 'out' or 'mean'."
        ),
    ):
        FanScaled(-1.0, "inn")
    with pytest.raises(ValueError, match=r"Sparse: n_connections=0 must be a number in \[1, inf\)"):
        Sparse(0)
    with pytest.raises(ValueError, match=r"RandomWalk: units='tanh' must be 'relu' or 'linear'"):
        RandomWalk("tanh")
    with pytest.raises(ValueError, match=r"Normal: std=-0.1 must be a number in"):
        Normal(-0.1)
    with pytest.raises(ShapeError, match=r"shape=\(5,\) has no inputs to scale by"):
        INITIALIZERS["he_normal"].draw((5,), stream(0, "0.b", "init"))


def test_streams_differ_by_seed_path_and_purpose_and_not_by_process(run_python):
    keys = [(0, "0.W", "init"), (1, "0.W", "init"), (0, "1.W", "init"), (0, "0.W", "dropout"), (0, "0.Wi", "nit")]
    assert len({stream(*key).integers(2**63) for key in keys}) == len(keys)
    code = "from madaline.nn.initializers import stream; print(stream(0, '0.W', 'init').integers(2**63))"
    found = {run_python(code, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert found == {f"{stream(0, '0.W', 'init').integers(2**63)}\n"}
    # Held fast, so that a seed means the same in every version of madaline.
    assert stream(0, "0.W", "init").bit_generator.random_raw() == 5_131_508_934_947_794_866
    for wrong in (-1, 0.5, "0", None, True):
        with pytest.raises(ValueError, match="must be a non-negative integer"):
            stream(wrong, "0.W", "init")


def test_streams_of_neighbouring_seeds_and_paths_are_uncorrelated():
    drawn = np.stack([stream(seed, f"{layer}.W", "init").normal(size=4000) for seed in range(5) for layer in range(5)])
    correlations = np.corrcoef(drawn)[np.triu_indices(len(drawn), k=1)]
    assert np.abs(correlations).max() < 4.5 / math.sqrt(4000)
