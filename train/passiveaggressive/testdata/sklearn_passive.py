#!/usr/bin/env python3
"""Trains scikit-learn's PassiveAggressiveClassifier and writes rows and weights to sklearn_passive.json.

loss="hinge" is PA-I and loss="squared_hinge" PA-II. shuffle=False and tol=None make max_iter epochs in file order. With
fit_intercept=False the norm of a row is that of all its columns; scikit-learn leaves the 1 of an intercept out of it. So
a bias is a column of ones here. Run it in this directory: /usr/bin/python3 sklearn_passive.py
"""

import json
import random

import numpy
import sklearn
from sklearn.linear_model import PassiveAggressiveClassifier


def case(loss, c, bias, rows=30, features=4):
    rng = random.Random(f"{loss} {c} {bias}")
    x = [[rng.randint(-32, 32) / 16 for _ in range(features)] for _ in range(rows)]
    y = [1 if sum(row[:3]) + rng.randint(-16, 16) / 16 > 0.25 else -1 for row in x]
    columns = numpy.array([row + [1.0] if bias else row for row in x])
    model = PassiveAggressiveClassifier(C=c, loss=loss, fit_intercept=False, shuffle=False, max_iter=5, tol=None)
    model.fit(columns, numpy.array(y))
    return {"loss": loss, "c": c, "bias": bias, "weights": model.coef_[0].tolist(), "y": y, "x": x}


CASES = [case(loss, c, bias) for loss in ("hinge", "squared_hinge") for c in (0.05, 1.0, 100.0) for bias in (True, False)]
with open("sklearn_passive.json", "w") as out:
    out.write('{"sklearn":%s,"epochs":5,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    out.write("\n]}\n")
