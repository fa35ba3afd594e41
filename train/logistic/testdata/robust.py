"""Writes robust.json: the sandwich standard errors, by NumPy, of the cases in sklearn_logistic.json at the optimum that is found there.

H^-1 B H^-1 with H = X' diag(k p (1 - p)) X + l2 I (the bias not penalised) and B = X' diag((k (p - t))^2) X, for rows of weight k and
classes t of 0 and 1: what statsmodels calls HC0, with scores of rows as they are weighed.
"""

import json

import numpy as np

cases = []
with open("sklearn_logistic.json") as f:
    for c in json.load(f)["cases"]:
        x, y = np.array(c["x"], float), np.array(c["y"], float)
        k = np.ones(len(y))
        if c.get("sample_weight"):
            k = k * np.array(c["sample_weight"])
        if c.get("class_weight"):
            k = k * np.array(c["class_weight"])[(y > 0).astype(int)]
        features = x.shape[1]
        if c["fit_intercept"]:
            x = np.hstack([x, np.ones((len(y), 1))])
        w, t = np.array(c["weights"]), (y > 0).astype(float)
        penalty = np.diag([c["l2"]] * features + [0.0] * (x.shape[1] - features))
        for _ in range(5):  # to the last digit of the optimum
            p = 1 / (1 + np.exp(-x @ w))
            h = (x * (k * p * (1 - p))[:, None]).T @ x + penalty
            w = w - np.linalg.solve(h, x.T @ (k * (p - t)) + penalty @ w)
        b = (x * ((k * (p - t)) ** 2)[:, None]).T @ x
        inverse = np.linalg.inv(h)
        cases.append({"name": c["name"], "std_errors": list(np.sqrt(np.diag(inverse @ b @ inverse)))})
with open("robust.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
