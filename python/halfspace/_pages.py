"""Huge pages for files in memory."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
from typing import BinaryIO

import numpy as np

PAGE = 2 << 20  # bytes of a huge page
LEAST = 1 << 19  # bytes from which on huge pages take less time
BEGIN = 4 * PAGE  # bytes that get huge pages at once, since each request waits for all cores
COLLAPSE = 25  # MADV_COLLAPSE
FIXED = 0x10  # MAP_FIXED


class HugePages:
    """The next `size` bytes of a new file in memory, in huge pages. The object is false if the system gives the file no huge pages.

    Linux gives them on request since version 6.1. A file with pages of 4 KiB takes about four times as long to write and to read,
    and much longer to free, because the system handles each page alone.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._memory = None
        self._header = file.tell()  # bytes of the file before the next ones
        if sys.platform != "linux" or size < LEAST:
            return
        file.flush()
        try:
            os.ftruncate(file.fileno(), self._header + size)
            length = -(-(self._header + size) // PAGE) * PAGE
            self._map(file.fileno(), length)
            self._collapse(0, min(BEGIN, length))
        except OSError:
            self.close()

    def __enter__(self) -> HugePages:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __bool__(self) -> bool:
        return self._memory is not None

    def take(self, first: int, size: int) -> np.ndarray:
        """Return an array of uint8: bytes from number `first` on, which the caller writes next. They stay in memory as long as the array.

        Several threads may take different bytes.
        """
        first += self._header
        page, end = (-(-at // PAGE) * PAGE for at in (first, first + size))  # of the pages that begin in these bytes
        if max(page, BEGIN) < end:
            with contextlib.suppress(OSError):  # no huge page is left
                self._collapse(max(page, BEGIN), end)
        return self._memory[first:first + size]

    def close(self) -> None:
        self._memory = None

    def _map(self, descriptor: int, size: int) -> None:
        """Map the file at an address that is a multiple of PAGE, which huge pages need.

        The mapping replaces a part of a mapping of Python, which Python removes when no array uses it.
        """
        memory = np.frombuffer(mmap.mmap(-1, size + PAGE, flags=mmap.MAP_PRIVATE), np.uint8)
        memory = memory[-memory.ctypes.data % PAGE:][:size]
        address = memory.ctypes.data
        if _call("mmap", address, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | FIXED, descriptor, 0) != address:
            raise OSError(ctypes.get_errno(), "mmap")
        self._memory = memory

    def _collapse(self, first: int, end: int) -> None:
        """Request huge pages for bytes of the file. A huge page replaces the small pages of its bytes, of which one has to exist."""
        self._memory[first:end:PAGE] |= 0
        if _call("madvise", self._memory.ctypes.data + first, end - first, COLLAPSE) != 0:
            raise OSError(ctypes.get_errno(), "madvise")


def _call(name: str, address: int, size: int, *numbers: int) -> int | None:
    """Call a function of the C library, without Python's lock."""
    call = getattr(ctypes.CDLL(None, use_errno=True), name)
    call.restype = ctypes.c_void_p if name == "mmap" else ctypes.c_int
    return call(ctypes.c_void_p(address), ctypes.c_size_t(size), *map(ctypes.c_long, numbers))
