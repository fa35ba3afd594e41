"""Tables of pandas, polars and Arrow: their columns as numbers for `fit`, and whole as Arrow for `train`."""

from __future__ import annotations

import sys
from typing import Any, BinaryIO, Sequence

import numpy as np

from . import _ipc
from ._command import HalfspaceError, HalfspaceWarning, warn

WEIGHTS = "sample_weight"  # name of the column with the weights of an array
FLATTEN = "data.columns = ['_'.join(map(str, name)) for name in data.columns]"


class Table:
    """A table with named columns.

    Attributes
    ----------
    names : list
        Names of the columns, as the table has them.
    argument : str
        Name of the argument, for sentences.
    shape : (int, int)
        Rows and columns.
    """

    def __init__(self, frame: Any, names: Sequence[Any], rows: int, argument: str) -> None:
        self.frame, self.names, self.argument, self.shape = frame, list(names), argument, (rows, len(names))

    def __len__(self) -> int:
        return self.shape[0]

    def texts(self) -> list[str]:
        """Return the names of the columns as the command has them."""
        return [str(name) for name in self.names]

    def check(self) -> None:
        """Raise an error if two columns have one name in the command."""
        seen: set[str] = set()
        for name in self.texts():
            if name in seen:
                raise HalfspaceError(f"{self.argument} has several columns {name!r}: give each column its own name")
            seen.add(name)

    def numbers(self, i: int) -> np.ndarray:
        """Return the numbers of a column, an array of shape (rows,); missing values are NaN."""
        raise NotImplementedError

    def categories(self) -> list[str]:
        """Return the names of the columns whose values are categories of the user."""
        raise NotImplementedError

    def with_column(self, name: str, values: np.ndarray) -> Table:
        """Return the table with one column more."""
        raise NotImplementedError

    def with_units(self, units: dict[str, str]) -> Table:
        """Return the table with durations in these units, by the names of columns."""
        raise NotImplementedError

    def write(self, file: BinaryIO) -> None:
        """Write the table as Arrow IPC."""
        raise NotImplementedError

    def refuse_text(self, i: int, values: Any) -> HalfspaceError:
        """Return an error that names a value that is no number."""
        for row, value in enumerate(values):
            try:
                np.asarray([value], object).astype(np.float64)
            except (TypeError, ValueError):
                shown = repr(value) if len(repr(value)) <= 50 else repr(value)[:47] + "..."
                return HalfspaceError(f"could not convert {type(value).__name__} to float: column {self.names[i]!r} of {self.argument} "
                                      f"has {shown} in row {row}. fit takes numbers; halfspace.train takes text and dates too")
        return HalfspaceError(f"column {self.names[i]!r} of {self.argument} has values that are no numbers")

    def refuse_type(self, i: int, kind: Any) -> HalfspaceError:
        """Return an error that names the type of a column without numbers."""
        return HalfspaceError(f"column {self.names[i]!r} of {self.argument} is of type {kind}: fit takes numbers; "
                              "halfspace.train makes features of dates, times and text")

    def of_objects(self, i: int, values: np.ndarray) -> np.ndarray:
        """Return objects as numbers, as scikit-learn does."""
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            raise self.refuse_text(i, values) from None


class Pandas(Table):
    def __init__(self, frame: Any, argument: str) -> None:
        super().__init__(frame, frame.columns, len(frame), argument)

    def check(self) -> None:
        if self.frame.columns.nlevels > 1:
            raise HalfspaceError(f"the columns of {self.argument} have {self.frame.columns.nlevels} levels of names: join them, such as {FLATTEN}")
        super().check()
        index = self.frame.index
        names = [name for name in index.names if name is not None]
        if names or index.dtype.kind not in "iu" or index.nlevels > 1:
            named = " " + ", ".join(map(repr, names)) if names else ""
            warn(f"the index{named} of {self.argument} is no column, and left out: reset_index() makes it one", HalfspaceWarning)

    def numbers(self, i: int) -> np.ndarray:
        column = self.frame.iloc[:, i]
        if hasattr(column, "cat"):
            column = column.astype(column.cat.categories.dtype)
        dtype = column.dtype
        if dtype.kind in "mMc":
            raise self.refuse_type(i, dtype)
        if dtype.kind in "biuf":
            if isinstance(dtype, np.dtype) or not column.hasnans:
                return column.to_numpy(getattr(dtype, "numpy_dtype", None) or np.dtype(getattr(dtype, "subtype", dtype)))
            return column.to_numpy(np.float64, na_value=np.nan)
        return self.of_objects(i, column.to_numpy(object, na_value=None))

    def categories(self) -> list[str]:
        return [str(name) for name, dtype in zip(self.names, self.frame.dtypes) if type(dtype).__name__ == "CategoricalDtype"]

    def with_column(self, name: str, values: np.ndarray) -> Table:
        return Pandas(self.frame.assign(**{name: values}), self.argument)

    def with_units(self, units: dict[str, str]) -> Table:
        changed = {name: self.frame[name].astype(f"timedelta64[{units[str(name)]}]") for name, dtype in zip(self.names, self.frame.dtypes)
                   if str(name) in units and isinstance(dtype, np.dtype) and dtype.kind == "m"}
        return Pandas(self.frame.assign(**changed), self.argument) if changed else self

    def write(self, file: BinaryIO) -> None:
        pyarrow = imported("pyarrow", try_import=True)
        if pyarrow is None:
            _ipc.write(file, [self._column(i) for i in range(self.shape[1])], len(self))
            return
        try:
            dense = {name: dtype.subtype for name, dtype in zip(self.names, self.frame.dtypes) if type(dtype).__name__ == "SparseDtype"}
            frame = self.frame.astype(dense) if dense else self.frame
            table = pyarrow.Table.from_pandas(frame.set_axis(self.texts(), axis=1), preserve_index=False)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError) as error:
            raise HalfspaceError(f"{self.argument} can't be made an Arrow table: {error}") from None
        Arrow(table, self.argument).write(file)

    def _column(self, i: int) -> _ipc.Column:
        """Return a column for a system without pyarrow."""
        column, name = self.frame.iloc[:, i], self.texts()[i]
        if hasattr(column, "cat"):
            column = column.astype(column.cat.categories.dtype)
        dtype, zone = column.dtype, None
        if dtype.kind == "M":
            zone = None if getattr(dtype, "tz", None) is None else str(dtype.tz)
            column = column if zone is None else column.dt.tz_convert("UTC").dt.tz_localize(None)
            return _ipc.Column(name, column.to_numpy(), zone=zone)
        if isinstance(dtype, np.dtype) and dtype.kind in "biufm":
            values = column.to_numpy()
            return _ipc.Column(name, values, np.isnan(values) if dtype.kind == "f" else None)
        if dtype.kind in "biuf":
            missing, plain = column.isna().to_numpy(), getattr(dtype, "numpy_dtype", None) or np.dtype(getattr(dtype, "subtype", np.float64))
            return _ipc.Column(name, column.fillna(dtype.type(0)).to_numpy(plain) if missing.any() else column.to_numpy(plain), missing)
        values = column.to_numpy(object)
        missing = np.asarray(column.isna())
        values = np.where(missing, None, values)
        kinds = {type(value) for value in values[~missing]}
        if kinds <= {bool, np.bool_} and kinds:
            return _ipc.Column(name, np.where(missing, False, values).astype(bool), missing)
        if kinds and all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in kinds):
            return _ipc.Column(name, np.where(missing, np.nan, values).astype(np.float64), missing)
        if not kinds <= {str}:
            raise HalfspaceError(f"column {name!r} of {self.argument} has values of the types {', '.join(sorted(kind.__name__ for kind in kinds))}: "
                                 "install pyarrow, which passes them, or convert the column to text or numbers")
        return _ipc.Column(name, values)


class Polars(Table):
    def __init__(self, frame: Any, argument: str) -> None:
        super().__init__(frame, frame.columns, frame.height, argument)

    def numbers(self, i: int) -> np.ndarray:
        import polars
        column = self.frame.to_series(i)
        kind = column.dtype
        if kind.is_temporal():
            raise self.refuse_type(i, kind)
        if kind.is_decimal() or kind.is_integer() and str(kind).endswith("Int128") or kind == polars.Null:
            column = column.cast(polars.Float64)
        elif not kind.is_numeric() and kind != polars.Boolean:
            if kind.is_nested() or kind == polars.Binary:
                raise self.refuse_type(i, kind)
            return self.of_objects(i, column.to_numpy().astype(object))
        values = column.to_numpy()
        return values.astype(np.float64) if values.dtype == object else values  # booleans with missing values

    def categories(self) -> list[str]:
        import polars
        return [name for name, kind in self.frame.schema.items() if kind == polars.Categorical or kind == polars.Enum]

    def with_column(self, name: str, values: np.ndarray) -> Table:
        import polars
        return Polars(self.frame.with_columns(polars.Series(name, values)), self.argument)

    def with_units(self, units: dict[str, str]) -> Table:
        import polars
        casts = [polars.col(name).cast(polars.Duration(units[name])) for name, kind in self.frame.schema.items()
                 if kind == polars.Duration and units.get(name) in ("ms", "us", "ns")]
        return Polars(self.frame.with_columns(casts), self.argument) if casts else self

    def write(self, file: BinaryIO) -> None:
        import polars
        frame = self.frame
        while any(kind == polars.Struct for kind in frame.dtypes):
            frame = frame.select(field for name, kind in frame.schema.items() for field in (
                [polars.col(name).struct.field(inner.name).alias(f"{name}.{inner.name}") for inner in kind.fields] if kind == polars.Struct else [polars.col(name)]))
        for name, kind in frame.schema.items():
            if kind == polars.Object:
                raise HalfspaceError(f"column {name!r} of {self.argument} has Python objects: convert it to text or numbers, or drop it")
        wide = [name for name, kind in frame.schema.items() if kind.is_integer() and str(kind).endswith("Int128")]
        frame = frame.with_columns(polars.col(wide).cast(polars.Float64)) if wide else frame
        frame.write_ipc_stream(file, compression="uncompressed")


class Arrow(Table):
    def __init__(self, table: Any, argument: str) -> None:
        super().__init__(table, table.column_names, table.num_rows, argument)

    def numbers(self, i: int) -> np.ndarray:
        return self._numbers(i, self.frame.column(i))

    def _numbers(self, i: int, column: Any) -> np.ndarray:
        import pyarrow
        kind, is_ = column.type, pyarrow.types
        if isinstance(kind, pyarrow.BaseExtensionType):
            return self._numbers(i, pyarrow.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
        if is_.is_dictionary(kind):
            return self._numbers(i, column.cast(kind.value_type))
        if getattr(is_, "is_run_end_encoded", lambda kind: False)(kind):
            import pyarrow.compute
            return self._numbers(i, pyarrow.compute.run_end_decode(column))
        if is_.is_decimal(kind) or is_.is_null(kind) or is_.is_boolean(kind) and column.null_count > 0:
            column = column.cast(pyarrow.float64())
        elif is_.is_temporal(kind) or is_.is_nested(kind) or is_.is_binary(kind):
            raise self.refuse_type(i, kind)
        elif not (is_.is_integer(kind) or is_.is_floating(kind) or is_.is_boolean(kind)):
            return self.of_objects(i, np.array(column.to_pylist(), dtype=object))
        return np.asarray(column.to_numpy())

    def categories(self) -> list[str]:
        import pyarrow
        return [field.name for field in self.frame.schema if pyarrow.types.is_dictionary(field.type)]

    def with_column(self, name: str, values: np.ndarray) -> Table:
        import pyarrow
        return Arrow(self.frame.append_column(name, pyarrow.array(values)), self.argument)

    def with_units(self, units: dict[str, str]) -> Table:
        import pyarrow
        table = self.frame
        for i, field in enumerate(table.schema):
            if field.name in units and pyarrow.types.is_duration(field.type):
                table = table.set_column(i, field.name, table.column(i).cast(pyarrow.duration(units[field.name]), safe=False))
        return Arrow(table, self.argument)

    def write(self, file: BinaryIO) -> None:
        import pyarrow
        table = self.frame
        while any(pyarrow.types.is_struct(kind) for kind in table.schema.types):
            table = table.flatten()
        with pyarrow.ipc.new_stream(file, table.schema) as out:
            out.write_table(table)


def table_of(data: Any, argument: str = "data") -> Table | None:
    """Return a table of pandas, polars, narwhals or Arrow, or of any library with the Arrow stream interface, else None."""
    if isinstance(data, (Table, np.ndarray, str, list, tuple)) or data is None:
        return data if isinstance(data, Table) else None
    if type(data).__module__.startswith("narwhals.") and hasattr(data, "columns"):
        data = data.to_native()
    pandas, polars, pyarrow = (imported(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return Pandas(data, argument)
    if polars is not None and isinstance(data, (polars.DataFrame, polars.LazyFrame)):
        return Polars(data.collect() if isinstance(data, polars.LazyFrame) else data, argument)
    if pyarrow is not None and isinstance(data, pyarrow.Table):
        return Arrow(data, argument)
    columns = [module.Series for module in (pandas, polars) if module is not None]
    if isinstance(data, tuple(columns)) or not (hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__") or hasattr(data, "to_pandas")):
        return None
    return _streamed(data, argument)


def tabled(data: Any, argument: str) -> Any:
    """Return a table, or data of another kind as they are. A stream is read here, and can't be read again."""
    table = table_of(data, argument)
    return data if table is None else table


def _streamed(data: Any, argument: str) -> Table | None:
    """Return a table of another library, by the Arrow stream interface, or by pandas."""
    pyarrow, polars = imported("pyarrow", try_import=True), imported("polars", try_import=True)
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        return Pandas(data.to_pandas(), argument) if hasattr(data, "columns") else None
    try:
        if pyarrow is not None:
            streams = hasattr(data, "__arrow_c_stream__")
            return Arrow(pyarrow.RecordBatchReader.from_stream(data).read_all() if streams else pyarrow.table(data), argument)
        if polars is not None:
            return Polars(polars.DataFrame(data), argument)
    except (TypeError, ValueError):  # a column, no table
        return None
    raise HalfspaceError(f"{argument} is of type {type(data).__name__}: install pyarrow, which reads it")


def imported(name: str, try_import: bool = False) -> Any:
    """Return a module that the program has imported, or that can be imported, or None."""
    if try_import and name not in sys.modules:
        try:
            __import__(name)
        except ImportError:
            return None
    return sys.modules.get(name)


class Columns:
    """A matrix whose columns are arrays of their own, so that no copy is made of all.

    Attributes
    ----------
    columns : list of array, shape (rows,)
    names : list
        Names of the columns, for sentences.
    shape : (int, int)
    dtype : numpy.dtype
        Type of the numbers if all columns have it, else float32, to which the command rounds.
    """

    ndim = 2

    def __init__(self, columns: list[np.ndarray], names: list[Any]) -> None:
        self.columns, self.names, self.shape = columns, names, (len(columns[0]), len(columns))
        kinds = {column.dtype for column in columns}
        self.dtype = kinds.pop() if len(kinds) == 1 else np.dtype(np.float32)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        matrix = np.empty(self.shape, dtype or self.dtype, order="F")
        for i, column in enumerate(self.columns):
            matrix[:, i] = column
        return matrix

    def lines(self) -> Lines:
        return Lines(self.columns)

    def check_finite(self) -> None:
        """Raise an error that names a number that is not finite, in scikit-learn's words."""
        for name, column in zip(self.names, self.columns):
            if column.dtype.kind == "f" and not np.isfinite(column).all():
                row = int(np.argmin(np.isfinite(column)))
                what = "NaN" if np.isnan(column[row]) else "infinity"
                raise HalfspaceError(f"Input X contains {what} in column {name!r}, row {row}. fit takes numbers without gaps; "
                                     "halfspace.train marks missing values, and fills them in")


class Lines:
    """The columns of a matrix as its lines: slices of them are arrays."""

    def __init__(self, columns: list[np.ndarray]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, at: slice) -> np.ndarray:
        some = self._columns[at]
        return some[0][None] if len(some) == 1 else np.stack(some)


def columns_of(table: Table) -> Columns:
    """Return a table's columns as numbers."""
    return Columns([table.numbers(i) for i in range(table.shape[1])], table.names)
