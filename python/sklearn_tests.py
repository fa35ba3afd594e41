"""Runs scikit-learn's own tests of its linear classifiers on the estimators of halfspace, and prints a table.

    python3 python/sklearn_tests.py [--markdown] [-v]

The test files are those of the installed scikit-learn. A test counts if it makes or fits an estimator of halfspace. It has passed, or an
option was refused by name, or the file `sklearn_tests.txt` has the reason why it fails. The exit status is 1 if a test fails without a reason.
"""

from __future__ import annotations

import collections
import contextlib
import fnmatch
import functools
import importlib
import io
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ.setdefault("HALFSPACE_BINARY", str(HERE.parent / "bin" / "halfspace"))
sys.path.insert(0, str(HERE))

import pytest

import halfspace
from halfspace import _estimator, estimators

# NAMES has the estimators by the names that scikit-learn has for them.
NAMES = {
    "sklearn.linear_model": {"LogisticRegression": "LogisticRegression", "Perceptron": "Perceptron", "PassiveAggressiveClassifier": "PassiveAggressive"},
    "sklearn.svm": {"LinearSVC": "LinearSVC"},
    "sklearn.discriminant_analysis": {"LinearDiscriminantAnalysis": "LDA"},
}
# Some versions of the tests import a class from here; the module itself goes on with its own class.
PRIVATE = "sklearn.linear_model._logistic"
FILES = ("sklearn.linear_model.tests.test_logistic", "sklearn.linear_model.tests.test_perceptron", "sklearn.linear_model.tests.test_passive_aggressive",
         "sklearn.svm.tests.test_svm", "sklearn.tests.test_discriminant_analysis")
OUTCOMES = "passed", "refused by name", "failed, with a reason", "failed"


class Recorder:
    """A plugin of pytest that counts outcomes of the tests that use an estimator of halfspace."""

    def __init__(self, reasons: list[tuple[str, str]]) -> None:
        self.used = self.refused = False
        self.reasons, self.outcomes = reasons, collections.defaultdict(collections.Counter)
        self.failures: list[tuple[str, str, str]] = []
        self.matched: set[str] = set()

    @pytest.fixture
    def global_random_seed(self):
        """The seed of scikit-learn's tests; its own fixture is in no wheel of some versions."""
        return 42

    def watch(self) -> None:
        """Note the use of estimators, and the errors about refused options."""
        recorder = self

        def noted(function):
            @functools.wraps(function)
            def call(*args, **options):
                recorder.used = True
                return function(*args, **options)
            return call
        for name in halfspace.ESTIMATORS:
            cls = getattr(estimators, name)
            cls.__init__ = noted(cls.__init__)
        for cls in (_estimator.Linear, estimators.Winnow):
            cls.fit = noted(cls.fit)
        begin = _estimator.RefusedOption.__init__

        def refuse(self, *args):
            recorder.refused = True
            begin(self, *args)
        _estimator.RefusedOption.__init__ = refuse

    def pytest_collection_finish(self, session) -> None:
        module = importlib.import_module(PRIVATE)
        module.LogisticRegression = self.original

    def pytest_runtest_setup(self, item) -> None:
        self.used = self.refused = False
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        self.used = any(isinstance(value, _estimator.Linear) or isinstance(value, type) and issubclass(value, _estimator.Linear) for value in parameters.values())

    def pytest_runtest_logreport(self, report) -> None:
        if report.when != "call" or report.skipped or not self.used:
            return
        file, test = report.nodeid.split("::", 1)
        file = os.path.basename(file)
        key = f"{file}::{test}"
        outcome, why = "passed", ""
        if report.failed:
            why = report.longrepr.reprcrash.message.splitlines()[0] if hasattr(report.longrepr, "reprcrash") else str(report.longrepr)
            reason = next((pattern for pattern, _ in self.reasons if fnmatch.fnmatchcase(key, pattern.replace("[", "[[]"))), None)
            outcome = "refused by name" if self.refused else "failed, with a reason" if reason else "failed"
            self.matched.add(reason or "")
            self.failures.append((key, outcome, why))
        self.outcomes[file][outcome] += 1


def reasons() -> list[tuple[str, str]]:
    """Return the patterns of tests and the reasons of sklearn_tests.txt."""
    lines = (HERE / "sklearn_tests.txt").read_text(encoding="utf-8").splitlines()
    return [tuple(re.split(r"\s{2,}", line.strip(), maxsplit=1)) for line in lines if line.strip() and not line.startswith("#")]


def run(reasons: list[tuple[str, str]]) -> Recorder:
    """Run the test files with halfspace's estimators in the place of scikit-learn's."""
    for module, names in NAMES.items():
        package = importlib.import_module(module)
        for name, own in names.items():
            setattr(package, name, getattr(estimators, own))
    recorder = Recorder(reasons)
    recorder.watch()
    module = importlib.import_module(PRIVATE)
    recorder.original, module.LogisticRegression = module.LogisticRegression, estimators.LogisticRegression
    files = []
    for name in FILES:
        with contextlib.suppress(ImportError):
            files.append(importlib.util.find_spec(name).origin)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = pytest.main(["-q", "-p", "no:cacheprovider", "--tb=line", "-W", "ignore::halfspace.HalfspaceWarning", "--rootdir", str(Path(files[0]).parents[2]), *files],
                             plugins=[recorder])
    if not recorder.outcomes:
        sys.exit(f"no test ran (pytest ended with {status}):\n{said.getvalue()}")
    return recorder


def main() -> None:
    import sklearn
    recorder = run(reasons())
    print(f"scikit-learn {sklearn.__version__}")
    row, bar = ("| " + " | ".join(["{}"] * 5) + " |", "|" + "---|" * 5) if "--markdown" in sys.argv else ("{:28} {:>8} {:>16} {:>22} {:>8}", None)
    print(row.format("test file", *OUTCOMES))
    if bar:
        print(bar)
    total = collections.Counter()
    for file, outcomes in recorder.outcomes.items():
        total += outcomes
        print(row.format(file, *(outcomes[name] for name in OUTCOMES)))
    print(row.format("all", *(total[name] for name in OUTCOMES)))
    for key, outcome, why in sorted(recorder.failures):
        if outcome == "failed" or "-v" in sys.argv:
            print(f"{outcome}: {key}: {why}")
    sys.exit(total["failed"] > 0)


if __name__ == "__main__":
    main()
