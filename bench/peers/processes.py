#!/usr/bin/env python3
"""Prints how long whole processes take, from a file to a model and from a file to predictions: a table in Markdown.

    processes.py [ROWS [FEATURES [ROUNDS]]]

Needs pandas, polars, pyarrow, scikit-learn and vowpalwabbit (pip install them), and halfspace in the PATH. The rows,
1,000,000 of 28 float32 by default, are normal numbers in a Parquet file of pandas; a plane tells the classes apart, and one
label of ten is wrong. Programs take turns, ROUNDS times (3), and times are medians, from the start of a process to its end.
`make bench-peers` times perceptrons in the same way.
"""

import importlib.metadata
import statistics
import subprocess
import sys
import tempfile
import time

import joblib
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

rows, features, rounds = (int(v) for v in (sys.argv[1:] + ["1000000", "28", "3"][len(sys.argv) - 1:]))
TRAIN, PREDICT = "train x.parquet --label y --quiet --out own.json", "predict x.parquet --model own.json --quiet --out "
READ = {"pandas": "import pandas as pd\nt = pd.read_parquet('x.parquet')\ny = t.pop('y').to_numpy()\nx = t.to_numpy()\n",
        "polars": "import polars as pl\nt = pl.read_parquet('x.parquet')\ny = t['y'].to_numpy()\nx = t.drop('y').to_numpy()\n"}
FIT = "from sklearn.linear_model import *\nimport joblib\njoblib.dump(LogisticRegression().fit(x, y), 'theirs.pkl')\n"
SCORE = "import joblib\np = joblib.load('theirs.pkl').predict_proba(x)[:, 1]\n"
WRITE = {"pandas": "pd.DataFrame({'p': p}).to_", "polars": "pl.DataFrame({'p': p}).write_"}
WRITTEN = {("pandas", "csv"): "csv('out.csv', index=False)", ("pandas", "parquet"): "parquet('out.parquet')",
           ("polars", "csv"): "csv('out.csv')", ("polars", "parquet"): "parquet('out.parquet')"}


def jobs():
    """Yields a name, the arguments of halfspace, and the name and the command of a peer."""
    python = lambda text: [sys.executable, "-c", text]
    yield "train: logistic", f"{TRAIN} --algo logistic --l2 1", "polars, scikit-learn", python(READ["polars"] + FIT)
    yield ("train: logistic, one pass of SGD over text", "train x.svm --quiet --out text.json --algo adagrad --epochs 1", "vowpalwabbit",
           [sys.executable, "-m", "vowpalwabbit", "-d", "x.vw", "--loss_function", "logistic", "-f", "theirs.vw", "--quiet"])
    for kind in ("csv", "parquet"):
        for library in READ:
            yield (f"predict: probabilities to {kind}", f"{PREDICT}own.{kind} --proba", f"{library}, scikit-learn",
                   python(READ[library] + SCORE + WRITE[library] + WRITTEN[library, kind]))


def write(folder):
    """Writes the rows as Parquet and as text, and scikit-learn's model."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, features), dtype=np.float32)
    y = ((x @ rng.standard_normal(features, dtype=np.float32) > 0) ^ (rng.random(rows) < 0.1)).astype(np.int64)
    table = pd.DataFrame(x, columns=[f"x{i}" for i in range(features)])
    table["y"] = y
    table.to_parquet(f"{folder}/x.parquet")
    joblib.dump(LogisticRegression().fit(x, y), f"{folder}/theirs.pkl")
    with open(f"{folder}/x.svm", "w") as svm, open(f"{folder}/x.vw", "w") as vw:
        for row, label in zip(x.tolist(), y):
            pairs = " ".join(f"{i + 1}:{v:.6g}" for i, v in enumerate(row))
            svm.write(f"{label} {pairs}\n")
            vw.write(f"{2 * label - 1} | {pairs}\n")


def seconds(command, folder):
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return time.perf_counter() - start


def main():
    print(", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("pandas", "polars", "scikit-learn", "vowpalwabbit")) + "\n")
    print("| whole process | halfspace, s | beside | s | times as long |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        for name, own, peer, command in jobs():
            turns = [(seconds(["halfspace", *own.split()], folder), seconds(command, folder)) for _ in range(rounds)]
            ours, theirs = (statistics.median(t[side] for t in turns) for side in (0, 1))
            print(f"| {name} | {ours:.3f} | {peer} | {theirs:.3f} | {theirs / ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
