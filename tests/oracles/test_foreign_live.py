"""Nets of PyTorch and Keras as they are installed, read from the files they write."""

from __future__ import annotations

import numpy as np
import pytest
from foreign_models import keras_nets, torch_nets, torch_outputs

import madaline as md
from madaline.errors import FileFormatError

torch = pytest.importorskip("torch", reason="needs PyTorch: make test-oracles")


@pytest.mark.parametrize("number", range(3))
def test_a_net_of_pytorch_gives_the_same_from_every_kind_of_file(number, tmp_path):
    from safetensors.torch import save_file

    _, module, X = torch_nets()[number]
    expected = torch_outputs(module, X)
    torch.save(module.state_dict(), tmp_path / "state.pt")
    save_file(module.state_dict(), tmp_path / "state.safetensors")
    inputs = X.shape[1:]
    for weights, net in [
        (module, None),
        (module.state_dict(), str(module)),
        (tmp_path / "state.pt", str(module)),
        (tmp_path / "state.safetensors", str(module)),
    ]:
        np.testing.assert_allclose(md.ship.from_torch(weights, net, inputs=inputs)(X), expected, rtol=1e-5, atol=1e-5)


def test_a_whole_module_saved_by_torch_is_refused_since_it_would_run_code(tmp_path):
    _, module, _ = torch_nets()[0]
    torch.save(module, tmp_path / "module.pt")
    with pytest.raises(FileFormatError, match=r"contains more than weights. Save net.state_dict\(\)"):
        md.ship.from_torch(tmp_path / "module.pt", str(module))


def test_a_net_that_went_to_pytorch_and_back_is_the_same(tmp_path):
    """Our export keeps W as it is; PyTorch's own layers hold its transpose."""
    model = md.Sequential(md.Linear(6), "tanh", md.Linear(2)).init(4)
    module = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
    module.load_state_dict({
        f"{k}.{name}": torch.tensor(model.params[f"{k}.{own}"].T.copy())
        for k in (0, 2) for name, own in (("weight", "W"), ("bias", "b"))
    })  # fmt: skip
    X = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
    np.testing.assert_allclose(torch_outputs(module, X), model(X), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(md.ship.from_torch(module)(X), model(X))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Keras itself
@pytest.mark.parametrize("number", range(3))
def test_a_net_of_keras_gives_the_same_from_both_kinds_of_file(number, tmp_path):
    pytest.importorskip("keras", reason="needs Keras: make .venv-oracles/peers")
    _, model, X = keras_nets()[number]
    expected = model.predict(X, verbose=0)
    model.save(tmp_path / "net.keras")
    model.save_weights(tmp_path / "net.weights.h5")
    np.testing.assert_allclose(md.ship.from_keras(tmp_path / "net.keras")(X), expected, rtol=1e-5, atol=1e-5)
    again = md.ship.from_keras(tmp_path / "net.weights.h5", model.to_json())
    np.testing.assert_allclose(again(X), expected, rtol=1e-5, atol=1e-5)
