# Trainings straight from files: python3 files.py, in the folder examples/python
import warnings

import halfspace

data = "../breast-cancer.parquet"
print(halfspace.compare(data, label="diagnosis", algo=["logistic", "svm", "lda"]))

model = halfspace.train(data, label="diagnosis", algo="logistic", standardize=True, grid={"l2": [0.1, 1, 10]})
print(model.predict(data)[:3], model.evaluate(data)["accuracy"])
model.report(data).save("report.html")  # a notebook shows model.report(data)
model.save("model.json")
model = halfspace.Model.load("model.json")
model.to_onnx("model.onnx")

verdict = halfspace.check("../iris-versicolor-virginica.parquet", label="species")
print(verdict, verdict.document["witness"][0])

try:
    halfspace.train(data, label="diagnose")
except halfspace.HalfspaceError as error:
    print(error)

with warnings.catch_warnings(record=True) as notes:
    halfspace.train(data, label="diagnosis", algo="logistic")
print(notes[0].message)
