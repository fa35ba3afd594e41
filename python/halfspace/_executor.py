"""The part of halfspace.spark that runs on executors.

Spark sends these functions to executors by value, so that they need no package there: they import the standard library alone.
One process of the command works for all Python workers of an executor, keeps the rows that it has read, and ends with the executor.
cmd/internal/engine/message.go describes the messages.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from typing import Any, BinaryIO, Iterator, List, NamedTuple, Tuple

BINARY = "halfspace"  # name of the command's file


class Setup(NamedTuple):
    """What a task needs to find the process of its executor, or to start it."""

    shipped: str  # name of the file with the command that the driver sent by addFile; "" for none
    memory: str  # of the option --memory of the process; "" for its own choice


class Lost(RuntimeError):
    """The process of an executor ended in the middle of a pass, or does not start, or can't predict the rows."""


class Absent(Exception):
    """An executor has no command."""


def write(file: BinaryIO, texts: list[bytes]) -> None:
    """Write a message."""
    file.write(struct.pack("<I", len(texts)))
    for text in texts:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
    file.flush()


def read(file: BinaryIO) -> list[bytes]:
    """Return the next message, or an empty list at the end of the file."""
    head = file.read(4)
    if len(head) < 4:
        return []
    texts = []
    for _ in range(struct.unpack("<I", head)[0]):
        length = file.read(8)
        text = file.read(struct.unpack("<Q", length)[0]) if len(length) == 8 else b""
        if len(length) < 8 or len(text) < struct.unpack("<Q", length)[0]:
            return []
        texts.append(text)
    return texts


def executor() -> tuple[int, str]:
    """Return the number of the process whose end is that of the executor, and the executor's name for sentences.

    It is the Java process among the ancestors of this process, else the parent.
    """
    number, host = os.getppid(), socket.gethostname()
    while number > 1:
        name, parent = _process(number)
        if os.path.basename(name) == "java":
            words = _arguments(number)
            with contextlib.suppress(ValueError, IndexError):
                return number, f"executor {words[words.index('--executor-id') + 1]} on host {host}"
            return number, f"the executor on host {host}"
        number = parent
    return (os.getppid() if os.getppid() > 1 else os.getpid()), f"the executor on host {host}"


def _process(number: int) -> tuple[str, int]:
    """Return the name of a process and the number of its parent; 0 if it is unknown."""
    try:
        with open(f"/proc/{number}/stat") as file:
            name, _, rest = file.read().rpartition(")")
        return name.partition("(")[2], int(rest.split()[1])
    except OSError:
        pass
    if sys.platform.startswith("linux"):
        return "", 0
    said = subprocess.run(["ps", "-o", "ppid=,comm=", "-p", str(number)], capture_output=True, text=True).stdout.split(None, 1)
    return (said[1].strip(), int(said[0])) if len(said) == 2 else ("", 0)


def _arguments(number: int) -> list[str]:
    try:
        with open(f"/proc/{number}/cmdline") as file:
            return file.read().split("\0")
    except OSError:
        return subprocess.run(["ps", "-o", "args=", "-p", str(number)], capture_output=True, text=True).stdout.split()


def command(shipped: str) -> str:
    """Return the path of the command on this executor.

    Raises
    ------
    Absent
        Neither HALFSPACE_BINARY, an installed package, PATH nor the driver gives one.
    """
    found = [os.environ.get("HALFSPACE_BINARY")]
    with contextlib.suppress(ImportError, ValueError, AttributeError):
        found.append(os.path.join(os.path.dirname(importlib.util.find_spec("halfspace").origin), "bin", BINARY))
    found.append(shutil.which(BINARY))
    if shipped:
        from pyspark import SparkFiles
        found.append(SparkFiles.get(shipped))
    for path in found:
        if path and os.path.exists(path):
            return path
    raise Absent()


def has_command(_: Any) -> bool:
    """Tell whether this executor has a command of its own."""
    try:
        return bool(command(""))
    except Absent:
        return False


def _folder() -> str:
    """Return a folder for sockets that this user alone can enter. The path of a socket has at most 104 bytes."""
    for parent in (tempfile.gettempdir(), "/tmp"):
        path = os.path.join(parent, f"halfspace-{os.getuid()}")
        if len(path) > 60:
            continue
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
        status = os.lstat(path)
        if status.st_uid == os.getuid() and status.st_mode & 0o077 == 0 and os.path.isdir(path) and not os.path.islink(path):
            return path
    raise Lost(f"no folder for sockets: {path} belongs to another user, or others may enter it")


def _connect(path: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
        return connection
    except OSError:
        connection.close()
        return None


STARTS_WITHIN = 120  # seconds


def connect(setup: Setup) -> socket.socket:
    """Return a connection to the process of this executor, which is started if there is none."""
    number, _ = executor()
    path = command(setup.shipped)
    state = os.stat(path)
    key = hashlib.sha256(repr((path, state.st_size, state.st_mtime_ns, setup.memory)).encode()).hexdigest()[:12]
    name = os.path.join(_folder(), f"{number}-{key}")
    with open(os.path.join(_folder(), "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several Python workers may want to start it
        connection = _connect(name)
        if connection is None:
            connection = _start(setup, path, name, number)
    return connection


def _start(setup: Setup, path: str, name: str, parent: int) -> socket.socket:
    for left in os.listdir(os.path.dirname(name)):  # a process that was killed leaves its files
        owner = left.partition("-")[0]
        if owner.isdecimal() and not _exists(int(owner)) or left == os.path.basename(name):
            with contextlib.suppress(OSError):
                os.remove(os.path.join(os.path.dirname(name), left))
    args = [path, "worker", "--socket", name, "--parent", str(parent), "--parts", _parts(), *(["--memory", setup.memory] if setup.memory else [])]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HALFSPACE_LIFELINE", "HALFSPACE_CLUSTER", "HALFSPACE_PYTHON"))}
    with open(name + ".log", "wb") as log:
        try:  # a session of its own: Spark sends signals to the group of its Python workers
            process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=environment, start_new_session=True)
        except OSError as error:
            raise Lost(f"{path} does not start: {error}") from None
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end:
        connection = _connect(name)
        if connection is not None:
            return connection
        if process.poll() is not None:
            raise Lost(f"{path} does not start: {said(name)}")
        time.sleep(0.01)
    process.kill()
    raise Lost(f"{path} does not listen within {STARTS_WITHIN} s")


def said(name: str) -> str:
    """Return the end of the text that the process at a socket wrote to standard error, as one line."""
    with contextlib.suppress(OSError):
        with open(name + ".log", errors="replace") as log:
            text = " ".join(log.read()[-2000:].split())
            if text:
                return text
    return "it says nothing"


TRIES = 3  # in a task, before Spark tries the task on another executor


def ask(setup: Setup, request: list[bytes]) -> list[bytes]:
    """Return the answer of the process of this executor to a request. A process that ends is started again."""
    why = ""
    for _ in range(TRIES):
        path = ""
        try:
            with connect(setup) as connection:
                path = connection.getpeername()
                with connection.makefile("rwb", buffering=1 << 16) as file:
                    if read(file):
                        write(file, request)
                        answer = read(file)
                        if answer:
                            return answer
            why = said(path)
        except OSError as error:
            why = f"{error}; {said(path)}" if path else str(error)
        except Lost as error:
            raise Lost(f"{executor()[1]}: {error}") from None
    raise Lost(f"{executor()[1]}: the process of halfspace gave no answer in {TRIES} tries: {why}")


class Job(NamedTuple):
    """A pass."""

    setup: Setup
    head: list[bytes]  # the first texts of the requests
    pieces: list[list[tuple[int, bytes]]]  # for each partition
    sums: list[str]  # of the parts of a table, one for each partition; none for files


class Part(NamedTuple):
    """A part of a table: a Parquet file on the disk of an executor."""

    executor: str
    url: str
    rows: int
    size: int
    head: bytes  # first bytes of the file
    tail: bytes  # last bytes, with the footer
    sum: str  # of all bytes


# Numbers in place of a piece's that say why a partition has no results.
FAILED, NO_COMMAND, NO_ROWS = -1, -2, -3


def compute(job: Any, partition: int, handles: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and the results of the pieces of a partition, or one of the numbers above with a sentence."""
    if not isinstance(job, Job):
        job = job.value  # of a broadcast
    handle = list(handles)[0]  # to the end: Spark uses a Python worker again if its input was read
    pieces, name = job.pieces[partition], executor()[1]
    if not pieces:
        return
    if job.sums and handle[-1] != job.sums[partition]:
        yield FAILED, DIFFERENT
        return
    if job.sums and not os.path.exists(part_path(handle[1])):
        yield NO_ROWS, name.encode()
        return
    try:
        answer = ask(job.setup, job.head + [piece for _, piece in pieces])
    except Absent:
        yield NO_COMMAND, name.encode()
        return
    if answer[0] != b"ok" or len(answer) != 1 + len(pieces):
        yield FAILED, name.encode() + b": " + answer[-1]
        return
    yield from zip((number for number, _ in pieces), answer[1:])


DIFFERENT = (b"an executor was lost, and Spark computed the rows of the DataFrame again in another order: "
             b"fix the order by sortWithinPartitions, or write the DataFrame to files")


def lead(_: int, numbers: Iterator[int]) -> Iterator[str]:
    """Yield the name of this executor. The cached partition leads later tasks to it."""
    list(numbers)
    yield executor()[1]


# The rows of a DataFrame become parts: Parquet files of whole chunks, on the disks of executors.

CHUNK_ROWS = 4096
GROUP_ROWS = 32 * CHUNK_ROWS  # rows of a row group
SCHEME = "frame://"
Batch = Tuple[int, int, int, List[int], bytes]  # partition, number in the partition, rows, widths of the columns, bytes


def _parts() -> str:
    """Return the folder of this executor's parts, and remove those of executors that have ended."""
    folders = [os.environ.get(name, "").split(",")[0] for name in ("SPARK_EXECUTOR_DIRS", "LOCAL_DIRS", "SPARK_LOCAL_DIRS")]
    base = next((folder.split(":")[0] for folder in folders if folder), tempfile.gettempdir())
    prefix = f"halfspace-{os.getuid()}-parts-"
    with contextlib.suppress(OSError):
        for name in os.listdir(base):
            if name.startswith(prefix) and name[len(prefix):].isdecimal() and not _exists(int(name[len(prefix):])):
                shutil.rmtree(os.path.join(base, name), ignore_errors=True)
    return os.path.join(base, prefix + str(executor()[0]))


def _exists(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def part_path(url: str) -> str:
    """Return the path of a part on this executor."""
    return os.path.join(_parts(), *url[len(SCHEME):].split("/"))


def pack(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the number of rows, the widths of the columns and the bytes of each Arrow batch, as a batch."""
    import pyarrow
    for batch in batches:
        if batch.num_rows > 0:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([batch.num_rows], pyarrow.int64()),
                                                   pyarrow.array([[_width(column) for column in batch.columns]], pyarrow.list_(pyarrow.int64())),
                                                   pyarrow.array([_coded(batch)], pyarrow.binary())], ["rows", "widths", "data"])


def _width(column: Any) -> int:
    """Return the length of the vectors or lists of a column if all are dense and have it, else 0."""
    import pyarrow
    from pyarrow import compute
    vectors = _are_vectors(column.type)
    if column.null_count or vectors and compute.any(compute.equal(column.field("type"), 0)).as_py():
        return 0
    lists = column.field("values") if vectors else column
    if not pyarrow.types.is_list(lists.type) or not pyarrow.types.is_primitive(lists.type.value_type):
        return 0
    lengths = compute.min_max(compute.list_value_length(lists)).as_py()
    return lengths["min"] if lengths["min"] == lengths["max"] else 0


def _are_vectors(kind: Any) -> bool:
    import pyarrow
    return pyarrow.types.is_struct(kind) and [field.name for field in kind] == ["type", "size", "indices", "values"]


def _with_fixed_lists(batch: Any, widths: list[int]) -> Any:
    """Return a batch whose columns with a width are lists of that length: without them the command reads all rows for the classes."""
    import pyarrow
    for at, width in enumerate(widths):
        if width:
            column = batch.column(at)
            lists = column.field("values") if pyarrow.types.is_struct(column.type) else column
            batch = batch.set_column(at, batch.schema.names[at], pyarrow.FixedSizeListArray.from_arrays(lists.flatten(), width))
    return batch


def _coded(batch: Any) -> bytes:
    import pyarrow
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as out:
        out.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _decoded(data: bytes) -> Any:
    import pyarrow
    return pyarrow.ipc.open_stream(data).read_next_batch()


def number(partition: int, batches: Iterator[Any]) -> Iterator[Batch]:
    """Yield the batches of a partition, with their places."""
    for at, batch in enumerate(batches):
        yield partition, at, batch[0], batch[1], bytes(batch[2])


def size(batch: Batch) -> tuple[int, int, int, list[int]]:
    return batch[:4]


def cut(starts: dict[tuple[int, int], int], bounds: list[int], batch: Batch) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Yield a batch in pieces, each with the part to which it goes and its first row."""
    partition, at, rows, _, data = batch
    start = starts[partition, at]
    for part, (first, end) in enumerate(zip(bounds, bounds[1:])):
        low, high = max(first, start), min(end, start + rows)
        if low < high:
            whole = low == start and high == start + rows
            yield part, (low, data if whole else _coded(_decoded(data).slice(low - start, high - low)))


def store(table: str, widths: list[int], part: int, pieces: Iterator[tuple[int, tuple[int, bytes]]]) -> Iterator[Part]:
    """Write a part to the disk of this executor, and yield its description."""
    import pyarrow
    import pyarrow.parquet
    url = f"{SCHEME}{table}/{part:05d}.parquet"
    path = part_path(url)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with tempfile.TemporaryFile(dir=os.path.dirname(path)) as spool:  # pieces come in any order
        places = []
        for _, (first, data) in pieces:
            places.append((first, spool.tell(), len(data)))
            spool.write(data)
        writer, waiting, rows = None, [], 0
        new = f"{path}.{os.getpid()}"
        for _, offset, length in sorted(places):
            spool.seek(offset)
            batch = _with_fixed_lists(_decoded(spool.read(length)), widths)
            if writer is None:
                texts = [field.name for field in batch.schema if pyarrow.types.is_string(field.type)]
                writer = pyarrow.parquet.ParquetWriter(new, batch.schema, compression="NONE", use_dictionary=texts or False)
            waiting.append(batch)
            rows += batch.num_rows
            while sum(some.num_rows for some in waiting) >= GROUP_ROWS:
                table_of = pyarrow.Table.from_batches(waiting)
                writer.write_table(table_of.slice(0, GROUP_ROWS), row_group_size=GROUP_ROWS)
                waiting = table_of.slice(GROUP_ROWS).to_batches()
        if waiting:
            writer.write_table(pyarrow.Table.from_batches(waiting), row_group_size=GROUP_ROWS)
        writer.close()
    os.replace(new, path)
    yield describe(url, rows)


def describe(url: str, rows: int) -> Part:
    path = part_path(url)
    bytes_of, digest = os.path.getsize(path), hashlib.sha256()
    with open(path, "rb") as file:
        for some in iter(lambda: file.read(1 << 20), b""):
            digest.update(some)
        head_bytes = min(bytes_of, 1 << 12)
        file.seek(0)
        head = file.read(head_bytes)
        file.seek(bytes_of - 8)
        footer = struct.unpack("<I", file.read(4))[0] + 8
        tail_bytes = min(bytes_of, max(footer, 1 << 16))
        file.seek(bytes_of - tail_bytes)
        return Part(executor()[1], url, rows, bytes_of, head, file.read(tail_bytes), digest.hexdigest())


def read_part(url: str, offset: int, length: int, _: int, handles: Iterator[Any]) -> Iterator[bytes]:
    """Yield bytes of a part, or nothing if this executor has lost it."""
    list(handles)
    with contextlib.suppress(FileNotFoundError):
        with open(part_path(url), "rb") as file:
            file.seek(offset)
            yield file.read(length)


def drop(table: str, _: Any) -> None:
    """Remove the parts of a table from this executor."""
    shutil.rmtree(os.path.join(_parts(), table), ignore_errors=True)


PREDICT_BYTES = 64 << 20  # of rows that one process predicts


def predict(shipped: str, model: str, widths: dict[str, int], classes: list[Any], probability: bool, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield Arrow batches with columns more: the prediction, the scores of the classes, and their probabilities if asked for.

    The columns of the features have the given numbers of elements, which are 0 for a column of numbers.
    """
    waiting, held = [], 0
    for batch in batches:
        for name, width in widths.items():
            _check_sizes(batch.column(name), name, width)
        waiting.append(batch)
        held += batch.nbytes
        if held >= PREDICT_BYTES:
            yield from _predicted(shipped, model, list(widths), classes, probability, waiting)
            waiting, held = [], 0
    if waiting:
        yield from _predicted(shipped, model, list(widths), classes, probability, waiting)


def _check_sizes(column: Any, name: str, width: int) -> None:
    """Raise an error if some vector has another number of elements than the model takes."""
    from pyarrow import compute
    if _are_vectors(column.type):
        sizes = compute.if_else(compute.equal(column.field("type"), 0), column.field("size"), compute.list_value_length(column.field("values")))
        for size in compute.unique(compute.filter(sizes, column.is_valid())).to_pylist():
            if size != width:
                raise Lost(f"the column {name!r} has a vector of {size} elements, and the model takes {width}")


def _predicted(shipped: str, model: str, features: list[str], classes: list[Any], probability: bool, batches: list[Any]) -> Iterator[Any]:
    import pyarrow
    rows = pyarrow.Table.from_batches(batches)
    if rows.num_rows == 0:
        return
    with tempfile.TemporaryDirectory(prefix="halfspace-") as folder:
        source, weights, out = (os.path.join(folder, name) for name in ("rows.arrow", "model.json", "predictions.arrow"))
        with open(weights, "w") as file:
            file.write(model)
        some = rows.select(features)
        with pyarrow.ipc.new_file(source, some.schema) as file:
            file.write_table(some)
        try:
            path = command(shipped)
        except Absent:
            raise Lost(f"{executor()[1]}: there is no command halfspace: install the package on all executors") from None
        done = subprocess.run([path, "predict", source, "--model", weights, "--out", out, "--score", "--quiet", *(["--proba"] if probability else [])],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            said_last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise Lost(said_last.replace("halfspace: ", "", 1).replace(source, "the DataFrame"))
        with pyarrow.OSFile(out, "rb") as file:
            found = pyarrow.ipc.open_file(file).read_all()
    yield from _widened(rows, found, classes, probability).to_batches()


def _widened(rows: Any, found: Any, classes: list[Any], probability: bool) -> Any:
    """Return rows with the columns of predictions in the types of pyspark.ml."""
    import numpy
    import pyarrow
    numeric = all(isinstance(each, (int, float)) for each in classes)
    prediction = found.column("prediction").combine_chunks()
    if pyarrow.types.is_dictionary(prediction.type):
        prediction = prediction.dictionary_decode()
    columns = [prediction.cast(pyarrow.float64() if numeric else pyarrow.string())]
    names = [name for name in found.column_names if name == "score" or name.startswith("score_")]
    scores = [found.column(name).to_numpy().astype(numpy.float64) for name in names]
    if len(scores) == 1:
        scores = [-scores[0], scores[0]]
    columns.append(_lists(numpy.column_stack(scores)))
    if probability:
        names = [name for name in found.column_names if name.startswith("probability_")]
        columns.append(_lists(numpy.column_stack([found.column(name).to_numpy().astype(numpy.float64) for name in names])))
    for at, column in enumerate(columns):
        rows = rows.append_column(f"halfspace_{at}", column)
    return rows


def _lists(matrix: Any) -> Any:
    import numpy
    import pyarrow
    offsets = numpy.arange(0, matrix.size + 1, matrix.shape[1], dtype=numpy.int32)
    return pyarrow.ListArray.from_arrays(pyarrow.array(offsets), pyarrow.array(matrix.ravel()))
