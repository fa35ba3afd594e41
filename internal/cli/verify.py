# Verifies what "halfspace check --json" printed against the CSV file that it read, in fractions:
#   python3 verify.py proof.json train.csv LABEL POSITIVE
import csv, json, sys
from fractions import Fraction

proof, label, positive = json.load(open(sys.argv[1])), sys.argv[3], sys.argv[4]
rows = []  # of the file, each times its label
for line in csv.DictReader(open(sys.argv[2])):
    y = 1 if line[label] == positive else -1
    x = [Fraction(float(line[name])) for name in proof["features"]]  # the numbers of float64, exactly
    rows.append([y * v for v in x + [1] * proof["fit_bias"]])

if proof["separable"]:
    plane = proof.get("exact_weights") or proof["weights"] + [proof["bias"]] * proof["fit_bias"]
    holds = all(sum(Fraction(w) * v for w, v in zip(plane, row)) > 0 for row in rows)
else:
    weights = [(Fraction(w["weight"]), rows[w["row"]]) for w in proof["witness"]]
    sums = [sum(column) for column in zip(*([w * v for v in row] for w, row in weights))]
    holds = all(w > 0 for w, _ in weights) and not any(sums)
print("holds" if holds else "does not hold")
