"""Classifiers in the manner of scikit-learn, trained by the command halfspace."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Callable, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._command import Files, HalfspaceError, HalfspaceWarning, run, warn
from ._compat import check_fitted, check_rows
from ._estimator import Incremental, Linear, Online, Probabilities, Rule
from ._rows import quoted, send, text
from ._tables import tabled

def _one_of(*values):
    """Return a function that tells whether a value is one of some values; True is no 1."""
    return lambda value: any(value is one or type(value) is type(one) and value == one for one in values)


def _is_above_0(value):
    return isinstance(value, Real) and not isinstance(value, bool) and value > 0


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

# EXAMPLE follows the attributes of each estimator.
EXAMPLE = """
Examples
--------
>>> import numpy as np, halfspace
>>> X = np.random.default_rng(0).normal(size=(100, 2))
>>> estimator = halfspace.{name}().fit(X, np.where(X[:, 0] > 0, "right", "left"))
>>> print(estimator.predict([[3, 1], [-3, 1]]))
['right' 'left']
"""

if TYPE_CHECKING:
    from typing_extensions import Self

    from dataclasses import dataclass as _estimator  # editors know the options of a dataclass
else:
    def _estimator(cls):
        """Make `__init__` of the fields of a class and its bases, and join the documentation of their parameters."""
        cls = dataclass(eq=False, repr=False, **({"kw_only": True} if sys.version_info >= (3, 10) else {}))(cls)
        text, _, own = inspect.cleandoc(cls.__doc__).partition(PARAMETERS)
        cls._parameters = own.rstrip()
        if not cls.__name__.startswith("_"):
            parameters = [vars(base)["_parameters"] for base in cls.__mro__ if "_parameters" in vars(base)]
            cls.__doc__ = text + PARAMETERS + "\n".join(filter(None, parameters)) + "\n" + ATTRIBUTES + EXAMPLE.format(name=cls.__name__)
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
    penalty : {"auto", "l2", "l1", "elasticnet", None}, default "auto"
        Penalty on the weights: ‖w‖² / (2 C), ‖w‖₁ / C, or their mix by `l1_ratio`; None for LogisticRegression alone.
        "auto" leaves the choice to `l1_ratio` and `C`, as scikit-learn does since version 1.8.
    C : float, default 1.0
        Inverse of the penalty's strength, above 0. Infinity is no penalty, for LogisticRegression alone.
    l1_ratio : float, default 0.0
        Share of the l1 penalty, from 0 to 1.
    nonnegative : bool, default False
        Keep weights at 0 or more.
    tol : float, default 0.0001
        The training stops when the duality gap proves that the objective is within 10⁻⁶ of the optimum, relative to the
        objective. If `tol` is less and the proof is not as good, `fit` warns.
    intercept_scaling : float, default 1
        1 alone is taken: the bias is not penalised.
    """

    penalty: str | None = "auto"
    C: float = 1.0
    l1_ratio: float | None = 0.0
    nonnegative: bool = False
    tol: float = 1e-4
    intercept_scaling: float = 1

    _solver = True
    _joins: ClassVar[bool]  # several classes are learned together where they can be
    _MULTI_CLASS: ClassVar[dict[str, str]]  # values of multiclass by scikit-learn's names
    _rules = {
        "tol": Rule(lambda tol: tol is None or _is_above_0(tol), "it is a number above 0; halfspace stops by the duality gap"),
        "intercept_scaling": Rule(lambda value: isinstance(value, Real) and value == 1, "the bias is not penalised, whatever its scale"),
    }

    def _option(self, name, value):
        if name == "penalty":
            return self._penalty()
        if name in ("C", "l1_ratio", "multi_class"):
            return []
        if name == "multiclass":
            return super()._option(name, self._multiclass())
        return super()._option(name, value)

    def _words(self):
        return dict(super()._words(), l1="1 / C", l2="1 / C")

    def _penalty(self):
        if not isinstance(self.C, Real) or not self.C > 0 or 1 / float(self.C) == np.inf:
            raise HalfspaceError(f"C is {self.C!r}: it is a number above 0, and so is 1 / C")
        ratio = self._l1_ratio()
        if self.penalty in (None, "none") and self.C != 1:
            warn(f"penalty=None takes no C and no l1_ratio, and C is {self.C!r}", HalfspaceWarning)
        strength = 0.0 if self.C == np.inf or self.penalty in (None, "none") else 1 / float(self.C)
        if ratio == 0 or strength == 0:
            return ["--l2", text(strength)]
        if ratio == 1:
            return ["--l1", text(strength)]
        return ["--l1", text(ratio * strength), "--l2", text((1 - ratio) * strength)]

    def _l1_ratio(self):
        """Return the share of the l1 penalty."""
        ratio = 0.0 if self.l1_ratio is None else self.l1_ratio
        if not isinstance(ratio, Real) or not 0 <= ratio <= 1:
            raise HalfspaceError(f"l1_ratio is {self.l1_ratio!r}: it is a number from 0 to 1")
        if self.penalty in ("auto", "deprecated"):
            return ratio
        if self.penalty == "elasticnet":
            if self.l1_ratio is None:
                raise HalfspaceError("l1_ratio is None: with penalty=\"elasticnet\" it is a number from 0 to 1")
            return ratio
        if self.penalty not in ("l2", "l1", None, "none"):
            raise HalfspaceError(f"penalty is {self.penalty!r}: it is \"auto\", \"l2\", \"l1\", \"elasticnet\" or None")
        share = 1 if self.penalty == "l1" else 0
        if ratio not in (0, share):
            raise HalfspaceError(f"penalty is {self.penalty!r} and l1_ratio is {self.l1_ratio!r}: leave one of them out")
        return share

    def _multiclass(self):
        """Return how more than two classes are learned. An option of either name may have it."""
        names = {None: "auto", **self._MULTI_CLASS}
        if self.multi_class not in names:
            raise HalfspaceError(f"multi_class is {self.multi_class!r}: it is {', '.join(repr(name) for name in self._MULTI_CLASS if name != 'deprecated')} or None")
        if self.multiclass != "auto" and names[self.multi_class] not in ("auto", self.multiclass):
            raise HalfspaceError(f"multiclass is {self.multiclass!r} and multi_class is {self.multi_class!r}: leave one of them out")
        chosen = self.multiclass if self.multiclass != "auto" else names[self.multi_class]
        if chosen == "auto" and len(self.classes_) > 2 and self._joins and (self.nonnegative or self._l1_ratio() > 0):
            warn(f"{type(self).__name__} with {'nonnegative' if self.nonnegative else 'an l1 penalty'} learns each of the {len(self.classes_)} classes "
                 "versus the rest: set multiclass=\"ovr\" to say so", HalfspaceWarning)
            return "ovr"
        return chosen


@_estimator
class LogisticRegression(Probabilities, _Penalized):
    """Logistic regression. The objective is proven to be near the optimum: see `duality_gap_`.

    It minimises Σ log(1 + exp(-y (w·x + b))) + penalty / C for labels y of -1 and 1, and for more classes the sum of
    -log p of the rows' classes + penalty / C. With an l1 penalty or `nonnegative`, each of several classes is learned
    versus the rest.

    Parameters
    ----------
    solver : {"auto", "newton", "truncated", "lbfgs", "sgd"}, default "auto"
        How to find the optimum. scikit-learn's other solvers ("liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
        are "auto": the optimum is the same, with a bias that is not penalised.
    multiclass : {"auto", "ovr", "joint"}, default "auto"
        More than two classes: each versus the rest, or all together. "auto" is "joint", and "ovr" with an l1 penalty or
        `nonnegative`.
    multi_class : {"auto", "ovr", "multinomial"}, optional
        scikit-learn's name of `multiclass`.
    max_iter : int, optional
        Most passes over the rows; None depends on the solver.
    order : {"cyclic", "shuffle", "fixed-shuffle", "random"}, optional
        Order of the rows, for the solver "sgd".
    eta0 : float, optional
        Learning rate from 0 to 1, for the solver "sgd".
    shards : int, optional
        Number of parts of the rows that learn at the same time, for the solver "sgd". The model depends on it.
    dual : bool, default False
        Has no effect: the optimum of both problems is the same.
    warm_start : bool, default False
        Has no effect: the optimum does not depend on where the search begins.
    """

    solver: str = "auto"
    multiclass: str = "auto"
    multi_class: str | None = None
    max_iter: int | None = None
    order: str | None = None
    eta0: float | None = None
    shards: int | None = None
    dual: bool = False
    warm_start: bool = False

    _algorithm = "logistic"
    _joins = True
    _MULTI_CLASS = {"auto": "auto", "ovr": "ovr", "multinomial": "joint", "deprecated": "auto"}
    _rules = {"dual": Rule(_one_of(True, False), "it is True or False"), "warm_start": Rule(_one_of(True, False), "it is True or False")}

    def _keep(self, text):
        super()._keep(text)
        self.n_iter_: Any = np.array([self.n_iter_], np.int32)  # an array, as scikit-learn has it

    def _option(self, name, value):
        if name == "solver":
            if value in ("liblinear", "newton-cg", "newton-cholesky", "sag", "saga"):
                value = "auto"
            if value not in ("auto", "newton", "truncated", "lbfgs", "sgd"):
                raise HalfspaceError(f"solver is {value!r}: it is \"auto\", \"newton\", \"truncated\", \"lbfgs\" or \"sgd\", or a name of scikit-learn's")
            if value == "lbfgs" and (self._l1_ratio() > 0 or self.nonnegative):
                raise HalfspaceError("solver is 'lbfgs', which takes neither an l1 penalty nor nonnegative: use \"auto\"")
        return super()._option(name, value)


@_estimator
class LinearSVC(_Penalized):
    """Linear support vector machine. The objective is proven to be near the optimum: see `duality_gap_`.

    It minimises Σ max(0, 1 - y (w·x + b))² + penalty / C for labels y of -1 and 1.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}, default "squared_hinge"
        Loss of a row: max(0, 1 - y (w·x + b))², or the same without the square.
    multiclass : {"auto", "ovr", "joint"}, default "auto"
        More than two classes: each versus the rest, or all together. "auto" is "ovr".
    multi_class : {"ovr", "crammer_singer"}, optional
        scikit-learn's name of `multiclass`. "crammer_singer" takes the loss "hinge", as in scikit-learn.
    max_iter : int, optional
        Most passes over the rows; None depends on the loss and the number of features.
    dual : {"auto", True, False}, default "auto"
        Has no effect: the optimum of both problems is the same.
    """

    loss: str = "squared_hinge"
    multiclass: str = "auto"
    multi_class: str | None = None
    max_iter: int | None = None
    dual: Any = "auto"

    _algorithm = "svm"
    _choices = {"loss": ("squared_hinge", "hinge")}
    _joins = False
    _MULTI_CLASS = {"ovr": "ovr", "crammer_singer": "joint"}
    _rules = {"dual": Rule(_one_of(True, False, "auto", "warn"), "it is \"auto\", True or False")}

    def _option(self, name, value):
        if name == "loss":
            value = "hinge" if self.multi_class == "crammer_singer" else value
            if value == "hinge" and (self._l1_ratio() > 0 or self.nonnegative):
                raise HalfspaceError(f"loss is 'hinge', which takes neither an l1 penalty nor nonnegative: use \"squared_hinge\"")
        return super()._option(name, value)


@_estimator
class _Stochastic(_Online):
    """Options that scikit-learn has for its online learners.

    Parameters
    ----------
    shuffle : bool, default True
        False takes the rows in their order, as `order="cyclic"` does.
    tol : float, optional
        None and 0.001, scikit-learn's default, are taken, and have no effect: the training stops when a pass makes no
        update, or after `max_iter` passes.
    early_stopping : bool, default False
        Hold rows out, keep the weights with the fewest errors on them, and stop when the errors no longer fall.
    validation_fraction : float, default 0.1
        Share of the rows that is held out with `early_stopping`.
    n_iter_no_change : int, default 5
        Passes without fewer errors after which `early_stopping` stops.
    warm_start : bool, default False
        Let `fit` begin with the weights of the last fit.
    """

    shuffle: bool = True
    tol: float | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    warm_start: bool = False

    _rules = {"tol": Rule(_one_of(None, 1e-3), "halfspace stops when a pass makes no update, or after max_iter passes")}

    def _option(self, name, value):
        if name == "order":
            if not self.shuffle and value not in ("fixed-shuffle", "cyclic"):
                raise HalfspaceError(f"order is {value!r} and shuffle is False: leave one of them out")
            return super()._option(name, value if self.shuffle else "cyclic")
        if name == "early_stopping":
            return self._early_stopping() if value else []
        if name in ("shuffle", "validation_fraction", "n_iter_no_change", "warm_start"):
            return []
        return super()._option(name, value)

    def _early_stopping(self):
        return ["--validation", text(self.validation_fraction), "--early-stop", text(self.n_iter_no_change)]

    def _start(self, files, before):
        if not self.warm_start or before is None:
            return []
        return ["--init", files.input("init", lambda file: file.write(before.encode()))]


@_estimator
class Perceptron(Incremental, _Stochastic, _Mistakes):
    """Rosenblatt's perceptron: a wrong row is added to the weights, eta0 times.

    Parameters
    ----------
    l2 : float, default 0.0
        Penalty l2/2 ‖w‖² beside the sum of the losses.
    penalty : {"l2", None}, optional
        scikit-learn's name of a penalty: "l2" is `l2` of alpha × rows.
    alpha : float, default 0.0001
        Strength of `penalty`.
    l1_ratio : float, default 0.15
        Has no effect, since `penalty` is no "elasticnet".
    """

    l2: float = 0.0
    penalty: str | None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15

    _algorithm = "perceptron"
    _rules = {"l1_ratio": Rule(lambda value: isinstance(value, Real), "it is a number"),
              "penalty": Rule(_one_of(None, "l2"), "perceptrons learn without an l1 penalty")}

    def _option(self, name, value):
        if name == "alpha":
            return []
        if name == "l2" and self.penalty == "l2":
            if value != 0:
                raise HalfspaceError(f"penalty is 'l2' and l2 is {value!r}: leave one of them out")
            if not isinstance(self.alpha, Real) or self.alpha < 0:
                raise HalfspaceError(f"alpha is {self.alpha!r}: it is a number of 0 or more")
            value = self.alpha * self._rows_seen
        if name in ("validation", "early_stop") and self.early_stopping:
            if value is not None:
                raise HalfspaceError(f"{name} is {value!r} and early_stopping is True: leave one of them out")
        return super()._option(name, value)


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
class PassiveAggressive(Incremental, _Stochastic):
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
    average : bool or int, default False
        False alone is taken.
    """

    C: float = 1.0
    loss: str = "hinge"
    multiclass: str = "auto"
    shards: int = 1
    mix: str | None = None
    average: Any = False

    _algorithm = "passive-aggressive"
    _choices = {"loss": ("hinge", "squared_hinge")}
    _rules = {"average": Rule(_one_of(False), "the passive-aggressive weights are the last ones; AveragedPerceptron takes their mean"),
              "early_stopping": Rule(_one_of(False), "passive-aggressive training holds no rows out")}


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
    _choices = {"loss": ("logistic", "hinge")}

    @property
    def predict_proba(self) -> Callable[..., NDArray[Any]]:
        """Probabilities of the classes, with the loss "logistic"."""
        if self.loss != "logistic":
            raise AttributeError(f"AdaGrad with the loss {self.loss!r} has no probabilities: use the loss \"logistic\"")
        return super().predict_proba

    @property
    def predict_log_proba(self) -> Callable[..., NDArray[Any]]:
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

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Train on rows. See the other estimators; rows and classes have no weights.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix, shape (rows, features)
        y : array, shape (rows,)
        """
        return super().fit(X, y)

    def _more_tags(self):
        return {"poor_score": True}  # as for BernoulliNB: a feature that is cut at 0 says little

    def __sklearn_tags__(self) -> Any:
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

    `transform`, `scalings_` and `explained_variance_ratio_` exist with the solvers "eigen" and "svd", and with `n_components`. `means_`, `priors_` and `covariance_`
    exist with `store_covariance`.

    Parameters
    ----------
    shrinkage : float or "auto", optional
        Share of a multiple of the identity in the covariance, from 0 to 1. "auto" estimates it (Ledoit and Wolf).
    solver : {"auto", "cholesky", "eigen"}, default "auto"
        What to compute: the weights, or also the directions in which the classes differ most. scikit-learn's "lsqr" is
        "cholesky", and its "svd" is "eigen".
    priors : array, shape (classes,), optional
        Probabilities of the classes, in ascending order of the labels. None takes the shares of the rows.
    n_components : int, optional
        Number of directions for `transform`; None is all, classes - 1 or fewer.
    store_covariance : bool, default False
        Compute `means_`, `priors_` and `covariance_` too, in another pass over the rows.
    tol : float, default 0.0001
        0.0001 alone is taken: no singular value is cut off; `shrinkage` is for features that depend on each other.
    covariance_estimator : None, optional
        None alone is taken.
    """

    shrinkage: Any = None
    solver: str = "auto"
    priors: Any = None
    n_components: int | None = None
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: Any = None

    _algorithm = "lda"
    _rules = {"tol": Rule(lambda value: value == 1e-4, "no singular value is cut off, shrinkage is for features that depend on each other"),
              "covariance_estimator": Rule(_one_of(None), "halfspace computes the covariance in one pass, with shrinkage or without")}

    def _option(self, name, value):
        if name == "solver":
            solver = {"svd": "eigen", "lsqr": "cholesky"}.get(value, value)
            if solver not in ("auto", "cholesky", "eigen"):
                raise HalfspaceError(f"solver is {value!r}: it is \"auto\", \"cholesky\" or \"eigen\", or \"lsqr\" or \"svd\" as in scikit-learn")
            if value == "svd" and self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            return super()._option(name, "eigen" if self._has_directions() else solver)
        return [] if name in ("priors", "n_components", "store_covariance") else super()._option(name, value)

    def _has_directions(self):
        return self.solver in ("eigen", "svd") or self.n_components is not None

    def _keep(self, text):
        super()._keep(text)
        projection = json.loads(text).get("projection")
        if projection:
            self.scalings_: NDArray[Any] = np.array(projection["directions"]).T
            self.explained_variance_ratio_: NDArray[Any] = np.array(projection["explained"])[:self.n_components]

    def _summarize(self, X, y, weights):
        super()._summarize(X, y, weights)
        if X.shape[0] <= len(self.classes_):
            raise HalfspaceError("The number of samples must be more than the number of classes: "
                                 f"X has {X.shape[0]} rows, and y has {len(self.classes_)} classes")
        most = min(len(self.classes_) - 1, X.shape[1])
        if self.n_components is not None and not (isinstance(self.n_components, (int, np.integer)) and 1 <= self.n_components <= most):
            raise HalfspaceError(f"n_components is {self.n_components!r}: it is from 1 to {most}, since n_components cannot be larger than "
                                 f"min(n_features, n_classes - 1)")
        if self.priors is None and not self.store_covariance:
            return
        at = np.searchsorted(self.classes_, y)
        sums = np.bincount(at, weights, minlength=len(self.classes_))
        self._shares = sums / sums.sum()
        self.priors_: NDArray[Any] = self._shares if self.priors is None else self._given_priors()
        if self.store_covariance:
            self._store_covariance(X.toarray() if hasattr(X, "tocsr") else np.asarray(X, np.float64), at, weights)

    def _given_priors(self):
        priors = np.asarray(self.priors, np.float64)
        if priors.shape != (len(self.classes_),) or not (priors >= 0).all() or not priors.sum() > 0:
            raise HalfspaceError(f"priors must be non-negative, one for each of the {len(self.classes_)} classes, and one above 0")
        if abs(priors.sum() - 1) > 1e-5:
            warn("The priors do not sum to 1. Renormalizing", UserWarning)
        return priors / priors.sum()

    def _store_covariance(self, X, at, weights):
        rows = np.ones(len(X)) if weights is None else weights
        members = (np.arange(len(self.classes_))[:, None] == at) * rows
        self.means_: NDArray[Any] = members @ X / members.sum(axis=1, keepdims=True)
        off = X - self.means_[at]
        self.covariance_: NDArray[Any] = off.T @ (off * (rows * (self.priors_ / members.sum(axis=1))[at])[:, None])
        self.xbar_: NDArray[Any] = self.priors_ @ self.means_

    def _class_weights(self):
        """Return factors of the classes' weights: a prior is the share of a class in the rows' weights."""
        if self.priors is None:
            return super()._class_weights()
        if self.class_weight is not None:
            raise HalfspaceError("priors and class_weight both weigh the classes: leave one of them out")
        factors = (self.priors_ / self._shares).tolist()
        return ",".join(quoted(f"{text(label)}={text(factor)}") for label, factor in zip(self._labels(self.classes_).tolist(), factors))

    @property
    def transform(self) -> Callable[..., NDArray[Any]]:
        """Coordinates of rows along the directions in which the classes differ most, in float32, shape (rows, directions)."""
        if not self._has_directions():
            raise AttributeError(f"LDA with the solver {self.solver!r} has no directions: use the solver \"eigen\"")
        return self._transform

    def _transform(self, X):
        check_fitted(self)
        X = check_rows(self, tabled(X, "X"))
        with Files() as files:
            run(["predict", *send(files, X), "--model", files.input("model.json", lambda file: file.write(self.model_.encode())),
                 "--project", "--out", files.output("directions.npy"), *self._machine()], files, quiet="", words=self._words())
            with files.open("directions.npy") as file:
                return np.load(file, allow_pickle=False).reshape(X.shape[0], -1)[:, :self.n_components]

    @property
    def fit_transform(self) -> Callable[..., NDArray[Any]]:
        """Coordinates of the rows of a fit; see `transform`."""
        self.transform
        return lambda X, y, **weights: self.fit(X, y, **weights).transform(X)


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
