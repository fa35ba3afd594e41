"""Writes Delta and Iceberg tables of each kind with Spark, and beside each table the rows that Spark reads.

spark.py FOLDER writes FOLDER/NAME, a table, and FOLDER/NAME.parquet, its rows."""

import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

FOLDER = os.path.abspath(sys.argv[1])
PACKAGES = "io.delta:delta-spark_4.1_2.13:4.4.0,org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
spark = SparkSession.builder.master("local[2]").config("spark.jars.packages", PACKAGES)
for key, value in {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": FOLDER, "spark.sql.session.timeZone": "UTC",
        "spark.databricks.delta.snapshotPartitions": "1", "spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false"}.items():
    spark = spark.config(key, value)
spark = spark.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
sql = spark.sql


def rows(first, last):
    return (f"SELECT id, CAST(id * 1.5 AS DOUBLE) x, CAST(id % 7 AS INT) k, CAST(id % 2 AS BOOLEAN) b, CONCAT('s', id) s, "
            f"DATE_ADD(DATE'2024-01-01', CAST(id AS INT)) d, "
            f"TIMESTAMP'2024-01-01 00:00:00' + MAKE_INTERVAL(0, 0, 0, 0, CAST(id AS INT), 0, 0.123456) ts, "
            f"CAST(id * 0.01 AS DECIMAL(10, 2)) dec, CAST(id AS FLOAT) / 3 f FROM RANGE({first}, {last}, 1, 1)")


def delta(t, *properties, by="", of=rows(0, 30)):
    set_properties = f"TBLPROPERTIES ({', '.join(properties)})" if properties else ""
    sql(f"CREATE TABLE {t} USING delta {'PARTITIONED BY (' + by + ')' if by else ''} {set_properties} AS {of}")


VECTORS = "'delta.enableDeletionVectors' = true"


def delta_plain(t):
    delta(t)
    sql(f"INSERT INTO {t} {rows(30, 40)}")
    sql(f"DELETE FROM {t} WHERE id % 10 = 3")
    sql(f"UPDATE {t} SET x = -x WHERE k = 2")


def delta_partitions(t):
    sql(f"CREATE TABLE {t} (id LONG, x DOUBLE, country STRING, zip STRING, day DATE, n INT, ok BOOLEAN, ts TIMESTAMP, "
        f"dec DECIMAL(8, 3)) USING delta PARTITIONED BY (country, zip, day, n, ok, ts, dec)")
    sql(f"INSERT INTO {t} VALUES "
        f"(1, 1.0, 'de', '01234', DATE'2024-01-01', 7, true, TIMESTAMP'2024-01-01 10:00:00.5', 1.5), "
        f"(2, 2.0, 'a b/c=d', '', DATE'2024-02-01', null, false, TIMESTAMP'2024-01-01 10:00:00', 2.25), "
        f"(3, 3.0, null, '99999', null, -3, null, null, null), "
        f"(4, 4.0, 'ü%20', '1', DATE'1969-12-31', 0, true, TIMESTAMP'1960-01-01 10:00:00.123456', -0.001)")


def delta_vectors(t):
    delta(t, VECTORS, of=rows(0, 200))
    sql(f"DELETE FROM {t} WHERE id % 10 = 3")
    sql(f"DELETE FROM {t} WHERE id BETWEEN 100 AND 120")
    sql(f"INSERT INTO {t} {rows(200, 210)}")
    sql(f"UPDATE {t} SET x = 0 WHERE id % 100 = 1")


def delta_long_vectors(t):
    delta(t, VECTORS, of="SELECT id, id % 2 y FROM RANGE(0, 300000, 1, 1)")
    sql(f"DELETE FROM {t} WHERE id % 3 = 0 OR id BETWEEN 70000 AND 140000")


def delta_partitions_and_vectors(t):
    delta(t, VECTORS, by="k", of=rows(0, 100))
    sql(f"DELETE FROM {t} WHERE id % 13 = 0")
    sql(f"DELETE FROM {t} WHERE k = 3 AND id < 50")


def delta_mapped_by_name(t):
    delta(t, "'delta.columnMapping.mode' = 'name'", by="k", of=rows(0, 20))
    sql(f"ALTER TABLE {t} RENAME COLUMN x TO y")
    sql(f"ALTER TABLE {t} DROP COLUMN s")
    sql(f"ALTER TABLE {t} ADD COLUMN s INT")
    sql(f"INSERT INTO {t} SELECT id + 1000, id * 1.0, 3, true, DATE'2024-01-01', TIMESTAMP'2024-01-01 00:00:00', 1.0, 2.0, 5 "
        f"FROM RANGE(5)")
    sql(f"ALTER TABLE {t} RENAME COLUMN k TO part")


def delta_swapped_names(t):
    sql(f"CREATE TABLE {t} (a INT, b INT, c STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    sql(f"INSERT INTO {t} VALUES (1, 2, 'x'), (3, 4, 'y')")
    for old, new in [("a", "z"), ("b", "a"), ("z", "b")]:
        sql(f"ALTER TABLE {t} RENAME COLUMN {old} TO {new}")
    sql(f"INSERT INTO {t} VALUES (10, 20, 'z')")


def delta_mapped_by_id(t):
    sql(f"CREATE TABLE {t} (a INT, b STRING, p STRING) USING delta PARTITIONED BY (p) "
        f"TBLPROPERTIES ('delta.columnMapping.mode' = 'id')")
    sql(f"INSERT INTO {t} VALUES (1, '2', 'x'), (3, '4', 'y')")
    sql(f"ALTER TABLE {t} RENAME COLUMN a TO z")
    sql(f"INSERT INTO {t} VALUES (10, '20', 'z')")


def delta_mapped_later(t):
    delta(t)
    sql(f"ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', "
        f"'delta.minWriterVersion' = '5')")
    sql(f"ALTER TABLE {t} RENAME COLUMN x TO `x y,z`")
    sql(f"INSERT INTO {t} {rows(50, 60)}")


def appended(t, commits):
    for i in range(1, commits):
        sql(f"INSERT INTO {t} {rows(10 * i, 10 * i + 10)}")


def delta_checkpoint(t):
    delta(t, "'delta.checkpointInterval' = '3'", by="k", of=rows(0, 10))
    appended(t, 6)
    sql(f"DELETE FROM {t} WHERE id < 22")


def delta_checkpoint_of_parts(t):
    sql("SET spark.databricks.delta.checkpoint.partSize = 3")
    delta(t, "'delta.checkpointInterval' = '4'", by="k", of=rows(0, 10))
    appended(t, 6)
    sql("RESET spark.databricks.delta.checkpoint.partSize")


V2 = "'delta.checkpointPolicy' = 'v2'"


def delta_checkpoint_v2(t):
    delta(t, V2, "'delta.checkpointInterval' = '3'", VECTORS, by="k", of=rows(0, 10))
    appended(t, 4)
    sql(f"DELETE FROM {t} WHERE id % 9 = 0")
    sql(f"INSERT INTO {t} {rows(50, 60)}")


def delta_checkpoint_v2_of_json(t):
    sql("SET spark.databricks.delta.checkpointV2.topLevelFileFormat = json")
    delta(t, V2, "'delta.checkpointInterval' = '3'", by="k", of=rows(0, 10))
    appended(t, 5)
    sql("RESET spark.databricks.delta.checkpointV2.topLevelFileFormat")


def delta_widened(t):
    sql(f"CREATE TABLE {t} (b BYTE, s SHORT, i INT, f FLOAT, dec DECIMAL(6, 2), j INT, c BYTE) USING delta "
        f"TBLPROPERTIES ('delta.enableTypeWidening' = true)")
    sql(f"INSERT INTO {t} VALUES (1, 2, 3, 1.5, 1.25, 7, 9), (null, null, null, null, null, null, null), "
        f"(-128, -32768, -2147483648, 3.25, -9999.99, -1, -3)")
    for column, to in {"b": "LONG", "s": "INT", "i": "LONG", "f": "DOUBLE", "dec": "DECIMAL(12, 4)", "j": "DOUBLE", "c": "DOUBLE"}.items():
        sql(f"ALTER TABLE {t} ALTER COLUMN {column} TYPE {to}")
    sql(f"INSERT INTO {t} VALUES (100000000000, 70000, 5000000000, 0.1, 12345678.1234, 0.5, 2.5)")


def delta_evolved(t):
    sql(f"CREATE TABLE {t} (id LONG, a INT) USING delta")
    sql(f"INSERT INTO {t} VALUES (1, 2)")
    sql(f"ALTER TABLE {t} ADD COLUMNS (z DOUBLE, w STRING FIRST)")
    sql(f"INSERT INTO {t} VALUES ('w', 3, 4, 5.5)")


def delta_times(t):
    sql("SET spark.sql.parquet.outputTimestampType = INT96")
    sql(f"CREATE TABLE {t} (id INT, u TIMESTAMP, n TIMESTAMP_NTZ) USING delta")
    sql(f"INSERT INTO {t} VALUES (1, TIMESTAMP'2500-12-31 00:00:00.000001', TIMESTAMP_NTZ'2024-01-01 00:00:00.123456'), "
        f"(2, TIMESTAMP'1583-01-01 00:00:00', null), (3, null, null)")
    sql("SET spark.sql.parquet.outputTimestampType = TIMESTAMP_MICROS")
    sql(f"INSERT INTO {t} VALUES (4, TIMESTAMP'2024-01-01 00:00:01', null)")


def delta_change_feed(t):
    delta(t, "'delta.enableChangeDataFeed' = true")
    sql(f"UPDATE {t} SET x = 1 WHERE id < 5")
    sql(f"DELETE FROM {t} WHERE id > 20")


def delta_clone(t):
    of = f"delta.`{FOLDER}/cloned_from`"
    delta(of)
    sql(f"CREATE TABLE {t} SHALLOW CLONE {of}")
    sql(f"INSERT INTO {t} {rows(100, 105)}")


def delta_nested(t):
    delta(t, of="SELECT id, ARRAY(CAST(id AS FLOAT), CAST(1 AS FLOAT)) v, NAMED_STRUCT('a', id) st, MAP('k', id) m FROM RANGE(5)")


def delta_variant(t):
    sql(f"CREATE TABLE {t} (id LONG, v VARIANT) USING delta")
    sql(f"INSERT INTO {t} SELECT 1, PARSE_JSON('{{\"a\": 1}}')")


def delta_restored(t):
    delta(t)
    sql(f"INSERT INTO {t} {rows(30, 40)}")
    sql(f"OPTIMIZE {t}")
    sql(f"DELETE FROM {t} WHERE id = 5")
    sql(f"RESTORE TABLE {t} TO VERSION AS OF 1")


def delta_row_tracking(t):
    delta(t, "'delta.enableRowTracking' = true", VECTORS)
    sql(f"UPDATE {t} SET x = 1 WHERE id < 5")


def iceberg(t, *properties, by="", of=rows(0, 30)):
    set_properties = f"TBLPROPERTIES ({', '.join(properties)})" if properties else ""
    sql(f"CREATE TABLE {t} USING iceberg {'PARTITIONED BY (' + by + ')' if by else ''} {set_properties} AS {of}")


MERGED = ["'write.delete.mode' = 'merge-on-read'", "'write.update.mode' = 'merge-on-read'"]


def iceberg_plain(t):
    iceberg(t)
    sql(f"INSERT INTO {t} {rows(30, 40)}")
    sql(f"DELETE FROM {t} WHERE id % 10 = 3")


def iceberg_position_deletes(t):
    iceberg(t, "'format-version' = '2'", *MERGED, of=rows(0, 100))
    sql(f"DELETE FROM {t} WHERE id % 10 = 3")
    sql(f"UPDATE {t} SET x = 0 WHERE k = 2")
    sql(f"INSERT INTO {t} {rows(100, 110)}")
    sql(f"DELETE FROM {t} WHERE id BETWEEN 95 AND 103")


def iceberg_partitions_and_deletes(t):
    iceberg(t, "'format-version' = '2'", *MERGED, by="k, days(ts), bucket(4, id)", of=rows(0, 20))
    sql(f"DELETE FROM {t} WHERE id % 10 = 3")


def iceberg_vectors(t):
    iceberg(t, "'format-version' = '3'", *MERGED, of=rows(0, 100))
    sql(f"DELETE FROM {t} WHERE id % 10 = 3")
    sql(f"UPDATE {t} SET x = 0 WHERE k = 2")
    sql(f"DELETE FROM {t} WHERE id < 20")


def iceberg_evolved(t):
    sql(f"CREATE TABLE {t} (a INT, b FLOAT, c DECIMAL(6, 2), d STRING) USING iceberg PARTITIONED BY (d)")
    sql(f"INSERT INTO {t} VALUES (1, 1.5, 2.25, 'p'), (2, null, null, null)")
    for change in ["ALTER COLUMN a TYPE BIGINT", "ALTER COLUMN b TYPE DOUBLE", "ALTER COLUMN c TYPE DECIMAL(12, 2)",
                   "RENAME COLUMN a TO z", "ADD COLUMN a STRING", "DROP PARTITION FIELD d", "ADD COLUMN n INT FIRST"]:
        sql(f"ALTER TABLE {t} {change}")
    sql(f"INSERT INTO {t} VALUES (9, 5000000000, 0.1, 12345678.25, 'q', 'new')")


def iceberg_swapped_names(t):
    sql(f"CREATE TABLE {t} (a INT, b INT, c STRING) USING iceberg")
    sql(f"INSERT INTO {t} VALUES (1, 2, 'x'), (3, 4, 'y')")
    for old, new in [("a", "z"), ("b", "a"), ("z", "b")]:
        sql(f"ALTER TABLE {t} RENAME COLUMN {old} TO {new}")
    sql(f"INSERT INTO {t} VALUES (10, 20, 'z')")


def iceberg_dropped_and_added(t):
    sql(f"CREATE TABLE {t} (a INT, b INT) USING iceberg")
    sql(f"INSERT INTO {t} VALUES (1, 2)")
    sql(f"ALTER TABLE {t} DROP COLUMN b")
    sql(f"ALTER TABLE {t} ADD COLUMN b INT")
    sql(f"INSERT INTO {t} VALUES (3, 4)")


def iceberg_branch(t):
    sql(f"CREATE TABLE {t} (a INT) USING iceberg")
    sql(f"INSERT INTO {t} VALUES (1)")
    sql(f"ALTER TABLE {t} CREATE BRANCH dev")
    sql(f"INSERT INTO {t}.branch_dev VALUES (2)")


def iceberg_codecs(t):
    sql(f"CREATE TABLE {t} (a INT) USING iceberg TBLPROPERTIES ('write.metadata.compression-codec' = 'gzip', "
        f"'write.avro.compression-codec' = 'snappy', 'write.manifest.compression-codec' = 'snappy')")
    sql(f"INSERT INTO {t} VALUES (1)")
    sql(f"ALTER TABLE {t} SET TBLPROPERTIES ('write.manifest.compression-codec' = 'zstd', 'write.avro.compression-codec' = 'zstd')")
    sql(f"INSERT INTO {t} VALUES (2)")


def iceberg_version_1(t):
    iceberg(t, "'format-version' = '1'", by="k")
    sql(f"DELETE FROM {t} WHERE id < 10")


def iceberg_avro(t):
    iceberg(t, "'write.format.default' = 'avro'")


def iceberg_orc(t):
    iceberg(t, "'write.format.default' = 'orc'")


KINDS = [f for name, f in list(globals().items()) if name.startswith(("delta_", "iceberg_"))]

for kind in KINDS:
    name = "spark_" + kind.__name__
    table = f"delta.`{FOLDER}/{name}`" if name.startswith("spark_delta") else f"ice.{name}"
    kind(table)
    read = sql(f"SELECT * FROM {table}").toArrow()
    nested = [pa.types.is_struct, pa.types.is_map]
    flat = [f.name for f in read.schema if not any(is_nested(f.type) for is_nested in nested) and f.name != "v" or pa.types.is_list(f.type)]
    pq.write_table(read.select(flat), f"{FOLDER}/{name}.parquet")
    print(name, read.num_rows, flush=True)
