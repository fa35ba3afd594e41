#!/usr/bin/env python3
"""Fits scikit-learn's LogisticRegression and writes data and results to sklearn_logistic.json.

scikit-learn's objective is 1/2 |w|^2 + C * sum of losses, so l2 = 1/C here, and l2 = 0 is penalty="none". Its solvers stop
a little before the optimum, so three steps of Newton's method in NumPy follow; the script fails where they move a weight by
more than 1e-5 of the largest. The standard errors are the roots of the diagonal of the inverse Hessian. Features are
rounded to float32, so that both element types have the same rows. The last cases have weights of rows, some of them 0, and
weights of classes, which scikit-learn multiplies: class_weight is what "balanced" comes to since scikit-learn 1.9, by
the sums of the weights of rows.

Run it in this directory: /usr/bin/python3 sklearn_logistic.py
"""

import json
import warnings

import numpy
import sklearn
from sklearn.linear_model import LogisticRegression

SCALES = [1, 0.1, 10, 3]


def data(seed, rows, features, offset):
    """Draws features of different scales, correlated, away from zero by offset, and labels from a logistic model."""
    rng = numpy.random.RandomState(seed)
    x = rng.normal(size=(rows, features)) + 0.5 * rng.normal(size=(rows, 1)) + offset
    x *= numpy.resize(SCALES, features)
    x = x.astype(numpy.float32).astype(float)
    w = rng.normal(size=features) / numpy.resize(SCALES, features)
    z = (x - x.mean(axis=0)) @ w + 0.5
    return x, numpy.where(rng.uniform(size=rows) < 1 / (1 + numpy.exp(-z)), 1, -1)


def newton(x, y, w, l2, bias, weights):
    """Returns w after three steps, and standard errors."""
    if bias:
        x = numpy.hstack([x, numpy.ones((len(x), 1))])
    penalty = numpy.full(len(w), float(l2))
    if bias:
        penalty[-1] = 0
    for _ in range(4):
        p = 1 / (1 + numpy.exp(-(x @ w)))
        h = (x.T * (weights * p * (1 - p))) @ x + numpy.diag(penalty)
        w = w - numpy.linalg.solve(h, penalty * w + x.T @ (weights * (p - (y > 0))))
    return w, numpy.sqrt(numpy.diag(numpy.linalg.inv(h)))


def case(name, seed, rows, features, l2=0, bias=True, offset=0, weighted=False, balanced=False):
    x, y = data(seed, rows, features, offset)
    sample = numpy.round(numpy.random.RandomState(seed).exponential(size=rows) * 4) / 4 if weighted else numpy.ones(rows)
    of_class = numpy.array([sample.sum() / (2 * sample[y == c].sum()) if balanced else 1 for c in (-1, 1)])
    options = {"penalty": "none"} if l2 == 0 else {"C": 1 / l2}
    if balanced:
        options["class_weight"] = {-1: of_class[0], 1: of_class[1]}
    model = LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000, fit_intercept=bias, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y, sample_weight=sample)
    w = numpy.append(model.coef_[0], model.intercept_) if bias else model.coef_[0]
    exact, errors = newton(x, y, w, l2, bias, sample * of_class[(y > 0).astype(int)])
    moved = abs(exact - w).max() / abs(exact).max()
    print("%-30s %.1e" % (name, moved))
    assert moved < 1e-5, name
    c = {"name": name, "l2": l2, "fit_intercept": bias, "weights": exact.tolist(), "std_errors": errors.tolist(),
         "y": y.tolist(), "x": x.tolist()}
    if weighted:
        c["sample_weight"] = sample.tolist()
    if balanced:
        c["class_weight"] = of_class.tolist()
    return c


CASES = [
    case("300 x 3", 1, 300, 3),
    case("300 x 3, no intercept", 2, 300, 3, bias=False),
    case("200 x 8, l2 1", 3, 200, 8, l2=1),
    case("200 x 8, l2 100", 4, 200, 8, l2=100),
    case("100 x 4, l2 0.01", 5, 100, 4, l2=0.01),
    case("400 x 1", 6, 400, 1),
    case("150 x 33, l2 2", 7, 150, 33, l2=2),
    case("400 x 4 away from zero", 8, 400, 4, offset=20),
    case("200 x 3, weighted", 9, 200, 3, weighted=True),
    case("200 x 3, balanced", 10, 200, 3, balanced=True),
    case("200 x 4, l2 3, weighted and balanced", 11, 200, 4, l2=3, weighted=True, balanced=True),
]

with open("sklearn_logistic.json", "w") as out:
    out.write('{"sklearn":%s,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    out.write("\n]}\n")
