#!/usr/bin/env python3
"""Fits scikit-learn's LinearDiscriminantAnalysis(solver="lsqr") and writes data and results to sklearn_lda.json.

Features are rounded to float32, so that both element types have the same rows. scikit-learn computes in float64; the solution
in fractions of the same normal equations, which the script compares with, shows that it is right to some 1e-10.

Run it in this directory: /usr/bin/python3 sklearn_lda.py
"""

import json
from fractions import Fraction

import numpy
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


def data(seed, rows, features, share, offset):
    """Draws features of different scales, correlated, away from zero by offset, of classes whose means differ."""
    rng = numpy.random.RandomState(seed)
    y = numpy.where(rng.uniform(size=rows) < share, 1, -1)
    x = rng.normal(size=(rows, features)) + 0.5 * rng.normal(size=(rows, 1)) + offset
    x += numpy.outer(y, rng.normal(size=features)) / 2
    x *= numpy.resize([1, 0.1, 10, 3], features)
    return x.astype(numpy.float32).astype(float), y


def fisher(x, y):
    """Returns the weights, in fractions."""
    groups = [[[Fraction(v) for v in row] for row, label in zip(x.tolist(), y) if label == c] for c in (-1, 1)]
    means = [[sum(column) / len(g) for column in zip(*g)] for g in groups]
    d = len(means[0])
    a = [[Fraction(0)] * d + [(means[1][i] - means[0][i]) * len(x)] for i in range(d)]
    for g, m in zip(groups, means):
        centered = [[v - mi for v, mi in zip(row, m)] for row in g]
        for i in range(d):
            for j in range(d):
                a[i][j] += sum(row[i] * row[j] for row in centered)
    for i in range(d):  # Gauss-Jordan
        a[i] = [v / a[i][i] for v in a[i]]
        for k in range(d):
            if k != i:
                a[k] = [v - a[k][i] * p for v, p in zip(a[k], a[i])]
    return numpy.array([float(row[d]) for row in a])


def case(name, seed, rows, features, share=0.5, offset=0):
    x, y = data(seed, rows, features, share, offset)
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    exact = fisher(x, y)
    error = abs(model.coef_[0] - exact).max() / abs(exact).max()
    print("%-30s %.1e" % (name, error))
    assert error < 1e-8, name
    return {"name": name, "coef": model.coef_[0].tolist(), "intercept": model.intercept_[0],
            "probability": model.predict_proba(x[:5])[:, 1].tolist(), "y": y.tolist(), "x": x.tolist()}


CASES = [
    case("60 x 1", 1, 60, 1),
    case("200 x 3", 2, 200, 3),
    case("200 x 5, few of a class", 3, 200, 5, share=0.1),
    case("100 x 8, many of a class", 4, 100, 8, share=0.8),
    case("200 x 3 away from zero", 5, 200, 3, offset=100),
    case("200 x 3 far from zero", 6, 200, 3, offset=8000),
    case("100 x 33", 7, 100, 33),
]

with open("sklearn_lda.json", "w") as out:
    out.write('{"sklearn":%s,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    out.write("\n]}\n")
