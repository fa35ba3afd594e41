# Verifies what "halfspace check --json" printed against the CSV file that it read, in fractions:
#   python3 verify.py proof.json train.csv LABEL POSITIVE
# LABEL is what --label was: a name, a number from 1 on, or last. The file needs no header.
import csv, json, struct, sys
from fractions import Fraction

def single(text):  # rounded to float32, as training holds rows
    return struct.unpack("f", struct.pack("f", float(text)))[0]

proof, label, positive = json.load(open(sys.argv[1])), sys.argv[3], sys.argv[4]
with open(sys.argv[2], encoding="utf-8-sig", newline="") as file:
    lines = [[field.strip() for field in line] for line in csv.reader(file) if line]
names = ["c%d" % (i + 1) for i in range(len(lines[0]))]  # of columns without a header
if set(proof["features"]) <= set(lines[0]):
    names = lines.pop(0)
if label not in names:
    label = names[-1 if label == "last" else int(label) - 1]
for name in proof["features"]:
    if name not in names:
        sys.exit("%s is no column of numbers, and these lines verify such features only: check with --prepare none" % name)
rows = []  # of the file, each times its label
for line in lines:
    line = dict(zip(names, line))
    y = 1 if line[label] == positive else -1
    x = [Fraction(single(line[name])) for name in proof["features"]]  # the numbers of float32, exactly
    rows.append([y * v for v in x + [1] * proof["fit_bias"]])

if proof["separable"]:
    plane = proof.get("exact_weights") or proof["weights"] + [proof["bias"]] * proof["fit_bias"]
    holds = all(sum(Fraction(w) * v for w, v in zip(plane, row)) > 0 for row in rows)
else:
    weights = [(Fraction(w["weight"]), rows[w["row"]]) for w in proof["witness"]]
    sums = [sum(column) for column in zip(*([w * v for v in row] for w, row in weights))]
    holds = all(w > 0 for w, _ in weights) and not any(sums)
print("holds" if holds else "does not hold")
