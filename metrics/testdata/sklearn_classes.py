#!/usr/bin/env python3
"""Writes probabilities of several classes, classes, weights and the figures that scikit-learn gives them to sklearn_classes.json.

Probabilities are float32, as package metrics takes them. Some cases have many equal probabilities. One case has
a class that is never predicted, and two cases have two classes.

Run it in this directory: /usr/bin/python3 sklearn_classes.py
"""

import json

import numpy
import sklearn
from sklearn import metrics


def case(name, seed, rows, shares, levels, weights, never=None):
    rng = numpy.random.RandomState(seed)
    classes = len(shares)
    y = rng.choice(classes, size=rows, p=shares)
    y[:classes] = range(classes)
    s = rng.normal(size=(rows, classes)) + 1.2 * numpy.eye(classes)[y]
    if levels:
        s = numpy.round(s * levels) / levels
    if never is not None:
        s[:, never] -= 20
    p = numpy.exp(s) / numpy.exp(s).sum(axis=1, keepdims=True)
    p = p.astype(numpy.float32).astype(float)
    w = {"none": numpy.ones(rows), "whole": rng.randint(0, 4, size=rows) * 1.0, "any": rng.gamma(1, size=rows)}[weights]
    predicted = p.argmax(axis=1)
    areas = [metrics.roc_auc_score(y == k, p[:, k], sample_weight=w) for k in range(classes)]
    ovr = lambda average: metrics.roc_auc_score(y, p, multi_class="ovr", average=average, sample_weight=w) if classes > 2 else None
    return {
        "name": name, "probabilities": p.T.tolist(), "classes": y.tolist(), "weights": [] if weights == "none" else w.tolist(), "predicted": predicted.tolist(),
        "auc": areas, "auc_macro": ovr("macro"), "auc_weighted": ovr("weighted"),
        "average_precision": [metrics.average_precision_score(y == k, p[:, k], sample_weight=w) for k in range(classes)],
        "f1_macro": metrics.f1_score(y, predicted, average="macro", sample_weight=w),
        "f1_weighted": metrics.f1_score(y, predicted, average="weighted", sample_weight=w),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted, sample_weight=w),
    }


cases = [
    case("no two probabilities equal", 11, 200, [0.5, 0.3, 0.2], 0, "none"),
    case("many probabilities equal", 12, 200, [0.4, 0.3, 0.2, 0.1], 1, "none"),
    case("a class never predicted", 13, 150, [0.6, 0.3, 0.1], 2, "none", never=2),
    case("weights 0 to 3", 14, 150, [0.6, 0.2, 0.2], 1, "whole"),
    case("any weights, many probabilities equal", 15, 150, [0.4, 0.3, 0.3], 1, "any"),
    case("two classes", 16, 150, [0.8, 0.2], 1, "none"),
    case("two classes, any weights", 17, 150, [0.8, 0.2], 0, "any"),
]
with open("sklearn_classes.json", "w") as out:
    out.write('{"sklearn":%s,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c) for c in cases) + "\n]}\n")
