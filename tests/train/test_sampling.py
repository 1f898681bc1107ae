"""Which rows make up each batch."""

from __future__ import annotations

import numpy as np
import pytest

import madaline as md
from madaline.errors import ConfigError, DtypeError
from madaline.train.sampling import Batches, as_sampler, epoch_batches, n_steps, split_rows


def batches(n_rows, batch_size, *, sampler=None, target=None, epoch=0, seed=0, rows=None, **options):
    rows = np.arange(n_rows) if rows is None else rows
    return epoch_batches(
        rows, target, batch_size=batch_size, sampler=as_sampler(sampler), seed=seed, epoch=epoch, **options
    )


def test_every_row_comes_once_an_epoch_in_a_new_order():
    orders = [batches(1000, 64, epoch=epoch).order for epoch in range(3)]
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    assert not np.array_equal(orders[0], orders[1])
    np.testing.assert_array_equal(orders[1], batches(1000, 64, epoch=1).order)
    assert not np.array_equal(orders[0], batches(1000, 64, seed=1).order)
    # Held fast, so that a seed means the same order in every version of madaline.
    order = [0, 6, 2, 9, 8, 4, 7, 3, 1, 5]
    assert batches(10, 2).order.tolist() == order
    rows = np.array([3, 5, 8, 13, 21, 34, 55, 89, 144, 233])
    assert batches(10, 2, rows=rows).order.tolist() == rows[order].tolist()


def test_in_order():
    np.testing.assert_array_equal(batches(10, 3, sampler="in_order").order, np.arange(10))
    np.testing.assert_array_equal(as_sampler(None, shuffle=False).order(np.arange(4), None, None), np.arange(4))


def test_with_replacement_rows_come_as_often_as_chance_has_it():
    """The number of a row's visits is Poisson: mean 1, and a share of exp(-1) is never seen."""
    counts = np.bincount(batches(100_000, 64, sampler="with_replacement").order, minlength=100_000)
    assert counts.sum() == 100_000
    assert np.mean(counts == 0) == pytest.approx(np.exp(-1), abs=0.01)
    assert counts.var() == pytest.approx(1.0, abs=0.03)


def test_balanced_classes_come_equally_often_and_rows_of_a_class_too(rng):
    target = rng.permutation(np.repeat([0, 3, 7], [9000, 900, 100]))
    order = batches(10_000, 50, sampler="balanced", target=target).order
    shares = np.bincount(target[order], minlength=8)[[0, 3, 7]] / 10_000
    np.testing.assert_allclose(shares, 1 / 3, atol=0.02)
    rare = np.bincount(order, minlength=10_000)[target == 7]
    assert rare.mean() == pytest.approx(33.3, rel=0.1)
    assert rare.min() > 10
    with pytest.raises(DtypeError, match="needs one class index for each row"):
        batches(10, 5, sampler="balanced", target=np.zeros((10, 2)))


def test_balanced_sampling_sees_the_targets_of_the_rows_that_are_trained_on(digits):
    X, y = digits
    keep = (y != 0) | (np.arange(len(y)) < 200)  # few zeros
    trainer = md.Trainer(md.mlp(4, 10), loss="cross_entropy")
    trainer.fit(X[keep], y[keep], epochs=1, sampler="balanced", validation=0.3)
    order = trainer.run.source.batches(0).order
    assert set(order) <= set(trainer.run.source.rows)
    shares = np.bincount(y[keep][order]) / len(order)
    np.testing.assert_allclose(shares, 0.1, atol=0.04)


def test_a_sampler_of_ones_own_chooses_rows_among_those_of_the_training():
    rows = np.array([5, 7, 9])
    found = batches(3, 2, sampler=lambda n, rng: np.full(4, n - 1), rows=rows)
    assert found.order.tolist() == [9, 9, 9, 9]
    for wrong in ([3], [-1], [0.5], [[1]]):
        with pytest.raises(ConfigError, match="positions from 0 to 2"):
            batches(3, 2, sampler=lambda n, rng, wrong=wrong: wrong)


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("min_rows", [1, 2])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("batch_size", [2, 4, 8, 30])
def test_batches_are_as_many_as_was_said(n_rows, batch_size, drop_last, min_rows):
    found = batches(n_rows, batch_size, drop_last=drop_last, min_rows=min_rows)
    sizes = np.diff(found.starts)
    assert len(found) == n_steps(n_rows, batch_size, drop_last, min_rows)
    assert found.starts[0] == 0
    assert found.starts[-1] == len(found.order)
    if not drop_last:
        assert len(found.order) == n_rows
    elif n_rows >= batch_size:
        assert (sizes == batch_size).all()
    if n_rows >= min_rows:
        assert sizes.min() >= min_rows


def test_parts_and_joined_batches_are_the_same_rows():
    parts = [batches(10, 4, epoch=epoch) for epoch in range(3)]
    joined = Batches.joined(parts)
    assert len(joined) == 9
    for k in range(9):
        one, other = joined.part(k, k + 1), parts[k // 3].part(k % 3, k % 3 + 1)
        np.testing.assert_array_equal(one.order, other.order)
        assert one.starts.tolist() == other.starts.tolist()


def test_validation_takes_its_share_of_each_class(rng):
    target = rng.permutation(np.repeat([0, 1, 2], [700, 200, 100]))
    rows, held = split_rows(1000, 0.2, seed=0, target=target)
    assert len(held) == 200
    np.testing.assert_array_equal(np.sort(np.append(rows, held)), np.arange(1000))
    np.testing.assert_array_equal(np.bincount(target[held]), [140, 40, 20])
    assert not np.array_equal(held, split_rows(1000, 0.2, seed=1, target=target)[1])
    assert len(split_rows(10, 0.01, seed=0)[1]) == 1


def test_a_batch_of_all_rows_is_taken_in_order_without_gathering():
    assert batches(7, 7).order.tolist() == list(range(7))
    assert batches(7, 6).order.tolist() != list(range(7))
    assert sorted(batches(7, 6).order) == list(range(7))


def test_the_end_of_a_schedule_is_that_of_the_rows_a_sampler_gives():
    def rates(X, **options):
        trainer = md.Trainer(md.Linear(1), schedule="cosine", optimizer=md.SGD(1.0))
        return trainer.fit(X, X[:, :1], epochs=4, batch_size=5, **options)["learning_rate"].tolist()

    X = np.zeros((40, 2))
    assert rates(X, sampler=lambda n, rng: rng.integers(n, size=n // 2)) == rates(X[:20])
