#!/usr/bin/env python3
"""Fits scikit-learn's multinomial LogisticRegression and writes data and results to sklearn_multinomial.json.

scikit-learn's objective is 1/2 sum |w_k|^2 - C * sum of log p, so l2 = 1/C here, and l2 = 0 is penalty="none". Its solvers stop a
little before the optimum, so steps of Newton's method in NumPy follow; the script fails where they move a weight by more than
1e-4 of the largest. What no probability depends on is settled by vectors that sum to zero over the classes. Features are rounded
to float32, so that both element types have the same rows. Iris, wine and digits are the sets of sklearn.datasets.

Run it in this directory: /usr/bin/python3 sklearn_multinomial.py
"""

import json
import warnings

import numpy
import sklearn
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression


def drawn(seed, rows, features, classes, offset=0):
    """Draws rows whose labels follow a multinomial model."""
    rng = numpy.random.RandomState(seed)
    x = rng.normal(size=(rows, features)) + 0.5 * rng.normal(size=(rows, 1)) + offset
    z = (x - offset) @ rng.normal(size=(features, classes)) + rng.gumbel(size=(rows, classes))
    return x, z.argmax(axis=1)


def newton(x, y, w, l2, bias):
    """Returns w, a row for each class, after some steps."""
    k = w.shape[0]
    if bias:
        x = numpy.hstack([x, numpy.ones((len(x), 1))])
    d = x.shape[1]
    penalty = numpy.full((k, d), float(l2))
    if bias:
        penalty[:, -1] = 0
    t = numpy.eye(k)[y]
    for _ in range(6):
        z = x @ w.T
        p = numpy.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        g = penalty * w + (p - t).T @ x
        h = numpy.zeros((k, d, k, d))
        for a in range(k):
            for b in range(k):
                s = p[:, a] * ((a == b) - p[:, b])
                h[a, :, b, :] = (x.T * s) @ x
        h = h.reshape(k * d, k * d) + numpy.diag(penalty.ravel())
        w = w - numpy.linalg.lstsq(h, g.ravel(), rcond=1e-13)[0].reshape(k, d)
    return w - w.mean(axis=0)


def case(name, x, y, l2, bias=True, data=True):
    x = x.astype(numpy.float32).astype(float)
    options = {"penalty": "none"} if l2 == 0 else {"C": 1 / l2}
    model = LogisticRegression(multi_class="multinomial", solver="newton-cg", tol=1e-8, max_iter=10000, fit_intercept=bias, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y)
    w = numpy.hstack([model.coef_, model.intercept_[:, None]]) if bias else model.coef_
    w = w - w.mean(axis=0)
    exact = newton(x, y, w, l2, bias)
    moved = abs(exact - w).max() / abs(exact).max()
    print("%-30s %.1e" % (name, moved))
    assert moved < 1e-4, name
    return {"name": name, "l2": l2, "fit_intercept": bias, "classes": int(y.max()) + 1, "weights": exact.ravel().tolist(),
            "proba": model.predict_proba(x[:1])[0].tolist(), "y": y.tolist(), "x": x.tolist()}


def some(load, rows=None):
    x, y = load(return_X_y=True)
    return x[:rows], y[:rows]


CASES = [
    case("iris, l2 1", *some(load_iris), l2=1),
    case("iris, l2 0.01", *some(load_iris), l2=0.01),
    case("iris, no intercept", *some(load_iris), l2=0.5, bias=False),
    case("wine, l2 1", *some(load_wine), l2=1),
    case("200 digits, l2 10", *some(load_digits, 200), l2=10),
    case("300 x 3, 4 classes", *drawn(1, 300, 3, 4), l2=0),
    case("400 x 4 away from zero", *drawn(2, 400, 4, 3, offset=20), l2=0),
    case("300 x 2, 5 classes, no intercept", *drawn(3, 300, 2, 5), l2=0, bias=False),
]

with open("sklearn_multinomial.json", "w") as out:
    out.write('{"sklearn":%s,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    out.write("\n]}\n")
