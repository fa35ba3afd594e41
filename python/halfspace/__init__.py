"""Linear classifiers on millions of rows, trained by the command halfspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._command import HalfspaceError, HalfspaceWarning, Interrupted
from ._model import Comparison, Explanation, Model, Picture, Report, Separability, check, compare, train
from ._versions import show_versions

__version__ = "0.1.0"
ESTIMATORS = ("LogisticRegression", "LinearSVC", "Perceptron", "AveragedPerceptron", "Pocket", "PassiveAggressive", "FTRL",
              "AdaGrad", "Winnow", "LDA", "KernelPerceptron")

if TYPE_CHECKING:  # editors look for the estimators here
    from .estimators import (LDA, FTRL, AdaGrad, AveragedPerceptron, KernelPerceptron, LinearSVC, LogisticRegression, PassiveAggressive, Perceptron,
                             Pocket, Winnow)

__all__ = ["train", "compare", "check", "Model", "Comparison", "Separability", "Explanation", "Picture", "Report", "HalfspaceError", "HalfspaceWarning",
           "Interrupted", "show_versions", "LogisticRegression", "LinearSVC", "Perceptron", "AveragedPerceptron", "Pocket", "PassiveAggressive", "FTRL",
           "AdaGrad", "Winnow", "LDA", "KernelPerceptron"]


def __getattr__(name: str) -> type:
    """Import the estimators when they are first used: scikit-learn takes a second to import."""
    if name in ESTIMATORS:
        from . import estimators
        return getattr(estimators, name)
    raise AttributeError(f"module halfspace has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
