"""train, compare, check and Model on files, tables and arrays."""

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import halfspace
from halfspace import HalfspaceError, HalfspaceWarning, _pages, _tables

pytestmark = pytest.mark.filterwarnings("ignore::halfspace.HalfspaceWarning")


@pytest.fixture
def cancer(example):
    return example("breast-cancer.parquet")


def test_train(command, tmp_path, cancer):
    model = halfspace.train(cancer, "diagnosis", algo="svm", l2=0.5, standardize=True, class_weight={"malignant": 2})
    command("train", cancer, "--label", "diagnosis", "--algo", "svm", "--l2", "0.5", "--standardize", "--class-weight", "malignant=2",
            "--out", tmp_path / "m.json")
    assert model.text == (tmp_path / "m.json").read_text()
    assert model == halfspace.Model.load(tmp_path / "m.json")
    model.save(tmp_path / "n.json")
    assert (tmp_path / "n.json").read_bytes() == (tmp_path / "m.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.json", "n.json"]
    assert model.algorithm == "svm" and model.classes.tolist() == ["benign", "malignant"] and len(model.features) == 30
    assert "svm" in repr(model)


def test_names_that_are_numbers():
    pandas = pytest.importorskip("pandas")
    X = np.random.RandomState(0).normal(size=(300, 3))
    table = pandas.DataFrame(X).assign(**{"3": (X[:, 0] > 0) * 1, "4": np.arange(300) % 2})
    model = halfspace.train(table, 3, algo="logistic", exclude="4", l2=1)
    assert model.features == ["0", "1", "2"] and model.classes.tolist() == [0, 1]
    assert model.predict(table).shape == (300,) and model.evaluate(table, 3)["accuracy"] > 0.9


def test_no_model(tmp_path):
    for text in "junk", "{}", "[1]":
        (tmp_path / "m.json").write_text(text)
        with pytest.raises(HalfspaceError, match="no model file"):
            halfspace.Model.load(tmp_path / "m.json")


def test_label_of_a_table():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(HalfspaceError, match="label has 3 values, and data has 2 rows"):
        halfspace.train(pandas.DataFrame({"a": [1, 2]}), np.array([0, 1, 0]))


def test_labels_of_files(cancer):
    with pytest.raises(HalfspaceError, match="data is a path: give the name of the file's column"):
        halfspace.train(cancer, np.array([0, 1]))


def test_grid(cancer):
    model = halfspace.train([Path(cancer)], "diagnosis", algo="logistic", standardize=True, grid={"l2": [0.1, 10]}, cv=3)
    assert model.document["options"]["l2"] in (0.1, 10)


def test_predict(command, tmp_path, cancer):
    model = halfspace.train(cancer, "diagnosis")
    model.save(tmp_path / "m.json")
    command("predict", cancer, "--model", tmp_path / "m.json", "--score", "--proba", "--out", tmp_path / "p.csv")
    lines = [line.split(",") for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
    assert model.predict(cancer).tolist() == [line[0] for line in lines]
    assert (model.decision_function(cancer) == np.array([line[1] for line in lines], dtype=np.float32)).all()
    assert (model.predict_proba(cancer) == np.array([line[2:] for line in lines], dtype=np.float32)).all()
    assert model.predict(cancer, threshold=1e9).tolist() == ["benign"] * 569


def test_evaluate_and_report(tmp_path, cancer):
    model = halfspace.train(cancer, "diagnosis")
    assert model.evaluate(cancer)["errors"] == 7
    report = model.report(cancer)
    assert report.html.startswith("<!") and "<iframe" in report._repr_html_()
    report.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == report.html


def test_onnx(command, tmp_path, cancer):
    model = halfspace.train(cancer, "diagnosis")
    model.save(tmp_path / "m.json")
    command("export", tmp_path / "m.json", "--onnx", tmp_path / "m.onnx")
    assert model.to_onnx(tmp_path / "n.onnx") == (tmp_path / "m.onnx").read_bytes() == (tmp_path / "n.onnx").read_bytes()


def test_compare(cancer):
    table = halfspace.compare(cancer, "diagnosis", algo=["logistic", "svm"], cv=3)
    assert table.learners[0]["accuracy"] > 0.95 and 'algo="logistic"' in repr(table) and "<table>" in table._repr_html_()
    assert table.baseline["class"] == "benign" and repr(table).splitlines()[-1].split()[:4] == ["always", "benign", "212", "0.627417"]
    frame = pytest.importorskip("pandas") and table.to_pandas()
    assert len(frame) == len(table.learners) + 1 and frame.options.iloc[-1] == "always benign"


def test_compare_weights():
    """Sample weights count in comparisons: equal weights change no count of errors, and those of one class do."""
    X = np.random.RandomState(0).normal(size=(400, 3))
    y = (X[:, 0] + np.random.RandomState(1).normal(size=400) > 0).astype(int)
    plain, twice, other = (halfspace.compare(X, y, sample_weight=weights, algo="lda", cv=2).learners[0]
                           for weights in (None, np.full(len(y), 2.0), np.where(y == y[0], 9.0, 1.0)))
    assert plain["errors"] == twice["errors"] != other["errors"]


def test_compare_recipes(cancer):
    """Recipes are calls and arguments of Python, which run."""
    X = np.random.RandomState(0).normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int)
    for table in (halfspace.compare(cancer, "diagnosis", algo=["svm", "winnow"], cv=3, exclude=["mean_area", "mean_radius"]),
                  halfspace.compare(X, y, algo="averaged", cv=2, standardize=False)):
        assert "--" not in str(table.document) + repr(table)
        model = eval(table.document["best"])
        assert model.document["algorithm"] == table.learners[0]["options"].split('"')[1]
    assert "standardize" not in table.document["best"].replace("standardize=False", "") and not table.document["standardize"]


def test_reports_name_arguments(tmp_path, cancer):
    """A report names options as arguments of Python."""
    model = halfspace.train(cancer, "diagnosis", algo="perceptron", epochs=2, report=tmp_path / "train.html")
    halfspace.compare(cancer, "diagnosis", algo="svm", cv=2, report=tmp_path / "compare.html")
    pages = [(tmp_path / name).read_text() for name in ("train.html", "compare.html")]
    for page in [*pages, model.report(cancer, threshold=0.5).html]:
        text = re.sub(r"<(style|script).*?</\1>|var\(.*?\)|<!--.*?-->", "", page, flags=re.DOTALL)
        assert not re.findall(r".{20}--[a-z].{20}", text)
    assert "epochs" in pages[0] and "halfspace.train(" in pages[1]


def test_check(example):
    assert halfspace.check(example("textbook.parquet"), "label")
    verdict = halfspace.check(example("iris-versicolor-virginica.parquet"), "species")
    assert not verdict and verdict.document["verified"] and "not separable" in repr(verdict)


def test_arrays(tmp_path, monkeypatch):
    X = np.random.RandomState(0).normal(size=(300, 4))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "up", "down")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    model = halfspace.train(X, y, algo="logistic")
    assert model == halfspace.train(tmp_path / "X.npy", labels=tmp_path / "y.npy", algo="logistic")
    assert (model.predict(X) == y).mean() > 0.95 and (model.predict(tmp_path / "X.npy") == model.predict(X)).all()
    assert model.evaluate(X, y)["rows"] == 300
    weighted = halfspace.train(X, y, algo="logistic", sample_weight=np.full(300, 2.0))
    assert weighted != model
    monkeypatch.setattr(_pages, "LEAST", 0)
    for weights in np.full(300, 2), np.full(600, 2, np.float32)[::2], [2] * 300:
        assert halfspace.train(X, y, algo="logistic", sample_weight=weights) == weighted
    for labels in y.astype(object), np.repeat(y, 2)[::2], y.tolist():
        assert halfspace.train(X, labels, algo="logistic") == model
    with pytest.raises(HalfspaceError, match="sample_weight: "):
        halfspace.train(X, y, algo="logistic", sample_weight=3)
    assert halfspace.check(X, y) and halfspace.compare(X, y, algo="svm", cv=2).learners


def test_receipt(tmp_path):
    """A receipt has the sums of arrays as files."""
    X = np.random.RandomState(0).normal(size=(20000, 9)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    halfspace.train(X, X[:, 0] > 0, algo="lda", receipt=tmp_path / "r.json")
    assert hashlib.sha256((tmp_path / "X.npy").read_bytes()).hexdigest() in (tmp_path / "r.json").read_text()


@pytest.mark.parametrize("labels", [
    np.array(["b", "a"], dtype=object), np.array([True, False], dtype=object), np.array([3, np.int64(5)], dtype=object), ["b", "a"]])
def test_labels_as_objects(labels):
    X = np.random.RandomState(0).normal(size=(80, 2))
    y = np.asarray(labels)[(X[:, 0] > 0).astype(int)]
    model = halfspace.train(X, y, algo="logistic")
    assert (model.predict(X).astype(str) == y.astype(str)).mean() > 0.9
    pandas = pytest.importorskip("pandas")
    for series in pandas.Series(y), pandas.Series(y, dtype="category"):
        assert halfspace.train(X, series, algo="logistic") == model


def test_names_of_files():
    """Neither results nor reports have the paths of files in memory."""
    X = np.random.RandomState(0).normal(size=(80, 2))
    y = (X[:, 0] > 0).astype(int)
    model = halfspace.train(X, y)
    assert model.evaluate(X, y)["model"] == "model"
    for text in model.text, model.report(X, y).html, str(halfspace.compare(X, y, algo="svm", cv=2).document), str(halfspace.check(X, y).document):
        assert "/dev/fd" not in text


def test_table():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"plan": ["a", "b", "c, d"] * 40, "day": pandas.date_range("2026-01-01", periods=120).astype(str),
                              "price": np.linspace(0, 1, 120), "gone": ["no", "no", "yes"] * 40})
    model = halfspace.train(table, "gone")
    assert model.predict(table).tolist() == table.gone.tolist()
    assert model.evaluate(table)["errors"] == 0
    assert model.predict(table.drop(columns="gone").iloc[:3]).tolist() == ["no", "no", "yes"]


@pytest.mark.parametrize("call, text", [
    (lambda path: halfspace.train(path, "nothing"), 'no column "nothing"'),
    (lambda path: halfspace.train("nowhere.csv", "y"), "nowhere.csv"),
    (lambda path: halfspace.train(path, "diagnosis", algo="tree"), "tree"),
    (lambda path: halfspace.train(path, "diagnosis", epoch=3), "unknown option epoch: did you mean epochs?"),
    (lambda path: halfspace.train(path, "diagnosis", l2=object()), "l2 is of type object"),
    (lambda path: halfspace.train(path, "diagnosis", out="m.json"), "out is no option in Python"),
    (lambda path: halfspace.train(3, "diagnosis"), "data is of type int"),
    (lambda path: halfspace.train("-", "diagnosis"), "data is standard input"),
    (lambda path: halfspace.train(path, "diagnosis", help=True), "help is no option in Python"),
    (lambda path: halfspace.train(np.ones((2, 1)), np.array([1, None])), "label has values of several types"),
    (lambda path: halfspace.train(path, "diagnosis").predict(np.zeros((2, 3))), "X: "),
])
def test_errors(cancer, call, text):
    with pytest.raises(HalfspaceError) as raised:
        call(cancer)
    assert text in str(raised.value) and "/dev/fd" not in str(raised.value) and "\n" not in str(raised.value)


def test_sentences_name_arguments():
    """A sentence names an argument without dashes, no file of the package, and no line of it."""
    import pandas
    table = pandas.DataFrame({"a": [1, None, 3, 4], "y": ["p", "q", "p", "q"]})
    for options, sentence in [
            ({"prepare": "none"}, 'data: column "a", row 1: null (exclude the column with exclude, or use nulls drop, zero or mean)'),
            ({"l2": -1}, "l2 is -1: use a penalty above 0"),
            ({"class_weight": {"p": -2}}, 'class_weight p=-2: "-2" is no weight, which is a number above 0')]:
        with pytest.raises(HalfspaceError) as raised:
            halfspace.train(table, "y", algo="svm", **options)
        assert str(raised.value) == sentence


def test_notes_are_warnings(cancer):
    with pytest.warns(HalfspaceWarning, match="varies") as notes:
        halfspace.train(cancer, "diagnosis", algo="logistic")
    assert notes[0].filename == __file__


def test_writes_by_threads(tmp_path, cancer):
    """Threads that save to the same file do not meet, and an error leaves neither a file nor a change."""
    model = halfspace.train(cancer, "diagnosis")
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(model.save, tmp_path / "m.json") for _ in range(200)]:
            done.result()
    assert (tmp_path / "m.json").read_text() == model.text
    (tmp_path / "folder").mkdir()
    for save in model.save, model.to_onnx, model.report(cancer).save:
        with pytest.raises(OSError):
            save(tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "m.json"]


def test_text_of_a_table():
    pandas = pytest.importorskip("pandas")
    texts = ['a "quoted", text', "two\nlines", "ä‖", "NA"]
    table = pandas.DataFrame({"text": texts * 30, "y": [text + "!" for text in texts] * 30})
    model = halfspace.train(table, "y", algo="logistic")
    assert model.predict(table).tolist() == table.y.tolist()


def test_words():
    pd = pytest.importorskip("pandas")
    rows = [(f"good lovely tea {i}", "yes") if i % 2 else (f"bad cold tea {i}", "no") for i in range(40)]
    data = pd.DataFrame(rows, columns=["review", "liked"])
    model = halfspace.train(data, label="liked", type="review=words:2")
    assert list(model.predict(data)) == [liked for _, liked in rows]
    assert "review: good" in model.features and "review: bad cold" in model.features
    explained = model.explain_rows(data, 2)
    assert len(explained) == 40 and explained[0].startswith("review: ") and explained[0].count(", ") == 1


def test_explain(example, cancer):
    """Contributions and the bias add up to the score, whatever the features are made of."""
    pandas = pytest.importorskip("pandas")
    model = halfspace.train(cancer, "diagnosis")
    rows = np.random.RandomState(0).normal(size=(5, 30)) * 100
    table = pandas.DataFrame(rows, columns=model.features)
    for i in range(5):
        explanation = model.explain(table.iloc[i])
        assert explanation.class_ == "malignant" and explanation.score == model.decision_function(table[i:i + 1])[0]
        scale = sum(abs(value) for _, value in explanation.contributions)
        assert abs(explanation.bias + sum(value for _, value in explanation.contributions) - explanation.score) < 1e-6 * scale
        assert repr(explanation).splitlines()[0] == "score of malignant" and "malignant" in explanation._repr_html_()
        assert len(explanation.to_pandas()) == 30
    expected = {column["name"]: weight * (row - column["center"][0]) / column["scale"][0] for column, weight, row in
                zip(model.document["preprocessing"]["columns"], model.weights[0], rows[4])}
    for name, value in explanation.contributions:
        assert value == pytest.approx(expected[name], rel=1e-4, abs=1e-6)
    table = pandas.DataFrame({"plan": ["a", "b", "c, d", None] * 40, "day": pandas.date_range("2026-01-01", periods=160),
                              "price": np.linspace(0, 1, 160), "gone": ["no", "no", "yes", "perhaps"] * 40})
    model = halfspace.train(table, "gone")
    for row in table[2:3], table.iloc[2], table.iloc[2].to_dict():
        explanation = model.explain(row)
        assert explanation.class_ == "yes" and explanation.contributions[0][0] == "plan=c, d"
    assert model.explain(table[:1], class_="perhaps").score == model.decision_function(table[:1])[0, 1]
    for call, sentence in ((lambda: model.explain(table[:3]), "row has 3 rows: give one"), (lambda: model.explain(table[:1], class_="q"), "class_ is 'q', which is no class"),
                           (lambda: halfspace.train(cancer, "diagnosis", algo="kernel-perceptron", kernel="rbf", standardize=True).explain({}), "no weights of features")):
        with pytest.raises(HalfspaceError, match=sentence):
            call()


def test_plot(cancer, monkeypatch, tmp_path):
    model = halfspace.train(cancer, "diagnosis")
    picture = model.plot("roc", cancer)
    assert picture.svg.startswith("<svg") and picture._repr_svg_() == picture.svg
    picture.save(tmp_path / "roc.svg")
    for call, sentence in ((lambda: model.plot("roc"), "data is missing"), (lambda: model.plot("pie"), "kind is 'pie': it is weights, alphas"), (lambda: model.plot("roc", cancer, ax=3), "ax is for weights")):
        with pytest.raises(HalfspaceError, match=sentence):
            call()
    found = _tables.imported
    monkeypatch.setattr(_tables, "imported", lambda name, try_import=False: None if name == "matplotlib" else found(name, try_import))
    assert model.plot().svg.startswith("<svg")
    monkeypatch.undo()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = model.plot()
    assert len(axes.patches) == 20 and axes.get_yticklabels()[-1].get_text() == max(zip(abs(model.weights[0]), model.features))[1]


def test_pages_of_models(cancer):
    model = halfspace.train(cancer, "diagnosis")
    page = model._repr_html_()
    assert "benign, malignant" in page and "accuracy 98.77%" in page and max(zip(abs(model.weights[0]), model.features))[1] in page
    many = halfspace.train(np.eye(40), np.arange(40) % 20, algo="perceptron")
    assert repr(many).endswith("classes 0, 1, 2, 3, 4, 5, 6, 7, 8, and 11 more>")


def test_versions(capsys):
    halfspace.show_versions()
    said = capsys.readouterr().out
    assert said.startswith(f"halfspace {halfspace.__version__}\ncommand ") and f"numpy {np.__version__}" in said
