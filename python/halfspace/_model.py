"""Trainings straight from files and tables, and the models that come out."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import os
import threading
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _rows, _tables
from ._command import Files, Folder, HalfspaceError, Interrupted, Memory, named, read, run
from ._rows import text

Data = Any  # paths, a table or a matrix: see train
PICTURES = "weights", "alphas", "roc", "pr", "calibration", "margins", "line"  # that plot draws
OWN = {"out", "json", "model", "quiet", "progress", "help"}  # options that the package sets


def train(data: Data, label: Any = None, *, algo: str | None = None, progress: bool | None = None, **options: Any) -> Model:
    """Train on rows of files, a table or a matrix.

    Parameters
    ----------
    data : path, glob, list of them, DataFrame, Arrow table, array or sparse matrix
        Rows. Files are read by the command, whether they fit in memory or not. A table is one of pandas, polars, narwhals or
        Arrow, or any object with the Arrow stream interface; its categories stay categories.
    label : str, or array of shape (rows,)
        Column with the classes. Or the labels, beside a table, an array or a sparse matrix.
    algo : str, optional
        Learner, as `halfspace train --algo` names it. None standardizes the features and learns by logistic regression.
    progress : bool, optional
        Show a bar: in a notebook, or on standard error. None shows it in notebooks and on terminals, if the work takes more
        than a second.
    **options
        Options of `halfspace train` with "_" for "-". True is an option without a value, a list is joined by commas, and
        a dict by commas and "=": `standardize=True, grid={"l2": [0.1, 1]}, class_weight={"yes": 2}`.

    Returns
    -------
    Model

    Raises
    ------
    HalfspaceError
        The sentence of the command, which names the file, the column and the row.
    Interrupted
        Ctrl-C. Its attribute `model` is the model of the weights so far.

    Examples
    --------
    >>> import numpy as np, halfspace
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = halfspace.train(X, np.where(X[:, 0] > X[:, 1], "up", "down"), algo="svm")
    >>> model
    <halfspace.Model svm: 2 features, classes down, up>
    >>> print(model.predict([[1, -1], [-1, 1]]))
    ['up' 'down']
    """
    with Files() as files:
        args = ["train", *_rows.source(files, data, label, options, learns=True), *_flags(dict(algo=algo, **options)),
                "--out", files.output("model.json")]
        try:
            run(args, files, progress=progress)
        except Interrupted as interrupt:
            kept = read(files, "model.json")
            interrupt.model = Model(kept) if kept else None
            raise
        return Model(read(files, "model.json"))


def compare(data: Data, label: Any = None, *, progress: bool | None = None, **options: Any) -> Comparison:
    """Judge all learners by cross-validation on the same folds.

    Parameters
    ----------
    data, label, progress
        As in `train`.
    **options
        Options of `halfspace compare`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, halfspace
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> table = halfspace.compare(X, X[:, 0] > X[:, 1], algo=["lda", "svm"], cv=2)
    >>> sorted(learner["options"] for learner in table.learners)
    ['algo="lda"', 'algo="svm"', 'algo="svm", loss="hinge"']
    """
    with Files() as files:
        args = ["compare", *_rows.source(files, data, label, options, learns=True), *_flags(options), "--json"]
        return Comparison(_printed(args, files, progress))


def check(data: Data, label: Any = None, *, progress: bool | None = None, **options: Any) -> Separability:
    """Find out whether a plane separates two classes, with a proof.

    Parameters
    ----------
    data, label, progress
        As in `train`.
    **options
        Options of `halfspace check`.

    Returns
    -------
    Separability
        It is true if a plane separates the classes.

    Examples
    --------
    >>> import numpy as np, halfspace
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
    >>> bool(halfspace.check(X, [0, 1, 1, 1])), bool(halfspace.check(X, [0, 0, 1, 1]))
    (True, False)
    """
    with Files() as files:
        args = ["check", *_rows.source(files, data, label, options, learns=True), *_flags(options), "--json"]
        return Separability(_printed(args, files, progress))


class Model:
    """A trained model.

    Attributes
    ----------
    text : str
        Text of the model file.
    document : dict
        The model file's JSON; docs/model-file.md explains its keys.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.document: dict[str, Any]
        try:
            self.document = json.loads(text)
        except json.JSONDecodeError as error:
            raise HalfspaceError(f"the text is no model file: {error}") from None
        if not isinstance(self.document, dict) or "algorithm" not in self.document:
            raise HalfspaceError("the text is no model file: it has no algorithm")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Return the model of a file."""
        return Model(Path(path).read_text(encoding="utf-8"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; it appears whole or not at all."""
        _write(path, self.text.encode("utf-8"))

    @property
    def algorithm(self) -> str:
        """Name of the learner."""
        return self.document["algorithm"]

    @property
    def classes(self) -> NDArray[Any]:
        """Classes in ascending order, shape (classes,)."""
        return np.array(self.document["classes"])

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return self.document["features"]

    def predict(self, data: Data, *, progress: bool | None = None, **options: Any) -> NDArray[Any]:
        """Return the predicted class of each row.

        Parameters
        ----------
        data : path, glob, list of them, DataFrame, Arrow table, array or sparse matrix
            Rows with the features of the model.
        progress : bool, optional
            As in `train`.
        **options
            Options of `halfspace predict`, such as `threshold=0.5`.

        Returns
        -------
        array, shape (rows,)
        """
        return self._predict(data, [], options, progress)

    def decision_function(self, data: Data, *, progress: bool | None = None, **options: Any) -> NDArray[Any]:
        """Return the scores of each row. The parameters are those of `predict`.

        Returns
        -------
        array of float32, shape (rows,) for two classes, else (rows, classes)
        """
        return self._predict(data, ["--score"], options, progress)

    def predict_proba(self, data: Data, *, progress: bool | None = None, **options: Any) -> NDArray[Any]:
        """Return the probabilities of the classes. The parameters are those of `predict`.

        Returns
        -------
        array of float32, shape (rows, classes)
        """
        return self._predict(data, ["--proba"], options, progress)

    def explain_rows(self, data: Data, features: int = 5, *, progress: bool | None = None, **options: Any) -> list[str]:
        """Return the features with the largest contributions to the score of each row, such as "review: free +0.5".

        `explain` has all contributions to the score of one row, as numbers. The other parameters are those of `predict`.

        Returns
        -------
        list of str, one for each row
        """
        with Files() as files:
            out = files.output("explanations.csv")
            run(["predict", *_rows.source(files, self._units(data)), "--model", self._file(files), "--out", out, "--explain", str(features),
                 *_flags(options)], files, progress=progress)
            return [row["explanation"] for row in csv.DictReader(io.StringIO(read(files, "explanations.csv")))]

    def _predict(self, data, columns, options, progress):
        with Files() as files:
            out = files.output("predictions.npy")
            run(["predict", *_rows.source(files, self._units(data)), "--model", self._file(files), "--out", out, *columns, *_flags(options)],
                files, progress=progress)
            with files.open("predictions.npy") as file:
                return np.load(file, allow_pickle=False)

    def explain(self, row: Any, *, class_: Any = None) -> Explanation:
        """Explain the score of one row: what each feature adds to it.

        Parameters
        ----------
        row : mapping, or data with one row
            A dict or a Series with the values of the columns by their names; a table or a matrix with one row.
        class_ : optional
            Class whose score is explained. None is the positive class of two, or the predicted class of several.

        Returns
        -------
        Explanation
            The score is the bias and the sum of the contributions. If features are standardized, a contribution is relative
            to the mean of the feature in the training rows.

        Examples
        --------
        >>> import numpy as np, halfspace
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> model = halfspace.train(X, np.where(X[:, 0] > 0.1 * X[:, 1], "up", "down"), algo="svm")
        >>> [name for name, _ in model.explain([[3, 1]]).contributions]
        ['x0', 'x1']
        """
        if "voters" in self.document or "expansion" in self.document:
            raise HalfspaceError(f"the model of {self.algorithm} has no weights of features: its scores are sums over training rows")
        row = _one_row(row)
        scores = np.atleast_2d(self.decision_function(row, progress=False))
        if scores.shape[0] != 1 or len(self.classes) == 2 and scores.shape[1] != 1:
            raise HalfspaceError(f"row has {max(scores.shape)} rows: give one")
        number = self._class_number(class_, scores[0])
        weights = self.weights[number]
        some = np.flatnonzero(weights)
        parts = np.zeros(0) if len(some) == 0 else self._features(some, weights[some])._predict(row, ["--score"], {}, False)[0, :len(some)]
        bias = self.document["bias"]
        return Explanation(self, self.classes[-1 if number == 0 and len(self.classes) == 2 else number].item(), float(scores[0, number]),
                           float(bias[number]) if bias else 0.0, sorted(zip([self.features[i] for i in some], parts.tolist()), key=lambda part: -abs(part[1])))

    @property
    def weights(self) -> NDArray[Any]:
        """Weights of the features in float64: shape (1, features) for two classes, else (classes, features)."""
        if "sparse_weights" not in self.document:
            return np.array(self.document["weights"], dtype=np.float64)
        rows = np.zeros((len(self.document["sparse_weights"]), len(self.features)))
        for row, sparse in zip(rows, self.document["sparse_weights"]):
            row[sparse["features"]] = sparse["weights"]
        return rows

    def _class_number(self, class_, scores) -> int:
        if class_ is None:
            return int(scores.argmax())
        if class_ not in self.classes.tolist():
            raise HalfspaceError(f"class_ is {class_!r}, which is no class: the model has {self.classes.tolist()}")
        if len(self.classes) > 2:
            return self.classes.tolist().index(class_)
        if class_ != self.document["positive"]:
            raise HalfspaceError(f"class_ is {class_!r}: a score of two classes is that of {self.document['positive']!r}, and falls for the other")
        return 0

    def _features(self, some: Sequence[int], weights: NDArray[Any]) -> Model:
        """Return a model with a class for each of some features: its score is the feature's part of a score."""
        classes = max(3, len(some))  # three classes or more have a score each
        left_out = {"checksum", "weights", "sparse_weights", "std_errors", "projection", "calibration", "threshold", "data", "training"}
        document = {key: value for key, value in self.document.items() if key not in left_out}
        document.update(classes=list(range(classes)), positive=classes - 1, fit_bias=False, bias=[], options={"multiclass": "ovr"}, sparse_weights=[
            {"features": [int(some[k])] if k < len(some) else [], "weights": [float(weights[k])] if k < len(some) else []} for k in range(classes)])
        document["data"], document["training"] = self.document["data"], {"rows": 1, "epochs": 1, "visits": 1, "updates": 1, "errors": 0, "converged": True}
        return Model(_signed(document))

    def plot(self, kind: str = "weights", data: Data = None, label: Any = None, *, class_: Any = None, ax: Any = None, **options: Any) -> Any:
        """Draw the model, or how good it is on rows.

        Parameters
        ----------
        kind : {"weights", "alphas", "roc", "pr", "calibration", "margins", "line"}, default "weights"
            As in `halfspace plot`. All but "weights" and "alphas" take rows with labels.
        data, label : optional
            Rows and labels, as in `train`.
        class_ : optional
            Class of several whose weights are drawn. None is the first.
        ax : matplotlib.axes.Axes, optional
            Where to draw weights. None makes new axes.
        **options
            Options of `halfspace plot`.

        Returns
        -------
        matplotlib.axes.Axes or Picture
            Axes for weights if matplotlib is installed; else a picture in SVG, which a notebook shows.
        """
        if kind not in PICTURES:
            raise HalfspaceError(f"kind is {kind!r}: it is {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")
        if data is None and kind not in ("weights", "alphas"):
            raise HalfspaceError(f"data is missing: a picture of the kind {kind!r} takes rows with labels")
        if kind == "weights" and data is None and not options and _tables.imported("matplotlib", try_import=True) is not None:
            return self._plot_weights(class_, ax)
        if ax is not None:
            raise HalfspaceError(f"ax is for weights alone, where matplotlib is installed: a picture of the kind {kind!r} is SVG")
        options = dict(options, **({} if class_ is None else {"class": class_}))
        with Files() as files:
            rows = [] if data is None else _rows.source(files, self._units(data), label, options)
            run(["plot", kind, *rows, "--model", self._file(files), "--out", files.output("picture.svg"), *_flags(options)], files)
            return Picture(named(read(files, "picture.svg"), files))

    def _plot_weights(self, class_, ax):
        import matplotlib.pyplot
        number = 0 if class_ is None else self._class_number(class_, None)
        ax = ax or matplotlib.pyplot.gca()
        shown = self._strongest(20, number)[::-1]
        ax.barh([name for name, _ in shown], [weight for _, weight in shown], color=["tab:blue" if weight > 0 else "tab:orange" for _, weight in shown])
        ax.axvline(0, color="gray", linewidth=0.8)
        of = self.document["positive"] if len(self.classes) == 2 else self.classes[number]
        ax.set_xlabel(f"weight: above 0 speaks for {of}")
        ax.set_title(f"{self.algorithm}: {len(shown)} of {len(self.features)} features")
        return ax

    def _strongest(self, most: int, number: int = 0) -> list[tuple[str, float]]:
        """Return the names and weights of the features with the largest weights of a class."""
        weights = self.weights[number] if len(self.document.get("weights") or self.document.get("sparse_weights") or []) > 0 else np.zeros(0)
        return [(self.features[i], float(weights[i])) for i in np.argsort(-abs(weights), kind="stable")[:most] if weights[i] != 0]

    def evaluate(self, data: Data, label: Any = None, *, progress: bool | None = None, **options: Any) -> dict[str, Any]:
        """Return how good the model is on rows with labels.

        Parameters
        ----------
        data, label, progress
            As in `train`. The label of files and tables is by default the column of the training.
        **options
            Options of `halfspace eval`.

        Returns
        -------
        dict
            Errors, accuracy, AUC and more, as `halfspace eval --json` prints them.
        """
        with Files() as files:
            return _printed([*self._eval(files, data, label, options), "--json"], files, progress)

    def report(self, data: Data, label: Any = None, *, progress: bool | None = None, **options: Any) -> Report:
        """Return a report on rows with labels: figures, curves, the most wrong rows. A notebook shows it.

        The parameters are those of `evaluate`.
        """
        with Files() as files:
            run([*self._eval(files, data, label, options), "--report", files.output("report.html")], files, progress=progress)
            return Report(named(read(files, "report.html"), files))

    def _eval(self, files, data, label, options):
        return ["eval", *_rows.source(files, self._units(data), label, options), "--model", self._file(files), *_flags(options)]

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """Return the model as an ONNX file, with the input X and the outputs label and probabilities, or scores; write it to
        `path` if it is given."""
        with Files() as files:
            content = run(["export", self._file(files), "--onnx", "-"], files)
        if path is not None:
            _write(path, content)
        return content

    def _units(self, data):
        """Return the data with durations in the units of the model: the unit that pandas takes depends on its version."""
        columns = self.document.get("preprocessing", {}).get("columns", [])
        units = {column["name"]: column["unit"] for column in columns if column.get("unit") in ("s", "ms", "us", "ns")}
        table = _tables.table_of(data) if units else None
        return data if table is None else table.with_units(units)

    def _file(self, files) -> str:
        return files.input("model.json", lambda file: file.write(self.text.encode()))

    def __repr__(self) -> str:
        facts = [f"{len(self.document['features'])} features", f"classes {self._some_classes()}"]
        if held := self.document["training"].get("validation"):
            facts.append(f"held-out rows {self._accuracy(held)}")
        return f"<halfspace.Model {self.algorithm}: {', '.join(facts)}>"

    @staticmethod
    def _accuracy(of: dict[str, Any]) -> str:
        return f"{of['rows']:,}, accuracy {1 - of['errors'] / of['rows']:.2%}"

    def _some_classes(self) -> str:
        names = [str(name) for name in self.document["classes"]]
        return ", ".join(names if len(names) <= 10 else [*names[:9], f"and {len(names) - 9} more"])

    def _repr_html_(self) -> str:
        """Return the classes, the accuracies on the training and the held-out rows and the strongest features, for notebooks."""
        training, document = self.document["training"], self.document
        facts = [("classes", self._some_classes()), ("features", str(len(document["features"])))]
        if training.get("rows"):
            facts.append(("training rows", self._accuracy(training)))
        if held := training.get("validation"):
            facts.append(("held-out rows", self._accuracy(held)))
        rows = "".join(f"<tr><th style='text-align: left'>{name}</th><td style='text-align: left'>{html.escape(text)}</td></tr>" for name, text in facts)
        strongest = [] if "voters" in document else self._strongest(10)
        most = max((abs(weight) for _, weight in strongest), default=1)
        bars = "".join(
            f"<tr><td style='text-align: left'>{html.escape(name)}</td><td>{weight:.4g}</td><td style='text-align: left'><div style='height: 0.8em; "
            f"width: {8 * abs(weight) / most:.2f}em; background: {'#4c78a8' if weight > 0 else '#e08214'}'></div></td></tr>" for name, weight in strongest)
        of = document["positive"] if len(document["classes"]) == 2 else document["classes"][0]
        head = f"<tr><th style='text-align: left'>strongest features</th><th colspan=2 style='text-align: left'>weight for {html.escape(str(of))}</th></tr>"
        return f"<b>halfspace {html.escape(self.algorithm)}</b><table>{rows}</table>" + (f"<table>{head}{bars}</table>" if bars else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


class Explanation:
    """What each feature adds to the score of a row.

    Attributes
    ----------
    class_ : object
        Class that a high score speaks for.
    score : float
        Score of the row: the bias and the sum of the contributions, each rounded to float32.
    bias : float
    contributions : list of (str, float)
        Names of the features and what they add, the largest first. Features that add 0 because of their weights are left out.
    """

    def __init__(self, model: Model, class_: Any, score: float, bias: float, contributions: list[tuple[str, float]]) -> None:
        self.model: Model = model
        self.class_: Any = class_
        self.score: float = score
        self.bias: float = bias
        self.contributions: list[tuple[str, float]] = contributions

    def to_pandas(self) -> Any:
        """Return the contributions as a pandas Series."""
        import pandas
        return pandas.Series(dict(self.contributions), name=f"contribution to {self.class_}")

    def _rows(self) -> list[tuple[str, float]]:
        return [("score", self.score), ("bias", self.bias), *self.contributions]

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self._rows())
        return f"score of {self.class_}\n" + "\n".join(f"{name.ljust(width)}  {value: .6g}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><td style='text-align: left'>{html.escape(name)}</td><td>{value:.6g}</td></tr>" for name, value in self._rows())
        return f"<table><tr><th colspan=2 style='text-align: left'>score of {html.escape(str(self.class_))}</th></tr>{cells}</table>"


class Picture:
    """A picture, which a notebook shows.

    Attributes
    ----------
    svg : str
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file."""
        _write(path, self.svg.encode("utf-8"))

    def _repr_svg_(self) -> str:
        return self.svg


class Report:
    """A page of HTML, which a notebook shows.

    Attributes
    ----------
    html : str
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        _write(path, self.html.encode("utf-8"))

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 40em; border: 0"></iframe>'


class Comparison:
    """Learners in ascending order of their scores on held-back rows, and the baseline: always the class with most rows.

    Attributes
    ----------
    document : dict
        What `halfspace compare --json` prints.
    learners : list of dict
        Options, errors, accuracy, AUC, log loss and times of each learner, the best first.
    baseline : dict
        Class with most rows, and errors and accuracy of a model that always predicts it.
    """

    COLUMNS = ("options", "errors", "accuracy", "auc", "log_loss", "seconds")

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.learners: list[dict[str, Any]] = document["learners"]
        self.baseline: dict[str, Any] = document["baseline"]

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame, the baseline last."""
        import pandas
        return pandas.DataFrame(self._lines())

    def _lines(self) -> list[dict[str, Any]]:
        baseline = {"options": f"always {self.baseline['class']}", "errors": self.baseline["errors"], "accuracy": self.baseline["accuracy"]}
        return [*self.learners, baseline]

    def _rows(self):
        yield self.COLUMNS
        for learner in self._lines():
            yield tuple("-" if learner.get(c) is None else f"{learner[c]:.6g}" if isinstance(learner[c], float) else str(learner[c])
                        for c in self.COLUMNS)

    def __repr__(self) -> str:
        rows = list(self._rows())
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.COLUMNS))]
        return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
                         for row in rows)

    def _repr_html_(self) -> str:
        cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self._rows())
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


class Separability:
    """The verdict of `check`, with its proof.

    Attributes
    ----------
    separable : bool
    document : dict
        What `halfspace check --json` prints: a plane, or rows that no plane classifies correctly with their weights.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.separable: bool = document["separable"]

    def __bool__(self) -> bool:
        return self.separable

    def __repr__(self) -> str:
        rows = f"{self.document['rows']} rows"
        if self.separable:
            return f"<separable: {rows}, margin {self.document['margin']:.6g}>"
        return f"<not separable: {rows}, shown by {len(self.document['witness'])} rows>"


def _printed(args: list[str], files: Memory | Folder, progress: bool | None = False) -> dict[str, Any]:
    """Return the JSON that the command prints."""
    return json.loads(named(run(args, files, progress=progress).decode("utf-8"), files))


def _signed(document: dict[str, Any]) -> str:
    """Return the text of a model file with the checksum of a document."""
    body = json.dumps(document, indent=2, ensure_ascii=False)[:-2] + ",\n"
    return body + f'  "checksum": "sha256:{hashlib.sha256(body.encode()).hexdigest()}"\n}}\n'


def _one_row(row: Any) -> Any:
    """Return a row as data: a mapping of names to values becomes a table."""
    series = hasattr(row, "to_dict") and hasattr(row, "index") and not hasattr(row, "columns")
    if series or isinstance(row, Mapping):
        values = row.to_dict() if series else dict(row)
        for library in "pandas", "polars", "pyarrow":
            module = _tables.imported(library, try_import=True)
            if module is not None:
                make = module.table if library == "pyarrow" else module.DataFrame
                return make({str(name): [value] for name, value in values.items()})
        raise HalfspaceError("a row with names takes pandas, polars or pyarrow: install one of them, or give an array of one row")
    return row[None] if isinstance(row, np.ndarray) and row.ndim == 1 else row


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; it appears whole or not at all."""
    path = Path(path)
    new = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        new.write_bytes(content)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def _flags(options: Mapping[str, Any]) -> list[str]:
    """Return options as arguments of the command."""
    args: list[str] = []
    for name in OWN & set(options):
        raise HalfspaceError(f"{name} is no option in Python: a model has save, and figures are returned")
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, Mapping) and name == "grid":
            for axis, values in value.items():
                args += [flag, f"{axis}={','.join(text(v) for v in values)}"]
        elif isinstance(value, Mapping):
            args += [flag, ",".join(_rows.quoted(f"{text(k)}={text(v)}") for k, v in value.items())]
        elif isinstance(value, (list, tuple)) and name in ("cross", "grid"):
            for each in value:
                args += [flag, text(each)]
        elif isinstance(value, (list, tuple)):
            args += [flag, ",".join(_rows.quoted(text(v)) for v in value)]
        elif name == "standardize" and value is not None and not value:
            args.append(f"{flag}=false")  # some learners standardize by default
        elif value is None or isinstance(value, (str, os.PathLike, int, float, np.generic)):
            args += _rows.argument(flag, value)
        else:
            raise HalfspaceError(f"{name} is of type {type(value).__name__}: give a number, a text, a bool, a list or a dict")
    return args
