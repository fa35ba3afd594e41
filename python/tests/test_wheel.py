"""The wheel in a virtual environment."""

import os
import platform
import subprocess
import sys
import venv
import zipfile

import pytest

from conftest import ROOT

pytest.importorskip("hatchling")


@pytest.mark.skipif(sys.platform != "linux", reason="the wheel of Linux")
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
