#!/usr/bin/env python3
"""Fits support vector machines of scikit-learn and writes data and results to sklearn_svm.json.

scikit-learn's objective is 1/2 |w|^2 + C * sum of losses; l2 = 1/C here, and the objective in the file is l2 times that. The
hinge is SVC(kernel="linear"), of LIBSVM, whose intercept isn't penalised, or without an intercept LinearSVC, of LIBLINEAR.
The squared hinge is LinearSVC, whose intercept gets next to no penalty by intercept_scaling; steps of Newton's method in
NumPy follow, and the script fails where they move a weight by more than 1e-4 of the largest. Features are rounded to
float32, so that both element types have the same rows. The last cases have weights of rows, some of them 0, and weights of
classes, which scikit-learn multiplies: class_weight is what "balanced" comes to since scikit-learn 1.9, by
the sums of the weights of rows.

Run it in this directory: /usr/bin/python3 sklearn_svm.py
"""

import json
import warnings

import numpy
import sklearn
from sklearn.svm import SVC, LinearSVC


def data(seed, rows, features, offset, noise):
    """Draws features of different scales, correlated, away from zero by offset, and labels of a plane with noise."""
    rng = numpy.random.RandomState(seed)
    scales = numpy.resize([1, 0.3, 3, 2], features)
    x = (rng.normal(size=(rows, features)) + 0.5 * rng.normal(size=(rows, 1)) + offset) * scales
    x = x.astype(numpy.float32).astype(float)
    z = (x - x.mean(axis=0)) @ (rng.normal(size=features) / scales) + 0.5
    return x, numpy.where(z + noise * rng.normal(size=rows) > 0, 1, -1)


def newton(x, y, w, l2, bias, weights):
    """Returns w after steps on the squared hinge."""
    if bias:
        x = numpy.hstack([x, numpy.ones((len(x), 1))])
    penalty = numpy.full(len(w), float(l2))
    if bias:
        penalty[-1] = 0
    for _ in range(4):
        u = numpy.maximum(0, 1 - y * (x @ w))
        h = 2 * (x.T * (u > 0) * weights) @ x + numpy.diag(penalty)
        w = w - numpy.linalg.solve(h, penalty * w - 2 * x.T @ (u * y * weights))
    return w


def case(name, loss, seed, rows, features, l2=1, bias=True, offset=0, noise=1, weighted=False, balanced=False):
    x, y = data(seed, rows, features, offset, noise)
    sample = numpy.round(numpy.random.RandomState(seed).exponential(size=rows) * 4) / 4 if weighted else numpy.ones(rows)
    of_class = numpy.array([sample.sum() / (2 * sample[y == c].sum()) if balanced else 1 for c in (-1, 1)])
    weights = sample * of_class[(y > 0).astype(int)]
    weighs = {"class_weight": {-1: of_class[0], 1: of_class[1]}} if balanced else {}
    if loss == "hinge" and bias:
        model = SVC(kernel="linear", C=1 / l2, tol=1e-9, **weighs)
    elif loss == "hinge":
        model = LinearSVC(loss=loss, C=1 / l2, tol=1e-9, max_iter=10**7, fit_intercept=False, **weighs)
    else:
        model = LinearSVC(loss=loss, C=1 / l2, tol=1e-12, max_iter=10**5, fit_intercept=bias, intercept_scaling=1e3, dual=False,
                          **weighs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y, sample_weight=sample)
    w = numpy.append(model.coef_[0], model.intercept_) if bias else model.coef_[0]
    if loss == "squared_hinge":
        exact = newton(x, y, w, l2, bias, weights)
        moved = abs(exact - w).max() / abs(exact).max()
        print("%-30s %.1e" % (name, moved))
        assert moved < 1e-4, name
        w = exact
    u = numpy.maximum(0, 1 - y * (x @ w[:features] + (w[features] if bias else 0)))
    objective = l2 / 2 * numpy.sum(w[:features] ** 2) + numpy.sum(weights * (u if loss == "hinge" else u**2))
    c = {"name": name + ", " + loss, "loss": loss, "l2": l2, "fit_intercept": bias, "weights": w.tolist(), "objective": objective,
         "y": y.tolist(), "x": x.tolist()}
    if weighted:
        c["sample_weight"] = sample.tolist()
    if balanced:
        c["class_weight"] = of_class.tolist()
    return c


CASES = []
for loss in "squared_hinge", "hinge":
    CASES += [
        case("300 x 3", loss, 1, 300, 3),
        case("300 x 3, no intercept", loss, 2, 300, 3, bias=False),
        case("200 x 8, l2 100", loss, 3, 200, 8, l2=100),
        case("200 x 4, l2 0.01", loss, 4, 200, 4, l2=0.01),
        case("150 x 33, l2 2", loss, 5, 150, 33, l2=2),
        case("200 x 2, away from zero", loss, 6, 200, 2, offset=10),
        case("100 x 3, separable", loss, 7, 100, 3, l2=0.1, noise=0),
        case("30 x 40", loss, 8, 30, 40),
    ]
for loss in "squared_hinge", "hinge":
    CASES += [
        case("200 x 3, weighted", loss, 9, 200, 3, weighted=True),
        case("200 x 3, balanced, no intercept", loss, 10, 200, 3, bias=False, balanced=True),
        case("200 x 4, weighted and balanced", loss, 11, 200, 4, l2=3, weighted=True, balanced=True),
    ]

with open("sklearn_svm.json", "w") as out:
    out.write('{"sklearn":%s,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    out.write("\n]}\n")
