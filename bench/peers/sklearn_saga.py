#!/usr/bin/env python3
"""Learns logistic regression with an elastic net by scikit-learn's solver saga, from rows in svmlight. There is no intercept.

    sklearn_saga.py ROWS WEIGHTS L1 L2 TOL MAX_ITER

WEIGHTS gets the weights, one in a line. They minimise l1 |w|_1 + l2/2 |w|^2 + the sum of losses.
"""

import sys
import warnings

from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression


def main():
    warnings.simplefilter("ignore")  # of a search that ends after MAX_ITER epochs
    rows, weights = sys.argv[1:3]
    l1, l2, tol = map(float, sys.argv[3:6])
    x, y = load_svmlight_file(rows)
    model = LogisticRegression(penalty="elasticnet", solver="saga", C=1 / (l1 + l2), l1_ratio=l1 / (l1 + l2), tol=tol,
                               max_iter=int(sys.argv[6]), fit_intercept=False, random_state=1)
    model.fit(x, y)
    with open(weights, "w") as f:
        f.writelines(f"{v!r}\n" for v in model.coef_[0].tolist())


main()
