"""Data stays where it is: whatever its type and layout, the result is that of the plain array."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import madaline as md
from madaline.errors import ConfigError, DtypeError, InputError, MadalineError, ShapeError

NET = md.Sequential(md.Linear(8), "tanh", md.Linear(2))


@pytest.fixture
def whole(rng):
    """Numbers that every type can hold."""
    X = rng.integers(-8, 9, size=(50, 6))
    return X.astype(np.float64), X[:, :2] * 0.5


def trained(X, y, **options):
    trainer = md.Trainer(NET, seed=2)
    trainer.fit(X, y, epochs=2, batch_size=8, **options)
    return trainer


def in_a_file(X, tmp_path):
    path = tmp_path / "X.dat"
    np.memmap(path, dtype="float64", mode="w+", shape=X.shape)[...] = X
    return np.memmap(path, dtype="float64", mode="r", shape=X.shape)


def with_gaps(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "float32": lambda X: X.astype("float32"),
    "float16": lambda X: X.astype("float16"),
    "int8": lambda X: X.astype("int8"),
    "int64": lambda X: X.astype("int64"),
    "big endian": lambda X: X.astype(">f8"),
    "long double": lambda X: X.astype(np.longdouble),
    "Fortran order": np.asfortranarray,
    "with gaps": with_gaps,
    "turned round twice": lambda X: X[::-1].copy()[::-1],
    "read-only": read_only,
    "a list": lambda X: X.tolist(),
    "csr": scipy.sparse.csr_matrix,
    "csc": scipy.sparse.csc_array,
    "coo": scipy.sparse.coo_array,
    "dok": scipy.sparse.dok_array,
    "lil": scipy.sparse.lil_matrix,
    "sparse long double": lambda X: scipy.sparse.csr_array(X.astype(np.longdouble)),
    "masked without a mask": np.ma.masked_array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_the_data_gives_the_same_bits(whole, layout, same):
    X, y = whole
    plain, other = trained(X, y, validation=0.2), trained(LAYOUTS[layout](X), y, validation=0.2)
    same(plain.model, other.model)
    assert plain.history["val_loss"].tolist() == other.history["val_loss"].tolist()
    np.testing.assert_array_equal(plain.predict(X), other.predict(LAYOUTS[layout](X)))
    assert plain.evaluate(X, y) == other.evaluate(LAYOUTS[layout](X), y)


@pytest.mark.parametrize("layout", ["float32", "float16", "Fortran order", "with gaps", "read-only", "a list"])
def test_every_layout_of_the_targets_gives_the_same_bits(whole, layout, same):
    X, y = whole
    same(trained(X, y).model, trained(X, LAYOUTS[layout](y)).model)


def test_a_file_in_memory_is_trained_on_without_being_read_as_a_whole(whole, tmp_path, same):
    X, y = whole
    same(trained(X, y).model, trained(in_a_file(X, tmp_path), y).model)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "bool"])
def test_class_numbers_of_every_type_mean_the_same(whole, dtype, same):
    X, _ = whole
    y = (X[:, 0] > 0).astype(int)
    one, other = (md.Trainer(md.mlp(4, 2), loss="cross_entropy") for _ in range(2))
    one.fit(X, y, epochs=2, validation=0.2, metrics=["accuracy", "auc"])
    other.fit(X, y.astype(dtype), epochs=2, validation=0.2, metrics=["accuracy", "auc"])
    same(one.model, other.model)
    assert one.history["val_accuracy"].tolist() == other.history["val_accuracy"].tolist()


def test_a_net_that_learns_from_the_data_sees_all_of_sparse_data(whole, same):
    X, y = whole
    net = md.Sequential(md.nn.Standardize(), md.Linear(2))
    one, other = md.Trainer(net), md.Trainer(net)
    one.fit(X, y, epochs=1)
    other.fit(scipy.sparse.csr_matrix(X), y, epochs=1)
    same(one.model, other.model)


def test_sparse_data_is_not_made_dense_as_a_whole(run_python):
    found = run_python(
        """
import numpy as np, scipy.sparse, madaline as md
n, columns = 60_000, 5_000
X = scipy.sparse.csr_array((np.ones(n, "f4"), np.arange(n) % columns, np.arange(n + 1)), shape=(n, columns))
net = md.mlp(4, 2)
md.Trainer(net, loss="cross_entropy", threads=1).fit(X, np.arange(n) % 2, epochs=1, batch_size=256)
md.Trainer(md.Sequential(md.nn.Standardize(), net), loss="cross_entropy", threads=1).fit(X, np.arange(n) % 2, epochs=1)
print(next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
    )
    if found.returncode and "/proc" in found.stderr:
        pytest.skip("needs /proc, as Linux has it")
    assert int(found.stdout) < 60_000 * 5_000 * 4 / 2, found.stderr


def test_masked_numbers_are_missing_numbers(whole):
    X, y = whole
    hidden = np.zeros(X.shape, bool)
    hidden[7, 2] = hidden[9, 0] = True
    with pytest.raises(ConfigError, match="X has 2 masked values; the first is at row 7, column 2"):
        trained(np.ma.masked_array(X, hidden), y)
    with pytest.raises(ConfigError, match="y has 2 masked values; the first is at row 7, column 1"):
        trained(X, np.ma.masked_array(y, np.stack([hidden[:, 0], hidden[:, 2]], axis=1)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_missing_number_is_named_by_row_and_column(whole, value):
    X, y = whole
    X[33, 4] = value
    X[40, 1] = value
    with pytest.raises(ConfigError, match=rf"X has at least 2 missing or infinite .* {value} at row 33, column 4"):
        trained(X, y)


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("array", ["indices", "indptr"])
def test_indices_of_a_sparse_matrix_that_change_during_training_change_nothing(run_python, array, executor):
    """In a new process, because writing outside of a batch may end it."""
    found = run_python(
        f"""
import numpy as np, scipy.sparse, madaline as md
rng = np.random.default_rng(0)
dense = rng.normal(size=(200, 30)) * (rng.random((200, 30)) < 0.2)
models = []
for callback in (None, lambda trainer, row: getattr(X, {array!r}).fill(2**30)):
    X = scipy.sparse.csr_array(dense)
    trainer = md.Trainer(md.mlp(8, 1))
    trainer.fit(X, dense[:, :1], epochs=3, batch_size=16, validation=0.2, callbacks=callback)
    models.append(trainer.model.params.flat.tobytes())
print(getattr(X, {array!r}).max(), models[0] == models[1])
""",
        MADALINE_EXECUTOR=executor,
    )
    assert found.stdout == f"{2**30} True\n", found.stderr


@pytest.mark.parametrize("layout", ["csr_array", "csr_matrix", "csc_array"])
def test_a_malformed_sparse_matrix_is_refused(run_python, layout):
    """In a new process, because reading or writing outside of arrays may end it."""
    found = run_python(
        f"""
import numpy as np, scipy.sparse, madaline as md
y = np.zeros((40, 1))
good = scipy.sparse.{layout}(np.eye(40))
trainer = md.Trainer(md.mlp(8, 1))
trainer.fit(good, y, epochs=1)
for array, place, value in (
    ("indices", 3, 10**6), ("indices", 3, -1),
    ("indptr", 0, 1), ("indptr", 2, -5), ("indptr", 2, 10**6), ("indptr", -1, 10**6),
):
    X = scipy.sparse.{layout}(np.eye(40))
    getattr(X, array)[place] = value
    for call in (
        lambda: trainer.fit(X, y, epochs=1),
        lambda: trainer.partial_fit(X, y),
        lambda: trainer.predict(X),
        lambda: trainer.evaluate(X, y),
        lambda: trainer.fit(good, y, validation=(X, y)),
        lambda: trainer.fit(md.Stream([(X, y)]), epochs=1),
        lambda: trainer.fit(good, X, epochs=1),
    ):
        try:
            call()
            print("accepted")
        except md.errors.ShapeError as error:
            print("refused:", error)
"""
    )
    lines = found.stdout.splitlines()
    assert len(lines) == 6 * 7, found.stderr
    assert all(line.startswith("refused: ") and "is a malformed sparse matrix: ind" in line for line in lines[:14])
    assert all(line.startswith("refused: ") and "is a malformed sparse matrix: " in line for line in lines)


def test_a_missing_number_in_sparse_data_is_named_by_row_and_column(whole):
    X, y = whole
    X[33, 4] = np.nan
    with pytest.raises(ConfigError, match="nan at row 33, column 4"):
        trained(scipy.sparse.csr_matrix(X), y)


def test_a_missing_number_in_other_data_is_named_too(whole):
    X, y = whole
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ConfigError, match="row 3, column 1"):
        trained(X, y, validation=(bad, y))
    bad_y = y.copy()
    bad_y[7, 1] = np.nan
    with pytest.raises(MadalineError, match="row 7, column 1"):
        trained(X, bad_y)


def test_the_input_that_has_it_is_named():
    net = md.Sequential(md.Parallel(a=md.Linear(2), b=md.Linear(2)), md.Concat(), md.Linear(1))
    X = {"a": np.zeros((5, 2)), "b": np.full((5, 2), np.nan)}
    with pytest.raises(ConfigError, match="The input 'b' has at least 10 missing"):
        md.Trainer(net).fit(X, np.zeros((5, 1)))


def test_numbers_too_large_to_add_up_are_fine(whole):
    X, y = whole
    X[:, 0] = 1e308
    md.Trainer(md.Sequential(md.nn.Standardize(), md.Linear(2)), dtype="float64")
    with pytest.raises(MadalineError):  # they overflow in float32, but are not called missing
        trained(X, y)


def test_categories_outside_their_table_are_named_before_training():
    net = md.Sequential(md.Embedding(4, 3), md.Linear(1))
    X = np.array([[0], [1], [3], [7]])
    with pytest.raises(InputError, match=r"7.*row 3|row 3.*7"):
        md.Trainer(net).fit(X, np.zeros((4, 1)))


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (np.zeros((0, 6)), np.zeros((0, 2)), ShapeError, "no rows"),
        (np.zeros((5, 6)), np.zeros((4, 2)), ShapeError, "X has 5 rows and y has 4"),
        (np.zeros((5, 6)), np.array(list("abcde")), DtypeError, "Number the classes"),
        (np.zeros((5, 6)), np.float64(1.0), ShapeError, "y is a single number"),
        (np.zeros((5, 6), dtype=complex), np.zeros((5, 2)), DtypeError, "complex"),
        (np.zeros(6), np.zeros((6, 2)), ShapeError, "reshape"),
    ],
)
def test_data_that_does_not_fit_is_refused(X, y, error, message):
    with pytest.raises(error, match=message):
        trained(X, y)


def test_other_columns_than_those_trained_on_are_refused(whole):
    trainer = trained(*whole)
    with pytest.raises(ShapeError, match=r"rows of shape \(5,\); the net was made for rows of shape \(6,\)"):
        trainer.predict(np.zeros((3, 5)))


def test_predictions_do_not_depend_on_the_tiles_they_were_made_in(rng):
    trainer = md.Trainer(NET)
    X = rng.normal(size=(5000, 6))
    trainer.fit(X[:100], X[:100, :2], epochs=1)
    every = trainer.predict(X)
    np.testing.assert_array_equal(every[1020:1030], trainer.predict(X[1020:1030]))
    assert trainer.predict(X[:0]).shape == (0, 2)
    np.testing.assert_allclose(trainer.model(X), every, rtol=1e-6)


def test_targets_whose_rows_differ_in_shape_are_refused():
    with pytest.raises(ShapeError, match="y is not an array: its rows or parts have different shapes"):
        md.Trainer(md.Linear(1)).fit(np.ones((2, 3)), [[1.0], [1.0, 2.0]])


def test_outputs_without_names_cannot_have_losses():
    net = md.Parallel(md.Linear(3), md.Linear(2))
    X = np.ones((4, 3))
    for loss, y in (("mse", X), ({"0": "mse", "1": "mse"}, (X, X[:, :2])), ("mse", (X, X))):
        with pytest.raises(ConfigError, match=r"The net has 2 outputs without names. Name them: md.Parallel\(price="):
            md.Trainer(net, loss=loss).fit(X, y)
