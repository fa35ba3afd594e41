#!/usr/bin/env python3
"""Finds the optima of logistic regression and of support vector machines, apart from halfspace, as a yardstick for its solvers.

    optima.py DIR > optima.json

DIR holds what `go test -run TestOptima -export DIR ./bench` writes: for each problem NAME.json with its columns, and NAME.f64, the rows in
raw little-endian float64: features, label of -1 or +1, weight. The output has for each problem, loss and l2 the least objective that was found:
1/2 l2 |w|^2 + sum of weighted losses, the bias not penalised. All is float64, on columns less their means and divided by their deviations.

logistic: Newton's method with Armijo's rule. squared_hinge: Newton's method with an exact line search (Mangasarian, "A finite Newton method for
classification", 2002). hinge: a primal-dual interior point method with Mehrotra's corrector (Mehrotra 1992); "above" is its duality gap, which
proves how far above the optimum the objective may be at most. scikit-learn's answers count too where they are lower.
"""

import glob
import json
import os
import sys
import warnings

import numpy as np

LOSSES = ("logistic", "squared_hinge", "hinge")
PENALTIES = (1.0, 1e-3)


def prepare(path):
    with open(path) as f:
        info = json.load(f)
    rows = np.fromfile(path[:-5] + ".f64", dtype="<f8").reshape(-1, info["features"] + 2)
    rows = rows[rows[:, -1] > 0]
    x, y, c = rows[:, :-2], rows[:, -2], rows[:, -1]
    mean = x[0] + np.average(x - x[0], axis=0, weights=c)
    z = x - mean
    scale = np.sqrt(np.average(z * z, axis=0, weights=c))
    scale[scale == 0] = 1
    z /= scale
    return np.column_stack([z, np.ones(len(y))]) * y[:, None], y, c, scale


def solve(h, g):
    scale = 1 / np.sqrt(np.maximum(np.diag(h), 1e-300))
    values, vectors = np.linalg.eigh(h * scale[:, None] * scale)
    inverse = np.where(values > 1e-14 * values[-1], 1 / np.maximum(values, 1e-300), 0)
    return scale * (vectors @ (inverse * (vectors.T @ (scale * g))))


def logistic(a, c, p):
    def value(v):
        return v @ (p * v) / 2 + c @ np.logaddexp(0, -(a @ v))

    v = np.zeros(a.shape[1])
    f = value(v)
    for _ in range(500):
        q = 1 / (1 + np.exp(np.clip(a @ v, -700, 700)))
        g = p * v - a.T @ (c * q)
        step = solve(np.diag(p) + (a * (c * q * (1 - q))[:, None]).T @ a, g)
        slope = g @ step
        if slope <= 1e-14 * f:
            break
        t = 1.0
        while t > 1e-12 and value(v - t * step) > f - 1e-4 * t * slope:
            t /= 2
        new = value(v - t * step)
        if not new < f:
            break
        v, f = v - t * step, new
    return f, None


def squared_hinge(a, c, p):
    def value(v):
        u = np.maximum(0, 1 - a @ v)
        return v @ (p * v) / 2 + c @ (u * u)

    v = np.zeros(a.shape[1])
    f = value(v)
    for _ in range(500):
        u = 1 - a @ v
        on = u > 0
        g = p * v - 2 * a[on].T @ (c[on] * u[on])
        step = -solve(np.diag(p) + 2 * (a[on] * c[on][:, None]).T @ a[on], g)
        m, d = a @ v, a @ step

        def slope(t):
            r = 1 - m - t * d
            k = r > 0
            return step @ (p * (v + t * step)) - 2 * (c[k] * r[k]) @ d[k]

        lo, hi = 0.0, 1.0
        while slope(hi) < 0 and hi < 1e12:
            lo, hi = hi, 2 * hi
        for _ in range(100):
            mid = (lo + hi) / 2
            lo, hi = (mid, hi) if slope(mid) < 0 else (lo, mid)
        new = value(v + hi * step)
        if not new < f * (1 - 1e-15):
            break
        v, f = v + hi * step, new
    return f, None


def hinge(a, c, p):
    n, d = a.shape
    v, alpha = np.zeros(d), c / 2
    s, xi = np.ones(n), np.ones(n)  # a v - 1 + xi - s = 0; alpha s and (c - alpha) xi go to 0
    best, bound = np.inf, 0.0
    for _ in range(300):
        beta = c - alpha
        primal = v @ (p * v) / 2 + c @ np.maximum(0, 1 - a @ v)
        best = min(best, primal)
        bound = max(bound, dual(a, c, p, alpha))
        if best - bound <= 1e-10 * best:
            break
        rd, rp = p * v - a.T @ alpha, a @ v - 1 + xi - s
        mu = (alpha @ s + beta @ xi) / (2 * n)

        def direction(rs, rx):  # s dalpha + alpha ds = -rs, -xi dalpha + beta dxi = -rx
            theta = s / alpha + xi / beta
            r = -rp + rx / beta - rs / alpha  # a dv + theta dalpha = r
            dv = solve(np.diag(p) + (a / theta[:, None]).T @ a, -rd + a.T @ (r / theta))
            da = (r - a @ dv) / theta
            return dv, da, (-rs - s * da) / alpha, (-rx + xi * da) / beta

        def longest(da, ds, dx):
            t = 1.0
            for value, change in ((alpha, da), (beta, -da), (s, ds), (xi, dx)):
                k = change < 0
                if k.any():
                    t = min(t, (-value[k] / change[k]).min())
            return t

        dv, da, ds, dx = direction(alpha * s, beta * xi)
        t = longest(da, ds, dx)
        ahead = ((alpha + t * da) @ (s + t * ds) + (beta - t * da) @ (xi + t * dx)) / (2 * n)
        centre = mu * (ahead / mu) ** 3
        dv, da, ds, dx = direction(alpha * s + da * ds - centre, beta * xi - da * dx - centre)
        t = min(1, 0.995 * longest(da, ds, dx))
        v, alpha, s, xi = v + t * dv, alpha + t * da, s + t * ds, xi + t * dx
        if not (alpha.min() > 0 and (c - alpha).min() > 0 and s.min() > 0 and xi.min() > 0):
            break
    return best, best - bound


def dual(a, c, p, alpha):
    """The dual objective of a point that is made feasible: the sums of both classes are made equal."""
    positive = a[:, -1] > 0
    up, down = alpha[positive].sum(), alpha[~positive].sum()
    if min(up, down) <= 0:
        return 0.0
    alpha = np.where(positive, alpha * min(1, down / up), alpha * min(1, up / down))
    s = a.T[:-1] @ alpha
    return alpha.sum() - (s * s / p[:-1]).sum() / 2


def sklearn_value(loss, l2, a, y, c, scale):
    from sklearn.linear_model import LogisticRegression

    if loss != "logistic":
        return np.inf
    z = a[:, :-1] * y[:, None] * scale
    model = LogisticRegression(C=1 / l2, solver="newton-cholesky", tol=1e-10, max_iter=200)
    model.fit(z, y, sample_weight=c)
    w, b = model.coef_[0], model.intercept_[0]
    return l2 * w @ w / 2 + c @ np.logaddexp(0, -y * (z @ w + b))


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    answers = {}
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.json"))):
        name = os.path.basename(path)[:-5]
        a, y, c, scale = prepare(path)
        for loss in LOSSES:
            for l2 in PENALTIES:
                p = np.append(l2 / scale**2, 0)
                value, above = {"logistic": logistic, "squared_hinge": squared_hinge, "hinge": hinge}[loss](a, c, p)
                answer = {"objective": value}
                if above is not None:
                    answer["above"] = above
                theirs = sklearn_value(loss, l2, a, y, c, scale)
                if theirs < value:
                    answer["objective"], answer["by"] = theirs, "scikit-learn"
                answers[f"{name} {loss} {l2:g}"] = answer
                print(name, loss, l2, answer, file=sys.stderr)
    json.dump(answers, sys.stdout, indent=0, sort_keys=True)
    print()


main()
