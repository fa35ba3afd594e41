#!/usr/bin/env python3
"""Times scikit-learn's solvers of optima over all rows on arrays in raw little-endian float32.

    sklearn_solvers.py DIR FEATURES     answers requests, one line of JSON each, with one line of JSON each

DIR holds x.f32, the features row by row, and y.f32, the labels. A request is {"solver": name}: lbfgs or newton-cholesky
(from version 1.2 on) of LogisticRegression, lsqr of LinearDiscriminantAnalysis, or squared_hinge (primal) or hinge (dual, at
most 50 epochs) of LinearSVC; the answer has the seconds that fit took, the weights with the intercept, and the accuracy, which
is taken after the clock has stopped. The arrays are in memory before, and each solver gets those on which it is faster, float32
or float64. No penalty, but for LinearSVC, whose C is 1; the tolerance is scikit-learn's default.
"""

import json
import os
import sys
import time
import warnings

import numpy
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC


def load(folder, features):
    x = numpy.fromfile(os.path.join(folder, "x.f32"), dtype="<f4").reshape(-1, features)
    return x, numpy.fromfile(os.path.join(folder, "y.f32"), dtype="<f4").astype(numpy.int8)


def fit(solver, x, y):
    if solver == "lsqr":
        model = LinearDiscriminantAnalysis(solver="lsqr")
    elif solver in ("squared_hinge", "hinge"):
        model = LinearSVC(loss=solver, dual=solver == "hinge", max_iter=50 if solver == "hinge" else 1000, random_state=1)
    else:
        model = LogisticRegression(penalty="none" if sklearn.__version__ < "1.2" else None, solver=solver, max_iter=1000)
    start = time.perf_counter()
    model.fit(x, y)
    return model, time.perf_counter() - start


def main():
    warnings.simplefilter("ignore")
    x, y = load(sys.argv[1], int(sys.argv[2]))
    arrays = {"float32": x, "float64": x.astype(numpy.float64)}
    print(json.dumps({"sklearn": sklearn.__version__, "numpy": numpy.__version__, "rows": len(y)}), flush=True)
    faster = {}
    for line in sys.stdin:
        solver = json.loads(line)["solver"]
        if solver not in faster:
            faster[solver] = min(arrays, key=lambda name: fit(solver, arrays[name], y)[1])
        model, seconds = fit(solver, arrays[faster[solver]], y)
        weights = model.coef_[0].tolist() + model.intercept_.tolist()
        print(json.dumps({"seconds": seconds, "weights": weights, "dtype": faster[solver], "accuracy": model.score(x, y)}), flush=True)


main()
