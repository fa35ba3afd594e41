"""Training on the executors of Apache Spark: the model of one machine, byte for byte. docs/distributed.md explains it.

`train` takes files that all executors see, or a DataFrame. The classes are estimators of pyspark.ml. `python -m halfspace.spark` runs the
command's verbs train and eval on a cluster.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any, BinaryIO, Callable, Iterator, Sequence

if __name__ == "__main__" and not __package__:  # spark-submit runs this file by its path
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    __package__ = "halfspace"
    import halfspace  # noqa: F401

try:
    from pyspark import StorageLevel, cloudpickle
    from pyspark.ml import Estimator as SparkEstimator
    from pyspark.ml import Model as SparkModel
    from pyspark.ml.functions import array_to_vector
    from pyspark.ml.linalg import VectorUDT
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.util import DefaultParamsReadable, DefaultParamsReader, DefaultParamsWritable, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.functions import array, coalesce, col, struct, unwrap_udt, when
    from pyspark.sql.types import ArrayType, BinaryType, CharType, DoubleType, StringType, StructField, StructType, VarcharType
except ImportError as error:
    raise ImportError(f"halfspace.spark needs pyspark, which clusters bring: {error}") from None

from . import _executor, _rows
from ._command import Files, HalfspaceError, Interrupted, binary, read, run
from ._model import Model, _flags

__all__ = ["train", "ClassificationModel", "LogisticRegression", "LinearSVC", "LDA", "Perceptron", "AveragedPerceptron", "Pocket", "PassiveAggressive", "AdaGrad"]


def train(spark: SparkSession, data: Any, label: str | None = None, *, algo: str | None = None, progress: bool | None = None,
          worker_memory: str | None = None, **options: Any) -> Model:
    """Train by passes over rows on the executors of Spark.

    Parameters
    ----------
    spark : SparkSession
        Session of a cluster. Spark Connect has none.
    data : path, glob, list of them, or DataFrame of Spark
        Files that the driver and all executors see under the same names: a shared folder, or a bucket such as "s3://bucket/*.parquet".
        The rows of a DataFrame go to the disks of the executors, in the order of the DataFrame, and are read there.
    label, algo, progress, **options
        As in `halfspace.train`.
    worker_memory : str, optional
        Most memory of the process that reads rows on each executor, such as "4g". None is `spark.executor.memoryOverhead`, and
        on a standalone cluster without it what is available.

    Returns
    -------
    Model
        The model that `halfspace.train` gives.

    Raises
    ------
    HalfspaceError
        The sentence of the command, or the name of an executor and the cause of its failure.
    Interrupted
        Ctrl-C. Its attribute `model` is the model of the weights so far.
    """
    with Files() as files, Engine(spark, worker_memory) as engine:
        if isinstance(data, DataFrame):
            if label is None:
                raise HalfspaceError("label is missing: name the column of the DataFrame with the classes")
            data = engine.keep(data, options.get("shards"))
            files.names.update(dict.fromkeys(data, "the DataFrame"))
        engine.attach(files)
        args = ["train", *_rows.source(files, _paths(data), label, options, learns=True), *_flags(dict(algo=algo, **options)), "--out", files.output("model.json")]
        try:
            with contextlib.nullcontext() if engine.rows == 0 else _about_frame():
                run(args, files, progress=progress, environment=engine.environment)
        except Interrupted as interrupt:
            engine.cancel()
            kept = read(files, "model.json")
            interrupt.model = Model(kept) if kept else None
            raise
        return Model(read(files, "model.json"))


@contextlib.contextmanager
def _about_frame() -> Iterator[None]:
    """Let sentences speak of one DataFrame, whose parts are files to the command, and of its methods."""
    try:
        yield
    except HalfspaceError as error:
        one = re.sub(r"^the DataFrame( and \d+ more)?: (executor \S+ on host \S+: the DataFrame: )?", "the DataFrame: ", str(error))
        raise HalfspaceError(one.replace("use nulls drop, zero", "use nulls zero").replace("use nulls drop", "leave the rows out, as dropna does")) from None


def _paths(data: Any) -> list[Any]:
    paths = [data] if isinstance(data, (str, os.PathLike)) else data
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, (str, os.PathLike)) for path in paths):
        raise HalfspaceError(f"data is of type {type(data).__name__}: give a DataFrame of Spark, or the paths of files that all executors see")
    return list(paths)


class Engine:
    """The adapter between the command in the driver and Spark.

    A thread reads passes from a pipe of the command, and runs each as a Spark job with a task for each executor.
    """

    def __init__(self, spark: SparkSession, worker_memory: str | None = None) -> None:
        if sys.platform == "win32":
            raise HalfspaceError("halfspace.spark needs a driver on Linux or macOS")
        cloudpickle.register_pickle_by_value(_executor)
        self._spark = spark
        try:
            self._context = spark.sparkContext
        except Exception as error:
            if type(spark).__name__ != "SparkSession":
                raise HalfspaceError(f"spark is of type {type(spark).__name__}: give the SparkSession first, then the data") from None
            raise HalfspaceError("spark is a session of Spark Connect, which runs no RDDs: give a classic session, such as that of "
                                 f"SparkSession.builder.master(...): {_line(error)}") from None
        self._memory = _memory(self._context, worker_memory)
        self._shipped = ""
        self._handles: Any = None
        self._executors: frozenset[str] = frozenset()
        self._table: Table | None = None
        self._group = f"halfspace-{uuid.uuid4().hex[:8]}"
        self._passes = 0
        self._thread: threading.Thread | None = None
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Engine:
        return self

    def keep(self, frame: DataFrame, shards: int | None) -> list[str]:
        """Bring the rows of a DataFrame to the executors, and return the names of their parts as paths for the command."""
        self._table = Table(self._context, frame, shards, _count(self._context))
        return [part.url for part in self._table.parts]

    @property
    def rows(self) -> int:
        """Number of rows of the DataFrame."""
        return 0 if self._table is None else self._table.bounds[-1]

    def attach(self, files: Any) -> None:
        """Make the pipes that the command inherits with `files`, and answer at their other ends."""
        to_command, from_command = os.pipe(), os.pipe()
        self._files, self._inherited = files, [to_command[0], from_command[1]]
        files.inherited += self._inherited
        parts = 0 if self._table is None else len(self._table.parts)
        self.environment = {"HALFSPACE_CLUSTER": f"{to_command[0]},{from_command[1]},{_cores(self._context)},{parts}"}
        self._thread = threading.Thread(target=self._serve, args=(os.fdopen(from_command[0], "rb"), os.fdopen(to_command[1], "wb")), daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            for end in self._inherited:  # the command has ended: the thread reads the end of its pipe
                self._files.inherited.remove(end)
                os.close(end)
            while self._thread.is_alive():
                with contextlib.suppress(Exception):  # a context that has stopped runs no job
                    self.cancel()  # of a job that nobody waits for
                self._thread.join(1)  # a job may have begun after that
        with contextlib.suppress(Exception):  # a context that has stopped keeps nothing
            if self._table is not None:
                self._table.drop()
            if self._handles is not None:
                self._handles.unpersist()

    def cancel(self) -> None:
        """End the job of the pass."""
        self._context.cancelJobGroup(self._group)

    def _serve(self, requests: BinaryIO, answers: BinaryIO) -> None:
        with contextlib.suppress(OSError), requests, answers:  # of a pipe whose other end has gone: the command has ended
            while request := _executor.read(requests):
                try:
                    answer = [b"ok", *self._answer(request)]
                except HalfspaceError as error:
                    answer = [b"no", str(error).encode()]
                except Exception as error:
                    answer = [b"no", _cause(error).encode()]
                _executor.write(answers, answer)

    def _answer(self, request: list[bytes]) -> list[bytes]:
        self._context.setJobGroup(self._group, f"halfspace: pass {self._passes}", interruptOnCancel=True)
        if self._table is not None and request[0] == b"parts":
            return self._table.described()
        if self._table is not None and request[0] == b"read":
            return [self._table.read(request[1].decode(), int(request[2]), int(request[3]))]
        self._passes += 1
        return self._pass(json.loads(request[1]), request[2:5], request[5:])

    def _pass(self, positions: list[float], head: list[bytes], pieces: list[bytes]) -> list[bytes]:
        """Return the results of the pieces of a pass. Each is at a position from 0 to 1 among the rows."""
        results: dict[int, bytes] = {}
        for _ in range(TRIES):
            handles, partition_of, sums = self._lead()
            dealt: list[list[tuple[int, bytes]]] = [[] for _ in range(handles.getNumPartitions())]
            for number, (position, piece) in enumerate(zip(positions, pieces)):
                dealt[partition_of(position)].append((number, piece))
            results = dict(self._run(handles, _executor.Job(_executor.Setup(self._shipped, self._memory), [b"compute", *head], dealt, sums)))
            if _executor.FAILED in results:
                break
            if _executor.NO_COMMAND in results and not self._shipped:
                self._shipped = ship(self._context)
            elif _executor.NO_ROWS in results and self._table is not None:
                self._table.restore()
            else:
                break
        for failure, why in ((_executor.FAILED, ""), (_executor.NO_COMMAND, ": the command that the driver sent is not there"),
                             (_executor.NO_ROWS, f": the rows of the DataFrame were lost {TRIES} times")):
            if failure in results:
                raise HalfspaceError(results[failure].decode("utf-8", "replace") + why)
        return [results[number] for number in range(len(pieces))]

    def _run(self, handles: Any, job: _executor.Job) -> list[tuple[int, bytes]]:
        compute, size = _executor.compute, sum(len(piece) for part in job.pieces for _, piece in part) + sum(map(len, job.head))
        sent: Any = self._context.broadcast(job) if size > BROADCAST_BYTES else job
        try:
            return handles.mapPartitionsWithIndex(functools.partial(compute, sent)).collect()
        finally:
            if sent is not job:
                sent.destroy()

    def _lead(self) -> tuple[Any, Callable[[float], int], list[str]]:
        """Return the handles that lead each partition to its executor, the partition of a position, and the sums of parts.

        Handles for files are made anew when executors came or went: Spark keeps a lost executor's partitions with the others.
        """
        if self._table is not None:
            return self._table.handles, self._table.partition, [part.sum for part in self._table.parts]
        executors = _executors(self._context)
        if self._handles is None or executors != self._executors:
            if self._handles is not None:
                self._handles.unpersist()
            count = _count(self._context)
            self._handles = self._context.parallelize(range(count), count).mapPartitionsWithIndex(_executor.lead).cache()
            self._executors = executors
            for _ in range(TRIES):
                if len(set(self._handles.collect())) == count:
                    break
                self._handles.unpersist(blocking=True)
                self._handles.cache()
        count = self._handles.getNumPartitions()
        return self._handles, lambda position: min(count - 1, int(position * count)), []


class Table:
    """The rows of a DataFrame on the disks of executors: a Parquet file of whole chunks of 4,096 rows for each executor."""

    def __init__(self, context: Any, frame: DataFrame, shards: int | None, executors: int) -> None:
        self._context, self._name = context, uuid.uuid4().hex
        try:
            packed = _with_empty_indices(frame).mapInArrow(_executor.pack, "rows long, widths array<long>, data binary").rdd.mapPartitionsWithIndex(_executor.number)
            self._packed = packed.persist(StorageLevel.MEMORY_AND_DISK)  # the rows are computed once, in one order
            sizes = self._packed.map(_executor.size).collect()
        except Exception as error:
            raise HalfspaceError(f"the rows of the DataFrame could not be computed: {_cause(error)}") from error
        rows, starts = 0, {}
        for partition, at, count, _ in sorted(sizes):
            starts[partition, at] = rows
            rows += count
        if rows == 0:
            self._packed.unpersist()
            raise HalfspaceError("the DataFrame has no rows")
        widths = [each[0] if len(set(each)) == 1 else 0 for each in zip(*(size[3] for size in sizes))]
        self.bounds = _bounds(rows, shards, executors)
        parts = len(self.bounds) - 1
        cut = self._packed.flatMap(functools.partial(_executor.cut, starts, self.bounds))
        self._stored = cut.partitionBy(parts, int).mapPartitionsWithIndex(functools.partial(_executor.store, self._name, widths))
        self.handles = self._stored.cache()
        try:
            self.parts = self._collect()
            if [part.rows for part in self.parts] != [last - first for first, last in zip(self.bounds, self.bounds[1:])]:
                raise HalfspaceError(_executor.DIFFERENT.decode())
        except BaseException:
            with contextlib.suppress(Exception):
                self.drop()
            raise

    def _collect(self) -> list[_executor.Part]:
        try:
            return [_executor.Part(*part) for part in self.handles.collect()]
        except Exception as error:
            raise HalfspaceError(f"the rows of the DataFrame did not reach the executors: {_cause(error)}") from error

    def restore(self) -> None:
        """Bring the rows to the executors again, after some have lost them."""
        self.handles.unpersist(blocking=True)
        self.handles = self._stored.cache()
        if [part.sum for part in self._collect()] != [part.sum for part in self.parts]:
            raise HalfspaceError(_executor.DIFFERENT.decode())

    def partition(self, position: float) -> int:
        """Return the part with the row at a position from 0 to 1."""
        return bisect.bisect_right([bound / self.bounds[-1] for bound in self.bounds[:-1]], position) - 1

    def described(self) -> list[bytes]:
        """Return the texts that describe the parts to the command."""
        texts = []
        for part in self.parts:
            texts += [json.dumps({"URL": part.url, "Rows": part.rows, "Size": part.size, "Sum": part.sum}).encode(), part.head, part.tail]
        return texts

    def read(self, url: str, offset: int, length: int) -> bytes:
        """Return bytes of a part."""
        at = next(at for at, part in enumerate(self.parts) if part.url == url)
        for _ in range(TRIES):
            found = self._context.runJob(self.handles.mapPartitionsWithIndex(functools.partial(_executor.read_part, url, offset, length)), list, [at])
            if found:
                return found[0]
            self.restore()
        raise HalfspaceError(f"the rows of the DataFrame were lost {TRIES} times")

    def drop(self) -> None:
        """Remove the files from the executors that are there."""
        self.handles.unpersist()
        self._packed.unpersist()
        count = 2 * _count(self._context)
        self._context.parallelize(range(count), count).foreach(functools.partial(_executor.drop, self._name))


def _with_empty_indices(frame: DataFrame) -> DataFrame:
    """Return a DataFrame whose dense vectors have empty indices for nulls: Spark's time to write nulls grows with the square of a batch."""
    columns, names = {}, [name.lower() for name in frame.columns]
    for field in frame.schema:
        if isinstance(field.dataType, VectorUDT) and names.count(field.name.lower()) == 1:
            of = unwrap_udt(col("`" + field.name.replace("`", "``") + "`"))
            indices = coalesce(of["indices"], array().cast("array<int>")).alias("indices")
            columns[field.name] = when(of.isNotNull(), struct(of["type"].alias("type"), of["size"].alias("size"), indices, of["values"].alias("values")))
    return frame.withColumns(columns) if columns else frame


def _bounds(rows: int, shards: int | None, executors: int) -> list[int]:
    """Return the first row of each part, and the number of rows. A shard of the command has the rows of one part."""
    chunks = -(-rows // _executor.CHUNK_ROWS)
    shards = max(1, min(shards or 1, chunks))
    if shards == 1:
        parts = min(executors, chunks)
        starts = [part * chunks // parts for part in range(parts)]
    else:
        parts = min(executors, shards)
        starts = [part * shards // parts * chunks // shards for part in range(parts)]
    return [start * _executor.CHUNK_ROWS for start in starts] + [rows]


def ship(context: Any) -> str:
    """Send the command to executors that have none, and return the name of its file there."""
    path = binary()
    name = f"{_executor.BINARY}-{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}"
    if not any(os.path.basename(sent) == name for sent in context.listFiles):
        context.addFile(shutil.copy(path, os.path.join(context._temp_dir, name)))  # executors read it there until the application ends
    return name


_probed: dict[str, str] = {}  # results of _command_for, by application


def _command_for(context: Any) -> str:
    """Return the name of the file with the command that executors need from the driver, and send it, or "" if they have one."""
    application = context.applicationId
    if application not in _probed:
        count = 2 * _count(context)
        _probed[application] = "" if all(context.parallelize(range(count), count).map(_executor.has_command).collect()) else ship(context)
    return _probed[application]


def _executors(context: Any) -> frozenset[str]:
    """Return the addresses of the driver and of the executors."""
    return frozenset(f"{info.host()}:{info.port()}" for info in context._jsc.sc().statusTracker().getExecutorInfos())


def _count(context: Any) -> int:
    """Return the number of executors, at least 1. With a local master the driver is the executor."""
    return max(1, len(_executors(context)) - (0 if re.match(r"local($|\[)", context.master) else 1))


def _cores(context: Any) -> int:
    """Return the number of cores of an executor."""
    given = context.getConf().get("spark.executor.cores")
    cluster = re.fullmatch(r"local-cluster\[\s*\d+\s*,\s*(\d+)\s*,.*\]", context.master)
    if given or cluster:
        return int(given or cluster[1])
    return max(1, context.defaultParallelism // _count(context))


BROADCAST_BYTES = 1 << 20  # above which a pass goes to executors once, and not with each task
TRIES = 3  # of a pass whose handles don't lead to the rows


def _memory(context: Any, given: str | None) -> str:
    """Return the memory of the process of an executor as the command takes it, "" for its own choice."""
    conf = context.getConf()
    overhead = given or conf.get("spark.executor.memoryOverhead")
    if overhead is None and re.match(r"yarn|k8s", context.master):
        return f"{max(384, int(float(conf.get('spark.executor.memoryOverheadFactor', '0.1')) * _mebibytes(conf.get('spark.executor.memory', '1g'))))}MiB"
    return f"{_mebibytes(overhead)}MiB" if overhead else ""


def _mebibytes(size: str) -> int:
    """Return a size in MiB. Spark's sizes are powers of 1,024, and MiB without a unit."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:(?<=[kmgt])i?b)?", str(size).strip().lower())
    if found is None:
        raise HalfspaceError(f"worker_memory is {size!r}: give a size such as '4g'")
    return max(1, int(float(found[1]) * {"k": 2 ** -10, "": 1, "m": 1, "g": 2 ** 10, "t": 2 ** 20}[found[2]]))


def _line(error: object) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _cause(error: Exception) -> str:
    """Return the cause of a job's failure as a sentence."""
    text = str(error)
    lost = re.findall(r"^(?:[\w.]*\.)?Lost: (.*)$", text, re.MULTILINE)
    if lost:
        return lost[-1]
    place = re.search(r"\((\S+) executor (\w+)\): ", text)
    name = f"executor {place[2]} on host {place[1]}: " if place else ""
    raised = re.findall(r"^(?:[\w.]*\.)?(\w+(?:Error|Interrupt): .*)$", text.split("JVM stacktrace")[0], re.MULTILINE)
    if raised and "Traceback" in text:
        return f"{name}a Python worker of Spark failed: {raised[-1]}"
    failed = re.search(r"most recent failure: (?:Lost task \S+ in stage \S+ \(TID \d+\) )?(.*)", text)
    if failed:
        return f"Spark gave up a pass: {failed[1]}"
    return f"Spark could not run a pass: {_line(text)}"


# Estimators of pyspark.ml.

OPTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "l2": (TypeConverters.toFloat, "weight of the squared norm: the objective is 1/2 l2 |w|^2 + the sum of the losses over the rows"),
    "l1": (TypeConverters.toFloat, "weight of the sum of the absolute weights"),
    "loss": (TypeConverters.toString, "loss: hinge or squared_hinge"),
    "solver": (TypeConverters.toString, "solver, as halfspace train --solver names it"),
    "standardize": (TypeConverters.toBoolean, "subtract the mean of each feature, and divide by its deviation"),
    "nulls": (TypeConverters.toString, "treatment of missing values: mean or zero"),
    "class_weight": (TypeConverters.toString, "weights of the classes: balanced, or CLASS=WEIGHT,..."),
    "multiclass": (TypeConverters.toString, "how more than two classes are learned"),
    "epochs": (TypeConverters.toInt, "largest number of passes over the rows"),
    "shards": (TypeConverters.toInt, "parts of the rows that learn on their own in an epoch; default: 8, or one for each 4,096 rows if these are fewer"),
    "eta": (TypeConverters.toFloat, "learning rate"),
    "C": (TypeConverters.toFloat, "aggressiveness: the weight of a row's loss in its update"),
    "shrinkage": (TypeConverters.toString, "share of the covariances that is their mean, or auto"),
    "no_bias": (TypeConverters.toBoolean, "learn no bias"),
    "seed": (TypeConverters.toInt, "seed of random choices"),
}
DEFAULT_SHARDS = 8


def _column(name: str, doc: str, converter: Callable[[Any], Any] = TypeConverters.toString) -> Any:
    return Param(Params._dummy(), name, doc, converter)


def _names(value: Any) -> Any:
    """Convert the value of featuresCol: the name of a column of vectors, or a list of names."""
    return TypeConverters.toString(value) if isinstance(value, str) else TypeConverters.toListString(value)


class Columns(Params):
    """The names of the columns of an estimator or of a model."""

    featuresCol: Param[Any] = _column("featuresCol", "column of vectors, or list of columns", _names)
    labelCol: Param[str] = _column("labelCol", "column with the classes")
    weightCol: Param[str] = _column("weightCol", "column with the weights of the rows; none: 1 each")
    predictionCol: Param[str] = _column("predictionCol", "column for the predicted class")
    rawPredictionCol: Param[str] = _column("rawPredictionCol", "column for the scores of the classes")
    probabilityCol: Param[str] = _column("probabilityCol", "column for the probabilities of the classes")

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(featuresCol="features", labelCol="label", predictionCol="prediction", rawPredictionCol="rawPrediction", probabilityCol="probability")

    def setFeaturesCol(self, value: str | Sequence[str]) -> Any:
        """Set the column of vectors, or the columns, with the features."""
        return self._set(featuresCol=value)

    def setLabelCol(self, value: str) -> Any:
        """Set the column with the classes."""
        return self._set(labelCol=value)

    def setWeightCol(self, value: str) -> Any:
        """Set the column with the weights of the rows."""
        return self._set(weightCol=value)

    def setPredictionCol(self, value: str) -> Any:
        """Set the column for the predicted class."""
        return self._set(predictionCol=value)

    def setRawPredictionCol(self, value: str) -> Any:
        """Set the column for the scores."""
        return self._set(rawPredictionCol=value)

    def setProbabilityCol(self, value: str) -> Any:
        """Set the column for the probabilities."""
        return self._set(probabilityCol=value)

    def getFeatures(self) -> list[str]:
        """Return the names of the columns with the features."""
        value = self.getOrDefault(self.featuresCol)
        return [value] if isinstance(value, str) else list(value)


class Classifier(Columns, SparkEstimator, DefaultParamsReadable, DefaultParamsWritable):
    """An estimator. Its parameters are the columns, and options of `halfspace train` under their names in Python.

    A label is a number, as StringIndexer makes it, or a text.
    """

    algo: str = ""
    options: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in cls.options:
            converter, doc = OPTIONS[name]
            setattr(cls, name, Param(Params._dummy(), name, doc, converter))

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self.setParams(**params)

    def setParams(self, **params: Any) -> Classifier:
        """Set parameters by their names."""
        for name in params:
            if not self.hasParam(name):
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}: it has {', '.join(sorted(param.name for param in self.params))}")
        return self._set(**params)

    def _fit(self, dataset: DataFrame) -> ClassificationModel:
        features, label = self.getFeatures(), self.getOrDefault(self.labelCol)
        weight = self.getOrDefault(self.weightCol) if self.isDefined(self.weightCol) else None
        names = [*features, label, *([weight] if weight else [])]
        _check_columns(dataset, names, features, weight)
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise HalfspaceError(f"the column {twice[0]!r} is named twice in featuresCol, labelCol and weightCol: name it once")
        options = {name: self.getOrDefault(name) for name in self.options if self.isDefined(self.getParam(name))}
        if options.get("nulls") == "drop":
            raise HalfspaceError("nulls is 'drop', which an estimator doesn't take: leave the rows out by dropna of the DataFrame, or fill with 'mean' or 'zero'")
        if "shards" in self.options and "shards" not in options:
            options["shards"] = DEFAULT_SHARDS
        model = _train(dataset.select(*names), label, self.algo, weight, options)
        fitted = ClassificationModel(model.text)
        for param in Columns().params:
            if self.isSet(param.name):
                fitted._set(**{param.name: self.getOrDefault(param.name)})
        return fitted


def _check_columns(frame: Any, names: Sequence[str], features: Sequence[str], weight: str | None = None) -> None:
    """Raise an error unless a DataFrame has the names, numbers or vectors in the features, and numbers in the weights."""
    if not isinstance(frame, DataFrame):
        raise HalfspaceError(f"the rows are of type {type(frame).__name__}: give a DataFrame of Spark, such as that of spark.createDataFrame")
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise HalfspaceError(f"the DataFrame has no column {missing[0]!r}: its columns are {', '.join(map(repr, frame.columns))}")
    for field in frame.schema:
        role = "featuresCol" if field.name in features else "weightCol" if field.name == weight else None
        if role and isinstance(field.dataType, (StringType, CharType, VarcharType, BinaryType)):
            advice = "numbers" if field.name == weight else "numbers or vectors, such as those that StringIndexer and OneHotEncoder make of texts"
            raise HalfspaceError(f"the column {field.name!r} of {role} has values of type {field.dataType.simpleString()}: give {advice}")


def _train(rows: DataFrame, label: str, algo: str, weight: str | None, options: dict[str, Any]) -> Model:
    with Files() as files, Engine(rows.sparkSession) as engine:
        paths = engine.keep(rows, options.get("shards"))
        if "shards" in options:  # the rows are few: fewer shards
            options["shards"] = min(options["shards"], -(-engine.rows // _executor.CHUNK_ROWS))
        files.names.update(dict.fromkeys(paths, "the DataFrame"))
        engine.attach(files)
        if weight:
            options["sample_weight"] = weight
        args = ["train", *paths, "--label", label, *_flags(dict(algo=algo, prepare="none", **options)), "--out", files.output("model.json")]
        try:
            with _about_frame():
                run(args, files, environment=engine.environment)
        except Interrupted:
            engine.cancel()
            raise
        return Model(read(files, "model.json"))


class ClassificationModel(Columns, SparkModel, MLReadable, MLWritable):
    """A trained model that adds columns to a DataFrame: the prediction, the scores and the probabilities.

    Attributes
    ----------
    model : Model
        The model of halfspace.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        if text:
            self.model: Model = Model(text)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        _check_columns(dataset, self.getFeatures(), self.getFeatures())
        params = ("predictionCol", "rawPredictionCol", "probabilityCol")
        columns = [self.getOrDefault(param) for param in params]
        document, classes = self.model.document, self.model.classes.tolist()
        has_odds = document["algorithm"] in ("logistic", "lda", "ftrl") or document["algorithm"] == "adagrad" and document["options"].get("loss") == "logistic"
        probability = bool(columns[2]) and (has_odds or "calibration" in document)
        types = [DoubleType() if all(isinstance(each, (int, float)) for each in classes) else StringType(), ArrayType(DoubleType()), ArrayType(DoubleType())]
        taken = [name.lower() for name in dataset.columns]  # Spark compares names so by default
        for param, name in zip(params, columns[:3 if probability else 2]):
            if name and name.lower() in taken:
                raise HalfspaceError(f"the DataFrame has a column {name!r} already: drop it, or give another name as {param}")
            taken.append(name.lower())
        new = [StructField(f"halfspace_{at}", kind) for at, kind in enumerate(types[:3 if probability else 2])]
        cloudpickle.register_pickle_by_value(_executor)
        widths = {name: sum(feature.startswith(f"{name}[") for feature in document["features"]) for name in self.getFeatures()}
        work = functools.partial(_executor.predict, _command_for(dataset.sparkSession.sparkContext), self.model.text, widths, classes, probability)
        rows = _with_empty_indices(dataset).mapInArrow(work, StructType([*dataset.schema.fields, *new]))
        rows = rows.withColumnRenamed("halfspace_0", columns[0]) if columns[0] else rows.drop("halfspace_0")
        for at in range(1, len(new)):
            name = f"halfspace_{at}"
            rows = rows.withColumn(columns[at], array_to_vector(col(name))).drop(name) if columns[at] else rows.drop(name)
        return rows

    def write(self) -> MLWriter:
        """Return a writer of the model."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[ClassificationModel]:
        """Return a reader of models."""
        return _Reader()


class _Writer(MLWriter):
    def __init__(self, model: ClassificationModel) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:
        DefaultParamsWriter.saveMetadata(self._model, path, self.sparkSession, extraMetadata={"halfspace": self._model.model.text})


class _Reader(MLReader[ClassificationModel]):
    def load(self, path: str) -> ClassificationModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        model = ClassificationModel(metadata["halfspace"])
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


class LogisticRegression(Classifier):
    """Logistic regression, with probabilities, for two classes or more."""

    algo = "logistic"
    options = ("l2", "l1", "solver", "standardize", "nulls", "class_weight", "no_bias", "epochs", "multiclass")


class LinearSVC(Classifier):
    """Linear support vector machine, for two classes or more."""

    algo = "svm"
    options = ("l2", "l1", "loss", "standardize", "nulls", "class_weight", "no_bias", "epochs")


class LDA(Classifier):
    """Linear discriminant analysis, with probabilities, for two classes or more."""

    algo = "lda"
    options = ("shrinkage", "standardize", "nulls", "class_weight")


class _Online(Classifier):
    options = ("epochs", "eta", "shards", "standardize", "nulls", "class_weight", "no_bias", "seed")


class Perceptron(_Online):
    """Perceptron by shards, whose weights are mixed after each epoch."""

    algo = "perceptron"


class AveragedPerceptron(_Online):
    """Averaged perceptron by shards."""

    algo = "averaged"


class Pocket(_Online):
    """Pocket algorithm by shards: the weights with the fewest errors."""

    algo = "pocket"


class PassiveAggressive(_Online):
    """Passive-aggressive algorithm by shards."""

    algo = "passive-aggressive"
    options = ("C", "loss", "epochs", "shards", "standardize", "nulls", "class_weight", "no_bias", "seed")


class AdaGrad(_Online):
    """AdaGrad on the logistic loss, by shards."""

    algo = "adagrad"
    options = ("l2", "l1", "eta", "epochs", "shards", "standardize", "nulls", "class_weight", "no_bias", "seed")


# The command line.

USAGE = """Usage: python -m halfspace.spark [--master URL] [--conf NAME=VALUE]... [--worker-memory SIZE] train|eval DATA... [options]

Runs halfspace train or halfspace eval with its passes on the executors of Spark. spark-submit sets the master itself.
"""


def main(args: list[str]) -> int:
    """Run a verb of the command on a cluster, and return its exit status."""
    builder, memory = SparkSession.builder.appName("halfspace"), None
    while args and args[0] in ("--master", "--conf", "--worker-memory") and len(args) > 1:
        name, value, args = args[0], args[1], args[2:]
        if name == "--master":
            builder = builder.master(value)
        elif name == "--conf":
            builder = builder.config(*value.split("=", 1))
        else:
            memory = value
    if not args or args[0] not in ("train", "eval"):
        print(USAGE, end="", file=sys.stdout if args[:1] in (["--help"], ["-h"]) else sys.stderr)
        return 0 if args[:1] in (["--help"], ["-h"]) else 2
    spark = builder.getOrCreate()
    try:
        with Files() as files, Engine(spark, memory) as engine:
            engine.attach(files)
            process = subprocess.Popen([binary(), *args], env={**os.environ, **engine.environment}, pass_fds=files.inherited)
            while True:
                try:
                    return process.wait()
                except KeyboardInterrupt:  # the terminal interrupts the command too, and spark-submit may not
                    process.send_signal(signal.SIGINT)
                    engine.cancel()
    except HalfspaceError as error:
        print(f"halfspace: {error}", file=sys.stderr)
        return 1
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
