"""The wheel in a virtual environment."""

import os
import platform
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT

pytest.importorskip("hatchling")


@pytest.mark.skipif(sys.platform != "linux", reason="the wheel of Linux")
@pytest.mark.skipif(sys.prefix != sys.base_prefix, reason="a virtual environment in another one does not see its libraries")
def test_wheel(tmp_path):
    system = "linux/arm64" if platform.machine() == "aarch64" else "linux/amd64"
    environment = dict(os.environ, HALFSPACE_WHEEL_COMMAND=os.environ["HALFSPACE_BINARY"], HALFSPACE_WHEEL_SYSTEM=system)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=ROOT / "python", env=environment,
                   check=True, capture_output=True)
    wheel, = tmp_path.glob("halfspace-*-py3-none-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "halfspace/bin/LICENSE" in names and "halfspace/bin/licenses.txt" in names
    venv.create(tmp_path / "venv", system_site_packages=True, with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True)
    program = """
import numpy as np, halfspace
from halfspace._command import binary
X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
print(halfspace.Perceptron().fit(X, ["no", "yes", "yes"]).predict(X), binary())
"""
    for name in "HALFSPACE_BINARY", "PYTHONPATH":
        environment.pop(name, None)
    done = subprocess.run([python, "-W", "ignore", "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['no' 'yes' 'yes']") and str(tmp_path / "venv") in done.stdout


@pytest.fixture
def folder(tmp_path):
    """A copy of what `pip install` of the folder reads."""
    shutil.copytree(ROOT / "python", tmp_path / "python", ignore=shutil.ignore_patterns("tests", "__pycache__", "bin"))
    (tmp_path / "cmd" / "internal" / "cli").mkdir(parents=True)
    for name in "LICENSE", "cmd/internal/cli/licenses.txt":
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path / "python"


def install(folder, target, **environment):
    for name in "HALFSPACE_WHEEL_COMMAND", "HALFSPACE_WHEEL_SYSTEM":
        os.environ.pop(name, None)
    return subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--target", target, folder],
                          env=dict(os.environ, **environment), capture_output=True, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="the wheel of Linux")
def test_install_from_the_folder(tmp_path, folder):
    """pip takes the command of a wheel in dist, and without one says that Go builds it."""
    done = install(folder, tmp_path / "none", PATH=str(tmp_path))
    assert done.returncode != 0 and "make wheel writes the wheel; Go 1.26 is at https://go.dev/dl" in done.stdout + done.stderr
    system = "linux/arm64" if platform.machine() == "aarch64" else "linux/amd64"
    environment = dict(os.environ, HALFSPACE_WHEEL_COMMAND=os.environ["HALFSPACE_BINARY"], HALFSPACE_WHEEL_SYSTEM=system)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist"], cwd=folder, env=environment, check=True, capture_output=True)
    done = install(folder, tmp_path / "some", PATH=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    command = tmp_path / "some" / "halfspace" / "bin" / "halfspace"
    assert command.read_bytes() == Path(os.environ["HALFSPACE_BINARY"]).read_bytes() and os.access(command, os.X_OK)
