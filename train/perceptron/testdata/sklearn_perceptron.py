#!/usr/bin/env python3
"""Trains scikit-learn's Perceptron on small integer data sets and writes data and results to sklearn_perceptron.json.

With integer features and a learning rate that is a power of two, every sum is exact in float32 and float64 in whatever
order it is added up, so another implementation of the same algorithm has to find the very same weights.

Perceptron(shuffle=False, tol=None) runs max_iter epochs in file order, whether or not it has converged, and updates
where y * (w.x + b) <= 0 (its loss is Hinge(0.0), whose derivative is -y where z <= threshold), the intercept by the
same step as the weights. The function perceptron below says so literally in Python's integers, and the script fails
where the two differ. SGDClassifier(average=True) with Perceptron's loss gives the mean of the weights after each visit,
which the function makes too, up to roundings. In the last cases rows have weights, some of them 0, and classes too; their
products multiply the steps.

Run it in this directory: /usr/bin/python3 sklearn_perceptron.py
"""

import json
import random
from fractions import Fraction

import numpy
import sklearn
from sklearn.linear_model import Perceptron, SGDClassifier

MAX_ITER = 10


def perceptron(x, y, eta, fit_intercept, weights):
    """Returns weights, intercept, the number of updates and the means after a visit of the textbook's perceptron."""
    w, b, updates = [Fraction(0)] * len(x[0]), Fraction(0), 0
    total = [Fraction(0)] * (len(x[0]) + 1)
    for _ in range(MAX_ITER):
        for row, label, weight in zip(x, y, weights):
            if label * (sum(wi * xi for wi, xi in zip(w, row)) + b) <= 0 and weight > 0:
                w = [wi + eta * weight * label * xi for wi, xi in zip(w, row)]
                if fit_intercept:
                    b += eta * weight * label
                updates += 1
            total = [t + v for t, v in zip(total, w + [b])]
    return w, b, updates, [float(t / MAX_ITER / len(x)) for t in total]


def data(seed, rows, features, offset, flips):
    """Draws integers from -10 to 10, labelled by the side of a hyperplane, of which some are flipped."""
    rng = random.Random(seed)
    w = [rng.randint(-5, 5) for _ in range(features)]
    x, y = [], []
    while len(x) < rows:
        row = [rng.randint(-10, 10) for _ in range(features)]
        score = sum(wi * xi for wi, xi in zip(w, row)) + offset
        if score != 0:
            x.append(row)
            y.append(1 if score > 0 else -1)
    for i in rng.sample(range(rows), flips):
        y[i] = -y[i]
    return x, y


def case(name, rows, features, offset=0, flips=0, eta=1.0, fit_intercept=True, weighted=False):
    x, y = data(name, rows, features, offset, flips)
    rng = random.Random(name)
    sample = [rng.randint(0, 6) / 4 if weighted else 1 for _ in x]
    of_class = {-1: 1, 1: 2 if weighted else 1}
    weights = [Fraction(s) * of_class[label] for s, label in zip(sample, y)]
    model = Perceptron(shuffle=False, max_iter=MAX_ITER, tol=None, eta0=eta, fit_intercept=fit_intercept, class_weight=of_class)
    model.fit(numpy.array(x, dtype=float), numpy.array(y), sample_weight=sample)
    assert list(model.classes_) == [-1, 1]
    averaged = SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=eta, shuffle=False, max_iter=MAX_ITER,
                             tol=None, fit_intercept=fit_intercept, average=True, class_weight=of_class)
    averaged.fit(numpy.array(x, dtype=float), numpy.array(y), sample_weight=sample)
    mean = averaged.coef_[0].tolist() + averaged.intercept_.tolist()
    w, b, updates, exact = perceptron(x, y, Fraction(eta), fit_intercept, weights)
    assert model.coef_[0].tolist() == [float(wi) for wi in w], name
    assert model.intercept_.tolist() == [float(b)], name
    assert numpy.allclose(mean, exact, rtol=1e-12, atol=1e-12), name
    c = {
        "name": name, "eta": eta, "fit_intercept": fit_intercept, "updates": updates,
        "coef": model.coef_[0].tolist(), "intercept": model.intercept_[0], "mean": mean, "y": y, "x": x,
    }
    if weighted:
        c["weights"] = [float(w) for w in weights]
    return c


CASES = [
    case("separable 40 x 5", 40, 5, offset=7),
    case("flipped 40 x 5", 40, 5, offset=7, flips=6),
    case("separable 200 x 8", 200, 8, offset=-12),
    case("flipped 200 x 8", 200, 8, offset=-12, flips=30),
    case("flipped 200 x 8, eta 0.25", 200, 8, offset=-12, flips=30, eta=0.25),
    case("separable 200 x 8, no intercept", 200, 8, fit_intercept=False),
    case("flipped 1000 x 20, no intercept", 1000, 20, flips=130, fit_intercept=False),
    case("weighted 40 x 5", 40, 5, offset=7, flips=6, weighted=True),
    case("weighted 200 x 8", 200, 8, offset=-12, eta=0.5, flips=20, fit_intercept=False, weighted=True),
]

with open("sklearn_perceptron.json", "w") as out:
    out.write('{"sklearn":%s,"max_iter":%d,"cases":[\n' % (json.dumps(sklearn.__version__), MAX_ITER))
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    out.write("\n]}\n")
for c in CASES:
    print("%-34s %6d updates, intercept %g" % (c["name"], c["updates"], c["intercept"]))
