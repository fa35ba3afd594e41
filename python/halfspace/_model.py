"""Trainings straight from files and tables, and the models that come out."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import threading
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from . import _rows, _tables
from ._command import Files, Folder, HalfspaceError, Interrupted, Memory, named, read, run
from ._rows import text

Data = Any  # paths, a table or a matrix: see train
OWN = {"out", "json", "model", "quiet", "progress", "help"}  # options that the package sets


def train(data: Data, label: Any = None, *, algo: str | None = None, verbose: bool = False, **options: Any) -> Model:
    """Train on rows of files, a table or a matrix.

    Parameters
    ----------
    data : path, glob, list of them, DataFrame, Arrow table, array or sparse matrix
        Rows. Files are read by the command, whether they fit in memory or not.
    label : str, or array of shape (rows,)
        Column with the classes. Of an array or a sparse matrix: the labels.
    algo : str, optional
        Learner, as `halfspace train --algo` names it. None standardizes the features and learns by logistic regression.
    verbose : bool, default False
        Progress goes to standard error.
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
    """
    with Files() as files:
        args = ["train", *_rows.source(files, data, label, options, learns=True), *_flags(dict(algo=algo, **options)),
                "--out", files.output("model.json")]
        try:
            run(args, files, verbose=verbose)
        except Interrupted as interrupt:
            kept = read(files, "model.json")
            interrupt.model = Model(kept) if kept else None
            raise
        return Model(read(files, "model.json"))


def compare(data: Data, label: Any = None, *, verbose: bool = False, **options: Any) -> Comparison:
    """Judge all learners by cross-validation on the same folds.

    The parameters are the parameters of `train`; `options` are the options of `halfspace compare`.
    """
    with Files() as files:
        args = ["compare", *_rows.source(files, data, label, options, learns=True), *_flags(options), "--json"]
        return Comparison(_printed(args, files, verbose))


def check(data: Data, label: Any = None, *, verbose: bool = False, **options: Any) -> Separability:
    """Find out whether a plane separates two classes, with a proof.

    The parameters are the parameters of `train`; `options` are the options of `halfspace check`.
    """
    with Files() as files:
        args = ["check", *_rows.source(files, data, label, options, learns=True), *_flags(options), "--json"]
        return Separability(_printed(args, files, verbose))


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
        try:
            self.document = json.loads(text)
        except json.JSONDecodeError as error:
            raise HalfspaceError(f"the text is no model file: {error}") from None
        if not isinstance(self.document, dict) or "algorithm" not in self.document:
            raise HalfspaceError("the text is no model file: it has no algorithm")

    @staticmethod
    def load(path: str | os.PathLike) -> Model:
        """Return the model of a file."""
        return Model(Path(path).read_text(encoding="utf-8"))

    def save(self, path: str | os.PathLike) -> None:
        """Write the model file; it appears whole or not at all."""
        _write(path, self.text.encode("utf-8"))

    @property
    def algorithm(self) -> str:
        """Name of the learner."""
        return self.document["algorithm"]

    @property
    def classes(self) -> np.ndarray:
        """Classes in ascending order, shape (classes,)."""
        return np.array(self.document["classes"])

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return self.document["features"]

    def predict(self, data: Data, **options: Any) -> np.ndarray:
        """Return the predicted class of each row of files, a table or a matrix; shape (rows,)."""
        return self._predict(data, [], options)

    def decision_function(self, data: Data, **options: Any) -> np.ndarray:
        """Return the scores in float32: shape (rows,) for two classes, else (rows, classes)."""
        return self._predict(data, ["--score"], options)

    def predict_proba(self, data: Data, **options: Any) -> np.ndarray:
        """Return the probabilities of the classes in float32, shape (rows, classes)."""
        return self._predict(data, ["--proba"], options)

    def explain(self, data: Data, features: int = 5, **options: Any) -> list[str]:
        """Return the features with the largest contributions to the score of each row, such as "review: free +0.5"; shape (rows,)."""
        with Files() as files:
            out = files.output("explanations.csv")
            run(["predict", *_rows.source(files, data), "--model", self._file(files), "--out", out, "--explain", str(features),
                 *_flags(options)], files)
            return [row["explanation"] for row in csv.DictReader(io.StringIO(read(files, "explanations.csv")))]

    def _predict(self, data, columns, options):
        with Files() as files:
            out = files.output("predictions.npy")
            run(["predict", *_rows.source(files, self._units(data)), "--model", self._file(files), "--out", out, *columns, *_flags(options)], files)
            with files.open("predictions.npy") as file:
                return np.load(file, allow_pickle=False)

    def evaluate(self, data: Data, label: Any = None, **options: Any) -> dict[str, Any]:
        """Return how good the model is on rows with labels: errors, accuracy, AUC and more, as `halfspace eval --json`."""
        with Files() as files:
            return _printed([*self._eval(files, data, label, options), "--json"], files)

    def report(self, data: Data, label: Any = None, **options: Any) -> Report:
        """Return a report on rows with labels: figures, curves, the most wrong rows. A notebook shows it."""
        with Files() as files:
            run([*self._eval(files, data, label, options), "--report", files.output("report.html")], files)
            return Report(named(read(files, "report.html"), files))

    def _eval(self, files, data, label, options):
        return ["eval", *_rows.source(files, self._units(data), label, options), "--model", self._file(files), *_flags(options)]

    def to_onnx(self, path: str | os.PathLike | None = None) -> bytes:
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
        return f"<halfspace.Model {self.algorithm}: {len(self.document['features'])} features, classes {', '.join(map(str, self.document['classes']))}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


class Report:
    """A page of HTML, which a notebook shows.

    Attributes
    ----------
    html : str
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | os.PathLike) -> None:
        """Write the page to a file."""
        _write(path, self.html.encode("utf-8"))

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 40em; border: 0"></iframe>'


class Comparison:
    """Learners in ascending order of their scores on held-back rows.

    Attributes
    ----------
    document : dict
        What `halfspace compare --json` prints.
    learners : list of dict
        Options, errors, accuracy, AUC, log loss and times of each learner, the best first.
    """

    COLUMNS = ("options", "errors", "accuracy", "auc", "log_loss", "seconds")

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.learners: list[dict[str, Any]] = document["learners"]

    def to_pandas(self):
        """Return the table as a pandas DataFrame."""
        import pandas
        return pandas.DataFrame(self.learners)

    def _rows(self):
        yield self.COLUMNS
        for learner in self.learners:
            yield tuple("-" if learner[c] is None else f"{learner[c]:.6g}" if isinstance(learner[c], float) else str(learner[c])
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


def _printed(args: list[str], files: Memory | Folder, verbose: bool = False) -> dict[str, Any]:
    """Return the JSON that the command prints."""
    return json.loads(named(run(args, files, verbose=verbose).decode("utf-8"), files))


def _write(path: str | os.PathLike, content: bytes) -> None:
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
