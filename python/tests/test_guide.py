"""The programs of the guide run."""

import subprocess
import sys

import pytest

from conftest import ROOT


@pytest.mark.parametrize("name", ["estimators.py", "files.py", "readme.py"])
def test_program(tmp_path, name):
    pytest.importorskip("sklearn")
    folder = tmp_path / "examples" / "python"
    folder.mkdir(parents=True)
    for data in (ROOT / "examples").glob("*.parquet"):
        (tmp_path / "examples" / data.name).symlink_to(data)
    done = subprocess.run([sys.executable, ROOT / "examples" / "python" / name], cwd=tmp_path if name == "readme.py" else folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"estimators.py": "{'logisticregression__C'", "files.py": 'no column "diagnose"', "readme.py": "logistic {'C'"}[name] in done.stdout
