"""Training loops of PyTorch under the eyes of the doctor."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md

torch = pytest.importorskip("torch")
nn = torch.nn
torch.set_num_threads(1)


def trained(module, optimizer, X, y, loss, *, epochs=25, batch=32, data=True, **values):
    X, y = torch.tensor(X), torch.tensor(y)
    given = (X, y) if data else ()
    recorder = md.doctor.TorchRecorder(module, optimizer, loss, *given, sample_every=5)
    for epoch in range(epochs):
        order = torch.randperm(len(X), generator=torch.Generator().manual_seed(epoch))
        for rows in order.split(batch):
            optimizer.zero_grad()
            value = loss(module(X[rows]), y[rows])
            value.backward()
            optimizer.step()
            recorder.step(value)
        recorder.epoch(**values)
    return recorder


@pytest.fixture
def product():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype("float32")
    return X, (X[:, :1] * X[:, 1:2]).astype("float32")


def net(*, activation=nn.ReLU, widths=(32, 32)):
    layers, n_in = [], 3
    for width in widths:
        layers += [nn.Linear(n_in, width), activation()]
        n_in = width
    return nn.Sequential(*layers, nn.Linear(n_in, 1))


def test_the_recorder_fills_the_same_history(product):
    module = net()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    before = [p.detach().clone() for p in module[0].parameters()]
    recorder = trained(module, optimizer, *product, nn.MSELoss(), epochs=1, batch=300, val_loss=2.0)
    assert list(recorder.history) == ["epoch", "loss", "learning_rate", "seconds", "val_loss"]
    probes = recorder.history.probes
    assert list(dict.fromkeys(probes["layer"])) == ["0", "1", "2", "3", "4"]
    row = probes.row(0)
    start = np.sqrt(sum(float((p**2).sum()) for p in before))
    moved = np.sqrt(
        sum(float(((p.detach() - q) ** 2).sum()) for p, q in zip(module[0].parameters(), before, strict=True))
    )
    assert row["weight_norm"] == pytest.approx(start, rel=1e-5)
    assert row["update_ratio"] == pytest.approx(moved / start, rel=1e-4)
    assert row["gradient_norm"] == pytest.approx(moved / 0.1, rel=1e-4)
    X = torch.tensor(product[0])
    with torch.no_grad():
        hidden = torch.relu(X @ before[0].T + before[1])
    of_relu = probes.row(1)
    assert of_relu["zero"] == pytest.approx(float((hidden == 0).float().mean()), abs=1e-6)
    assert of_relu["dead"] == pytest.approx(float((hidden == 0).all(dim=0).float().mean()), abs=1e-6)


@pytest.mark.parametrize(
    ("name", "module", "rate"),
    [
        ("rate_too_low", net(), 1e-6),
        ("rate_too_high", net(), 3.0),
        ("missing_nonlinearity", net(activation=nn.Identity), 3e-3),
        ("underfitting", net(widths=(1,)), 1e-2),
    ],
)
def test_remedies_are_tried_on_a_translation_of_the_module(product, name, module, rate):
    recorder = trained(module, torch.optim.Adam(module.parameters(), lr=rate), *product, nn.MSELoss())
    found = md.diagnose(recorder)
    assert found.names[0] == name
    assert found[name].remedies[0].gain > 0.05


def test_a_sound_loop_is_healthy(product):
    module = net()
    recorder = trained(module, torch.optim.Adam(module.parameters(), lr=3e-3), *product, nn.MSELoss(), epochs=50)
    assert md.diagnose(recorder).is_healthy


def test_without_data_the_history_speaks_for_itself(product):
    module = net()
    for bias in (module[0].bias, module[2].bias):
        nn.init.constant_(bias, -50.0)
    recorder = trained(module, torch.optim.SGD(module.parameters(), lr=1e-3), *product, nn.MSELoss(), data=False)
    found = md.diagnose(recorder)
    assert "dead_units" in found
    assert "the data were not given" in found.limits[0]


def test_removed_hooks_record_no_more(product):
    module = net()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    recorder = trained(module, optimizer, *product, nn.MSELoss(), epochs=1)
    count = recorder.history.probes.n_rows
    recorder.close()
    loss = module(torch.tensor(product[0])).sum()
    loss.backward()
    optimizer.step()
    assert recorder.history.probes.n_rows == count
