"""scikit-learn's own checks of every estimator."""

import warnings

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

import halfspace


@parametrize_with_checks([getattr(halfspace, name)() for name in halfspace.ESTIMATORS])
def test_check(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", halfspace.HalfspaceWarning)
        check(estimator)
