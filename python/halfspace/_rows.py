"""Rows of Python as files of the command."""

from __future__ import annotations

import os

import numpy as np

from ._command import Folder, HalfspaceError, Memory

PANEL = 1 << 16  # rows that are converted at a time
STDIN = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}


def send(files: Memory | Folder, X, y=None, weights=None) -> list[str]:
    """Return the arguments that name files with the rows X, and with their labels and weights if these are given."""
    if hasattr(X, "tocsr"):
        args = [files.input("X.npz", lambda file: _write_csr(file, X.tocsr()))]
    else:
        args = [files.input("X.npy", lambda file: _write(file, X))]
    if y is not None:
        args += ["--labels", files.input("y.npy", lambda file: np.save(file, y, allow_pickle=False))]
    if weights is not None:
        args += ["--weights", files.input("sample_weight.npy", lambda file: np.save(file, np.asarray(weights, np.float64)))]
    return args


def _write(file, X) -> None:
    """Write an array in NumPy's format: as it is, or in float32 if the type is none of the command's or has more bits.

    Only some rows are converted at a time.
    """
    kept = X.dtype.kind in "biuf" and X.dtype.itemsize <= 4 and X.dtype != np.float16
    if kept and (X.flags.c_contiguous or X.flags.f_contiguous):
        np.save(file, X)
        return
    dtype = X.dtype.newbyteorder("=") if kept else np.dtype(np.float32)
    np.lib.format.write_array_header_1_0(file, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": X.shape})
    for first in range(0, len(X), PANEL):
        file.write(_converted(X[first:first + PANEL], dtype, first).data)


def _converted(panel, dtype, first: int):
    """Return the rows from number `first` on in another type."""
    try:
        with np.errstate(over="raise"):  # before NumPy 1.24, the command names a number that is too large
            return np.ascontiguousarray(panel, dtype=dtype)
    except FloatingPointError:
        with np.errstate(over="ignore"):
            row, column = np.argwhere(np.isfinite(panel) & ~np.isfinite(panel.astype(dtype)))[0]
        raise HalfspaceError(f"X has {panel[row, column]} in row {first + row}, column {column}: features are rounded to float32, "
                             f"whose numbers go up to {np.finfo(np.float32).max:.2g}") from None


def _write_csr(file, X) -> None:
    from scipy import sparse
    if X.dtype.itemsize > 8:  # the command has no such numbers
        X = X.astype(np.float32)
    sparse.save_npz(file, X, compressed=False)


def source(files: Memory | Folder, data, label=None, weight_option: str | None = None, options: dict | None = None) -> list[str]:
    """Return the arguments that name the rows of paths, a table or a matrix, and their labels.

    Sample weights of a matrix are taken out of `options`.
    """
    if isinstance(data, (str, os.PathLike)):
        data = [data]
    if isinstance(data, (list, tuple)) and data and all(isinstance(path, (str, os.PathLike)) for path in data):
        if any(os.fspath(path) in STDIN for path in data):
            raise HalfspaceError("data is standard input, which the command does not get from Python: give a file or a table")
        return [*map(os.fspath, data), *([] if label is None else ["--label", str(label)])]
    if hasattr(data, "columns") or hasattr(data, "column_names"):
        return [_table(files, data), *([] if label is None else ["--label", str(label)])]
    weights = options.pop(weight_option, None) if weight_option and options else None
    matrix = data if hasattr(data, "tocsr") else np.asarray(data)
    if matrix.ndim != 2 or not hasattr(data, "tocsr") and matrix.dtype.kind not in "biuf":
        raise HalfspaceError(f"data is of type {type(data).__name__}: give paths, a DataFrame, an Arrow table, or a matrix of numbers")
    return send(files, matrix, None if label is None else _labels(np.asarray(label)), weights)


def _labels(y):
    """Return labels in a type of the command; pandas has texts as objects."""
    if y.dtype != object:
        return y
    for kind, types in (str, str), (bool, (bool, np.bool_)), (np.int64, (int, np.integer)):
        if all(isinstance(value, types) for value in y.flat):
            return y.astype(kind)
    raise HalfspaceError("label has values of several types: give numbers alone or texts alone")


def _table(files: Memory | Folder, table) -> str:
    """Return the path of a file with a table: Parquet by polars, Arrow IPC by pyarrow, else CSV by pandas."""
    if type(table).__module__.startswith("polars"):
        return files.input("data.parquet", lambda file: getattr(table, "collect", lambda: table)().write_parquet(file, compression="uncompressed"))
    try:
        import pyarrow
    except ImportError:
        return files.input("data.csv", lambda file: table.to_csv(file, index=False, mode="wb"))
    if not isinstance(table, pyarrow.Table):
        table = pyarrow.Table.from_pandas(table, preserve_index=False)

    def write(file):
        with pyarrow.ipc.new_file(file, table.schema) as out:
            out.write_table(table)
    return files.input("data.arrow", write)


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
