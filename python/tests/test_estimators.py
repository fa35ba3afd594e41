"""The estimators against the command, against scikit-learn, and inside scikit-learn."""

import errno
import inspect
import io
import json
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import halfspace
from halfspace import HalfspaceError, HalfspaceWarning, _command, _estimator, _pages, _rows

sklearn = pytest.importorskip("sklearn")
from scipy import sparse
from sklearn import datasets, discriminant_analysis, linear_model, svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytestmark = pytest.mark.filterwarnings("ignore::halfspace.HalfspaceWarning")

ALGORITHMS = {"LogisticRegression": "logistic", "LinearSVC": "svm", "Perceptron": "perceptron", "AveragedPerceptron": "averaged",
              "Pocket": "pocket", "PassiveAggressive": "passive-aggressive", "FTRL": "ftrl", "AdaGrad": "adagrad",
              "Winnow": "winnow", "LDA": "lda", "KernelPerceptron": "kernel-perceptron"}


def make(name, **options):
    return getattr(halfspace, name)(**options)


@pytest.fixture(scope="module")
def cancer():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def iris():
    X, y = datasets.load_iris(return_X_y=True)
    return X, y


def write_csv(path, X, y, weights=None):
    """Write rows as CSV, with the names that the command gives to the columns of an array."""
    names = [f"x{i}" for i in range(X.shape[1])]
    with open(path, "w") as file:
        print(*names, *(["weight"] if weights is not None else []), "label", sep=",", file=file)
        for i, row in enumerate(X.tolist()):
            print(*map(repr, row), *([repr(float(weights[i]))] if weights is not None else []), y[i], sep=",", file=file)


def model_of_command(command, folder, X, y, *args, weights=None):
    write_csv(folder / "rows.csv", X, y, weights)
    more = ["--sample-weight", "weight"] if weights is not None else []
    command("train", folder / "rows.csv", "--label", "label", "--prepare", "none", "--out", folder / "m.json", *more, *args)
    return (folder / "m.json").read_text()


@pytest.mark.parametrize("name", halfspace.ESTIMATORS)
@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_same_bytes_as_the_command(command, tmp_path, request, name, data):
    X, y = request.getfixturevalue(data)
    options, args = {}, []
    if "order" in make(name).get_params() and name != "LogisticRegression":
        options, args = {"order": "shuffle", "random_state": 7, "max_iter": 3}, ["--order", "shuffle", "--seed", "7", "--epochs", "3"]
    if name == "Winnow":
        X, args = (X > X.mean(axis=0)).astype(np.float64), ["--winnow", "balanced"]
    estimator = make(name, **options).fit(X, y)
    assert estimator.model_ == model_of_command(command, tmp_path, X, y, "--algo", ALGORITHMS[name], *args)


def test_same_bytes_with_weights_and_penalty(command, tmp_path, cancer):
    X, y = cancer
    weights = np.random.RandomState(0).uniform(size=len(y)).round(3)
    estimator = halfspace.LogisticRegression(C=0.25, class_weight={0: 2, 1: 0.5}).fit(X, y, weights)
    assert estimator.model_ == model_of_command(command, tmp_path, X, y, "--algo", "logistic", "--l2", "4",
                                                "--class-weight", "0=2,1=0.5", weights=weights)


@pytest.mark.parametrize("name", halfspace.ESTIMATORS)
@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_same_scores_as_the_command(command, tmp_path, request, name, data):
    X, y = request.getfixturevalue(data)
    options = {"kernel": "rbf"} if name == "KernelPerceptron" else {"max_iter": 3} if "order" in make(name).get_params() and name != "LogisticRegression" else {}
    estimator = make(name, **options).fit(X, y)
    (tmp_path / "m.json").write_text(estimator.model_)
    rows = X > 0 if name == "Winnow" else X
    write_csv(tmp_path / "rows.csv", rows.astype(float), y)
    lines = command("predict", "--model", tmp_path / "m.json", tmp_path / "rows.csv", "--score", "--out", "-").splitlines()[1:]
    scores = np.array([line.split(",")[1:] for line in lines], dtype=np.float32)
    assert (estimator.decision_function(X).reshape(scores.shape) == scores).all()
    assert (estimator.predict(X) == np.array([line.split(",")[0] for line in lines]).astype(int)).all()
    for rows in 1, 3, 50:
        assert (estimator.decision_function(X[:rows]) == scores[:rows].reshape(estimator.decision_function(X[:rows]).shape)).all()


@pytest.mark.parametrize("features", [1, 31, 32, 33, 100, 257])
def test_scores_of_a_few_rows(features):
    """Sums whose terms cancel, and numbers of all sizes, have the same bits with and without the command."""
    random = np.random.RandomState(features)
    X = (random.normal(size=(400, features)) * 10.0 ** random.randint(-18, 18, (400, features))).astype(np.float32)
    y = random.randint(0, 3, 400)
    for bias in True, False:
        estimator = halfspace.Perceptron(max_iter=2, fit_intercept=bias).fit(X, y)
        by_command = estimator._scores(X)
        for first in range(0, 400, 50):
            assert (estimator._few(X[first:first + 50]) == by_command[first:first + 50]).all()


@pytest.mark.parametrize("name", [name for name in halfspace.ESTIMATORS if hasattr(make(name), "predict_proba")])
@pytest.mark.parametrize("data", ["cancer", "iris"])
def test_probabilities_of_the_command(command, tmp_path, request, name, data):
    X, y = request.getfixturevalue(data)
    estimator = make(name).fit(X, y)
    (tmp_path / "m.json").write_text(estimator.model_)
    write_csv(tmp_path / "rows.csv", X, y)
    lines = command("predict", "--model", tmp_path / "m.json", tmp_path / "rows.csv", "--proba", "--out", "-").splitlines()[1:]
    expected = np.array([line.split(",")[1:] for line in lines], dtype=np.float64)
    got = estimator.predict_proba(X)
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(got.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(estimator.predict_log_proba(X[:5]), np.log(got[:5]))


@pytest.mark.parametrize("options", [{"C": 0.5}, {"class_weight": "balanced"}, {"fit_intercept": False}])
def test_optimum_of_scikit_learn(cancer, options):
    X, y = cancer
    X = X.astype(np.float32).astype(np.float64)
    weights = np.random.RandomState(1).randint(1, 4, len(y)).astype(float)
    if "class_weight" in options:  # scikit-learn's balance leaves out the weights of the rows
        weights = None
    ours = halfspace.LogisticRegression(**options).fit(X, y, weights)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=10000, **options).fit(X, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=2e-3, atol=1e-3)
    assert ours.coef_.shape == theirs.coef_.shape and ours.intercept_.shape == theirs.intercept_.shape
    assert 0 <= ours.duality_gap_ <= 1e-6 * abs(ours.objective_)


@pytest.mark.parametrize("options", [{"penalty": "l1", "C": 0.1}, {"penalty": "elasticnet", "C": 0.2, "l1_ratio": 0.3}])
def test_penalties_of_scikit_learn(cancer, options):
    X, y = cancer
    ratio = options.get("l1_ratio", 1)

    def objective(estimator):
        w = estimator.coef_[0]
        losses = np.logaddexp(0, -(2 * y - 1) * (X @ w + estimator.intercept_[0]))
        return losses.sum() + (ratio * abs(w).sum() + (1 - ratio) / 2 * w @ w) / options["C"]
    ours = halfspace.LogisticRegression(**options).fit(X, y)
    theirs = linear_model.LogisticRegression(solver="saga", tol=1e-6, max_iter=5000, **options).fit(X, y)
    assert objective(ours) == pytest.approx(ours.objective_, rel=1e-5)
    assert objective(ours) == pytest.approx(objective(theirs), rel=1e-3)
    assert objective(ours) <= objective(theirs) * (1 + 1e-6)
    assert ((ours.coef_ == 0) == (theirs.coef_ == 0)).mean() > 0.9


def test_objective_of_linear_svc(cancer):
    """The objective is below the one of scikit-learn's weights, which penalise the bias."""
    X, y = cancer
    signs = 2 * y - 1

    def objective(estimator):
        return (np.maximum(0, 1 - signs * (X @ estimator.coef_[0] + estimator.intercept_[0])) ** 2).sum() + (estimator.coef_ ** 2).sum() / 2
    ours = halfspace.LinearSVC().fit(X, y)
    theirs = svm.LinearSVC(dual=False, tol=1e-8, max_iter=100000).fit(X, y)
    assert objective(ours) == pytest.approx(ours.objective_, rel=1e-5)
    assert objective(ours) <= objective(theirs) * (1 + 1e-6)


def test_lda_of_scikit_learn(iris):
    X, y = iris
    ours, theirs = halfspace.LDA().fit(X, y), discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-2)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("labels", [
    np.array(["no", "yes"]), np.array(["no", "ja, doch"], dtype=object), np.array([False, True]), np.array([-1, 1], dtype=np.int8),
    np.array([2.0, 5.0]), np.array(["1", "01"]), np.array(["", "NA"]), np.array([0, 2**63], dtype=np.uint64)],
    ids=lambda labels: f"{labels.dtype.kind}-{labels[1]}")
def test_labels(cancer, labels):
    X, y = cancer
    estimator = halfspace.LogisticRegression(class_weight={labels[0]: 2.0}).fit(X, labels[y])
    expected = halfspace.LogisticRegression(class_weight={0: 2.0}).fit(X, y)
    order = np.argsort(labels)
    assert (estimator.classes_ == labels[order]).all()
    right = (estimator.predict(X) == labels[y]).mean()
    assert right == expected.score(X, y)


@pytest.mark.parametrize("convert", [
    np.asfortranarray, lambda X: X.astype(np.float32), lambda X: X.astype(np.float32).astype(">f4"), lambda X: np.repeat(X, 2, axis=0)[::2],
    lambda X: X.tolist(), sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix,
    lambda X: X.astype(np.longdouble), lambda X: sparse.csr_matrix(X).astype(np.longdouble)], ids=range(10))
def test_arrays(cancer, convert):
    X, y = cancer
    expected = halfspace.LogisticRegression().fit(X, y)
    estimator = halfspace.LogisticRegression().fit(convert(X), y)
    assert (estimator.coef_ == expected.coef_).all()
    assert (estimator.decision_function(convert(X)) == expected.decision_function(X)).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float64"])
def test_types(dtype):
    X = np.random.RandomState(0).randint(0, 2, (200, 5)).astype(dtype)
    y = X[:, 0].astype(int)
    assert halfspace.AveragedPerceptron().fit(X, y).model_ == halfspace.AveragedPerceptron().fit(X.astype(np.float32), y).model_


def test_sparse_without_a_dense_copy():
    X = sparse.random(300, 50000, density=1e-4, format="csr", random_state=0)
    y = np.arange(300) % 2
    estimator = halfspace.FTRL(l1=0.1, max_iter=2).fit(X, y)
    assert estimator.coef_.shape == (1, 50000)
    assert (estimator.decision_function(X[:10]) == estimator.decision_function(X)[:10]).all()


@pytest.mark.parametrize("name", halfspace.ESTIMATORS)
def test_pickle_and_clone(cancer, name):
    X, y = cancer
    estimator = make(name).fit(X[:200], y[:200])
    again = pickle.loads(pickle.dumps(estimator))
    assert again.model_ == estimator.model_ and (again.predict(X) == estimator.predict(X)).all()
    assert not hasattr(clone(estimator), "model_") and clone(estimator).get_params() == estimator.get_params()


def test_pipeline_and_grid_search(cancer):
    X, y = cancer
    search = GridSearchCV(make_pipeline(StandardScaler(), halfspace.LogisticRegression()),
                          {"logisticregression__C": [0.01, 1.0]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.95 and (search.cv_results_["std_test_score"] >= 0).all()


def test_calibration(cancer):
    X, y = cancer
    calibrated = CalibratedClassifierCV(halfspace.LinearSVC(), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.95 and calibrated.predict_proba(X).shape == (len(y), 2)


def test_data_frame(iris):
    pandas = pytest.importorskip("pandas")
    X, y = iris
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    estimator = halfspace.LDA().fit(frame, pandas.Series(y))
    assert estimator.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert (estimator.predict(frame) == estimator.predict(frame.to_numpy())).all()
    with pytest.raises(ValueError, match="feature names"):
        estimator.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("name", ["Perceptron", "PassiveAggressive", "FTRL", "AdaGrad"])
def test_partial_fit(iris, name):
    X, y = iris
    whole = make(name, order="cyclic", max_iter=1).fit(X, y)
    batches = make(name)
    for first in range(0, 150, 30):  # the first batch has one class
        batches.partial_fit(X[first:first + 30], y[first:first + 30], classes=[0, 1, 2] if first == 0 else None)
    np.testing.assert_array_equal(batches.coef_, whole.coef_)
    np.testing.assert_array_equal(batches.intercept_, whole.intercept_)
    with pytest.raises(HalfspaceError, match="no classes of the first call"):
        batches.partial_fit(X[:2], [0, 7])


@pytest.mark.parametrize("first, second", [(bool, int), (int, bool), (int, float), (float, bool), (bool, float), (np.uint8, np.int64)])
def test_partial_fit_with_other_types_of_labels(cancer, first, second):
    X, y = cancer
    expected = halfspace.Perceptron().partial_fit(X, y).partial_fit(X, y)
    estimator = halfspace.Perceptron().partial_fit(X, y.astype(first)).partial_fit(X, y.astype(second))
    assert (estimator.coef_ == expected.coef_).all() and estimator.classes_.dtype == first


def test_partial_fit_takes_no_balance(cancer):
    with pytest.raises(HalfspaceError, match="partial_fit takes a dict"):
        halfspace.FTRL(class_weight="balanced").partial_fit(*cancer)
    halfspace.FTRL(class_weight={0: 2}).partial_fit(*cancer)


def test_failed_fit(cancer, iris):
    """After an error in a second fit, the weights of the first one do not stand beside the new classes."""
    estimator = halfspace.Perceptron().fit(*cancer)
    with pytest.raises(HalfspaceError):
        estimator.set_params(max_iter=0).fit(*iris)
    with pytest.raises(NotFittedError):
        estimator.predict(cancer[0])


def test_labels_of_several_types(cancer):
    with pytest.raises(HalfspaceError, match="y has labels of several types"):
        halfspace.Perceptron().fit(cancer[0], np.array([0, "a"], dtype=object)[cancer[1]])


@pytest.mark.parametrize("y", [[3, -1, 3], [0], [-128, 127], [-128, 100], [2**63 + 1, 2**63], [10**9, 0], [1.5, 0.5], ["b", "a"], [True, False]])
@pytest.mark.parametrize("dtype", [None, np.int8, np.int64, np.uint64])
def test_distinct(y, dtype):
    from halfspace._estimator import distinct
    y = np.array(y)
    if dtype is not None:
        y = y.astype(dtype) if y.dtype.kind in "iu" else y
    got, want = distinct(y), np.unique(y)
    assert got.dtype == want.dtype and (got == want).all()


def test_workers_change_nothing(cancer):
    X, y = cancer
    assert len({halfspace.LogisticRegression(n_jobs=n).fit(X, y).model_ for n in (None, 1, 2, -1, -2)}) == 1


def test_random_state(cancer):
    X, y = cancer
    models = [halfspace.Perceptron(random_state=seed, max_iter=2).fit(X, y).model_ for seed in (None, 1, 2, 2, np.random.RandomState(2))]
    assert models[0] == models[1] and models[2] == models[3] and len(set(models)) == 3


@pytest.mark.parametrize("estimator, text", [
    (halfspace.LogisticRegression(C=0), "C is 0: it is a number above 0"),
    (halfspace.LogisticRegression(penalty="l3"), 'penalty is \'l3\': it is "l2", "l1", "elasticnet" or None'),
    (halfspace.LogisticRegression(penalty="elasticnet"), "l1_ratio is None"),
    (halfspace.LogisticRegression(max_iter=0), "max_iter"),
    (halfspace.Perceptron(eta0=2), "eta0"),
    (halfspace.Perceptron(order="up"), "order"),
    (halfspace.Perceptron(fit_intercept="no"), "fit_intercept is 'no'"),
    (halfspace.Perceptron(n_jobs=0), "n_jobs is 0"),
    (halfspace.KernelPerceptron(kernel="sigmoid"), "kernel"),
    (halfspace.Winnow(binarize=None), "neither 0 nor 1"),
])
def test_wrong_options(cancer, estimator, text):
    with pytest.raises(HalfspaceError) as raised:
        estimator.fit(*cancer)
    assert text in str(raised.value) and "/dev/fd" not in str(raised.value)


def test_not_converged(cancer):
    from sklearn.exceptions import ConvergenceWarning
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        halfspace.LogisticRegression(max_iter=1).fit(*cancer)


def test_notes_are_warnings():
    X = np.random.RandomState(0).normal(size=(100, 2)) * [1, 1e7]
    with pytest.warns(HalfspaceWarning, match="varies") as notes:
        halfspace.LogisticRegression().fit(X, (X[:, 0] > 0).astype(int))
    assert notes[0].filename == __file__


def test_notes_for_estimators():
    """Neither defaults nor a random_state, which scikit-learn sets everywhere, have notes, and notes name Python's options."""
    random = np.random.RandomState(0)
    X = random.normal(size=(200, 3))
    y = (X[:, 0] + random.normal(size=200) > 0).astype(int)
    for name in halfspace.ESTIMATORS:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            make(name, random_state=3).fit(X, y)
        assert [str(note.message) for note in notes if "predict" not in str(note.message)] == []
    with pytest.warns(HalfspaceWarning, match="^order has no effect with LogisticRegression$"):
        halfspace.LogisticRegression(order="cyclic").fit(X, y)
    with pytest.warns(HalfspaceWarning, match="leave it out$"):
        halfspace.LogisticRegression().fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("name, options, sentence", [
    ("LogisticRegression", {"nonnegative": 1}, "nonnegative is 1: it is True or False"),
    ("LogisticRegression", {"fit_intercept": None}, "fit_intercept is None: it is True or False"),
    ("LogisticRegression", {"max_iter": True}, "max_iter is True: it is neither True nor False"),
    ("LogisticRegression", {"C": None}, "C is None: it is a number above 0, and so is 1 / C"),
    ("LogisticRegression", {"C": 1e-320}, "C is 1e-320: it is a number above 0, and so is 1 / C"),
    ("LogisticRegression", {"C": np.array([1.0])}, "C is array([1.]): it is a number above 0, and so is 1 / C"),
    ("LogisticRegression", {"penalty": "elasticnet", "l1_ratio": "a"}, "l1_ratio is 'a': it is a number from 0 to 1"),
    ("LinearSVC", {"penalty": None}, "1 / C is 0: use a penalty above 0"),
    ("Perceptron", {"max_iter": 0}, "max_iter is 0: use 1 or more"),
    ("Perceptron", {"eta0": "x"}, "eta0 x: use a number"),
    ("Perceptron", {"n_jobs": 0}, "n_jobs is 0: it is a number of threads, None or -1 for all cores, -2 for all cores but 1"),
    ("Perceptron", {"class_weight": [1, 2]}, "class_weight is [1, 2]: it is \"balanced\", or a dict with factors of classes"),
    ("Perceptron", {"class_weight": "0=2"}, "class_weight is '0=2': it is \"balanced\", or a dict with factors of classes"),
    ("Perceptron", {"class_weight": {0: 1, 7: 2}}, "class_weight has the labels [7], which are no classes: y has [0, 1]"),
    ("Winnow", {"binarize": "a"}, "binarize is 'a': it is a number or None"),
])
def test_wrong_options(cancer, name, options, sentence):
    with pytest.raises(HalfspaceError) as raised:
        make(name, **options).fit(*cancer)
    assert str(raised.value) == sentence


def test_class_weights(cancer):
    X, y = cancer
    expected = halfspace.LogisticRegression(class_weight={0: 1, 1: 3}).fit(X, y).model_
    for weights in {1: 3}, {0: 1.0, 1: 3.0, 7: 5.0}, {np.int64(1): np.float32(3)}:
        assert halfspace.LogisticRegression(class_weight=weights).fit(X, y).model_ == expected
    texts = halfspace.LogisticRegression(class_weight={' a="b, c': 3}).fit(X, np.array([" ", ' a="b, c'])[y])
    assert (texts.coef_ == halfspace.LogisticRegression(class_weight={1: 3}).fit(X, y).coef_).all()


@pytest.mark.parametrize("number", [True, np.True_])
def test_numpy_booleans(cancer, number):
    X, y = cancer
    assert halfspace.LogisticRegression(nonnegative=number).fit(X, y).coef_.min() == 0
    assert halfspace.train(X, y, algo="logistic", nonnegative=number) == halfspace.train(X, y, algo="logistic", nonnegative=True)
    assert halfspace.train(X, y, algo="logistic", nonnegative=np.False_) == halfspace.train(X, y, algo="logistic")


@pytest.mark.parametrize("weights, sentence", [
    (lambda n: np.where(np.arange(n) == 3, -1.5, 1), "sample_weight has -1.5 in row 3: it is 0 or more"),
    (lambda n: np.zeros(n), "sample_weight is 0 in every row: give one row a weight or more|at least one non-zero"),
    (lambda n: np.ones(n - 1), "shape"), (lambda n: np.full(n, np.nan), "NaN"), (lambda n: np.full(n, np.inf), "infinity")])
def test_wrong_weights(cancer, weights, sentence):
    X, y = cancer
    for call in halfspace.Perceptron().fit, lambda X, y, w: halfspace.Perceptron().partial_fit(X, y, sample_weight=w):
        with pytest.raises(ValueError, match=sentence):
            call(X, y, weights(len(y)))


@pytest.mark.parametrize("name", [name for name in halfspace.ESTIMATORS if name not in ("Winnow", "AveragedPerceptron")])
def test_weight_zero_is_a_row_left_out(iris, name):
    """With the rows in the same order; the mean of AveragedPerceptron counts visits, also of rows without weight."""
    X, y = iris
    weights = np.random.RandomState(0).randint(0, 3, len(y)).astype(float)
    options = {"order": "cyclic", "max_iter": 7} if "order" in make(name).get_params() and name != "LogisticRegression" else {}
    some = make(name, **options).fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    assert (make(name, **options).fit(X, y, weights).decision_function(X) == some.decision_function(X)).all()


@pytest.mark.parametrize("convert", [lambda X: X, np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2], lambda X: X.astype(np.longdouble)])
@pytest.mark.parametrize("least", [0, 1 << 30])
def test_too_large(cancer, convert, least, monkeypatch):
    monkeypatch.setattr(_pages, "LEAST", least)
    X, y = cancer
    X = X.copy()
    X[17, 2] = 1e39
    sentence = "X has 1e[+]39 in row 17, column 2: features are rounded to float32, whose numbers go up to 3.4e[+]38"
    estimator = halfspace.LogisticRegression().fit(*cancer)
    for call in lambda: halfspace.LogisticRegression().fit(convert(X), y), lambda: estimator.predict(convert(X)), lambda: halfspace.train(convert(X), y):
        with pytest.raises(HalfspaceError, match=sentence if np.lib.NumpyVersion(np.__version__) >= "1.24.0" else ""):
            call()


@pytest.mark.parametrize("name", halfspace.ESTIMATORS)
def test_documentation(name):
    """The documentation has each option once, with its default, then the attributes."""
    text = inspect.getdoc(getattr(halfspace, name))
    before, parameters, attributes = re.split(r"\n(?:Parameters|Attributes)\n-+\n", text)
    documented = re.findall(r"(?m)^(\w+) : .*?(?:, default (.*)|, optional)?$", parameters)
    signature = inspect.signature(getattr(halfspace, name)).parameters
    assert sorted(option for option, _ in documented) == sorted(signature)
    for option, default in documented:
        assert repr(signature[option].default) == (default or "None").replace('"', "'")
    assert "coef_ : " in attributes and "\n\n\n" not in text
    with pytest.raises(TypeError):
        make(name, no_option=1)


def test_attributes(cancer):
    estimator = halfspace.LogisticRegression().fit(*cancer)
    document = json.loads(estimator.model_)
    assert estimator.n_iter_ == document["training"]["epochs"] and estimator.n_features_in_ == 30
    assert estimator.objective_ == document["training"]["optimum"]["objective"]
    kernel = halfspace.KernelPerceptron(kernel="rbf").fit(*cancer)
    assert not hasattr(kernel, "coef_") and kernel.score(*cancer) > 0.9
    assert not hasattr(halfspace.AdaGrad(loss="hinge"), "predict_proba")


def test_without_scikit_learn():
    program = """
import sys
sys.modules["sklearn"] = sys.modules["scipy"] = sys.modules["pandas"] = None
import numpy as np, halfspace, pickle
X = np.random.RandomState(0).normal(size=(200, 3)); y = (X[:, 0] > 0).astype(int)
for name in halfspace.ESTIMATORS:
    e = getattr(halfspace, name)()
    assert repr(e) == name + "()", repr(e)
    e = pickle.loads(pickle.dumps(e.set_params(random_state=3).fit(X, y)))
    assert e.score(X, y) > 0.9 and e.get_params()["random_state"] == 3, name
for call in lambda: e.predict(X[:, :2]), lambda: e.predict(X[0]), lambda: e.fit(X, y[1:]), lambda: e.fit(X * np.nan, y), lambda: halfspace.LDA().predict(X):
    try: call()
    except ValueError as error: print(error)
    else: raise SystemExit("no error")
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5


LAYOUTS = [lambda X: X, np.asfortranarray, lambda X: X[::2], lambda X: X[:, ::-1], lambda X: X.astype(">f4"), lambda X: X.astype(np.float64),
           lambda X: np.asfortranarray(X, np.float64), lambda X: X.astype(np.float16), lambda X: (100 * X).astype(np.int16), lambda X: (100 * X).astype(np.int64)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(monkeypatch, layout):
    """Neither the layout of an array nor the kind of file changes a model."""
    rng = np.random.RandomState(0)
    X = layout(rng.normal(size=(50000, 25)).astype(np.float32))
    y, weights = np.where(X[:, 1] > X[:, 2], "up", "down"), rng.randint(0, 3, len(X))

    def fit(X):
        estimator = halfspace.Perceptron(max_iter=2).fit(X, y, weights)
        return estimator.model_, estimator.decision_function(X).tolist()
    model = fit(X)
    assert fit(np.array(X, np.float32, order="C")) == model
    monkeypatch.setattr(_pages, "LEAST", 1 << 60)
    assert fit(X) == model
    if sys.platform == "linux":
        monkeypatch.setattr(os, "memfd_create", refuse, raising=False)
        assert fit(X) == model
    monkeypatch.setattr(_estimator, "Files", _command.Folder)
    assert fit(X) == model


def refuse(*_):
    raise OSError(errno.ENOSYS, "not here")


SHAPES = [(), (0,), (1,), (1234567,), (0, 3), (3, 0), (1, 300000), (300000, 1), (700000, 3), (3, 700000), (2000, 300)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("huge", [True, False])
def test_arrays_in_files(monkeypatch, shape, huge):
    """The file of an array has the array's numbers; the file of a contiguous array of the same type has the bytes of numpy.save."""
    monkeypatch.setattr(_rows, "PANEL", 100003)  # several threads write to a page
    if not huge:
        monkeypatch.setattr(_pages, "LEAST", 1 << 60)
    values = np.random.RandomState(0).randint(-99, 99, size=shape)
    for original in values, values.astype("U3"), np.asfortranarray(values), values[::-1] if shape else values, values.T, values[..., ::2] if shape else values:
        for dtype in original.dtype, *([np.dtype(np.float32), np.dtype(">i2")] if original.dtype.kind == "i" else []):
            with _command.Files() as files:
                written = Path(_rows._array(files, "X.npy", original, dtype)).read_bytes()
            loaded = np.load(io.BytesIO(written))
            assert loaded.dtype == dtype and loaded.shape == original.shape and (loaded == original).all()
            if original.dtype == dtype and (original.flags.c_contiguous or original.flags.f_contiguous):
                saved = io.BytesIO()
                np.save(saved, original)
                assert saved.getvalue() == written


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files in memory")
@pytest.mark.parametrize("requests", [0, 1, 3])
def test_no_huge_page_left(monkeypatch, requests):
    """The system may give a file no huge pages, or only some."""
    made, collapse = [], _pages.HugePages._collapse

    def limited(self, *pages):
        if len(made) >= requests:
            refuse()
        made.append(pages)
        collapse(self, *pages)
    monkeypatch.setattr(_pages.HugePages, "_collapse", limited)
    X = np.random.RandomState(0).normal(size=(400000, 25)).astype(np.float32)
    with _command.Files() as files:
        assert (np.load(_rows._array(files, "X.npy", X, X.dtype)) == X).all()


def test_mapped_array(tmp_path):
    X = np.random.RandomState(0).normal(size=(20000, 9)).astype(np.float32)
    y = X[:, 0] > 0
    np.save(tmp_path / "X.npy", X)
    assert halfspace.LDA().fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y).model_ == halfspace.LDA().fit(X, y).model_


@pytest.mark.parametrize("name", halfspace.ESTIMATORS)
@pytest.mark.parametrize("rows, dtype", [(100, np.float32), (5000, np.float32), (5000, np.float64)])
@pytest.mark.parametrize("value, text", [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_no_finite_number(name, rows, dtype, value, text):
    X = np.random.RandomState(0).normal(size=(rows, 20)).astype(dtype)
    y = np.arange(rows) % 2
    X[rows - 1, 19] = value
    estimator = make(name)
    with pytest.raises(ValueError, match=f"Input X contains .*{text}"):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


@pytest.mark.parametrize("y", [
    np.zeros(5, bool), np.arange(600) % 2 == 1, np.arange(600) % 7, np.arange(600), np.r_[np.zeros(500, int), 5], np.r_[np.zeros(500, np.int8), -128, 127],
    np.array([2**63], np.uint64), np.array([-2**63, 2**63 - 1] * 300), np.array(["a", "b"] * 300), np.array([1.5, -0.5])])
def test_distinct(y):
    found, expected = _estimator.distinct(y), np.unique(y)
    assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
