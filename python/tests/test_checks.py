"""scikit-learn's own checks of every estimator."""

import inspect
import warnings

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

import halfspace
from halfspace._estimator import Online


ESTIMATORS = [getattr(halfspace, name)() for name in halfspace.ESTIMATORS]
WEIGHTS = "check_sample_weights_invariance", "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"


def expected(estimator):
    """Return the checks that are expected to fail, in the manner of scikit-learn 1.6 and later."""
    return dict.fromkeys(WEIGHTS, "the check shuffles the rows") if isinstance(estimator, Online) else {}


def test_tags():
    """As scikit-learn 1.6 and later require, a class has tags in the old manner and in the new one."""
    for estimator in ESTIMATORS:
        for cls in type(estimator).mro():
            if cls.__module__.startswith("halfspace"):
                assert "__sklearn_tags__" in vars(cls) or "_more_tags" not in vars(cls)


@parametrize_with_checks(ESTIMATORS, **({"expected_failed_checks": expected} if "expected_failed_checks" in inspect.signature(parametrize_with_checks).parameters else {}))
def test_check(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", halfspace.HalfspaceWarning)
        check(estimator)
