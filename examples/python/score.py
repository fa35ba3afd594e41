# Predicts the rows of a CSV file with a linear model of two classes, as "halfspace predict" does:
#   python3 score.py model.json rows.csv
import csv, json, re, struct, sys, unicodedata

def written(text, point):  # the number in a text such as $1,234.5, 1 234,5 or (3.50); None: there is none. point is the decimal mark
    text = "".join("$" if unicodedata.category(c) == "Sc" else c for c in text)
    P, G = re.escape(point), re.escape(",." [point == ","])
    space, exponent = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000", "(?:[eE][-+]?[0-9]+)?"
    forms = [rf"\+?[0-9]*(?:{P}[0-9]*)?{exponent}"]
    forms += [rf"(?:\+[0-9]{{0,2}}|[0-9]{{1,3}})(?:{G}[0-9]{{3}})*{G}(?:[0-9]{{3}}(?:{P}[0-9]*{exponent})?|[0-9][eE][0-9]|[eE][-+][0-9]|[eE][0-9]{{2}})"]
    forms += [rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+(?:{P}[0-9]*)?" for mark in " \xa0\u202f\u2009'\u2019"]
    ends = rf"(?:%[{space}]*(?P<close>\)[{space}]*)?|(?P<closed>\))[{space}$]*(?:%[{space}]*)?)?"
    m = re.fullmatch(rf"[{space}$]*(?P<sign>[-\u2212(])?[{space}$]*(?P<digits>{'|'.join(forms)})(?:[{space}]*(?P<letter>[kKMBT]))?(?P<minus>[-\u2212])?[{space}$]*{ends}", text)
    if not m or m["sign"] and m["minus"] or (m["sign"] == "(") != bool(m["close"] or m["closed"]):
        return None
    digits, letter = re.sub(f"[{G} \xa0\u202f\u2009'\u2019]", "", m["digits"]).replace(point, "."), m["letter"]
    if letter and "e" in digits.lower() or m["sign"] == "(" and digits.startswith("+") or not re.search("[0-9]", digits):
        return None
    try:
        value = float(digits + {None: "", "k": "e3", "K": "e3", "M": "e6", "B": "e9", "T": "e12"}[letter])
    except ValueError:
        return None
    return None if value - value else -value if m["sign"] or m["minus"] else value

def narrow(x):  # to float32
    return struct.unpack("f", struct.pack("f", x))[0]

def number(column, text):  # the number in a column of the kind number; None: it is missing
    derive = column.get("derive")
    if derive not in (None, "plain", "comma", "yes", "missing"):
        sys.exit(f"column {column['name']}: this program derives no {derive}")
    if derive == "missing":
        others = [c for c in model["preprocessing"]["columns"] if c["name"] == column["name"] and c["kind"] == "number" and c is not column]
        return float((number(others[0], text) if others else text.strip()) in (None, "", "NA"))
    if text in ("", "NA"):
        return None
    if derive == "yes":
        return {w: i // 5 for i, w in enumerate("no false n f off yes true y t on".split())}.get(text.strip().lower())
    return written(text, "." if derive == "plain" else ",") if derive else float(text)

def features(row):
    if "preprocessing" not in model:
        return [narrow(float(row[name])) for name in model["features"]]
    x = []
    for column in model["preprocessing"]["columns"]:
        text = row.get(column["name"])
        if column["kind"] in ("list", "numbered") or "values" in column or any("values" in part for part in column.get("of", [])):
            sys.exit(f"column {column['name']}: this program reads no lists, no numbered columns, and categories that are texts alone")
        if column["kind"] == "onehot":
            x += [float(text == category) for category in column["categories"]]
        elif column["kind"] in ("hash", "cross"):
            from xxh3 import xxh3
            if column["kind"] == "cross":
                text = b"\xff".join(row[part["name"]].encode() for part in column["of"])
            own = xxh3(text) % 2 ** column["hash_bits"]
            buckets = column.get("buckets") or range(2 ** column["hash_bits"])
            x += [float(bucket == own) for bucket in buckets]
        elif column["kind"] == "words":
            import words
            x += words.features(column, "" if text in ("", "NA") else text)
        elif column["kind"] == "number":
            value = number(column, text)
            if value is None:
                value = column["means"][0]
            if "center" in column:
                value = (value - column["center"][0]) / column["scale"][0]
            x.append(narrow(value))
    return x

model = json.load(open(sys.argv[1]))
if len(model["classes"]) != 2 or isinstance(model["positive"], bool) or "voters" in model or "expansion" in model:
    sys.exit("this program predicts by the weights of a model of two classes that are numbers or texts")
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
