#!/usr/bin/env python3
"""Writes scores, labels, weights and the figures that scikit-learn gives them to sklearn_metrics.json.

Scores are float32, as package metrics takes them. Some cases have many equal scores. No probability is
the border of a bin. calibration_curve takes no weights; NumPy sums of the same bins stand in for it where rows have some.

Run it in this directory: /usr/bin/python3 sklearn_metrics.py
"""

import json

import numpy
import sklearn
from sklearn import metrics
from sklearn.calibration import calibration_curve


def calibration(y, p, w):
    """Returns weight, mean probability and share of positive rows of each of the ten bins that have rows."""
    bins = numpy.searchsorted(numpy.linspace(0, 1, 11)[1:-1], p)
    table = []
    for b in range(10):
        in_bin = bins == b
        if in_bin.any():
            weight = w[in_bin].sum()
            table.append([int(b), int(in_bin.sum()), weight, (w * p)[in_bin].sum() / weight, (w * y)[in_bin].sum() / weight])
    if (w == 1).all():
        share, mean = calibration_curve(y, p, n_bins=10)
        assert numpy.allclose([row[3] for row in table], mean, rtol=1e-14)
        assert numpy.allclose([row[4] for row in table], share, rtol=1e-14)
    return table


def case(name, seed, rows, levels, weights):
    rng = numpy.random.RandomState(seed)
    y = (rng.uniform(size=rows) < 0.4).astype(int)
    y[:2] = [0, 1]
    s = rng.normal(size=rows) + 1.3 * y - 0.5
    if levels:
        s = numpy.round(s * levels) / levels
    s = s.astype(numpy.float32).astype(float)
    w = {"none": numpy.ones(rows), "whole": rng.randint(0, 4, size=rows) * 1.0, "any": rng.gamma(1, size=rows)}[weights]
    p = (1 / (1 + numpy.exp(-1.7 * s))).astype(numpy.float32).astype(float)
    precision, recall, thresholds = metrics.precision_recall_curve(y, s, sample_weight=w)
    f1 = 2 * precision * recall / (precision + recall).clip(1e-300)
    predicted = (s > 0).astype(int)
    share = lambda f: f(y, predicted, sample_weight=w)
    return {
        "name": name, "scores": s.tolist(), "labels": y.tolist(), "weights": [] if weights == "none" else w.tolist(), "probabilities": p.tolist(),
        "auc": metrics.roc_auc_score(y, s, sample_weight=w), "average_precision": metrics.average_precision_score(y, s, sample_weight=w),
        "precision": precision[:-1].tolist(), "recall": recall[:-1].tolist(), "thresholds": thresholds.tolist(), "best_f1": f1.max(),
        "brier": metrics.brier_score_loss(y, p, sample_weight=w), "log_loss": metrics.log_loss(y, p, sample_weight=w),
        "calibration": calibration(y, p, w), "confusion": metrics.confusion_matrix(y, predicted, sample_weight=w).tolist(),
        "accuracy": share(metrics.accuracy_score), "precision_of_1": share(metrics.precision_score),
        "recall_of_1": share(metrics.recall_score), "f1_of_1": share(metrics.f1_score),
    }


cases = [
    case("no two scores equal", 1, 200, 0, "none"),
    case("many scores equal", 2, 300, 4, "none"),
    case("weights 0 to 3", 3, 200, 4, "whole"),
    case("any weights", 4, 300, 0, "any"),
    case("any weights, many scores equal", 5, 200, 2, "any"),
]
with open("sklearn_metrics.json", "w") as out:
    out.write('{"sklearn":%s,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c) for c in cases) + "\n]}\n")
