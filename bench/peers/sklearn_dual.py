#!/usr/bin/env python3
"""Times numpy's Gram matrix and scikit-learn's Perceptron on arrays in raw little-endian float32.

    sklearn_dual.py DIR FEATURES      answers requests, one line of JSON each, with one line of JSON each

DIR holds x.f32, the features row by row, and y.f32, the labels. A request is {"epochs": n}; the answer has the seconds that
x @ x.T took, in float32, those of fit in file order, and the accuracy. The arrays are in memory before.
"""

import json
import os
import sys
import time

import numpy
import sklearn
from sklearn.linear_model import Perceptron


def main():
    folder, features = sys.argv[1], int(sys.argv[2])
    x = numpy.fromfile(os.path.join(folder, "x.f32"), dtype="<f4").reshape(-1, features)
    y = numpy.fromfile(os.path.join(folder, "y.f32"), dtype="<f4").astype(numpy.int8)
    wide = x.astype(numpy.float64)  # what older versions compute in
    print(json.dumps({"sklearn": sklearn.__version__, "numpy": numpy.__version__, "rows": len(y)}), flush=True)
    for line in sys.stdin:
        epochs = json.loads(line)["epochs"]
        start = time.perf_counter()
        gram = x @ x.T
        seconds = time.perf_counter() - start
        del gram
        model = Perceptron(max_iter=epochs, tol=None, shuffle=False)
        start = time.perf_counter()
        model.fit(wide, y)
        taken = time.perf_counter() - start
        print(json.dumps({"gram": seconds, "seconds": taken, "accuracy": model.score(wide, y)}), flush=True)


main()
