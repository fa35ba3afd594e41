#!/usr/bin/env python3
"""Writes scores, labels, weights and scikit-learn's isotonic regression and sigmoid of them to sklearn_calibrate.json.

scikit-learn's sigmoid takes BFGS to a loose tolerance. Newton's method from its result finds the optimum, and the script
fails if that is farther than 1e-3 away. Isotonic probabilities are those at the scores, between them and outside.

Run it in this directory: /usr/bin/python3 sklearn_calibrate.py
"""

import json

import numpy
import sklearn
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression


def newton(s, y, w, a, b):
    """Returns a and b after steps of Newton's method."""
    n, p = w[y == 0].sum(), w[y == 1].sum()
    t = numpy.where(y == 1, (p + 1) / (p + 2), 1 / (n + 2))
    for _ in range(20):
        q = 1 / (1 + numpy.exp(a * s + b))
        d, c = w * (t - q), w * q * (1 - q)
        h = numpy.array([[(c * s * s).sum(), (c * s).sum()], [(c * s).sum(), c.sum()]])
        step = numpy.linalg.solve(h, [(d * s).sum(), d.sum()])
        a, b = a - step[0], b - step[1]
    return a, b


def case(name, seed, rows, levels, weights, scale=1.0, noise=1.0):
    rng = numpy.random.RandomState(seed)
    y = (rng.uniform(size=rows) < 0.35).astype(int)
    y[:2] = [0, 1]
    s = noise * rng.normal(size=rows) + 1.5 * y - 0.7
    if levels:
        s = numpy.round(s * levels) / levels
    s = (scale * s).astype(numpy.float32).astype(float)
    w = {"none": numpy.ones(rows), "whole": rng.randint(1, 4, size=rows) * 1.0, "any": rng.gamma(1, size=rows) + 0.01}[weights]
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(s, y, sample_weight=w)
    at = numpy.concatenate([s, rng.uniform(s.min() - scale, s.max() + scale, size=rows)])
    a, b = _sigmoid_calibration(s / scale, y, sample_weight=w)
    exact = newton(s / scale, y, w, a, b)
    # scikit-learn's targets count rows, these their weights: they are the same without weights alone.
    assert weights != "none" or numpy.allclose([a, b], exact, rtol=1e-3, atol=1e-3), (name, a, b, exact)
    return {
        "name": name, "scores": s.tolist(), "labels": y.tolist(), "weights": [] if weights == "none" else w.tolist(), "at": at.tolist(),
        "isotonic": isotonic.predict(at).tolist(), "a": exact[0] / scale, "b": exact[1],
    }


cases = [
    case("no two scores equal", 1, 200, 0, "none"),
    case("many scores equal", 2, 300, 4, "none"),
    case("whole weights", 3, 150, 4, "whole"),
    case("any weights", 4, 200, 0, "any"),
    case("large scores", 5, 150, 0, "none", scale=2.0**40),
    case("small scores", 6, 150, 0, "none", scale=2.0**-10),
    case("scores that part the classes", 7, 100, 0, "none", noise=0.1),
    case("scores that tell nothing", 8, 150, 3, "none", noise=50.0),
]
with open("sklearn_calibrate.json", "w") as out:
    out.write('{"sklearn":%s,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c) for c in cases) + "\n]}\n")
