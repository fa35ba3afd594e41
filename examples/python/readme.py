# The lines of the README: python3 examples/python/readme.py, in the folder of the repository
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV

import halfspace

X, y = load_breast_cancer(return_X_y=True)
model = halfspace.train("examples/breast-cancer.parquet", label="diagnosis")
search = GridSearchCV(halfspace.LinearSVC(), {"C": [0.1, 1, 10]}).fit(X, y)
print(model.algorithm, search.best_params_)
