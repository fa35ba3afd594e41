"""A table of NumPy arrays as an Arrow stream, for Python without pyarrow.

The format is that of https://arrow.apache.org/docs/format/Columnar.html: a message with the schema, one with all rows, and an end.
The metadata of a message is a FlatBuffer.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

import numpy as np

VERSION = 4  # of the metadata: V5
SCHEMA, RECORD_BATCH = 1, 3  # numbers of messages
INT, FLOAT, BOOL, TIMESTAMP, DURATION, LARGE_UTF8 = 2, 3, 6, 10, 18, 20  # numbers of types
UNITS = {"s": 0, "ms": 1, "us": 2, "ns": 3}
END = b"\xff\xff\xff\xff\0\0\0\0"


class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
    values : array, shape (rows,)
        Numbers, booleans, datetime64, timedelta64, or texts as objects; NaT and None are missing values.
    missing : array of bool, shape (rows,), or None
        Rows without a value, beside NaN, NaT and None.
    zone : str or None
        Time zone of datetime64.
    """

    def __init__(self, name: str, values: np.ndarray, missing: np.ndarray | None = None, zone: str | None = None) -> None:
        self.name, self.values, self.missing, self.zone = name, values, missing, zone
        if values.dtype.kind in "mM":
            self.missing = np.isnat(values)

    def field(self, f: FlatBuffer) -> int:
        """Write the column's Field, and return its place."""
        kind, unit = self.values.dtype.kind, None
        if kind in "mM":
            unit = UNITS[np.datetime_data(self.values.dtype)[0]]
        if kind == "b":
            number, of = BOOL, f.table()
        elif kind in "iu":
            number, of = INT, f.table(("<i", 8 * self.values.dtype.itemsize), ("<?", kind == "i"))
        elif kind == "f":
            number, of = FLOAT, f.table(("<h", {2: 0, 4: 1, 8: 2}[self.values.dtype.itemsize]))
        elif kind == "M":
            number, of = TIMESTAMP, f.table(("<h", unit), None if self.zone is None else f.text(self.zone))
        elif kind == "m":
            number, of = DURATION, f.table(("<h", unit))
        else:
            number, of = LARGE_UTF8, f.table()
        return f.table(f.text(self.name), ("<?", True), ("<B", number), of, None, f.vector([]))

    def buffers(self) -> tuple[int, list[bytes | memoryview]]:
        """Return how many values are missing, and the bits of the others, the offsets of texts and the values."""
        values, missing = self.values, self.missing
        if values.dtype == object:
            missing = np.fromiter((value is None for value in values), bool, len(values))
            texts = [b"" if value is None else value.encode("utf-8", "surrogatepass") for value in values]
            offsets = np.zeros(len(texts) + 1, np.int64)
            np.cumsum([len(text) for text in texts], out=offsets[1:])
            data: list[bytes | memoryview] = [offsets.data, b"".join(texts)]
        elif values.dtype.kind == "b":
            data = [np.packbits(values, bitorder="little").tobytes()]
        else:
            data = [np.ascontiguousarray(values, values.dtype.newbyteorder("<")).view(np.uint8).data if len(values) else b""]
        if missing is None or not missing.any():
            return 0, [b"", *data]
        return int(missing.sum()), [np.packbits(~missing, bitorder="little").tobytes(), *data]


def write(file: BinaryIO, columns: list[Column], rows: int) -> None:
    """Write a table."""
    f = FlatBuffer()
    fields = f.vector([column.field(f) for column in columns])
    _message(file, f, SCHEMA, f.table(("<h", 0), fields), 0)
    f, nodes, places, blocks, size = FlatBuffer(), [], [], [], 0
    for column in columns:
        missing, buffers = column.buffers()
        nodes.append((rows, missing))
        for buffer in buffers:
            length = memoryview(buffer).nbytes
            places.append((size, length))
            blocks.append(buffer)
            size += length + -length % 8
    batch = f.table(("<q", rows), f.pairs(nodes), f.pairs(places))
    _message(file, f, RECORD_BATCH, batch, size)
    for buffer in blocks:
        file.write(buffer)
        file.write(bytes(-memoryview(buffer).nbytes % 8))
    file.write(END)


def _message(file: BinaryIO, f: FlatBuffer, kind: int, header: int, body: int) -> None:
    metadata = f.finish(f.table(("<h", VERSION), ("<B", kind), header, ("<q", body)))
    metadata += bytes(-len(metadata) % 8)
    file.write(b"\xff\xff\xff\xff" + struct.pack("<i", len(metadata)) + metadata)


class FlatBuffer:
    """Bytes of a FlatBuffer, which grows from its end to its start: a place is a distance from the end.

    https://flatbuffers.dev/internals has the format.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []  # the last one is the first in the buffer
        self._size = 0

    def _align(self, size: int, of: int) -> None:
        """Pad, so that the place after the next `size` bytes is a multiple of `of`."""
        self._add(bytes(-(self._size + size) % of))

    def _add(self, data: bytes) -> int:
        self._parts.append(data)
        self._size += len(data)
        return self._size

    def text(self, text: str) -> int:
        data = text.encode("utf-8", "surrogatepass")
        self._align(4 + len(data) + 1, 4)
        return self._add(struct.pack("<I", len(data)) + data + b"\0")

    def vector(self, places: list[int]) -> int:
        """Add a vector of tables."""
        self._align(4 * len(places), 4)
        for place in reversed(places):
            self._add(struct.pack("<I", self._size + 4 - place))
        return self._add(struct.pack("<I", len(places)))

    def pairs(self, pairs: list[tuple[int, int]]) -> int:
        """Add a vector of structs of two int64."""
        self._align(16 * len(pairs), 8)
        self._add(b"".join(struct.pack("<qq", *pair) for pair in pairs))
        return self._add(struct.pack("<I", len(pairs)))

    def table(self, *fields: int | tuple[str, object] | None) -> int:
        """Add a table. A field is the place of an object, a format of `struct` with a number, or None if it is absent."""
        self._align(0, 8)
        end, at = self._size, []
        for field in fields:
            if field is None:
                at.append(0)
                continue
            size = 4 if isinstance(field, int) else struct.calcsize(field[0])
            self._align(size, size)
            if isinstance(field, int):
                at.append(self._add(struct.pack("<I", self._size + 4 - field)))
            else:
                at.append(self._add(struct.pack(*field)))
        self._align(4, 4)
        place = self._size + 4
        offsets = [place - field if field else 0 for field in at]
        table = struct.pack("<HH", 4 + 2 * len(at), place - end) + b"".join(struct.pack("<H", offset) for offset in offsets)
        table += bytes(-len(table) % 4)
        self._add(struct.pack("<i", len(table)))
        self._add(table)
        return place

    def finish(self, root: int) -> bytes:
        """Return the bytes, with the place of the root table before."""
        self._align(4, 8)
        return struct.pack("<I", self._size + 4 - root) + b"".join(reversed(self._parts))
