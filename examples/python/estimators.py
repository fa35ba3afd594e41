# Classifiers in the manner of scikit-learn: python3 estimators.py, in the folder examples/python
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import halfspace

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

pipeline = make_pipeline(StandardScaler(), halfspace.LogisticRegression())
search = GridSearchCV(pipeline, {"logisticregression__C": [0.1, 1, 10]}, n_jobs=2).fit(X_train, y_train)
print(search.best_params_, search.score(X_test, y_test))

best = search.best_estimator_[-1]
print(best.objective_, best.duality_gap_)  # the objective is at most this much above the optimum
with open("model.json", "w") as file:
    file.write(best.model_)  # the bytes that halfspace train writes for the same rows and options

stream = halfspace.FTRL(l1=1.0)
for first in range(0, len(X_train), 100):  # one batch after the other
    stream.partial_fit(X_train[first:first + 100], y_train[first:first + 100], classes=[0, 1])
print(stream.predict_proba(X_test)[:2])
