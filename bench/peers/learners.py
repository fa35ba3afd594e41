#!/usr/bin/env python3
"""Prints how long halfspace and the learners of PyPI take to train on the same rows: a table in Markdown.

    learners.py [ROWS [FEATURES [ROUNDS]]]

Needs scikit-learn, snapml, xgboost, glum and skglm (pip install them), and halfspace in the PATH. The rows, 1,000,000 of 28 float32
by default, are normal numbers; a plane tells the classes apart, and one label of ten is wrong. Programs take turns, ROUNDS times (3), and
times are medians. A time is that of the training alone: of fit in Python, without conversions made before; "train" in the report
of halfspace. Accuracies are of the training rows.
"""

import importlib.metadata
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import glum
import numpy as np
import skglm
import snapml
import xgboost
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.svm import LinearSVC

rows, features, rounds = (int(v) for v in (sys.argv[1:] + ["1000000", "28", "3"][len(sys.argv) - 1:]))
online = {"max_iter": 10, "tol": None}
PEERS = [
    ("perceptron, 10 epochs", "--algo perceptron --epochs 10", [("scikit-learn", lambda: Perceptron(shuffle=False, **online))]),
    ("the same, shuffled", "--algo perceptron --epochs 10 --order shuffle", [("scikit-learn", lambda: Perceptron(**online))]),
    ("averaged, 10 epochs", "--algo averaged --epochs 10",
     [("scikit-learn", lambda: SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=1, average=True,
                                             shuffle=False, **online))]),
    ("logistic", "--algo logistic --l2 1",
     [("scikit-learn", LogisticRegression), ("scikit-learn", lambda: LogisticRegression(solver="newton-cholesky")),
      ("snapml", lambda: snapml.LogisticRegression(n_jobs=2)),
      ("glum", lambda: glum.GeneralizedLinearRegressor(family="binomial", alpha=1 / rows)),
      ("xgboost", lambda: xgboost.XGBClassifier(booster="gblinear", n_jobs=2))]),
    ("logistic, l1 1", "--algo logistic --l1 1 --l2 0", [("skglm", lambda: skglm.SparseLogisticRegression(alpha=1 / rows))]),
    ("svm, squared hinge", "--algo svm --loss squared_hinge --l2 1",
     [("scikit-learn", lambda: LinearSVC(dual=False)), ("snapml", lambda: snapml.SupportVectorMachine(n_jobs=2))]),
    ("lda", "--algo lda", [("scikit-learn", LinearDiscriminantAnalysis)]),
]


def halfspace(folder, options):
    """Returns the seconds of a training, and the accuracy."""
    done = subprocess.run(["halfspace", "train", f"{folder}/x.npy", "--labels", f"{folder}/y.npy", *options.split(), "--out",
                           f"{folder}/m.json", "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    report = json.loads(done.stdout)
    return report["seconds"]["train"], report["train_accuracy"]


def fitted(make, x, y):
    """Returns the seconds of fit, and the accuracy."""
    learner = make()
    start = time.perf_counter()
    learner.fit(x, y)
    seconds = time.perf_counter() - start
    if isinstance(learner, glum.GeneralizedLinearRegressor):
        return seconds, float(np.mean((learner.predict(x) > 0.5) == (y > 0)))
    return seconds, float(np.mean((learner.predict(x) > 0) == (y > 0)))


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, features), dtype=np.float32)
    y = ((x @ rng.standard_normal(features, dtype=np.float32) > 0) ^ (rng.random(rows) < 0.1)).astype(np.int64)
    print("| training | halfspace, s | accuracy | beside | s | accuracy | times as long |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", x)
        np.save(f"{folder}/y.npy", y)
        for name, options, peers in PEERS:
            for package, make in peers:
                turns = [(halfspace(folder, options), fitted(make, x, y)) for _ in range(rounds)]
                own, other = (statistics.median(t[side][0] for t in turns) for side in (0, 1))
                learner = type(make()).__name__
                print(f"| {name} | {own:.3f} | {turns[0][0][1]:.4f} | {package} {importlib.metadata.version(package)} {learner} | {other:.3f} "
                      f"| {turns[0][1][1]:.4f} | {other / own:.1f} |", flush=True)


if __name__ == "__main__":
    main()
