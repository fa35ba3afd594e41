"""Rows of Python as files of the command."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ._command import Folder, HalfspaceError, Memory
from ._pages import HugePages

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
    values = np.asarray(values)
    return files.input(name, lambda file: _write(file, values, dtype))


def _write(file, values, dtype: np.dtype) -> None:
    """Write an array in NumPy's format and another type, in the order of C, or of Fortran if the numbers of its columns are nearer in memory."""
    fortran = values.ndim == 2 and not values.flags.c_contiguous and abs(values.strides[0]) < abs(values.strides[1])
    np.lib.format.write_array_header_1_0(
        file, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": fortran, "shape": values.shape})
    large = False
    try:
        _fill(file, np.atleast_1d(values.T if fortran else values), dtype)
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
        if label is not None and not isinstance(label, (str, int, float, np.generic)):
            raise HalfspaceError(f"label is of type {type(label).__name__}: give the name of the table's column with the classes")
        return [*_table(files, data), *([] if label is None else ["--label", str(label)])]
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


def _table(files: Memory | Folder, table) -> list[str]:
    """Return the arguments that name a file with a table: Parquet by polars, Arrow IPC by pyarrow, else CSV by pandas."""
    if type(table).__module__.startswith("polars"):
        return [files.input("data.parquet", lambda file: getattr(table, "collect", lambda: table)().write_parquet(file, compression="uncompressed"))]
    try:
        import pyarrow
    except ImportError:
        # Names may look like numbers.
        return [files.input("data.csv", lambda file: table.to_csv(file, index=False, mode="wb")), "--header", "yes"]
    if not isinstance(table, pyarrow.Table):
        table = pyarrow.Table.from_pandas(table, preserve_index=False)

    def write(file):
        with pyarrow.ipc.new_file(file, table.schema) as out:
            out.write_table(table)
    return [files.input("data.arrow", write)]


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
