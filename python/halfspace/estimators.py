"""Classifiers in the manner of scikit-learn, trained by the command halfspace."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ._command import HalfspaceError
from ._estimator import Incremental, Linear, Online, Probabilities
from ._rows import text

PARAMETERS = "Parameters\n----------\n"
ATTRIBUTES = """
Attributes
----------
classes_ : array, shape (classes,)
    Labels in ascending order.
coef_ : array of float64, shape (1, features) for two classes, else (classes, features)
    Weights of the features.
intercept_ : array of float64, shape (1,) or (classes,)
    Biases.
n_iter_ : int
    Passes over the rows.
n_features_in_ : int
feature_names_in_ : array of str
    Names of the features, if X was a DataFrame whose columns have texts as names.
objective_ : float or None
    Objective at the weights; None for learners without.
duality_gap_ : float or None
    Bound on the difference between `objective_` and the optimum; None for learners without.
model_ : str
    Text of the model file, the bytes that the command writes for the same rows and options.
"""

if TYPE_CHECKING:
    from dataclasses import dataclass as _estimator  # editors know the options of a dataclass
else:
    def _estimator(cls):
        """Make `__init__` of the fields of a class and its bases, and join the documentation of their parameters."""
        cls = dataclass(eq=False, repr=False, **({"kw_only": True} if sys.version_info >= (3, 10) else {}))(cls)
        text, _, own = inspect.cleandoc(cls.__doc__).partition(PARAMETERS)
        cls._parameters = own.rstrip()
        if not cls.__name__.startswith("_"):
            parameters = [vars(base)["_parameters"] for base in cls.__mro__ if "_parameters" in vars(base)]
            cls.__doc__ = text + PARAMETERS + "\n".join(filter(None, parameters)) + "\n" + ATTRIBUTES
        return cls


@_estimator
class _Options(Linear):
    """Options of every estimator.

    Parameters
    ----------
    fit_intercept : bool, default True
        Learn a bias. It is not penalised.
    random_state : int or numpy.random.RandomState, optional
        Seed of all random choices. None is the seed 1, so that every training can be repeated.
    n_jobs : int, optional
        Number of threads; None and -1 are the number of cores. The model does not depend on it.
    verbose : int, default 0
        Above 0, progress goes to standard error.
    """

    fit_intercept: bool = True
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0


@_estimator
class _Weighted(_Options):
    """Weights of classes.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Factors of the rows' weights by class. "balanced" gives all classes the same sum of weights.
    """

    class_weight: Any = None


@_estimator
class _Online(Online, _Weighted):
    """Options of learners that visit one row after the other.

    Parameters
    ----------
    order : {"cyclic", "shuffle", "fixed-shuffle", "random"}, default "fixed-shuffle"
        Order of the rows in a pass: as they are, a new permutation in each pass, the same permutation in all passes, or
        drawn with replacement. The command takes "cyclic" by default; arrays are often sorted by class.
    max_iter : int, default 100
        Most passes over the rows.
    """

    order: str = "fixed-shuffle"
    max_iter: int = 100


@_estimator
class _Mistakes(_Online):
    """Options of the perceptron and its kin.

    Parameters
    ----------
    eta0 : float, default 1.0
        Learning rate, above 0 and up to 1.
    margin : float, default 0.0
        Update the weights unless y (w·x + b) is above this number.
    max_updates : int, default 0
        Most updates of the weights; 0 is no limit.
    validation : float, optional
        Share of the rows that is held out: the weights with the fewest errors on it are kept.
    early_stop : int, optional
        Stop after this many passes without fewer errors on the rows of `validation`.
    shards : int, default 1
        Number of parts of the rows that learn at the same time. The model depends on it.
    mix : {"uniform", "mistakes"}, optional
        Share of each part in the mix of their weights.
    """

    eta0: float = 1.0
    margin: float = 0.0
    max_updates: int = 0
    validation: float | None = None
    early_stop: int | None = None
    shards: int = 1
    mix: str | None = None


@_estimator
class _Penalized(_Weighted):
    """A learner whose objective is C Σ loss + penalty, in the command's terms Σ loss + penalty / C.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default "l2"
        Penalty on the weights: ‖w‖² / (2 C), ‖w‖₁ / C, or their mix by `l1_ratio`; None for LogisticRegression alone.
    C : float, default 1.0
        Inverse of the penalty's strength, above 0.
    l1_ratio : float, optional
        Share of the l1 penalty, from 0 to 1, with "elasticnet".
    nonnegative : bool, default False
        Keep weights at 0 or more.
    """

    penalty: str | None = "l2"
    C: float = 1.0
    l1_ratio: float | None = None
    nonnegative: bool = False

    _solver = True

    def _option(self, name, value):
        if name == "penalty":
            return self._penalty()
        if name in ("C", "l1_ratio"):
            return []
        return super()._option(name, value)

    def _words(self):
        return dict(super()._words(), l1="1 / C", l2="1 / C")

    def _penalty(self):
        if not isinstance(self.C, Real) or not 0 < self.C < np.inf or 1 / float(self.C) == np.inf:
            raise HalfspaceError(f"C is {self.C!r}: it is a number above 0, and so is 1 / C")
        strength = 1 / float(self.C)
        if self.penalty == "l2":
            return ["--l2", text(strength)]
        if self.penalty == "l1":
            return ["--l1", text(strength)]
        if self.penalty == "elasticnet":
            if not isinstance(self.l1_ratio, Real) or not 0 <= self.l1_ratio <= 1:
                raise HalfspaceError(f"l1_ratio is {self.l1_ratio!r}: with penalty=\"elasticnet\" it is a number from 0 to 1")
            return ["--l1", text(self.l1_ratio * strength), "--l2", text((1 - self.l1_ratio) * strength)]
        if self.penalty in (None, "none"):
            return ["--l2", "0"]
        raise HalfspaceError(f"penalty is {self.penalty!r}: it is \"l2\", \"l1\", \"elasticnet\" or None")


@_estimator
class LogisticRegression(Probabilities, _Penalized):
    """Logistic regression. The objective is proven to be near the optimum: see `duality_gap_`.

    It minimises Σ log(1 + exp(-y (w·x + b))) + ‖w‖² / (2 C) for labels y of -1 and 1, and for more classes the sum of
    -log p of the rows' classes + ‖w‖² / (2 C).

    Parameters
    ----------
    solver : {"auto", "newton", "truncated", "lbfgs", "sgd"}, default "auto"
        How to find the optimum.
    multiclass : {"auto", "ovr", "joint"}, default "auto"
        More than two classes: each versus the rest, or all together. "auto" is "joint".
    max_iter : int, optional
        Most passes over the rows; None depends on the solver.
    order : {"cyclic", "shuffle", "fixed-shuffle", "random"}, optional
        Order of the rows, for the solver "sgd".
    eta0 : float, optional
        Learning rate from 0 to 1, for the solver "sgd".
    shards : int, optional
        Number of parts of the rows that learn at the same time, for the solver "sgd". The model depends on it.
    """

    solver: str = "auto"
    multiclass: str = "auto"
    max_iter: int | None = None
    order: str | None = None
    eta0: float | None = None
    shards: int | None = None

    _algorithm = "logistic"


@_estimator
class LinearSVC(_Penalized):
    """Linear support vector machine. The objective is proven to be near the optimum: see `duality_gap_`.

    It minimises Σ max(0, 1 - y (w·x + b))² + ‖w‖² / (2 C) for labels y of -1 and 1.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}, default "squared_hinge"
        Loss of a row: max(0, 1 - y (w·x + b))², or the same without the square.
    multiclass : {"auto", "ovr", "joint"}, default "auto"
        More than two classes: each versus the rest, or all together. "auto" is "ovr".
    max_iter : int, optional
        Most passes over the rows; None depends on the loss and the number of features.
    """

    loss: str = "squared_hinge"
    multiclass: str = "auto"
    max_iter: int | None = None

    _algorithm = "svm"


@_estimator
class Perceptron(Incremental, _Mistakes):
    """Rosenblatt's perceptron: a wrong row is added to the weights, eta0 times.

    Parameters
    ----------
    l2 : float, default 0.0
        Penalty l2/2 ‖w‖² beside the sum of the losses.
    """

    l2: float = 0.0

    _algorithm = "perceptron"


@_estimator
class AveragedPerceptron(_Mistakes):
    """The mean of the perceptron's weights after every visit of a row (Freund and Schapire 1999).

    Parameters
    ----------
    l2 : float, default 0.0
        Penalty l2/2 ‖w‖² beside the sum of the losses.
    """

    l2: float = 0.0

    _algorithm = "averaged"


@_estimator
class Pocket(_Mistakes):
    """The perceptron's weights with the fewest errors on all rows (Gallant 1990).

    Parameters
    ----------
    pocket : {"exact", "ratchet", "epoch"}, default "exact"
        When to count the errors of new weights on all rows: after every update, after a longer run of right rows than
        the kept weights had, or at the end of each pass.
    """

    pocket: str = "exact"

    _algorithm = "pocket"


@_estimator
class PassiveAggressive(Incremental, _Online):
    """The passive-aggressive algorithms PA-I and PA-II (Crammer et al. 2006).

    An update minimises ½ ‖w' - w‖² + C loss(w'), for the row that the weights w have a loss on.

    Parameters
    ----------
    C : float, default 1.0
        Aggressiveness, above 0: a small C changes the weights less.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        Loss of a row: "hinge" is PA-I, "squared_hinge" PA-II.
    multiclass : {"auto", "ovr", "joint"}, default "auto"
        More than two classes: each versus the rest, or all together. "auto" is "joint".
    shards : int, default 1
        Number of parts of the rows that learn at the same time. The model depends on it.
    mix : {"uniform", "mistakes"}, optional
        Share of each part in the mix of their weights.
    """

    C: float = 1.0
    loss: str = "hinge"
    multiclass: str = "auto"
    shards: int = 1
    mix: str | None = None

    _algorithm = "passive-aggressive"


@_estimator
class FTRL(Probabilities, Incremental, _Online):
    """FTRL-Proximal: logistic regression online, with a learning rate for each feature (McMahan et al. 2013).

    Parameters
    ----------
    alpha : float, default 0.1
        Factor of the learning rates: alpha / (beta + √(sum of the feature's squared gradients)).
    beta : float, default 1.0
        Number that keeps the first learning rates small, above 0.
    l1 : float, default 0.0
        Penalty l1 ‖w‖₁ beside the sum of the losses of all visits: it makes weights 0.
    l2 : float, default 0.0
        Penalty l2/2 ‖w‖² beside the sum of the losses of all visits.
    """

    alpha: float = 0.1
    beta: float = 1.0
    l1: float = 0.0
    l2: float = 0.0

    _algorithm = "ftrl"


@_estimator
class AdaGrad(Probabilities, Incremental, _Online):
    """Log loss or hinge loss online, with a learning rate for each feature (Duchi et al. 2011).

    `predict_proba` exists with the loss "logistic".

    Parameters
    ----------
    eta0 : float, default 0.1
        Learning rate, above 0 and up to 1.
    loss : {"logistic", "hinge"}, default "logistic"
        Loss of a row: log(1 + exp(-y (w·x + b))), or max(0, 1 - y (w·x + b)).
    shards : int, default 1
        Number of parts of the rows that learn at the same time. The model depends on it.
    """

    eta0: float = 0.1
    loss: str = "logistic"
    shards: int = 1

    _algorithm = "adagrad"

    @property
    def predict_proba(self):
        """Probabilities of the classes, with the loss "logistic"."""
        if self.loss != "logistic":
            raise AttributeError(f"AdaGrad with the loss {self.loss!r} has no probabilities: use the loss \"logistic\"")
        return super().predict_proba

    @property
    def predict_log_proba(self):
        """Logarithms of the probabilities, with the loss "logistic"."""
        self.predict_proba
        return super().predict_log_proba


@_estimator
class Winnow(_Options):
    """Winnow, whose updates multiply the weights of features that are 0 or 1 (Littlestone 1988).

    Rows and classes have no weights.

    Parameters
    ----------
    winnow : {"balanced", "winnow2", "winnow1"}, default "balanced"
        "balanced" has weights of either sign. The others have positive weights alone, and differ in how they lower the
        weights of a row that is wrongly positive: divide them, or set them to zero. The command takes "winnow2" by default.
    alpha : float, optional
        Factor of an update, above 1; None is 2 for "winnow1", else 1.5.
    threshold : float, optional
        Score above which a row is positive; None is half the number of features, or of literals.
    literals : bool, default False
        Learn a weight for each feature x and a weight for not x.
    max_iter : int, default 100
        Most passes over the rows.
    max_updates : int, default 0
        Most updates of the weights; 0 is no limit.
    binarize : float or None, default 0.0
        Features above this number are 1, others 0. None takes features as they are: all are 0 or 1.
    """

    winnow: str = "balanced"
    alpha: float | None = None
    threshold: float | None = None
    literals: bool = False
    max_iter: int = 100
    max_updates: int = 0
    binarize: float | None = 0.0

    _algorithm = "winnow"

    def fit(self, X, y):
        """Train on rows. See the other estimators; rows and classes have no weights.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix, shape (rows, features)
        y : array, shape (rows,)
        """
        return super().fit(X, y)

    def _more_tags(self):
        return {"poor_score": True}  # as for BernoulliNB: a feature that is cut at 0 says little

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _finds(self, X):
        return self.binarize is None and super()._finds(X)

    def _features(self, X):
        if self.binarize is None:
            return X
        if not isinstance(self.binarize, Real):
            raise HalfspaceError(f"binarize is {self.binarize!r}: it is a number or None")
        if hasattr(X, "tocsr"):
            if self.binarize < 0:
                raise HalfspaceError(f"binarize is {self.binarize}: with a sparse matrix it is 0 or more, so that zeros stay 0")
            return (X > self.binarize).tocsr()
        return np.asarray(X) > self.binarize

    def _option(self, name, value):
        return [] if name == "binarize" else super()._option(name, value)


@_estimator
class LDA(Probabilities, _Weighted):
    """Fisher's linear discriminant analysis, for classes that are nearly normal with one covariance.

    Parameters
    ----------
    shrinkage : float or "auto", optional
        Share of a multiple of the identity in the covariance, from 0 to 1. "auto" estimates it (Ledoit and Wolf).
    solver : {"auto", "cholesky", "eigen"}, default "auto"
        What to compute: the weights, or also the directions in which the classes differ most.
    """

    shrinkage: Any = None
    solver: str = "auto"

    _algorithm = "lda"


@_estimator
class KernelPerceptron(_Online):
    """The perceptron in the space of a kernel, for up to some 10,000 rows.

    `coef_` and `intercept_` exist with the kernel "linear".

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf"}, default "linear"
        x·z, (gamma x·z + coef0)^degree, or exp(-gamma ‖x - z‖²).
    degree : int, default 3
        Exponent of the kernel "poly".
    gamma : float, optional
        Factor of the kernels "poly" and "rbf"; None is 1 / features.
    coef0 : float, default 0.0
        Constant of the kernel "poly".
    form : {"last", "averaged", "voted"}, default "last"
        Weights to keep: the last ones, the mean after every visit, or all, with a vote for each visit.
    eta0 : float, default 1.0
        Learning rate, above 0 and up to 1.
    max_updates : int, default 0
        Most updates of the weights; 0 is no limit.
    """

    kernel: str = "linear"
    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0
    form: str = "last"
    eta0: float = 1.0
    max_updates: int = 0

    _algorithm = "kernel-perceptron"

    def _option(self, name, value):
        return [] if name in ("degree", "coef0") and self.kernel != "poly" else super()._option(name, value)

    def _keep_weights(self, model):
        self._weights = None
        if "voters" not in model and (model["weights"] or "sparse_weights" in model):
            super()._keep_weights(model)
