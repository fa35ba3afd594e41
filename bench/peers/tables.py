#!/usr/bin/env python3
"""Prints the table of docs/measurements/tables.md: halfspace, scikit-learn and skrub on public tables, in the same folds.

    tables.py FOLDER [NAME]

FOLDER has clones of https://github.com/mwaskom/seaborn-data and https://github.com/vincentarelbundock/Rdatasets, and in UCI the files
bank-marketing.csv and credit-default.csv with the columns of archive.ics.uci.edu, datasets 222 and 350. NAME chooses the tables
with this text in their names. Needs pandas, scikit-learn, skrub, and halfspace in the PATH.

halfspace takes the whole file without an option of columns or learner, and a further column that names each row's fold. skrub (TableVectorizer) takes
all columns but those that count the rows. scikit-learn also lacks constant columns and texts of which nine of ten differ.
Means over the tables are of those that ran.
"""

import csv
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from skrub import tabular_pipeline

S, R = "seaborn-data", "Rdatasets"
TABLES = [
    (S, "raw/titanic", "survived"), (S, "titanic", "survived"), (S, "penguins", "species"), (R, "datasets/penguins_raw", "Sex"),
    (S, "mpg", "origin"), (S, "tips", "smoker"), (S, "taxis", "payment"), (S, "diamonds", "cut"), (R, "ISLR/Caravan", "Purchase"),
    (R, "ISLR/OJ", "Purchase"), (R, "ISLR/Default", "default"), (R, "ISLR/College", "Private"), (R, "ISLR/Smarket", "Direction"),
    (R, "MASS/biopsy", "class"), (R, "MASS/birthwt", "low"), (R, "MASS/Pima.tr2", "type"), (R, "MASS/crabs", "sp"),
    (R, "MASS/Cars93", "Origin"), (R, "MLDataR/heartdisease", "HeartDisease"), (R, "MLDataR/stroke_classification", "stroke"),
    (R, "AER/CreditCard", "card"), (R, "carData/TitanicSurvival", "survived"), (R, "carData/Mroz", "lfp"), (R, "DAAG/spam7", "yesno"),
    (R, "DAAG/possum", "sex"), (R, "dplyr/starwars", "gender"), (R, "OncoDataSets/RotterdamBreastCancer_df", "death"),
    (R, "AER/ResumeNames", "call"), (R, "datasets/iris", "Species"), (R, "ISLR/Hitters", "League"),
    ("UCI", "bank-marketing", "y"), ("UCI", "credit-default", "Y"),
]


def folds_of(labels, seed):
    """Returns the fold of each row, -1 without a label."""
    folds, known = np.full(len(labels), -1), np.flatnonzero(labels.notna())
    splits = StratifiedKFold(5, shuffle=True, random_state=seed).split(known, labels[known])
    for fold, (_, held) in enumerate(splits):
        folds[known[held]] = fold
    return folds


def halfspace(path, label, folds):
    """Returns the share of right rows of halfspace train --cv 5, whose folds are the groups of one more column."""
    with open(path, encoding="utf-8-sig", newline="") as file, tempfile.TemporaryDirectory() as folder:
        rows = list(csv.reader(file))
        with open(f"{folder}/t.csv", "w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([rows[0] + ["fold of the row"]] + [r + [f"fold{f}"] for r, f in zip(rows[1:], folds)])
        done = subprocess.run(["halfspace", "train", f"{folder}/t.csv", "--label", label, "--cv", "5", "--group", "fold of the row", "--out",
                               f"{folder}/m.json", "--quiet"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{path}: {done.stderr}")
        held = json.loads(Path(f"{folder}/m.json").read_text())
        return 1 - held["training"]["cross_validation"]["errors"] / held["data"]["rows"]


def accuracy(model, x, y, folds):
    """Returns the share of right rows, each predicted by a model of the other folds."""
    right = 0
    for fold in range(5):
        learn, test = (folds != fold) & (folds >= 0), folds == fold
        right += (model.fit(x[learn], y[learn]).predict(x[test]) == y[test]).sum()
    return right / (folds >= 0).sum()


def counts(column):
    return pd.api.types.is_integer_dtype(column) and (column.diff().dropna() == 1).all()


def usual(column):
    """Tells whether the usual pipeline of scikit-learn takes a column."""
    texts = not pd.api.types.is_numeric_dtype(column) and column.nunique() > 0.9 * column.count()
    return column.nunique() > 1 and not texts


def logistic():
    return LogisticRegression(max_iter=10000)


def pipeline():
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore")
    both = make_column_transformer((numbers, make_column_selector(dtype_include="number")), (texts, make_column_selector(dtype_exclude="number")))
    return make_pipeline(both, logistic())


def main():
    warnings.simplefilter("ignore")
    print("| table | rows | label | halfspace | scikit-learn | skrub |\n|---|---|---|---|---|---|")
    figures = []
    for source, name, label in TABLES:
        if len(sys.argv) > 2 and sys.argv[2] not in name:
            continue
        path = Path(sys.argv[1], source, "csv" if source == R else ".", name + ".csv")
        table = pd.read_csv(path)
        labels = table.pop(label)
        y = labels.astype(str).to_numpy()
        x = table.drop(columns=[c for c in table if counts(table[c])])
        plain = x[[c for c in x if usual(x[c])]]
        plain = plain.astype({c: "float" for c in plain if pd.api.types.is_bool_dtype(plain[c])})
        runs = []
        for seed in range(1, 2 if len(table) >= 20000 else 4):
            folds = folds_of(labels, seed)
            runs.append([halfspace(path, label, folds), accuracy(pipeline(), plain, y, folds), accuracy(tabular_pipeline(logistic()), x, y, folds)])
        figures.append(100 * np.mean(runs, axis=0))
        print(f"| {source} {name} | {len(table):,} | {label} | " + " | ".join(f"{v:.2f}" for v in figures[-1]) + " |", flush=True)
    all = np.array(figures)
    print(f"| mean of {len(all)} | | | " + " | ".join(f"{v:.2f}" for v in all.mean(axis=0)) + " |")


main()
