"""Base classes and checks of the estimators, from scikit-learn or, without scikit-learn, of the same names."""

from __future__ import annotations

import datetime
import inspect

import numpy as np

from ._command import HalfspaceError
from ._tables import Columns, columns_of, table_of

ROWS_ALONE = object()  # the labels of check_rows where there are none

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils import check_random_state
    from sklearn.utils import validation as _validation
    from sklearn.utils.multiclass import check_classification_targets

    def check_rows(estimator, X, y=ROWS_ALONE, reset=False, finite=True):
        """Return X, or X and y: X is a matrix of numbers, dense or CSR, y has a label for each row. With `finite`, all numbers are finite.

        Columns of a table stay arrays of their own.
        """
        if isinstance(X, Columns):  # were checked before
            X.check_finite()
            return X
        X, table = _numeric(X), table_of(X, "X")
        if table is not None and table.shape[0] > 0 and table.shape[1] > 0:
            return _check_table(estimator, table, y, reset, finite)
        X = X if table is None else table.frame
        options = {"X": X, "accept_sparse": "csr", "reset": reset}
        if y is not ROWS_ALONE:
            options["y"] = y
        if hasattr(_validation, "validate_data"):  # scikit-learn 1.6 and later
            return _validation.validate_data(estimator, ensure_all_finite=finite, **options)
        return estimator._validate_data(force_all_finite=finite, **options)

    def _check_table(estimator, table, y, reset, finite):
        """Check the names and the number of columns as scikit-learn does, and the numbers without its copy of the table."""
        names = _validation if hasattr(_validation, "_check_feature_names") else type(estimator)
        names._check_feature_names(estimator, table.frame, reset=reset)
        names._check_n_features(estimator, table.frame, reset=reset)
        X = columns_of(table)
        if finite:
            X.check_finite()
        if y is ROWS_ALONE:
            return X
        if y is None:
            raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
        y = _validation._check_y(y, multi_output=False, y_numeric=False)
        _validation.check_consistent_length(X, y)
        return X, y

    def check_weights(sample_weight, X):
        """Return an array of finite numbers, in float64, a weight for each row."""
        return _validation._check_sample_weight(sample_weight, X, dtype=np.float64)

except ImportError:
    from ._command import HalfspaceWarning

    class NotFittedError(ValueError, AttributeError):
        """The estimator has no weights yet: call `fit`."""

    class ConvergenceWarning(HalfspaceWarning):
        """The training ended before its stop rule held."""

    class BaseEstimator:
        """Parameters of an estimator, as scikit-learn's class of the same name has them."""

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params):
            for name, value in params.items():
                if name not in self.get_params():
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}: it has {', '.join(self.get_params())}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = inspect.signature(type(self)).parameters
            changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not defaults[name].default]
            return f"{type(self).__name__}({', '.join(changed)})"

    class ClassifierMixin:
        """The score of a classifier."""

        _estimator_type = "classifier"

        def score(self, X, y, sample_weight=None):
            """Return the accuracy: the share of the rows, or of their weights, whose prediction is the label."""
            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def check_random_state(seed):
        return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)

    def check_classification_targets(y):
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous: labels are classes, and some of these are no whole numbers")

    def check_rows(estimator, X, y=ROWS_ALONE, reset=False, finite=True):
        if isinstance(X, Columns):
            X.check_finite()
            return X
        X, table = _numeric(X), table_of(X, "X")
        names = None if table is None else table.names
        if table is not None and len(names) > 0:
            X = numbers = columns_of(table)
            if finite:
                X.check_finite()
        elif hasattr(X, "tocsr"):
            X = X.tocsr()
            numbers = X.data
        else:
            X = numbers = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: X has a row for each example and a column for each feature")
        if numbers.dtype.kind not in "biuf":
            numbers = X = X.astype(np.float64)
        if finite and table is None and numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            raise ValueError("Input X contains NaN or infinity")
        if reset:
            estimator.n_features_in_ = X.shape[1]
            if names is not None and all(isinstance(name, str) for name in names):
                estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif X.shape[1] != estimator.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as input")
        if y is ROWS_ALONE:
            return X
        y = np.asarray(y)
        if y.shape != (X.shape[0],):
            raise ValueError(f"y has the shape {y.shape}, but X has {X.shape[0]} rows: y has a label for each row")
        return X, y

    def check_weights(sample_weight, X):
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != (X.shape[0],):
            raise ValueError(f"sample_weight has the shape {weights.shape}, but X has {X.shape[0]} rows")
        if not np.isfinite(weights).all():
            raise ValueError("Input sample_weight contains NaN or infinity")
        return weights


def _numeric(X):
    """Return X, unless scikit-learn would take values for numbers that are none: dates, durations, and what a mask hides."""
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("m", "M"):
        raise HalfspaceError(f"X is of type {X.dtype}: fit takes numbers; halfspace.train makes features of dates and times")
    if isinstance(X, np.ma.MaskedArray) and X.mask.any():
        row, column = (int(at) for at in np.argwhere(np.ma.getmaskarray(X).reshape(len(X), -1))[0])
        raise HalfspaceError(f"X is masked in row {row}, column {column}: fit takes numbers without gaps; halfspace.train fills them in")
    if kind == "O" and getattr(X, "ndim", 0) == 2:
        dated = (np.datetime64, np.timedelta64, datetime.date, datetime.timedelta, datetime.time)
        for value in X[:1].flat:
            if isinstance(value, dated):
                raise HalfspaceError(f"X has a {type(value).__name__}: fit takes numbers; halfspace.train makes features of dates and times")
    return X


def check_fitted(estimator):
    """Raise NotFittedError if the estimator has neither a model nor weights that a program has set."""
    if not hasattr(estimator, "model_") and not all(hasattr(estimator, name) for name in ("coef_", "intercept_", "classes_")):
        name = type(estimator).__name__
        raise NotFittedError(f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator.")
