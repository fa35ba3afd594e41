#!/usr/bin/env python3
"""Fits scikit-learn's OneVsRestClassifier of LogisticRegression to iris and writes its weights, probabilities and errors to
sklearn_ovr.json.

The objective is 1/2 |w|^2 + C * sum of losses for each class, so l2 = 1/C here. Iris is the set of sklearn.datasets, whose rows are those
of examples/iris.parquet.

Run it in this directory: /usr/bin/python3 sklearn_ovr.py
"""

import json

import sklearn
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

x, y = load_iris(return_X_y=True)
cases = []
for l2 in [0.1, 1]:
    model = OneVsRestClassifier(LogisticRegression(C=1 / l2, solver="newton-cg", tol=1e-12, max_iter=10000)).fit(x, y)
    cases.append({
        "l2": l2,
        "weights": [e.coef_[0].tolist() for e in model.estimators_],
        "bias": [e.intercept_[0] for e in model.estimators_],
        "probabilities": model.predict_proba(x)[::10].tolist(),  # of each tenth row
        "errors": int((model.predict(x) != y).sum()),
    })
with open("sklearn_ovr.json", "w") as f:
    json.dump({"sklearn": sklearn.__version__, "cases": cases}, f)
    f.write("\n")
