"""What goes in: sparse rows, weights, labels; and what must not, with the words scikit-learn has for it."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import neural_network as theirs
from sklearn.datasets import load_iris, make_multilabel_classification

import madaline as md
from madaline.errors import ConfigError, DtypeError, TargetError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, y = load_iris(return_X_y=True)
KINDS = ("MLPClassifier", "MLPRegressor")
both_kinds = pytest.mark.parametrize("kind", KINDS)


def small(kind, **parameters):
    return getattr(md, kind)(**{"hidden_layer_sizes": 6, "max_iter": 5, "random_state": 0} | parameters)


def with_hole(value):
    holed = X.copy()
    holed[3, 1] = value
    return holed


def frame(names="abcd"):
    return pd.DataFrame(X, columns=list(names))


BAD = {
    "NaN": (with_hole(np.nan), y),
    "infinity": (with_hole(np.inf), y),
    "one axis": (X[:, 0], y),
    "three axes": (X[:, :, None], y),
    "no rows": (X[:0], y[:0]),
    "no columns": (X[:, :0], y),
    "lengths": (X, y[:-1]),
    "words": (np.full((150, 2), "word", dtype=object), y),
    "complex": (X.astype(complex), y),
    "missing targets": (X, np.where(y == 1, np.nan, y)),
    "infinite targets": (X, np.where(y == 1, np.inf, y)),
    "no targets": (X, None),
    "nested targets": (X, y.reshape(-1, 3, 1)[:150]),
}


@both_kinds
@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_refused_in_scikit_learns_words(kind, name):
    """The same error, word for word; where data="auto" would help, a sentence about it follows."""
    messages = []
    for module in (theirs, md):
        with pytest.raises((ValueError, TypeError)) as caught:
            getattr(module, kind)(max_iter=2).fit(*BAD[name])
        messages.append(str(caught.value))
    expected, found = messages
    if name in ("NaN", "words"):
        assert found.startswith(expected)
        assert 'Pass data="auto"' in found[len(expected) :]
    else:
        assert found == expected


BAD_PARAMETERS = [
    {"alpha": -1},
    {"hidden_layer_sizes": -1},
    {"hidden_layer_sizes": (3, 0)},
    {"solver": "newton"},
    {"batch_size": 0},
    {"learning_rate": "fast"},
    {"learning_rate_init": 0.0},
    {"max_iter": 0},
    {"tol": -1e-3},
    {"momentum": 2},
    {"validation_fraction": 1.0},
    {"beta_1": 1.0},
    {"epsilon": 0.0},
    {"n_iter_no_change": 0},
    {"shuffle": "yes"},
    {"random_state": "seed"},
    {"max_fun": 0},
    {"early_stopping": True, "validation_fraction": 0.0},
]


@both_kinds
@pytest.mark.parametrize("parameters", BAD_PARAMETERS, ids=str)
def test_bad_parameters_are_refused_in_scikit_learns_words(kind, parameters):
    messages = []
    for module in (theirs, md):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
            getattr(module, kind)(**parameters).fit(X, y)
        messages.append(sorted(re.findall(r"\w+", str(caught.value))))  # sets are written in any order
    assert messages[0] == messages[1]


@both_kinds
@pytest.mark.parametrize("sizes", [(5.5,), ("8",), ((8,),), True, [[8, 8]]], ids=str)
def test_sizes_of_layers_are_whole_numbers(kind, sizes):
    with pytest.raises(ConfigError, match=r"hidden_layer_sizes=.* must be whole numbers"):
        small(kind, hidden_layer_sizes=sizes).fit(X, y)


@both_kinds
def test_all_of_the_momentum_may_be_kept(kind):
    models = [
        getattr(module, kind)(hidden_layer_sizes=6, max_iter=5, random_state=0, solver="sgd", momentum=1.0).fit(X, y)
        for module in (theirs, md)
    ]
    np.testing.assert_allclose(models[1].coefs_[0], models[0].coefs_[0], rtol=1e-6)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["MLPRegressor", "GaussianMLPRegressor"])
def test_sparse_targets_are_taken_as_dense_ones(kind, form):
    Y = np.stack([y > 0, y > 1], axis=1).astype(float)
    dense, of_sparse = (small(kind).fit(X, target) for target in (Y, sparse.coo_array(Y).asformat(form)))
    assert np.array_equal(of_sparse.predict(X), dense.predict(X))


@pytest.mark.parametrize("data", [None, "auto"])
@pytest.mark.parametrize(
    "target",
    [np.array([None, "a"], dtype=object)[(y > 0).astype(int)], pd.Series(["a", None] * 75, dtype="string")],
    ids=["None", "NA"],
)
def test_targets_with_gaps_are_refused_by_their_row(data, target):
    first = 0 if target[0] is None else 1
    with pytest.raises(TargetError, match=rf"y is missing in row {first} \(\d+ such values\). Leave out the rows"):
        small("MLPClassifier", data=data).fit(X, target)


@pytest.mark.parametrize("target", [y.astype(str), y.astype("M8[Y]")], ids=["text", "dates"])
def test_a_regression_needs_numbers(target):
    with pytest.raises(DtypeError, match=r"y has dtype .*, and a regressor predicts numbers"):
        small("MLPRegressor").fit(X, target)


def test_continuous_targets_are_no_classes():
    messages = []
    for module in (theirs, md):
        with pytest.raises(ValueError, match="Unknown label type") as caught:
            module.MLPClassifier().fit(X, y + 0.5)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_classes_that_were_not_announced_are_refused_in_scikit_learns_words():
    messages = []
    for module in (theirs, md):
        clf = module.MLPClassifier(6).partial_fit(X[:50], y[:50], classes=[0, 1])
        with pytest.raises(ValueError, match="classes not in") as caught:
            clf.partial_fit(X, y)
        messages.append(str(caught.value))
        with pytest.raises(ValueError, match="is not the same as on last call"):
            clf.partial_fit(X[:50], y[:50], classes=[0, 2])
        with pytest.raises(ValueError, match="classes must be passed on the first call"):
            module.MLPClassifier().partial_fit(X, y)
    assert messages[0] == messages[1]


@both_kinds
@pytest.mark.parametrize("method", ["predict", "partial_fit"])
def test_other_columns_than_in_training_are_refused(kind, method):
    model = small(kind).fit(X, y)
    arguments = (y,) if method == "partial_fit" else ()
    with pytest.raises(ValueError, match=f"X has 3 features, but {kind} is expecting 4 features as input"):
        getattr(model, method)(X[:, :3], *arguments)


@both_kinds
def test_names_of_columns_are_kept_and_compared(kind):
    model = small(kind).fit(frame(), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame("abdc"))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame())


@both_kinds
def test_what_is_not_fitted_says_so(kind):
    with pytest.raises(Exception, match="is not fitted yet"):
        small(kind).predict(X)
    assert not hasattr(small(kind), "coefs_")


@both_kinds
def test_bad_rows_to_predict_are_refused(kind):
    model = small(kind).fit(X, y)
    for bad, message in ((with_hole(np.nan), "NaN"), (with_hole(-np.inf), "infinity"), (X[0], "Expected 2D array")):
        with pytest.raises(ValueError, match=message):
            model.predict(bad)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(150), "sample_weight is -1.0 at position 0; weights must be finite and not negative"),
        (np.zeros(150), "must contain at least one non-zero"),
        (np.ones(3), r"sample_weight.shape == \(3,\), expected \(150,\)"),
        (np.full(150, np.nan), "Input sample_weight contains NaN"),
    ],
    ids=["negative", "all zero", "too few", "NaN"],
)
@both_kinds
def test_bad_weights_are_refused(kind, weight, message):
    with pytest.raises(ValueError, match=message):
        small(kind).fit(X, y, sample_weight=weight)


@both_kinds
def test_rows_of_weight_zero_count_as_if_they_were_not_there(kind):
    """In full batches; in others the rows are shuffled otherwise."""
    weight = (np.arange(150) % 2).astype(float)
    parameters = {"shuffle": False, "batch_size": 150, "alpha": 0.1}
    weighted = small(kind, **parameters).fit(X, y, sample_weight=weight)
    left_out = small(kind, **parameters | {"batch_size": 75}).fit(X[1::2], y[1::2])
    np.testing.assert_allclose(weighted.coefs_[0], left_out.coefs_[0], rtol=1e-9)


@both_kinds
def test_a_batch_whose_rows_all_have_weight_zero_changes_nothing_but_penalties(kind):
    weight = np.r_[np.zeros(50), np.ones(100)]
    model = small(kind, shuffle=False, batch_size=50, alpha=0.0).fit(X, y, sample_weight=weight)
    assert np.isfinite(model.loss_curve_).all()


@both_kinds
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_sparse_rows_are_taken_as_dense_ones(kind, form):
    dense = small(kind).fit(X, y)
    rows = sparse.coo_array(X).asformat(form)
    model = small(kind).fit(rows, y)
    np.testing.assert_allclose(model.coefs_[0], dense.coefs_[0], rtol=1e-9)
    np.testing.assert_allclose(model.predict(rows).astype(float), dense.predict(X).astype(float), rtol=1e-9)


def test_labels_come_and_go_as_dense_or_sparse():
    rows, labels = make_multilabel_classification(n_samples=60, random_state=0)
    dense = small("MLPClassifier").fit(rows, labels)
    of_sparse = small("MLPClassifier").fit(rows, sparse.csr_matrix(labels))
    assert dense.predict(rows).shape == labels.shape
    assert sparse.issparse(of_sparse.predict(rows))
    assert np.array_equal(of_sparse.predict(rows).toarray(), dense.predict(rows))
    assert dense.predict_proba(rows).shape == labels.shape
    assert dense.score(rows, labels) == of_sparse.score(rows, labels)


@both_kinds
def test_one_row_will_do(kind):
    model = small(kind).fit(X[:1], y[:1])
    assert model.predict(X[:2]).shape == (2,)


def test_one_class_will_do():
    clf = small("MLPClassifier").fit(X, np.full(150, "only"))
    assert clf.classes_.tolist() == ["only"]
    assert (clf.predict(X) == "only").all()
    assert np.array_equal(clf.predict_proba(X), np.ones((150, 1)))


@both_kinds
def test_columns_that_do_not_vary_do_no_harm(kind):
    model = small(kind).fit(np.ones_like(X), y)
    assert np.isfinite(model.predict(X).astype(float)).all()


@both_kinds
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, bool, np.float16, np.float32, ">f8"], ids=str)
def test_numbers_of_all_types_are_taken(kind, dtype):
    rows = (X > 2).astype(dtype) if dtype is bool else X.astype(dtype)
    model = small(kind).fit(rows, y)
    expected = np.float32 if np.dtype(dtype) == np.float32 else np.float64
    assert model.coefs_[0].dtype == expected
    assert model.predict(rows).shape == (150,)


@both_kinds
def test_huge_values_end_in_scikit_learns_error(kind):
    with pytest.raises(ValueError, match="Solver produced non-finite parameter weights"):
        small(kind).fit(1e307 * X, y)


def test_lists_are_rows():
    clf = small("MLPClassifier").fit(X.tolist(), y.tolist())
    assert np.array_equal(clf.predict(X.tolist()), clf.predict(X))


def test_columns_in_fortran_order_and_strides_are_rows_too():
    clf = small("MLPClassifier").fit(np.asfortranarray(X), y)
    expected = clf.predict_proba(X)
    np.testing.assert_allclose(clf.predict_proba(np.asfortranarray(X)), expected, rtol=1e-12)
    assert np.array_equal(clf.predict_proba(X[::-1]), expected[::-1])


def test_a_column_of_targets_is_taken_with_scikit_learns_warning():
    with pytest.warns(UserWarning, match="A column-vector y was passed when a 1d array was expected"):
        small("MLPRegressor").fit(X, y.reshape(-1, 1))


def test_a_validation_set_is_checked_as_the_rows_are():
    with pytest.raises(ValueError, match="X has 2 features"):
        small("MLPClassifier", validation=(X[:, :2], y)).fit(X, y)
    with pytest.raises(ValueError, match="classes not in"):
        small("MLPClassifier", validation=(X, y + 7)).fit(X, y)
    with pytest.raises(ConfigError, match="validation must be a fraction"):
        small("MLPClassifier", validation=(X,)).fit(X, y)


def test_warnings_point_at_the_line_that_fits():
    with pytest.warns(UserWarning, match="batch_size|Maximum iterations") as caught:
        small("MLPRegressor", batch_size=1000).fit(X, y)
    assert {item.filename for item in caught} == {__file__}
    assert len(caught) == 2
