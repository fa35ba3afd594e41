"""The examples of docstrings run."""

import doctest
import importlib

import pytest

import halfspace

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", ["_model", "_versions", "estimators"])
def test_examples(name):
    module = importlib.import_module(f"halfspace.{name}")
    found = doctest.DocTestFinder(exclude_empty=True).find(module)
    runner, count = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), 0
    for test in found:
        count += len(test.examples) > 0
        runner.run(test)
    assert runner.failures == 0 and count >= {"_model": 4, "_versions": 1, "estimators": len(halfspace.ESTIMATORS)}[name]
