#!/usr/bin/env python3
"""Times scikit-learn's perceptron, averaged or not, on arrays in raw little-endian float32.

    sklearn_perceptron.py DIR FEATURES                answers requests, one line of JSON each, with one line of JSON each
    sklearn_perceptron.py DIR FEATURES EPOCHS ORDER   trains once, in an order of cyclic or shuffle, and prints one line of JSON

DIR holds x.f32, the features row by row, and y.f32, the labels. A request is {"shuffle": bool, "average": bool, "epochs":
n}; the answer has the seconds that fit took and the accuracy of the result, which is taken after the clock has stopped.
The arrays are in memory before, in the element type on which the installed version is faster: older versions compute in
float64 only, and converting float32 to it isn't charged to them.
"""

import json
import os
import sys
import time

import numpy
import sklearn
from sklearn.linear_model import SGDClassifier


def load(folder, features):
    x = numpy.fromfile(os.path.join(folder, "x.f32"), dtype="<f4").reshape(-1, features)
    return x, numpy.fromfile(os.path.join(folder, "y.f32"), dtype="<f4").astype(numpy.int8)


def fit(x, y, epochs, shuffle, average=False):
    # What Perceptron is in scikit-learn, which has no average.
    model = SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=1, max_iter=epochs, tol=None,
                          shuffle=shuffle, average=average, random_state=1)
    start = time.perf_counter()
    model.fit(x, y)
    return model, time.perf_counter() - start


def serve(x, y):
    arrays = [x, x.astype(numpy.float64)]
    x = min(arrays, key=lambda a: min(fit(a, y, 2, False)[1] for _ in range(2)))
    del arrays
    hello = {"sklearn": sklearn.__version__, "numpy": numpy.__version__, "dtype": str(x.dtype), "rows": len(y)}
    print(json.dumps(hello), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        model, seconds = fit(x, y, request["epochs"], request["shuffle"], request["average"])
        print(json.dumps({"seconds": seconds, "accuracy": model.score(x, y)}), flush=True)


def main():
    x, y = load(sys.argv[1], int(sys.argv[2]))
    if len(sys.argv) == 3:
        serve(x, y)
        return
    model, seconds = fit(x, y, int(sys.argv[3]), sys.argv[4] == "shuffle")
    print(json.dumps({"seconds": seconds, "weights": model.coef_[0].tolist(), "bias": model.intercept_[0]}))


main()
