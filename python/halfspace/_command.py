"""The command halfspace: where it is, how Python runs it, and the files that both exchange."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any, BinaryIO, Callable, Mapping, Sequence

from ._progress import Bar, bar_for

if sys.platform != "win32":
    import fcntl

BINARY = "halfspace.exe" if os.name == "nt" else "halfspace"
INTERRUPTED = 130  # exit status of an interrupted command


class HalfspaceError(ValueError):
    """The command failed. The text is the sentence that the command printed."""


class HalfspaceWarning(UserWarning):
    """A note of the command about the data or the training."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a training.

    Attributes
    ----------
    model : Model, estimator or None
        The model of the weights so far; None if the interrupt came before the first weights.
    """

    model: Any = None


def binary() -> str:
    """Return the path of the command: `$HALFSPACE_BINARY`, the command of this package, or the command in `PATH`."""
    own = Path(__file__).parent / "bin" / BINARY
    found = os.environ.get("HALFSPACE_BINARY") or (str(own) if own.exists() else shutil.which("halfspace"))
    if not found:
        raise HalfspaceError(f"no command halfspace: neither {own} nor a folder in PATH has it. "
                             "Install the wheel of your platform, or set HALFSPACE_BINARY to the command's path")
    return found


class Memory:
    """Files without a name, for Linux: they vanish with the last process that has them open.

    They lie in memory, or in the folder for temporary files if the system has no files in memory.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # name of a file in sentences, by its path
        self.inherited: list[int] = []  # descriptors that the command inherits
        self._outputs: dict[str, int] = {}

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self.inherited:
            os.close(descriptor)
        self.inherited = []

    def input(self, name: str, write: Callable[[BinaryIO], object]) -> str:
        """Return the path of a new file with the bytes that `write` writes."""
        descriptor = self._create(name)
        with os.fdopen(os.dup(descriptor), "wb") as file:
            write(file)
        return self._named(f"/dev/fd/{descriptor}", os.path.splitext(name)[0])

    def output(self, name: str) -> str:
        """Return the path of a new file that the command writes. The extension of `name` is its format."""
        self._outputs[name] = self._create(name)
        return self._named(f"/dev/fd/{self._outputs[name]}{os.path.splitext(name)[1]}", name)

    def open(self, name: str) -> BinaryIO:
        """Return the file that the command wrote."""
        file = os.fdopen(os.dup(self._outputs[name]), "rb")
        file.seek(0)
        return file

    def _create(self, name: str) -> int:
        """Return the descriptor of a new file, which the command inherits under the same number."""
        try:
            descriptor = os.memfd_create(name)
        except (AttributeError, OSError):  # a Python that was built for an old C library, or a system that refuses
            with tempfile.TemporaryFile(buffering=0) as file:
                descriptor = os.dup(file.fileno())
        if descriptor <= 2:  # the command's standard streams get these numbers; joblib's workers have no standard input
            low, descriptor = descriptor, fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
            os.close(low)
        self.inherited.append(descriptor)
        return descriptor

    def _named(self, path: str, name: str) -> str:
        self.names[path] = name
        return path


class Folder:
    """Files in a temporary folder, for systems where a process cannot pass files without a name.

    `__exit__` removes the folder. The folder of a Python process that was killed is removed by the next command.
    """

    PREFIX = "halfspace-python-"

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.inherited: list[int] = []

    def __enter__(self) -> Folder:
        self._sweep()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{self.PREFIX}{os.getpid()}-"))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _sweep(self) -> None:
        for left in Path(tempfile.gettempdir()).glob(self.PREFIX + "*"):
            pid = left.name[len(self.PREFIX):].split("-")[0]
            if pid.isdecimal() and not _alive(int(pid)):
                shutil.rmtree(left, ignore_errors=True)

    def input(self, name: str, write: Callable[[BinaryIO], object]) -> str:
        with open(self._folder / name, "wb") as file:
            write(file)
        return self._named(name, os.path.splitext(name)[0])

    def output(self, name: str) -> str:
        return self._named(name, name)

    def open(self, name: str) -> BinaryIO:
        path = self._folder / name
        return open(path, "rb") if path.exists() else io.BytesIO()

    def _named(self, name: str, shown: str) -> str:
        path = str(self._folder / name)
        self.names[path] = shown
        return path


def _alive(pid: int) -> bool:
    if os.name == "nt":  # os.kill would end the process; tasklist prints its number
        return f" {pid} " in subprocess.run(["tasklist", "/FI", f"PID eq {pid}"], capture_output=True, text=True).stdout
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


Files = Memory if sys.platform == "linux" else Folder


def read(files: Memory | Folder, name: str) -> str:
    """Return the text that the command wrote to an output."""
    with files.open(name) as file:
        return file.read().decode("utf-8")


def named(text: str, files: Memory | Folder) -> str:
    """Return a text with the names of files in place of their paths."""
    for path, name in files.names.items():
        text = re.sub(re.escape(path) + r"(?!\d)", name, text)
    return text


def _featured(text: str, features: Sequence[str] | None) -> str:
    """Return a text with the names of features in place of "x0", "x1" and so on."""
    if features is None:
        return text
    return re.sub(r'"x(\d+)"', lambda name: f'"{features[int(name[1])]}"' if int(name[1]) < len(features) else name[0], text)


def run(args: list[str], files: Memory | Folder, progress: bool | None = False, quiet: str | None = None,
        words: dict[str, str] | None = None, features: Sequence[str] | None = None, environment: Mapping[str, str] | None = None) -> bytes:
    """Run the command, and return the bytes of its standard output.

    Notes of the command become warnings, except notes that begin with `quiet`. `progress` is that of `train`. `words` has the names of options in Python by their names in the command, for sentences. None or an
    empty dict is for functions that take all options of the command. `features` has the names of the columns that the
    command calls x0, x1 and so on. `environment` has variables that the command gets beside those of this process.

    Raises
    ------
    HalfspaceError
        The command failed.
    Interrupted
        KeyboardInterrupt arrived. The command was asked to stop and to write its weights, and has ended.
    """
    bar = bar_for(progress)
    if bar is not None:
        args = [*args, "--progress", "always"]
    reader = json.dumps({"options": words or {}, "files": files.names})  # the notation of sentences
    environment = dict(os.environ, HALFSPACE_LIFELINE="stdin", HALFSPACE_PYTHON=reader, **(environment or {}))
    process = subprocess.Popen([binary(), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment, close_fds=True, pass_fds=files.inherited if os.name != "nt" else ())
    said: list[str] = []
    try:
        listener = threading.Thread(target=_listen, args=(process.stderr, said, bar), daemon=True)
        listener.start()
        interrupted = False
        try:
            result = process.stdout.read()
            process.wait()
        except KeyboardInterrupt:
            interrupted = True
            _interrupt(process)
            result = process.stdout.read()
            process.wait()
        listener.join()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()
        if bar is not None:
            with contextlib.suppress(Exception):  # as in _listen
                bar.close()
    sentences = [_featured(named(line, files), features) for line in said]
    if process.returncode == INTERRUPTED or interrupted:
        raise Interrupted(sentences[-1] if sentences else "interrupted")
    if process.returncode != 0:
        raise HalfspaceError(sentences[-1] if sentences else _ended(process.returncode))
    for sentence in dict.fromkeys(sentences):  # a note may come from each pass
        if quiet is None or not sentence.startswith(quiet):
            warn(sentence, HalfspaceWarning)
    return result


def warn(sentence: str, category: type[Warning]) -> None:
    """Warn about the line that called the package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and Path(frame.f_code.co_filename).parent == Path(__file__).parent:
        frame, level = frame.f_back, level + 1
    with contextlib.suppress(ValueError):  # sys.stderr is closed
        warnings.warn(sentence, category, stacklevel=level)


def _ended(status: int) -> str:
    if status != -9:
        return f"the command ended with the status {status}, and says nothing"
    return "the signal SIGKILL ended the command: often the memory is used up, look at the system's log"


def _interrupt(process: subprocess.Popen) -> None:
    """Ask the command to stop: by a signal, and where there is none by the end of its standard input."""
    if os.name != "nt":
        process.send_signal(signal.SIGINT)
    process.stdin.close()


def _listen(stderr: BinaryIO, said: list[str], bar: Bar | None) -> None:
    """Collect notes and errors in `said`, and show progress. The command would wait for a thread that stops reading."""
    for raw in stderr:
        line = raw.decode("utf-8", "replace").rstrip()
        note = re.match(r"(note|halfspace): (.*)", line)
        if note:
            said.append(note[2])
        elif bar is not None and line:
            try:
                bar.update(line)
            except Exception:  # nobody sees the bar: sys.stderr was closed, or the notebook is gone
                bar = None
