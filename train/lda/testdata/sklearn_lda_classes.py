#!/usr/bin/env python3
"""Fits scikit-learn's LinearDiscriminantAnalysis to rows of several classes and writes data and results to sklearn_lda_classes.json.

Coefficients of solver="lsqr" are S^-1 m_k. The fixture has S^-1 (m_k - m) with the mean m of all rows, which are those of
solver="svd", but that this divides S by n - K instead of n: from each the same vector is taken, and from the intercepts the same
number, which changes no probability. The script checks that against "svd" where nothing is shrunk. Directions and their shares are those of solver="eigen"; signs are such that
the last class is on the greater side. Features are rounded to float32, so that both element types have the same rows. Iris and wine
are the sets of sklearn.datasets.

Run it in this directory: /usr/bin/python3 sklearn_lda_classes.py
"""

import json

import numpy
import sklearn
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


def drawn(seed, rows, features, classes, offset=0):
    rng = numpy.random.RandomState(seed)
    y = rng.randint(classes, size=rows)
    x = rng.normal(size=(rows, features)) + 0.5 * rng.normal(size=(rows, 1)) + offset
    x += rng.normal(size=(classes, features))[y]
    return x * numpy.resize([1, 0.1, 10, 3], features), y


def case(name, x, y, shrinkage=None):
    x = x.astype(numpy.float32).astype(float)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(x, y)
    classes = len(model.classes_)
    mean = model.priors_ @ model.means_
    coef, intercept = model.coef_, model.intercept_
    if classes > 2:
        common = model.priors_ @ coef
        coef, intercept = coef - common, intercept + mean @ common / 2
    result = {"name": name, "classes": classes, "shrinkage": shrinkage or 0, "coef": coef.ravel().tolist(),
              "intercept": intercept.tolist(), "proba": model.predict_proba(x[:3]).ravel().tolist(), "y": y.tolist(), "x": x.tolist()}
    if shrinkage is None:
        svd = LinearDiscriminantAnalysis(solver="svd").fit(x, y)
        priors = numpy.log(model.priors_) if classes > 2 else numpy.log(model.priors_[1] / model.priors_[0])
        factor = (len(x) - classes) / len(x)
        for a, b in (coef * factor, svd.coef_), ((intercept - priors) * factor + priors, svd.intercept_):
            error = abs(a - b).max() / abs(a).max()
            print("%-30s %.1e" % (name, error))
            assert error < 1e-7, name
        eigen = LinearDiscriminantAnalysis(solver="eigen").fit(x, y)
        v = eigen.scalings_[:, :min(classes - 1, x.shape[1])].T
        v = numpy.array([row * numpy.sign(row @ (model.means_[-1] - mean)) for row in v])
        result["projection"] = v.tolist()
        result["explained"] = eigen.explained_variance_ratio_[:len(v)].tolist()
    return result


CASES = [
    case("iris", *load_iris(return_X_y=True)),
    case("wine", *load_wine(return_X_y=True)),
    case("200 x 3, 5 classes", *drawn(1, 200, 3, 5)),
    case("200 x 2, 4 classes", *drawn(2, 200, 2, 4)),
    case("100 x 4, 2 classes", *drawn(3, 100, 4, 2)),
    case("300 x 4 far from zero", *drawn(4, 300, 4, 3, offset=4000)),
    case("iris, shrinkage 0.3", *load_iris(return_X_y=True), shrinkage=0.3),
    case("100 x 4, 2 classes, 1", *drawn(5, 100, 4, 2), shrinkage=1.0),
    case("iris, auto", *load_iris(return_X_y=True), shrinkage="auto"),
    case("wine, auto", *load_wine(return_X_y=True), shrinkage="auto"),
    case("40 x 30, 2 classes, auto", *drawn(6, 40, 30, 2), shrinkage="auto"),
    case("60 x 20 away from zero, auto", *drawn(7, 60, 20, 3, offset=300), shrinkage="auto"),
    case("90 x 1, auto", *drawn(8, 90, 1, 3), shrinkage="auto"),
]

with open("sklearn_lda_classes.json", "w") as out:
    out.write('{"sklearn":%s,"cases":[\n' % json.dumps(sklearn.__version__))
    out.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES))
    out.write("\n]}\n")
