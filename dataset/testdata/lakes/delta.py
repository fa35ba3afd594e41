"""Writes Delta tables of each kind with the package deltalake, and beside each table the rows that the package reads.

delta.py FOLDER writes FOLDER/NAME, a table, and FOLDER/NAME.parquet, its rows."""

import datetime as dt
import decimal
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, Field, QueryBuilder, Schema, write_deltalake

import pyarrow.compute as pc


def rows(first, last):
    i = list(range(first, last))
    start = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
    return pa.table({
        "id": pa.array(i, pa.int64()), "x": pa.array([v * 1.5 for v in i]), "k": pa.array([v % 5 for v in i], pa.int32()),
        "s": pa.array([None if v % 11 == 0 else f"s{v}" for v in i], pa.string()), "b": [v % 2 == 0 for v in i],
        "d": pa.array([dt.date(2024, 1, 1) + dt.timedelta(v) for v in i]),
        "ts": pa.array([start + dt.timedelta(seconds=v, microseconds=7) for v in i], pa.timestamp("us", "UTC")),
        "dec": pa.array([decimal.Decimal(v).scaleb(-2) for v in i], pa.decimal128(10, 2)),
        "f": pa.array([v / 3 for v in i], pa.float32()), "i8": pa.array([v % 100 for v in i], pa.int8()),
        "i16": pa.array(i, pa.int16())})


def plain(p):
    write_deltalake(p, rows(0, 20))
    write_deltalake(p, rows(20, 30), mode="append")
    DeltaTable(p).delete("id % 7 = 3")
    DeltaTable(p).update(updates={"x": "0.0"}, predicate="id < 5")


def partitions(p):
    write_deltalake(p, rows(0, 30), partition_by=["k", "s"])
    DeltaTable(p).delete("k = 2")


def partition_types(p):
    write_deltalake(p, rows(0, 4), partition_by=["d", "ts", "b", "dec", "f", "i8"])


def partition_texts(p):
    texts = ["01234", "1", "a b", "x/y=z%20", "ü", None]
    write_deltalake(p, pa.table({"id": pa.array(range(6), pa.int64()), "zip": texts}), partition_by=["zip"])


def overwritten(p):
    write_deltalake(p, rows(0, 20))
    write_deltalake(p, rows(200, 210), mode="overwrite")


def other_schema(p):
    write_deltalake(p, rows(0, 20))
    other = rows(0, 10).select(["id", "s"]).append_column("new", pa.array([1.5] * 10))
    write_deltalake(p, other, mode="overwrite", schema_mode="overwrite")


def merged_schema(p):
    write_deltalake(p, rows(0, 10).select(["id", "x"]))
    write_deltalake(p, rows(10, 20).select(["id", "s", "k"]), mode="append", schema_mode="merge")


def checkpoint(p):
    for i in range(3):
        write_deltalake(p, rows(i * 10, i * 10 + 10), mode="append", partition_by=["k"])
    DeltaTable(p).create_checkpoint()
    write_deltalake(p, rows(100, 105), mode="append")
    DeltaTable(p).delete("id < 7")


def cleaned_log(p):
    for i in range(3):
        write_deltalake(p, rows(i * 10, i * 10 + 10), mode="append")
    DeltaTable(p).create_checkpoint()
    for version in range(2):
        os.remove(f"{p}/_delta_log/{version:020d}.json")


def compacted(p):
    for i in range(3):
        write_deltalake(p, rows(i * 10, i * 10 + 10), mode="append")
    DeltaTable(p).optimize.compact()
    write_deltalake(p, rows(200, 205), mode="append")


def z_ordered(p):
    write_deltalake(p, rows(0, 20))
    DeltaTable(p).optimize.z_order(["k"])


def restored(p):
    write_deltalake(p, rows(0, 10))
    write_deltalake(p, rows(10, 20), mode="append")
    write_deltalake(p, rows(40, 50), mode="overwrite")
    DeltaTable(p).restore(1)


def merged(p):
    write_deltalake(p, rows(0, 10))
    merge = DeltaTable(p).merge(rows(5, 15), "t.id = s.id", source_alias="s", target_alias="t")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()


def vacuumed(p):
    write_deltalake(p, rows(0, 10))
    write_deltalake(p, rows(10, 20), mode="overwrite")
    DeltaTable(p).vacuum(0, enforce_retention_duration=False, dry_run=False)


def replaced_partition(p):
    write_deltalake(p, rows(0, 20), partition_by=["k"])
    of = rows(100, 110)
    write_deltalake(p, of.filter(pc.equal(of["k"], 2)), mode="overwrite", predicate="k = 2")


def added_column(p):
    write_deltalake(p, rows(0, 10).select(["id"]))
    DeltaTable(p).alter.add_columns([Field("z", "double")])
    write_deltalake(p, pa.table({"id": pa.array([100], pa.int64()), "z": [2.5]}), mode="append")


def lists(p):
    write_deltalake(p, pa.table({"id": [1, 2], "v": pa.array([[1.0, 2.0], [3.0, 4.0]]), "st": [{"a": 1}, {"a": 2}]}))


def local_times(p):
    write_deltalake(p, pa.table({"id": [1], "t": pa.array([dt.datetime(2024, 1, 1)], pa.timestamp("us"))}))


def change_feed(p):
    write_deltalake(p, rows(0, 20), configuration={"delta.enableChangeDataFeed": "true"})
    DeltaTable(p).update(updates={"x": "1.0"}, predicate="id < 5")
    DeltaTable(p).delete("id > 15")


def empty(p):
    DeltaTable.create(p, Schema([Field("a", "long"), Field("b", "string")]))


def emptied(p):
    write_deltalake(p, rows(0, 20))
    DeltaTable(p).delete()


KINDS = [plain, partitions, partition_types, partition_texts, overwritten, other_schema, merged_schema, checkpoint, cleaned_log,
         compacted, z_ordered, restored, merged, vacuumed, replaced_partition, added_column, lists, local_times, change_feed,
         empty, emptied]

for kind in KINDS:
    path = os.path.join(sys.argv[1], "deltalake_" + kind.__name__)
    kind(path)
    read = pa.table(QueryBuilder().register("t", DeltaTable(path)).execute("SELECT * FROM t").read_all())
    flat = [f.name for f in read.schema if not pa.types.is_struct(f.type)]
    pq.write_table(read.select(flat), path + ".parquet")
    print(path, read.num_rows)
