"""Rows of Python as files of the command."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase

import numpy as np

from ._command import Folder, HalfspaceError, Memory
from ._pages import HugePages
from ._tables import WEIGHTS, Columns, Table, table_of

PANEL = 1 << 20  # numbers that are written at a time
THREADS = 4  # enough for the speed of the memory
STDIN = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}


def send(files: Memory | Folder, X, y=None, weights=None) -> list[str]:
    """Return the arguments that name files with the rows X, and with their labels and weights if these are given."""
    if hasattr(X, "tocsr"):
        args = [files.input("X.npz", lambda file: _write_csr(file, X.tocsr()))]
    else:
        args = [_array(files, "X.npy", X, _type(X))]
    if y is not None:
        args += ["--labels", _array(files, "y.npy", y, y.dtype)]
    if weights is not None:
        weights = np.asarray(weights, np.float64)
        args += ["--weights", _array(files, "sample_weight.npy", weights, weights.dtype)]
    return args


def _type(X) -> np.dtype:
    """Return the type of an array's numbers in the command: float32 if the command has no such type, or if the type has more bits."""
    if X.dtype.kind in "biuf" and X.dtype.itemsize <= 4 and X.dtype != np.float16:
        return X.dtype
    return np.dtype(np.float32)


def _array(files: Memory | Folder, name: str, values, dtype: np.dtype) -> str:
    """Return the path of a new file with an array in NumPy's format and another type."""
    values = values if isinstance(values, Columns) else np.asarray(values)
    return files.input(name, lambda file: _write(file, values, dtype))


def _write(file, values, dtype: np.dtype) -> None:
    """Write an array in NumPy's format and another type, in the order of C, or of Fortran if the numbers of its columns are nearer in memory."""
    fortran = values.ndim == 2 and (isinstance(values, Columns) or not values.flags.c_contiguous and abs(values.strides[0]) < abs(values.strides[1]))
    np.lib.format.write_array_header_1_0(
        file, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": fortran, "shape": values.shape})
    large = False
    try:
        _fill(file, values.lines() if isinstance(values, Columns) else np.atleast_1d(values.T if fortran else values), dtype)
    except FloatingPointError:
        large = True
    if large:
        _refuse_large(values)


def _fill(file, lines, dtype: np.dtype) -> None:
    """Write numbers, line by line, in another type. Since NumPy 1.24, a number that is too large for it raises FloatingPointError."""
    step = max(1, PANEL // max(1, lines[:1].size))
    starts, width = range(0, len(lines), step), lines[:1].size * dtype.itemsize

    def write(first):
        panel = lines[first:first + step]
        with np.errstate(over="raise"):
            if pages:
                np.copyto(pages.take(first * width, len(panel) * width).view(dtype).reshape(panel.shape), panel, casting="unsafe")
            else:
                file.write(np.ascontiguousarray(panel, dtype).data)
    with HugePages(file, len(lines) * width) as pages, ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        for _ in (pool.map if pages and len(starts) > THREADS else map)(write, starts):
            pass


def _refuse_large(values) -> None:
    """Raise an error that names a number that is too large for float32."""
    if isinstance(values, Columns):
        values = np.asarray(values, np.float64)
    step = max(1, PANEL * len(values) // values.size)
    for first in range(0, len(values), step):
        panel = values[first:first + step]
        with np.errstate(over="ignore"):
            lost = np.argwhere(np.isfinite(panel) & ~np.isfinite(panel.astype(np.float32)))
        if len(lost) > 0:
            row, column = lost[0]
            raise HalfspaceError(f"X has {panel[row, column]} in row {first + row}, column {column}: features are rounded to float32, "
                                 f"whose numbers go up to {np.finfo(np.float32).max:.2g}")


def _write_csr(file, X) -> None:
    from scipy import sparse
    if X.dtype.itemsize > 8:  # the command has no such numbers
        X = X.astype(np.float32)
    sparse.save_npz(file, X, compressed=False)


ROLES = "label", "sample_weight", "group", "order_by"  # options that name columns that are no features


def source(files: Memory | Folder, data, label=None, options: dict | None = None, learns: bool = False) -> list[str]:
    """Return the arguments that name the rows of paths, a table or a matrix, and their labels.

    An array of sample weights, and the types of categories if the command learns from the rows, are taken out of `options`
    or added to it.
    """
    options = {} if options is None else options
    if isinstance(data, (str, os.PathLike)):
        data = [data]
    if isinstance(data, (list, tuple)) and data and all(isinstance(path, (str, os.PathLike)) for path in data):
        if any(os.fspath(path) in STDIN for path in data):
            raise HalfspaceError("data is standard input, which the command does not get from Python: give a file or a table")
        if label is not None and not _is_name(label):
            raise HalfspaceError(f"label is of type {type(label).__name__}, and data is a path: give the name of the file's column with the classes")
        return [*map(os.fspath, data), *([] if label is None else ["--label", str(label)])]
    table = table_of(data)
    if table is not None:
        return _table(files, table, label, options, learns)
    matrix = _matrix(data)
    weights = options.pop(WEIGHTS, None)
    if label is not None and (_is_name(label) or isinstance(label, np.generic)):
        raise HalfspaceError(f"label is {label!r}, and data is an array, whose columns have no names: give the array of labels")
    return send(files, matrix, None if label is None else labels(label, len(data)), weights)


def _is_name(label) -> bool:
    return isinstance(label, (str, int, float, np.generic))


def _matrix(data):
    """Return an array or a CSR matrix of numbers."""
    if hasattr(data, "tocsr"):
        return data
    if isinstance(data, np.ma.MaskedArray) and data.mask.any():
        if data.dtype.kind not in "biuf":
            raise HalfspaceError(f"data is a masked array of {data.dtype}: give an array of numbers")
        return data.astype(np.float32 if data.dtype.kind == "f" and data.dtype.itemsize <= 4 else np.float64).filled(np.nan)
    matrix = np.asarray(data)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        what = f" of {matrix.ndim} dimensions and type {matrix.dtype}" if isinstance(data, np.ndarray) else ""
        raise HalfspaceError(f"data is of type {type(data).__name__}{what}: give paths, a DataFrame, an Arrow table, or a matrix of numbers")
    return matrix


def labels(y, rows: int | None = None) -> np.ndarray:
    """Return labels as an array of shape (rows,) in a type of the command; libraries have texts as objects."""
    table = table_of(y, "label")
    if table is not None:
        if table.shape[1] != 1:
            raise HalfspaceError(f"label has {table.shape[1]} columns: give one")
        y = table.frame.iloc[:, 0] if hasattr(table.frame, "iloc") else table.frame[table.names[0]]
    if isinstance(y, np.ma.MaskedArray) and y.mask.any():
        raise HalfspaceError(f"label is masked in row {int(np.argmax(y.mask))}: leave the rows without a label out")
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise HalfspaceError(f"label has {values.ndim} dimensions: give a label for each row")
    if rows is not None and len(values) != rows:
        raise HalfspaceError(f"label has {len(values)} values, and data has {rows} rows")
    if values.dtype != object:
        return values
    for kind, types in (str, str), (bool, (bool, np.bool_)), (np.int64, (int, np.integer)):
        if all(isinstance(value, types) for value in values):
            return values.astype(kind)
    raise HalfspaceError("label has values of several types: give numbers alone or texts alone")


def _table(files: Memory | Folder, table: Table, label, options: dict, learns: bool) -> list[str]:
    """Return the arguments that name a file with a table, and its column of labels."""
    if learns:
        table.check()
    weights = options.get(WEIGHTS)
    if weights is not None and not isinstance(weights, str):
        weights = np.asarray(weights, np.float64)
        if weights.shape != (len(table),):
            raise HalfspaceError(f"sample_weight has the shape {weights.shape}, and data has {len(table)} rows: give a number for each row")
        options[WEIGHTS] = _free(table, WEIGHTS)
        table = table.with_column(options[WEIGHTS], weights)
    if label is not None and not _is_name(label):
        name, values = getattr(label, "name", None), labels(label, len(table))
        if _has(table, name, values):  # train(table, table["y"]) means the column, which is no feature
            label = name
        else:
            label = _free(table, name if isinstance(name, str) and name else "label")
            table = table.with_column(label, values)
    categories = table.categories() if learns and options.get("prepare") != "none" and options.get("categorical") is None else []
    taken = {str(label), *(str(options.get(role)) for role in ROLES)}
    found = [name for name in categories if name not in taken and not _matches(name, options.get("exclude"))
             and (options.get("features") is None or _matches(name, options["features"]))]
    if found:
        given = options.get("type") or {}
        if not isinstance(given, Mapping):
            items = next(csv.reader([given])) if isinstance(given, str) else given
            given = dict(item.rsplit("=", 1) if "=" in item else (item, "") for item in items)
        options["type"] = {**{name: "category" for name in found}, **given}
    return [files.input("data.arrow", table.write), *([] if label is None else ["--label", str(label)])]


def _has(table: Table, name, values: np.ndarray) -> bool:
    """Return whether a column of a table has a name and values."""
    if not isinstance(name, str) or name not in table.names:
        return False
    try:
        return np.array_equal(labels(table.frame[name]), values)
    except HalfspaceError:  # no labels
        return False


def _free(table: Table, name: str) -> str:
    """Return a name that no column has."""
    names = set(table.texts())
    while name in names:
        name += "_"
    return name


def _matches(name: str, patterns) -> bool:
    """Return whether an option names a column, by its name or by a pattern."""
    patterns = patterns.split(",") if isinstance(patterns, str) else patterns or []
    return any(fnmatchcase(name, str(pattern)) for pattern in patterns)


def argument(flag: str, value) -> list[str]:
    """Return the arguments for an option: True is the option alone, None and False are no arguments."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return [flag] if value else []
    return [flag, text(value)]


def text(value) -> str:
    """Return a value of an option as the command reads it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def quoted(item: str) -> str:
    """Return an item of a list as the command reads it."""
    return '"' + item.replace('"', '""') + '"' if any(c in item for c in '",\n') else item
