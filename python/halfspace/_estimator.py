"""The base class of the estimators: training, prediction and their checks."""

from __future__ import annotations

import dataclasses
import json
import os
from numbers import Real
from typing import TYPE_CHECKING, Any, Callable, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _rows, _score
from ._command import Files, HalfspaceError, Interrupted, read, run, warn
from ._compat import (BaseEstimator, ClassifierMixin, ConvergenceWarning, check_classification_targets, check_fitted,
                      check_random_state, check_rows, check_weights)
from ._tables import Table, tabled

if TYPE_CHECKING:
    from typing_extensions import Self

# ALL_CLASSES names the options that every estimator has, and that learners do not list.
ALL_CLASSES = {"fit_intercept", "class_weight", "random_state", "n_jobs", "verbose"}
PROVEN = 1e-6  # a solver stops when the duality gap is at most this times the objective
# FLAGS has the names of options that the command calls otherwise.
FLAGS = {"max_iter": "epochs", "eta0": "eta"}


class RefusedOption(HalfspaceError):
    """A value of an option of scikit-learn that halfspace can't obey. The sentence has the reason."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """Values of an option that change nothing here, and why others are refused."""

    accepts: Callable[[Any], bool]
    reason: str


class Linear(ClassifierMixin, BaseEstimator):
    """A classifier that the command trains. Subclasses are dataclasses, whose fields are the options of a learner."""

    _algorithm: str
    classes_: NDArray[Any]
    coef_: Any  # an array, or a sparse matrix after sparsify
    intercept_: NDArray[Any]
    n_iter_: Any  # an int, or an array as scikit-learn has it
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    objective_: float | None
    duality_gap_: float | None
    model_: str
    _choices: ClassVar[dict[str, tuple[str, ...]]] = {}  # values of options of which the learner takes fewer than the command
    _rules: ClassVar[dict[str, Rule]] = {}  # options of scikit-learn that have no counterpart in the command
    _solver = False  # the learner looks for an optimum, so that an end before it is worth a warning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix, shape (rows, features)
            Numbers, rounded to float32. No value is missing.
        y : array, shape (rows,)
            Labels: whole numbers, booleans or texts, of two classes or more.
        sample_weight : array, shape (rows,), optional
            Weights of the rows, 0 or more. A row of weight 2 counts as two rows; online learners make its update twice as large.

        Returns
        -------
        self
            After Ctrl-C, `Interrupted` is raised; the estimator then has the weights so far.
        """
        before = vars(self).pop("model_", None)
        for name in "coef_", "intercept_":  # after an error, no old weights stand beside new classes
            vars(self).pop(name, None)
        X = tabled(X, "X")
        found = self._finds(X)
        X, y = check_rows(self, X, y, reset=True, finite=not found)
        self._name_classes(distinct(y))
        weights = weights_of(sample_weight, X)
        try:
            with Files() as files:
                self._train(files, X, y, weights, self._start(files, before), quiet="random_state has no effect")  # scikit-learn sets it everywhere
        except HalfspaceError:
            if found:
                check_rows(self, X)  # raises scikit-learn's error
            raise
        self._warn()
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row, an array of shape (rows,)."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the rows, in float64: the numbers of `halfspace predict --score`, bit for bit.

        With two classes the shape is (rows,): a score above 0 predicts `classes_[1]`. With more classes the shape is
        (rows, classes): the largest score of a row gives the class.
        """
        check_fitted(self)
        X = self._features(check_rows(self, tabled(X, "X")))
        if self._is_set_by_hand():
            return self._by_hand(X)
        scores = self._few(X)
        return (self._scores(X) if scores is None else scores).astype(np.float64)

    def _few(self, X):
        """Return the scores of a few dense rows without the command, or None."""
        if self._weights is None or hasattr(X, "tocsr") or self._weights.size * len(X) > _score.MOST:
            return None
        rows = np.ones((len(X), self._weights.shape[1]), dtype=np.float32)
        with np.errstate(over="ignore"):
            rows[:, :self.n_features_in_] = X
        if not np.isfinite(rows).all():
            return None  # the command says which number is too large
        scores = _score.scores(rows, self._weights)
        return scores[:, 0] if len(self._weights) == 1 else scores

    def _is_set_by_hand(self):
        """Return whether a program set `coef_` or `intercept_` after the training, or without one."""
        if not hasattr(self, "coef_"):
            return False
        if not hasattr(self, "model_") or hasattr(self.coef_, "tocsr"):
            return True
        return not (np.array_equal(self.coef_, self._kept[0]) and np.array_equal(self.intercept_, self._kept[1]))

    def _by_hand(self, X):
        """Return the scores by `coef_` and `intercept_`, in float64."""
        weights = self.coef_.toarray() if hasattr(self.coef_, "tocsr") else np.atleast_2d(self.coef_)
        rows = X if hasattr(X, "tocsr") else np.asarray(X, np.float64)
        scores = rows @ weights.T.astype(np.float64) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def sparsify(self) -> Self:
        """Make `coef_` a sparse matrix, and return the estimator."""
        from scipy import sparse
        check_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Make `coef_` an array, and return the estimator."""
        check_fitted(self)
        if hasattr(self.coef_, "tocsr"):
            self.coef_ = self.coef_.toarray()
        return self

    def _scores(self, X):
        """Return the scores of rows by the command."""
        with Files() as files:
            run(["predict", *_rows.send(files, X), "--model", files.input("model.json", lambda file: file.write(self.model_.encode())),
                 "--score", "--out", files.output("scores.npy"), *self._machine()], files, quiet="", words=self._words())
            with files.open("scores.npy") as file:
                return np.load(file, allow_pickle=False)

    def _start(self, files, before):
        """Return the arguments that begin with the weights of the last fit; `before` is its model, or None."""
        return []

    def _train(self, files, X, y, weights, more=(), quiet=""):
        """Train on rows that were checked, and keep the model. `more` are further arguments of the command."""
        self._summarize(X, y, weights)
        weights = self._without_classes(y, weights)
        args = ["train", *_rows.send(files, self._features(X), self._labels(y), weights), "--algo", self._algorithm, "--prepare", "none",
                "--out", files.output("model.json"), "--json", *self._options(), *self._machine(), *more]
        try:
            run(args, files, progress=bool(self.verbose), quiet=quiet, words=self._words(), features=self._names())
        except Interrupted as interrupt:
            kept = read(files, "model.json")
            if kept:
                self._keep(kept)
                interrupt.model = self
            raise
        self._keep(read(files, "model.json"))

    def _summarize(self, X, y, weights):
        """Keep what options need to know of the rows."""
        self._rows_seen = X.shape[0]

    def _warn(self):
        if not self._solver:
            return
        passes = int(np.max(self.n_iter_))
        if not self._converged:
            warn(f"{type(self).__name__} did not reach the optimum in {passes} passes over the rows: "
                 "increase max_iter, or standardize the features", ConvergenceWarning)
        elif self.duality_gap_ is not None and self.tol is not None and self.duality_gap_ > self.tol * self.objective_:
            warn(f"{type(self).__name__} has proven the objective to {self.duality_gap_ / self.objective_:.2g} of itself, and tol is {self.tol:.2g}: "
                 f"halfspace stops when the duality gap is at most {PROVEN:g} of the objective", ConvergenceWarning)

    def _keep(self, text):
        model = json.loads(text)
        training = model["training"]
        self.model_ = text
        self.n_iter_ = max(1, training["epochs"])
        self._converged = training["converged"]
        optimum = training.get("optimum", {})
        self.objective_ = optimum.get("objective")
        self.duality_gap_ = optimum.get("duality_gap")
        self._keep_weights(model)

    def _keep_weights(self, model):
        """Keep the weights of a linear model: in `_weights` the bias is the last column, if there is a bias."""
        rows = model["weights"]
        if "sparse_weights" in model:
            rows = np.zeros((len(model["sparse_weights"]), self.n_features_in_))
            for row, sparse in zip(rows, model["sparse_weights"]):
                row[sparse["features"]] = sparse["weights"]
        self.coef_ = np.array(rows, dtype=np.float64)
        self.intercept_ = np.array(model["bias"] or [0.0] * len(rows), dtype=np.float64)
        self._kept = self.coef_.copy(), self.intercept_.copy()
        self._weights = np.column_stack([self.coef_, self.intercept_][:2 if model["bias"] else 1]).astype(np.float32)

    def _finds(self, X):
        """Return whether the command finds a number in X that is not finite. It reads all numbers anyway: to look for one takes Python longer."""
        return isinstance(X, np.ndarray) and X.dtype.kind == "f" or isinstance(X, Table)

    def _features(self, X):
        """Return the rows as the learner takes them."""
        return X

    def _name_classes(self, classes):
        check_classification_targets(classes)
        if len(classes) < 2:
            raise HalfspaceError(f"y has one class, {classes.tolist()[0]!r}: a classifier takes two classes or more")
        self.classes_ = classes

    def _labels(self, y):
        """Return labels that the command orders as `classes_`: whole numbers, booleans or texts."""
        if y.dtype.kind in "iubf" and abs(self.classes_.astype(np.float64)).max() < 2**53:
            if self.classes_.dtype.kind == "b":
                return y.astype(bool)
            return y.astype(np.int64) if y.dtype.kind in "bf" else y
        if y.dtype.kind == "U" or all(isinstance(label, str) for label in self.classes_):
            return y.astype(str)
        return np.searchsorted(self.classes_, y)

    def _options(self):
        """Return the arguments of the command for the options of the estimator."""
        args = []
        for field in dataclasses.fields(self):
            value, switch = getattr(self, field.name), isinstance(field.default, bool)
            rule = self._rule(field.name)
            if rule is not None:
                if not rule.accepts(value):
                    raise RefusedOption(f"{field.name} is {value!r}: {rule.reason}: leave {field.name} out")
                continue
            if isinstance(value, (bool, np.bool_)) != switch and field.name != "verbose":
                raise HalfspaceError(f"{field.name} is {value!r}: it is {'True or False' if switch else 'neither True nor False'}")
            if field.name in self._choices and value not in self._choices[field.name]:
                *most, last = (f'"{choice}"' for choice in self._choices[field.name])
                raise HalfspaceError(f"{field.name} is {value!r}: it is {', '.join(most)} or {last}")
            if field.name not in ALL_CLASSES:
                args += self._option(field.name, value)
        if not self.fit_intercept:
            args.append("--no-bias")
        if getattr(self, "class_weight", None) is not None or getattr(self, "priors", None) is not None:
            args += ["--class-weight", self._class_weights()]
        if self.random_state is not None:
            seed = self.random_state
            if not isinstance(seed, (int, np.integer)):
                seed = check_random_state(seed).randint(2**31 - 1)
            args += ["--seed", str(seed)]
        return args

    def _rule(self, name):
        return next((vars(base)["_rules"][name] for base in type(self).__mro__ if name in vars(base).get("_rules", {})), None)

    def _option(self, name, value):
        """Return the arguments of the command for an option of the learner; None is the command's default."""
        return _rows.argument("--" + FLAGS.get(name, name.replace("_", "-")), value)

    def _class_weights(self):
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return self.class_weight
        if not hasattr(self.class_weight, "keys"):
            raise HalfspaceError(f"class_weight is {self.class_weight!r}: it is \"balanced\", or a dict with factors of classes")
        given, classes = dict(self.class_weight), self.classes_.tolist()
        unknown = [label for label in given if label not in classes]
        if unknown and any(label not in given for label in classes):
            raise HalfspaceError(f"class_weight has the labels {unknown}, which are no classes: y has {classes}")
        return ",".join(_rows.quoted(f"{_rows.text(label)}={_rows.text(given.get(name, 1) or 1)}")
                        for name, label in zip(classes, self._labels(self.classes_).tolist()))

    def _without_classes(self, y, weights):
        """Return the weights of the rows, 0 in the rows of a class whose factor is 0."""
        given = getattr(self, "class_weight", None)
        left_out = [label for label, factor in given.items() if isinstance(factor, Real) and factor == 0] if hasattr(given, "items") else []
        if not left_out:
            return weights
        return np.where(np.isin(y, left_out), 0.0, 1.0 if weights is None else weights)

    def _machine(self):
        """Return the arguments of the command that change its speed, and no result."""
        if self.n_jobs is None or self.n_jobs == -1:
            return []
        if not isinstance(self.n_jobs, (int, np.integer)) or self.n_jobs == 0:
            raise HalfspaceError(f"n_jobs is {self.n_jobs!r}: it is a number of threads, None or -1 for all cores, -2 for all cores but 1")
        return ["--workers", str(self.n_jobs if self.n_jobs > 0 else max(1, os.cpu_count() + 1 + self.n_jobs))]

    def _names(self):
        """Return the names of X's columns, for sentences, or None if X had no names."""
        return getattr(self, "feature_names_in_", None)

    def _words(self):
        words = {FLAGS.get(name, name.replace("_", "-")): name for name in self.get_params(deep=False)}
        return dict(words, seed="random_state", workers="n_jobs", **{"no-bias": "fit_intercept=False", f"algo {self._algorithm}": type(self).__name__})

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Probabilities:
    """Probabilities of a learner whose scores are log odds."""

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the classes, in float64, shape (rows, classes); each row adds up to 1.

        The scores are the command's scores. The probabilities are computed from the scores in float64; `halfspace predict
        --proba` rounds probabilities to float32.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        elif json.loads(self.model_)["options"].get("multiclass") == "joint":
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            return powers / powers.sum(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            odds = 1 / (1 + np.exp(-scores))
        sums = odds.sum(axis=1, keepdims=True)
        return np.where(sums > 0, odds / np.where(sums > 0, sums, 1), 1 / odds.shape[1])

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithms of the probabilities, shape (rows, classes)."""
        return np.log(self.predict_proba(X))


class Online:
    """A learner whose weights depend on the order of the rows."""

    def _more_tags(self):
        return {"_xfail_checks": {"check_sample_weights_invariance":
                                  "the check shuffles the rows, and the order of the rows is a part of an online training"}}

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later look for both; there, the caller of a check expects failures
        return super().__sklearn_tags__()


class Incremental(Online):
    """Training on batches of rows, one after another."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Visit the rows once, in their order, and go on from the weights so far.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix, shape (rows, features)
        y : array, shape (rows,)
            Labels. A batch need not have every class.
        classes : array, optional
            All classes. The first call takes it, unless its batch has every class.
        sample_weight : array, shape (rows,), optional

        Returns
        -------
        self
        """
        if isinstance(self.class_weight, str):
            raise HalfspaceError(f"class_weight is {self.class_weight!r}: partial_fit takes a dict, since a batch does not tell how many rows classes have")
        first = not hasattr(self, "model_")
        X, y = check_rows(self, tabled(X, "X"), y, reset=first)
        weights = weights_of(sample_weight, X)
        if first:
            self._name_classes(distinct(y) if classes is None else np.unique(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise HalfspaceError(f"classes are {list(classes)}, but the first call had {self.classes_.tolist()}")
        new = np.setdiff1d(distinct(y), self.classes_)
        if len(new) > 0:
            raise HalfspaceError(f"y has the labels {new.tolist()}, which are no classes of the first call: give that call classes=[...]")
        if first:
            X, y, weights = with_classes(X, y, weights, self.classes_)
        with Files() as files:
            more = [] if first else ["--init", files.input("init", lambda f: f.write(self.model_.encode()))]
            self._train(files, X, y, weights, ["--epochs", "1", "--order", "cyclic", *more])
        return self


FEW, FEW_CLASSES = 256, 8  # first labels that often have all classes, and how many classes are counted faster than they are sorted


def distinct(y):
    """Return the different labels in ascending order, as `np.unique`, without sorting whole numbers of a small range."""
    few = np.unique(y[:FEW]) if y.dtype.kind in "iub" else ()
    if 0 < len(few) <= FEW_CLASSES and sum(np.count_nonzero(y == label) for label in few) == len(y):
        return few
    if y.dtype.kind in "iu" and len(y) > 0:
        low, high = int(y.min()), int(y.max())
        if high - low < 1 << 16:
            seen = np.zeros(high - low + 1, dtype=bool)
            wide = y if y.dtype.kind == "u" else y.astype(np.int64, copy=False)  # a difference of int8 can be above 127
            seen[wide - wide.dtype.type(low)] = True
            return (np.flatnonzero(seen).astype(wide.dtype) + wide.dtype.type(low)).astype(y.dtype)
    try:
        return np.unique(y)
    except TypeError:
        raise HalfspaceError("y has labels of several types: give numbers alone or texts alone") from None


def weights_of(sample_weight, X):
    """Return an array of float64 with a weight of 0 or more for each row, or None."""
    if sample_weight is None:
        return None
    weights = check_weights(sample_weight, X)
    low = weights.argmin()
    if weights[low] < 0:
        raise HalfspaceError(f"sample_weight has {weights[low]} in row {low}: it is 0 or more")
    if not weights.any():
        raise HalfspaceError("sample_weight is 0 in every row: give one row a weight or more")
    return weights


def with_classes(X, y, weights, classes):
    """Return the rows with a row of zeros and weight 0 for each class that they do not have: it changes no weight."""
    missing = np.setdiff1d(classes, y)
    if len(missing) == 0:
        return X, y, weights
    if weights is None:
        weights = np.ones(len(y))
    zeros = np.zeros((len(missing), X.shape[1]), dtype=X.dtype)
    if hasattr(X, "tocsr"):
        from scipy import sparse
        X = sparse.vstack([X, sparse.csr_matrix(zeros)], format="csr")
    else:
        X = np.concatenate([np.asarray(X), zeros])
    return X, np.concatenate([y, missing]), np.concatenate([weights, np.zeros(len(missing))])
