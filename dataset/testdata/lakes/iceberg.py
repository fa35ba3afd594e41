"""Writes Iceberg tables of each kind with the package pyiceberg, and beside each table the rows that the package reads.

iceberg.py FOLDER writes FOLDER/NAME, a table, and FOLDER/NAME.parquet, its rows."""

import datetime as dt
import decimal
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import (DecimalType, DoubleType, FloatType, ListType, LongType, NestedField, StringType, TimestampType,
                             TimeType)

FOLDER = os.path.abspath(sys.argv[1])
catalog = SqlCatalog("c", uri=f"sqlite:///{FOLDER}/catalog.db", warehouse=f"file://{FOLDER}")
catalog.create_namespace("db")


def rows(first, last):
    i = list(range(first, last))
    start = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
    return pa.table({
        "id": pa.array(i, pa.int64()), "x": pa.array([v * 1.5 for v in i]), "k": pa.array([v % 5 for v in i], pa.int32()),
        "s": pa.array([None if v % 11 == 0 else f"s{v}" for v in i], pa.string()), "b": [v % 2 == 0 for v in i],
        "d": pa.array([dt.date(2024, 1, 1) + dt.timedelta(v) for v in i]),
        "ts": pa.array([start + dt.timedelta(seconds=v, microseconds=7) for v in i], pa.timestamp("us", "UTC")),
        "dec": pa.array([decimal.Decimal(v).scaleb(-2) for v in i], pa.decimal128(10, 2)),
        "f": pa.array([v / 3 for v in i], pa.float32())})


def create(name, schema=rows(0, 1).schema, **options):
    return catalog.create_table(f"db.{name}", schema, location=f"file://{FOLDER}/pyiceberg_{name}", **options)


def partitioned(table, *columns):
    with table.update_spec() as spec:
        for column in columns:
            spec.add_identity(column)


def plain(name):
    t = create(name)
    t.append(rows(0, 20))
    t.append(rows(20, 30))
    t.delete("id < 7")


def partitions(name):
    t = create(name)
    partitioned(t, "k", "s")
    t.append(rows(0, 12))
    t.delete("k == 3")


def partition_types(name):
    t = create(name)
    partitioned(t, "d", "ts", "b", "dec", "f")
    t.append(rows(0, 3))


def other_partitions(name):
    t = create(name)
    t.append(rows(0, 10))
    partitioned(t, "k")
    t.append(rows(10, 20))
    with t.update_spec() as spec:
        spec.remove_field("k")
    t.append(rows(20, 30))


def renamed(name):
    t = create(name)
    t.append(rows(0, 10))
    with t.update_schema() as u:
        u.rename_column("x", "y")
        u.delete_column("s")
    with t.update_schema() as u:
        u.add_column("s", LongType())
        u.add_column("new", StringType())
    later = rows(10, 15).drop_columns(["x", "s"]).append_column("y", pa.array([.5] * 5))
    t.append(later.append_column("s", pa.array(range(5), pa.int64())).append_column("new", pa.array(["n"] * 5)))


def promoted(name):
    cents = lambda v: None if v is None else decimal.Decimal(v)
    t = create(name, pa.schema([("a", pa.int32()), ("b", pa.float32()), ("c", pa.decimal128(6, 2))]))
    t.append(pa.table({"a": pa.array([1, None], pa.int32()), "b": pa.array([.1, 2], pa.float32()),
                       "c": pa.array([cents("1.25"), None], pa.decimal128(6, 2))}))
    with t.update_schema() as u:
        u.update_column("a", field_type=LongType())
        u.update_column("b", field_type=DoubleType())
        u.update_column("c", field_type=DecimalType(12, 2))
    t.append(pa.table({"a": pa.array([5000000000], pa.int64()), "b": pa.array([.1], pa.float64()),
                       "c": pa.array([cents("12345678.25")], pa.decimal128(12, 2))}))


def overwritten(name):
    t = create(name)
    t.append(rows(0, 20))
    t.overwrite(rows(100, 110))


def imported(name):
    t = create(name)
    p = f"{FOLDER}/pyiceberg_{name}/imported.parquet"
    pq.write_table(rows(0, 10), p)
    t.add_files([p])
    with t.update_schema() as u:
        u.rename_column("x", "y")


def types(name):
    t = create(name, Schema(NestedField(1, "id", LongType()), NestedField(4, "t", TimeType()), NestedField(5, "tn", TimestampType()),
                            NestedField(7, "l", ListType(8, FloatType(), element_required=False))))
    t.append(pa.table({"id": [1], "t": pa.array([dt.time(1, 2, 3, 4)], pa.time64("us")),
                       "tn": pa.array([dt.datetime(2024, 1, 1)], pa.timestamp("us")),
                       "l": pa.array([[1.5, 2.5]], pa.list_(pa.float32()))}))


def rolled_back(name):
    t = create(name)
    t.append(rows(0, 10))
    snapshot = t.current_snapshot().snapshot_id
    t.append(rows(10, 20))
    t.manage_snapshots().rollback_to_snapshot(snapshot).commit()


def compressed_metadata(name):
    create(name, properties={"write.metadata.compression-codec": "gzip"}).append(rows(0, 10))


def empty(name):
    create(name)


KINDS = [plain, partitions, partition_types, other_partitions, renamed, promoted, overwritten, imported, types, rolled_back,
         compressed_metadata, empty]

for kind in KINDS:
    kind(kind.__name__)
    read = catalog.load_table(f"db.{kind.__name__}").scan().to_arrow()
    pq.write_table(read, f"{FOLDER}/pyiceberg_{kind.__name__}.parquet")
    print(kind.__name__, read.num_rows)
