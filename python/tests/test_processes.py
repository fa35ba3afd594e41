"""Interrupts and kills: what is kept, and that no file and no process is left."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import halfspace
from halfspace import _command, _estimator, _pages
from conftest import FULL

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc"), pytest.mark.filterwarnings("ignore::halfspace.HalfspaceWarning")]

PROGRAM = """
import signal, sys, numpy as np, halfspace
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
X = np.random.RandomState(0).normal(size=(20000, 20)).astype(np.float32)
y = np.random.RandomState(1).randint(0, 2, 20000)
print("begin", flush=True)
try:
    halfspace.train(X, y, algo="averaged", epochs=10**8)
except halfspace.Interrupted as interrupt:
    print(type(interrupt.model).__name__, interrupt.model.document["training"]["epochs"] > 0, str(interrupt))
except halfspace.HalfspaceError as error:
    print("error", error)
"""


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Return a function that lists the files in the folders for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    shared = Path("/dev/shm")
    before = set(shared.iterdir()) if shared.exists() else set()

    def left():
        mine = {path for path in (shared.iterdir() if shared.exists() else ()) if "halfspace" in path.name}
        return sorted(str(path) for path in [*(mine - before), *tmp_path.iterdir()])
    return left


started = []


@pytest.fixture(autouse=True)
def ended():
    """End the processes that a failed test leaves."""
    yield
    while started:
        process = started.pop()
        if process.poll() is None:
            for child in children(process.pid):
                os.kill(child, signal.SIGKILL)
            process.kill()


def start(program=PROGRAM):
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    started.append(process)
    assert process.stdout.readline() == "begin\n", process.stderr.read()
    return process


def children(pid):
    """Return the numbers of the processes that the process started, and that have the command's name."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        name, parent = fields[0].split("(", 1)[1], int(fields[1].split()[1])
        if parent == pid and name == "halfspace":
            found.append(int(stat.parent.name))
    return found


def child_of(process):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = children(process.pid)
        if found:
            return found[0]
        time.sleep(0.01)
    raise AssertionError("no child")


def gone(pid):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_interrupt_keeps_the_model(folders):
    process = start()
    child_of(process)
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.startswith("Model True interrupted"), (out, err)
    assert folders() == []


def test_interrupt_keeps_the_estimator():
    process = start(PROGRAM.split("try:")[0] + """
e = halfspace.AveragedPerceptron(max_iter=10**8)
try: e.fit(X, y)
except KeyboardInterrupt: print(e.coef_.shape, e.n_iter_ > 0, e.predict(X[:2]).shape)
""")
    child_of(process)
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "(1, 20) True (2,)\n", (out, err)


@pytest.mark.parametrize("victim", ["parent", "child"])
def test_kills_leave_nothing(folders, victim):
    for i in range(25 if FULL else 4):
        process = start()
        child = child_of(process)
        time.sleep(0.02 * i)
        os.kill(process.pid if victim == "parent" else child, signal.SIGKILL)
        out, err = process.communicate(timeout=60)
        if victim == "child":
            assert out.startswith("error the signal SIGKILL ended"), (out, err)
        assert gone(child)
        assert folders() == []


def test_kill_beside_a_fork(folders):
    """A fork of Python during a training holds the other end of the command's standard input, and does not keep it running."""
    process = start(PROGRAM.replace('print("begin"', '''import os, threading, time
def fork():
    if os.fork() == 0:
        os.closerange(0, 3)
        time.sleep(15)
        os._exit(0)
threading.Timer(0.7, fork).start()
print("begin"'''))
    child = child_of(process)
    time.sleep(1.2)
    process.kill()
    process.communicate(timeout=60)
    begin = time.monotonic()
    assert gone(child) and time.monotonic() - begin < 10
    assert folders() == []


def test_folder_is_swept(tmp_path, monkeypatch):
    """The folder of a process that was killed is removed by the next one, where files need names."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / f"{_command.Folder.PREFIX}{2**22 + 1}-x"
    left.mkdir()
    for module in "halfspace._estimator", "halfspace._model":
        monkeypatch.setattr(f"{module}.Files", _command.Folder)
    X = np.random.RandomState(0).normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    assert halfspace.LogisticRegression().fit(X, y).score(X, y) > 0.9
    assert halfspace.train(X, y, algo="logistic").predict(X).shape == (200,)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory(monkeypatch, dtype, order):
    """fit makes one copy of X, in float32, in a file."""
    stored, run = [], _estimator.run

    def measured(args, files, **options):
        stored.append(sum(os.fstat(f).st_blocks << 9 for f in files.inherited))
        return run(args, files, **options)
    monkeypatch.setattr(_estimator, "run", measured)
    X = np.ones((400000, 40), dtype=dtype, order=order)
    X[:200000, 0] = 0
    y = X[:, 0].astype(np.int8)
    tracemalloc.start()
    try:
        halfspace.Perceptron(max_iter=1).fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.2 * 4 * X.size and 4 * X.size <= stored[0] < 1.1 * 4 * X.size


def held():
    """Return the descriptors and the mappings of files in memory that this process has."""
    links = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            links.append(os.readlink(descriptor))
        except OSError:  # of the folder itself
            pass
    return sorted(links), [line for line in Path("/proc/self/maps").read_text().splitlines() if "memfd:" in line]


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("ends", ["well", "large number", "error of the command", "Ctrl-C", "Ctrl-C while X is written", "kill"])
def test_files_are_closed(monkeypatch, tmp_path, ends):
    """However fit ends, and as long as its error is kept, no file stays open or mapped."""
    X = np.random.RandomState(0).normal(size=(200000, 20))
    y = (X[:, 0] > 0).astype(int)
    halfspace.LDA().fit(X, y)
    before, kept = held(), None
    estimator = halfspace.LDA()
    if ends == "large number":
        X[150000, 7] = 1e39
    elif ends == "error of the command":
        X[150000, 7] = np.nan
    elif ends == "Ctrl-C":
        monkeypatch.setattr(subprocess, "Popen", interrupt)
    elif ends == "Ctrl-C while X is written":
        take = _pages.HugePages.take
        monkeypatch.setattr(_pages.HugePages, "take", lambda self, first, size: interrupt() if first > 0 else take(self, first, size))
        monkeypatch.setattr(np, "ascontiguousarray", interrupt)
    elif ends == "kill":
        killer = tmp_path / "killer"
        killer.write_text("#!/bin/sh\nkill -KILL $$\n")
        killer.chmod(0o700)
        monkeypatch.setenv("HALFSPACE_BINARY", str(killer))
    try:
        estimator.fit(X, y)
    except (ValueError, KeyboardInterrupt) as error:
        kept = error
    assert held() == before and (kept is None) == (ends == "well")


@pytest.mark.parametrize("stderr", ["None", "open(os.devnull, 'w')"])
def test_progress_without_a_standard_error(stderr):
    """Progress that cannot be shown does not fill the pipe, which would stop the command."""
    process = start(PROGRAM.split("try:")[0] + f'''
import os, threading
from halfspace import _command, _progress
sys.stderr = {stderr}
if sys.stderr: sys.stderr.close()
read, write = os.pipe()
said = []
listener = threading.Thread(target=_command._listen, args=(os.fdopen(read, "rb"), said, _progress.Lines(0)))
listener.start()
with os.fdopen(write, "wb") as pipe: pipe.write(b"training: 1 %\\n" * 100000 + b"note: end\\n")
listener.join()
print(said, halfspace.Perceptron(max_iter=2, verbose=1).fit(X, y).n_iter_)
''')
    out, err = process.communicate(timeout=60)
    assert out == "['end'] 2\n", (out, err)


def test_no_command(monkeypatch):
    monkeypatch.setenv("HALFSPACE_BINARY", "/nowhere/halfspace")
    with pytest.raises((halfspace.HalfspaceError, OSError)):
        halfspace.train("x.csv", "y")


def test_progress(capsys):
    X = np.random.RandomState(0).normal(size=(2000, 3))
    halfspace.train(X, (X[:, 0] > 0).astype(int), algo="averaged", progress=True)
    assert "training" in capsys.readouterr().err
