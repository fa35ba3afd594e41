"""Times of `fit` beside scikit-learn, medians of runs in turn: python3 python/times.py [ROWS COLUMNS]..."""

from __future__ import annotations

import os
import statistics
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ.setdefault("HALFSPACE_BINARY", str(HERE.parent / "bin" / "halfspace"))
sys.path.insert(0, str(HERE))

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.svm import LinearSVC

import halfspace

PAIRS = {
    "LogisticRegression": (halfspace.LogisticRegression(), LogisticRegression()),
    "LinearSVC": (halfspace.LinearSVC(), LinearSVC(dual=False)),
    "LDA": (halfspace.LDA(), LinearDiscriminantAnalysis(solver="lsqr")),
    "Perceptron(max_iter=5)": (halfspace.Perceptron(max_iter=5), Perceptron(max_iter=5, tol=None)),
    "AveragedPerceptron(max_iter=5)": (halfspace.AveragedPerceptron(max_iter=5), SGDClassifier(loss="perceptron", average=True, max_iter=5, tol=None)),
    "AdaGrad(max_iter=5)": (halfspace.AdaGrad(max_iter=5), SGDClassifier(loss="log_loss", max_iter=5, tol=None)),
    "FTRL(max_iter=5)": (halfspace.FTRL(max_iter=5), SGDClassifier(loss="log_loss", max_iter=5, tol=None)),
}


def tables(X):
    """Return the kinds of tables that are there, with the same numbers."""
    yield "float32", X
    yield "float64", X.astype(np.float64)
    names = [f"f{i}" for i in range(X.shape[1])]
    for library in "pandas", "polars", "pyarrow":
        try:
            module = __import__(library)
        except ImportError:
            continue
        make = module.table if library == "pyarrow" else module.DataFrame
        yield library, make({name: np.ascontiguousarray(X[:, i]) for i, name in enumerate(names)})


def seconds(estimator, X, y):
    begin = time.perf_counter()
    estimator.fit(X, y)
    return time.perf_counter() - begin


def main():
    warnings.simplefilter("ignore")
    shapes = [tuple(map(int, sys.argv[i:i + 2])) for i in range(1, len(sys.argv), 2)] or [(1000, 20), (100_000, 28), (1_000_000, 28)]
    for rows, columns in shapes:
        random = np.random.RandomState(0)
        X = random.normal(size=(rows, columns)).astype(np.float32)
        y = (X @ random.normal(size=columns) + 2 * random.normal(size=rows) > 0).astype(np.int64)
        kinds = list(tables(X))
        print(f"| {rows:,} x {columns}, ms | " + " | ".join(kind for kind, _ in kinds) + " |\n|" + "---|" * (1 + len(kinds)))
        for name, pair in PAIRS.items():
            cells = []
            for _, table in kinds:
                runs = [[seconds(estimator, table, y) for estimator in pair] for _ in range(31 if rows <= 1000 else 7 if rows <= 100_000 else 3)]
                ours, theirs = (1000 * statistics.median(times) for times in zip(*runs))
                cells.append(f"{ours:.1f} against {theirs:.1f}, {theirs / ours:.1f}x")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
