# Predicts the rows of a CSV file with a linear model of two classes, as "halfspace predict" does:
#   python3 score.py model.json rows.csv
import csv, json, struct, sys

def narrow(x):  # to float32
    return struct.unpack("f", struct.pack("f", x))[0]

def features(row):
    if "preprocessing" not in model:
        return [narrow(float(row[name])) for name in model["features"]]
    x = []
    for column in model["preprocessing"]["columns"]:
        text = row.get(column["name"])
        if column["kind"] == "onehot":
            x += [float(text == category) for category in column["categories"]]
        elif column["kind"] in ("hash", "cross"):
            from xxh3 import xxh3
            if column["kind"] == "cross":
                text = b"\xff".join(row[part["name"]].encode() for part in column["of"])
            own = xxh3(text) % 2 ** column["hash_bits"]
            buckets = column.get("buckets") or range(2 ** column["hash_bits"])
            x += [float(bucket == own) for bucket in buckets]
        elif column["kind"] == "number":
            missing = text in ("", "NA")
            value = column["means"][0] if missing and "means" in column else float(text)
            if "center" in column:
                value = (value - column["center"][0]) / column["scale"][0]
            x.append(narrow(value))
    return x

model = json.load(open(sys.argv[1]))
bias = (model["bias"] or [0])[0]
if "sparse_weights" in model:
    weights = [0] * len(model["features"])
    for feature, weight in zip(model["sparse_weights"][0]["features"], model["sparse_weights"][0]["weights"]):
        weights[feature] = weight
else:
    weights = model["weights"][0]
negative = [c for c in model["classes"] if c != model["positive"]][0]
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["prediction"])
for row in csv.DictReader(open(sys.argv[2])):
    score = sum(w * v for w, v in zip(weights, features(row))) + bias
    out.writerow([model["positive"] if score > model.get("threshold", 0) else negative])
