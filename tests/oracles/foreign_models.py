"""Nets made by PyTorch and Keras, as files with their outputs; run as a script to record them anew.

The files in ``foreign/`` let ``make test`` read such nets where neither library is installed.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

os.environ.setdefault("KERAS_BACKEND", "torch")  # its own default may not be installed

FOREIGN = Path(__file__).parent / "foreign"
N_ROWS = 7


def rows(seed, *shape):
    return np.random.default_rng(seed).normal(size=(N_ROWS, *shape)).astype(np.float32)


def torch_nets():
    """Name, module, rows."""
    import torch
    from torch import nn

    torch.manual_seed(1)
    plain = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3, bias=False), nn.Softmax(dim=1))
    norms = nn.Sequential(
        nn.Linear(5, 6), nn.BatchNorm1d(6), nn.GELU(approximate="tanh"), nn.LayerNorm(6), nn.SiLU(), nn.RMSNorm(6),
        nn.GroupNorm(2, 6), nn.PReLU(6), nn.LayerNorm(6, bias=False), nn.PReLU(),
        nn.Sequential(nn.Linear(6, 2), nn.Mish()),
    )  # fmt: skip
    for _ in range(5):
        norms(torch.randn(32, 5))
    units = [
        nn.ELU(0.7), nn.CELU(1.3), nn.SELU(), nn.LeakyReLU(0.2), nn.Softplus(beta=2), nn.Softsign(), nn.Hardtanh(),
        nn.Hardsigmoid(), nn.Hardswish(), nn.ReLU6(), nn.LogSigmoid(), nn.Tanhshrink(), nn.Softshrink(0.3),
        nn.Hardshrink(0.1), nn.Threshold(0.1, -0.5), nn.Tanh(), nn.Sigmoid(), nn.GELU(), nn.Identity(),
        nn.LogSoftmax(-1),
    ]  # fmt: skip
    units = nn.Sequential(nn.Flatten(), *(layer for unit in units for layer in (nn.Linear(6, 6), unit)))
    with torch.no_grad():
        for parameter in units.parameters():  # so large that shrinking leaves something
            parameter.normal_()
    return [
        ("plain", plain.eval(), rows(1, 4)),
        ("norms", norms.eval(), rows(2, 5)),
        ("units", units.eval(), rows(3, 2, 3)),
    ]


def keras_nets():
    """Name, model, rows."""
    import keras
    from keras import layers as k

    keras.utils.set_random_seed(1)
    plain = keras.Sequential([k.Input((4,)), k.Dense(8, "relu"), k.Dropout(0.2), k.Dense(3, "softmax", use_bias=False)])
    norms = keras.Sequential([
        k.Input((5,)), k.Dense(6, name="first"), k.BatchNormalization(), k.Activation("gelu"), k.LayerNormalization(),
        k.PReLU(), k.BatchNormalization(center=False), k.LeakyReLU(), k.Dense(4), k.BatchNormalization(scale=False),
        k.LayerNormalization(scale=False), k.ReLU(), k.ELU(0.5), k.ReLU(negative_slope=0.1), k.ReLU(6.0), k.Softmax(),
    ])  # fmt: skip
    for layer in norms.layers:
        layer.set_weights([np.random.default_rng(5).uniform(0.3, 1.5, w.shape) for w in layer.get_weights()])
    names = (
        "celu elu gelu hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid log_softmax mish relu relu6 selu "
        "sigmoid silu softmax softplus softsign tanh tanh_shrink hard_shrink soft_shrink linear"
    )
    units = keras.Sequential([k.Input((2, 3)), k.Flatten(), *(k.Dense(6, name) for name in names.split())])
    for layer in units.layers[1:]:  # so large that shrinking leaves something
        layer.set_weights([np.random.default_rng(6).normal(size=w.shape) for w in layer.get_weights()])
    return [("plain", plain, rows(1, 4)), ("norms", norms, rows(2, 5)), ("units", units, rows(3, 2, 3))]


def torch_outputs(module, X):
    import torch

    with torch.no_grad():
        return module(torch.tensor(X)).numpy()


def main():
    from safetensors.torch import save_file

    FOREIGN.mkdir(exist_ok=True)
    found = []
    for name, module, X in torch_nets():
        save_file(module.state_dict(), FOREIGN / f"torch_{name}.safetensors")
        (FOREIGN / f"torch_{name}.txt").write_text(f"{module}\n")
        found.append((f"torch_{name}.npz", X, torch_outputs(module, X)))
    for name, model, X in keras_nets():
        model.save(FOREIGN / f"keras_{name}.keras")
        found.append((f"keras_{name}.npz", X, model.predict(X, verbose=0)))
    for name, X, y in found:
        assert y.std(axis=0).min() > 1e-3, f"{name}: the outputs do not depend on the rows"
        np.savez_compressed(FOREIGN / name, X=X, y=y)


if __name__ == "__main__":
    main()
