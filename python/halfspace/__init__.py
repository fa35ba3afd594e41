"""Linear classifiers on millions of rows, trained by the command halfspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._command import HalfspaceError, HalfspaceWarning, Interrupted
from ._model import Comparison, Model, Report, Separability, check, compare, train

ESTIMATORS = ("LogisticRegression", "LinearSVC", "Perceptron", "AveragedPerceptron", "Pocket", "PassiveAggressive", "FTRL",
              "AdaGrad", "Winnow", "LDA", "KernelPerceptron")

if TYPE_CHECKING:  # editors look for the estimators here
    from .estimators import *  # noqa: F403

__all__ = ["train", "compare", "check", "Model", "Comparison", "Separability", "Report", "HalfspaceError", "HalfspaceWarning", "Interrupted",
           *ESTIMATORS]


def __getattr__(name: str):
    """Import the estimators when they are first used: scikit-learn takes a second to import."""
    if name in ESTIMATORS:
        from . import estimators
        return getattr(estimators, name)
    raise AttributeError(f"module halfspace has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
