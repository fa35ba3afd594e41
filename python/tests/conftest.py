"""The tests run the command of this repository: bin/halfspace, or $HALFSPACE_BINARY."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("HALFSPACE_TEST") == "full"

os.environ.setdefault("HALFSPACE_BINARY", str(ROOT / "bin" / "halfspace"))
sys.path.insert(0, str(ROOT / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])


@pytest.fixture
def command():
    """Return a function that runs the command and returns its standard output."""
    import subprocess

    def run(*args):
        done = subprocess.run([os.environ["HALFSPACE_BINARY"], *map(str, args)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run


@pytest.fixture
def example():
    """Return the path of an example of the repository."""
    return lambda name: str(ROOT / "examples" / name)
