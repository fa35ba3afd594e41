"""Options with scikit-learn's names: each is obeyed, or refused by name with the reason."""

import inspect
import warnings

import numpy as np
import pytest

import halfspace
from halfspace import HalfspaceError, HalfspaceWarning
from halfspace._estimator import RefusedOption

sklearn = pytest.importorskip("sklearn")
from sklearn import datasets, discriminant_analysis, linear_model, svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.preprocessing import StandardScaler

pytestmark = pytest.mark.filterwarnings("ignore::halfspace.HalfspaceWarning")

PEERS = {"LogisticRegression": linear_model.LogisticRegression, "LinearSVC": svm.LinearSVC, "Perceptron": linear_model.Perceptron,
         "PassiveAggressive": linear_model.PassiveAggressiveClassifier, "LDA": discriminant_analysis.LinearDiscriminantAnalysis}


@pytest.fixture(scope="module")
def cancer():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def iris():
    return datasets.load_iris(return_X_y=True)


@pytest.mark.parametrize("name", PEERS)
def test_every_argument(cancer, name):
    """An estimator takes each argument of scikit-learn's, with scikit-learn's default."""
    own, theirs = getattr(halfspace, name), inspect.signature(PEERS[name]).parameters
    for option in set(theirs) - {"kwargs"}:
        default = theirs[option].default
        assert option in inspect.signature(own).parameters
        value = 50 if option == "max_iter" else default
        own(**{option: value}).fit(cancer[0][:, :5], cancer[1])


REFUSED = [
    ("LogisticRegression", "tol", 0, "halfspace stops by the duality gap"), ("LogisticRegression", "intercept_scaling", 2, "the bias is not penalised"),
    ("LogisticRegression", "dual", "no", "it is True or False"), ("LogisticRegression", "warm_start", 3, "it is True or False"),
    ("LinearSVC", "intercept_scaling", 0.5, "the bias is not penalised"), ("LinearSVC", "dual", "no", 'it is "auto", True or False'),
    ("Perceptron", "tol", 1e-5, "halfspace stops when a pass makes no update"), ("Perceptron", "penalty", "l1", "without an l1 penalty"),
    ("PassiveAggressive", "average", True, "AveragedPerceptron takes their mean"), ("PassiveAggressive", "early_stopping", True, "holds no rows out"),
    ("LDA", "tol", 1e-3, "no singular value is cut off"), ("LDA", "covariance_estimator", object(), "in one pass")]


@pytest.mark.parametrize("name, option, value, reason", REFUSED)
def test_refused(cancer, name, option, value, reason):
    with pytest.raises(RefusedOption) as raised:
        getattr(halfspace, name)(**{option: value}).fit(*cancer)
    assert str(raised.value).startswith(f"{option} is {value!r}: ") and reason in str(raised.value) and str(raised.value).endswith(f"leave {option} out")


@pytest.mark.parametrize("name, options, sentence", [
    ("LogisticRegression", {"solver": "eigen"}, 'it is "auto", "newton", "truncated", "lbfgs" or "sgd"'), ("LDA", {"solver": "lbfgs"}, '"auto", "cholesky" or "eigen"'),
    ("LogisticRegression", {"l1_ratio": 2}, "l1_ratio is 2: it is a number from 0 to 1"), ("LogisticRegression", {"penalty": "l2", "l1_ratio": 1}, "leave one of them out"),
    ("LogisticRegression", {"multi_class": "crammer_singer"}, "'auto', 'ovr', 'multinomial' or None"), ("LogisticRegression", {"multi_class": "ovr", "multiclass": "joint"}, "leave one"),
    ("AdaGrad", {"loss": "squared_hinge"}, 'loss is \'squared_hinge\': it is "logistic" or "hinge"'), ("PassiveAggressive", {"loss": "logistic"}, 'it is "hinge" or "squared_hinge"'),
    ("LogisticRegression", {"solver": "lbfgs", "l1_ratio": 1}, "neither an l1 penalty"), ("LinearSVC", {"loss": "log"}, '"squared_hinge" or "hinge"'),
    ("LinearSVC", {"loss": "hinge", "penalty": "l1"}, 'use "squared_hinge"'), ("Perceptron", {"shuffle": False, "order": "random"}, "leave one of them out"),
    ("Perceptron", {"early_stopping": True, "validation": 0.2}, "leave one of them out"), ("Perceptron", {"penalty": "l2", "l2": 1}, "leave one of them out"),
    ("LDA", {"priors": [0.5, 0.5], "class_weight": "balanced"}, "leave one of them out"), ("LDA", {"priors": [1]}, "one for each of the 2 classes"),
    ("LDA", {"n_components": 2}, "n_components is 2: it is from 1 to 1"), ("LDA", {"solver": "svd", "shrinkage": "auto"}, "not supported")])
def test_wrong(cancer, name, options, sentence):
    with pytest.raises((HalfspaceError, NotImplementedError)) as raised:
        getattr(halfspace, name)(**options).fit(*cancer)
    assert sentence in str(raised.value) and "--" not in str(raised.value)


def test_penalties(cancer):
    """l1_ratio and C alone choose the penalty, as in scikit-learn since 1.8."""
    def model(**options):
        return halfspace.LogisticRegression(**options).fit(*cancer).model_
    assert model(C=0.1, l1_ratio=1) == model(C=0.1, penalty="l1") != model(C=0.1)
    assert model(C=0.1, l1_ratio=0.3) == model(C=0.1, l1_ratio=0.3, penalty="elasticnet")
    assert model(l1_ratio=0) == model(l1_ratio=None) == model(penalty="l2") == model()
    X, y = cancer[0][:, :4], cancer[1]
    assert halfspace.LogisticRegression(C=np.inf).fit(X, y).model_ == halfspace.LogisticRegression(penalty=None).fit(X, y).model_
    theirs = linear_model.LogisticRegression(C=1e12, tol=1e-9, max_iter=10000).fit(X, y)
    np.testing.assert_allclose(halfspace.LogisticRegression(C=np.inf).fit(X, y).coef_, theirs.coef_, rtol=1e-3)
    assert halfspace.LinearSVC(C=0.01, l1_ratio=1).fit(*cancer).model_ == halfspace.LinearSVC(C=0.01, penalty="l1").fit(*cancer).model_
    with pytest.warns(HalfspaceWarning, match="penalty=None takes no C"):
        halfspace.LogisticRegression(C=3, penalty=None).fit(X, y)


def test_select_from_model(cancer):
    modern = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)  # looks at l1_ratio
    for options in [{"l1_ratio": 1.0}] * modern + [{"penalty": "l1"}, {}]:
        selected = SelectFromModel(halfspace.LogisticRegression(C=0.05, **options)).fit(*cancer).get_support()
        coef = halfspace.LogisticRegression(C=0.05, **options).fit(*cancer).coef_[0]
        assert (selected == (abs(coef) >= (1e-5 if options else abs(coef).mean()))).all()


def test_several_classes(iris):
    """An l1 penalty with three classes says that each class is learned versus the rest."""
    X, y = iris
    for options in {"l1_ratio": 1}, {"l1_ratio": 0.5}, {"nonnegative": True}:
        with pytest.warns(HalfspaceWarning, match="learns each of the 3 classes versus the rest"):
            said = halfspace.LogisticRegression(**options).fit(X, y)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*versus the rest")
            assert halfspace.LogisticRegression(multiclass="ovr", **options).fit(X, y).model_ == said.model_
            halfspace.LogisticRegression(**options).fit(X[y < 2], y[y < 2])
            halfspace.LogisticRegression().fit(X, y)
    one_versus_rest = halfspace.LogisticRegression(multiclass="ovr").fit(X, y).model_
    assert halfspace.LogisticRegression(multi_class="ovr").fit(X, y).model_ == one_versus_rest != halfspace.LogisticRegression(multi_class="multinomial").fit(X, y).model_
    assert halfspace.LinearSVC(multi_class="crammer_singer").fit(X, y).model_ == halfspace.LinearSVC(multiclass="joint", loss="hinge").fit(X, y).model_


@pytest.mark.parametrize("solver", ["liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "lbfgs"])
def test_solvers_of_scikit_learn(cancer, iris, solver):
    for X, y in cancer, iris:
        expected = halfspace.LogisticRegression().fit(X, y)
        np.testing.assert_allclose(halfspace.LogisticRegression(solver=solver).fit(X, y).objective_, expected.objective_, rtol=2e-6)


def test_tolerance(cancer):
    """A tolerance that the proof does not meet is a warning."""
    X, y = cancer
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for tol in 1, 1e-4, 1e-6, None:
            halfspace.LogisticRegression(tol=tol).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="tol is 1e-300: halfspace stops when the duality gap"):
        halfspace.LinearSVC(tol=1e-300).fit(X, y)


def test_online_options(cancer):
    X, y = cancer

    def model(**options):
        return halfspace.Perceptron(max_iter=5, **options).fit(X, y).model_
    assert model(shuffle=False) == model(order="cyclic") != model()
    assert model(early_stopping=True, validation_fraction=0.2, n_iter_no_change=2) == model(validation=0.2, early_stop=2) != model()
    assert model(penalty="l2", alpha=0.001) == model(l2=0.001 * len(y)) != model()
    assert model(tol=1e-3) == model(tol=None) == model()
    for name in "Perceptron", "PassiveAggressive":
        twice = getattr(halfspace, name)(max_iter=1, shuffle=False, warm_start=True).fit(X, y).fit(X, y)
        batches = getattr(halfspace, name)(shuffle=False).partial_fit(X, y).partial_fit(X, y)
        assert (twice.coef_ == batches.coef_).all()
        assert (twice.coef_ != getattr(halfspace, name)(max_iter=1, shuffle=False).fit(X, y).coef_).any()


@pytest.mark.parametrize("name", ["LogisticRegression", "LinearSVC", "Perceptron", "LDA"])
def test_balanced_weights(name):
    """With weights, "balanced" gives the classes equal sums of weights: a row of weight 2 counts as two rows."""
    random = np.random.RandomState(0)
    X = random.normal(size=(400, 3)).astype(np.float32)
    y = (X[:, 0] + random.normal(size=400) > 0.5).astype(int)
    weights = np.where(y, random.randint(1, 6, 400), 1)
    balanced = getattr(halfspace, name)(class_weight="balanced").fit(X, y, weights)
    by_hand = getattr(halfspace, name)(class_weight={k: weights.sum() / (2 * weights[y == k].sum()) for k in (0, 1)}).fit(X, y, weights)
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-5)
    if name == "LogisticRegression":
        theirs = linear_model.LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=1000).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
        np.testing.assert_allclose(balanced.coef_, theirs.coef_, rtol=1e-3)


def test_class_of_weight_0(iris):
    X, y = iris
    some = halfspace.LogisticRegression(class_weight={0: 0, 1: 1, 2: 2}).fit(X, y)
    weighted = halfspace.LogisticRegression(class_weight={2: 2}).fit(X, y, np.where(y == 0, 0.0, 1.0))
    assert some.model_ == weighted.model_


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_lda(iris, solver):
    """Priors, directions and covariances are scikit-learn's."""
    X, y = iris
    options = {"solver": solver, "store_covariance": True, "priors": [0.5, 0.2, 0.3]}
    ours, theirs = halfspace.LDA(**options).fit(X, y), discriminant_analysis.LinearDiscriminantAnalysis(**options).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
    for attribute in "means_", "priors_", "covariance_":
        np.testing.assert_allclose(getattr(ours, attribute), getattr(theirs, attribute), rtol=1e-6)
    if solver == "eigen":
        ours, theirs = halfspace.LDA(solver=solver).fit(X, y), discriminant_analysis.LinearDiscriminantAnalysis(solver=solver).fit(X, y)
        np.testing.assert_allclose(abs(ours.transform(X)), abs(theirs.transform(X)), rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-4)
        assert halfspace.LDA(n_components=1).fit_transform(X, y).shape == (150, 1)
    else:
        assert not hasattr(ours, "transform")


def test_more_features_than_rows():
    random = np.random.RandomState(100)
    y = np.arange(100) % 2
    X = random.normal(size=(100, 100)) + np.outer(y, random.normal(size=100) * 0.3)
    with pytest.warns(HalfspaceWarning, match="depend on each other within the classes.*shrinkage"):
        halfspace.LDA().fit(X, y)


@pytest.mark.parametrize("name", ["LogisticRegression", "LinearSVC", "Perceptron", "LDA", "FTRL"])
def test_weights_set_by_hand(cancer, iris, name):
    for X, y in cancer, iris:
        estimator = getattr(halfspace, name)().fit(X, y)
        other = np.random.RandomState(0).normal(size=estimator.coef_.shape)
        before = estimator.predict(X)
        estimator.coef_ = other
        estimator.intercept_ = np.full(len(other), 0.25)
        expected = (X @ other.T + 0.25)[:, 0 if len(other) == 1 else slice(None)]
        for rows in X, X[:3]:
            np.testing.assert_allclose(estimator.decision_function(rows), expected[:len(rows)])
        assert (estimator.predict(X) != before).any()
        again = getattr(halfspace, name)().fit(X, y)
        again.coef_[0, 0] += 100
        assert (again.decision_function(X) != getattr(halfspace, name)().fit(X, y).decision_function(X)).any()
        fitted = getattr(halfspace, name)().fit(X, y)
        dense = fitted.decision_function(X)
        np.testing.assert_allclose(fitted.sparsify().decision_function(X), dense, rtol=1e-4, atol=1e-4)
        assert (fitted.densify().decision_function(X) == dense).all()
    blank = getattr(halfspace, name)()
    blank.classes_, blank.coef_, blank.intercept_ = np.array(["a", "b"]), np.array([[1.0, -1.0]]), np.array([0.0])
    assert blank.predict([[2, 1], [1, 2]]).tolist() == ["b", "a"]
