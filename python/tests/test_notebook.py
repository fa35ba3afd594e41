"""The package in a notebook: the lines of the README, what cells show, bars, and the end of a cell by Ctrl-C."""

import os
import queue
import re
import time

import pytest

from conftest import ROOT

nbformat = pytest.importorskip("nbformat")
nbconvert = pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")
pytest.importorskip("sklearn")


def run(cells, folder):
    """Return a notebook of these cells after it ran."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbconvert.preprocessors.ExecutePreprocessor(timeout=120, kernel_name="python3").preprocess(notebook, {"metadata": {"path": str(folder)}})
    return notebook


def shown(cell, kind):
    return "".join(output.get("data", {}).get(kind, "") for output in cell.outputs)


def test_readme(tmp_path):
    """The README's lines run as a new user types them."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    lines = re.search(r"<!-- file: examples/python/readme.py -->\n```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    notebook = run([lines, "search.best_score_", "model"], tmp_path)
    assert float(shown(notebook.cells[1], "text/plain").split("(")[-1].rstrip(")")) > 0.9
    page = shown(notebook.cells[2], "text/html")
    assert "0, 1" in page and "radius error" in page
    accuracies = [float(share) for share in re.findall(r"rows</th><td[^>]*>[\d,]+, accuracy ([\d.]+)%", page)]
    assert len(accuracies) == 2 and min(accuracies) > 93, "of the training rows and of the held-out rows"


def test_what_cells_show(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    notebook = run(["import halfspace\ndata = 'examples/iris.parquet'\nmodel = halfspace.train(data, 'species', progress=True)", "halfspace.compare(data, 'species', algo='lda', cv=2)",
                    "model.report(data)", "model.plot('weights', theme='light')", "model.explain({'sepal_length': 5, 'sepal_width': 3, 'petal_length': 1, 'petal_width': 0.2})"], tmp_path)
    assert [output.output_type for output in notebook.cells[0].outputs if output.output_type == "error"] == []
    assert "always setosa" in shown(notebook.cells[1], "text/html") and "<iframe" in shown(notebook.cells[2], "text/html")
    assert shown(notebook.cells[3], "image/svg+xml").startswith("<svg") and "score of setosa" in shown(notebook.cells[4], "text/html")


PROGRAM = """
import numpy as np, halfspace, warnings
X = np.random.default_rng(0).normal(size=(20000, 50))
y = X[:, 0] + np.random.default_rng(1).normal(size=20000) > 0
print("begins")
try:
    halfspace.train(X, y, algo="pocket", epochs=1000000000, progress=True)
except KeyboardInterrupt as interrupt:
    print("ended", type(interrupt).__name__, interrupt.model)
"""


def test_interrupt(tmp_path):
    """Ctrl-C ends the command and keeps the kernel; a bar was shown before, and is removed."""
    from jupyter_client.manager import start_new_kernel
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path), env=os.environ)
    try:
        client.execute(PROGRAM)
        assert "begins" in messages(client, lambda content: "training: epoch" in content and "epoch 1 " not in content)  # there are weights
        manager.interrupt_kernel()
        seen = messages(client, lambda content: "ended" in content)
        assert "ended Interrupted <halfspace.Model pocket" in seen
        client.execute("print('alive', 6 * 7)")
        assert "alive 42" in messages(client, lambda content: "alive 42" in content)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def messages(client, last):
    """Return what the kernel shows, up to a message for which `last` is true."""
    seen, end = "", time.monotonic() + 60
    while time.monotonic() < end:
        try:
            content = client.get_iopub_msg(timeout=1)["content"]
        except queue.Empty:
            continue
        text = content.get("text", "") + "".join(map(str, content.get("data", {}).values())) + "\n".join(content.get("traceback", []))
        seen += text
        if last(text):
            return seen
    raise AssertionError(f"not seen in a minute; the kernel showed {seen[-2000:]}")
