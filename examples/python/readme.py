from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
import halfspace

table = load_breast_cancer(as_frame=True).frame  # of pandas
model = halfspace.train(table, label="target", validation=0.2)
X, y = StandardScaler().fit_transform(table.drop(columns="target")), table["target"]
search = GridSearchCV(halfspace.LinearSVC(), {"C": [0.1, 1, 10]}).fit(X, y)
print(model.algorithm, search.best_params_, model.predict(table)[:3])
