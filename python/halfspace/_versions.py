"""Versions, for reports of errors."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib import metadata

from ._command import HalfspaceError, binary

LIBRARIES = "numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow", "narwhals", "matplotlib"


def show_versions() -> None:
    """Print the versions of the package, the command, Python and the libraries that halfspace knows.

    Examples
    --------
    >>> import halfspace
    >>> halfspace.show_versions()  # doctest: +ELLIPSIS
    halfspace ...
    """
    from . import __version__
    print("halfspace", __version__)
    try:
        path = binary()
        said = subprocess.run([path, "version"], capture_output=True, text=True).stdout.strip().splitlines()
        print("command", path)
        for line in said:
            print("   ", line)
    except (HalfspaceError, OSError) as error:
        print("command", error)
    print("python", sys.version.split()[0], platform.platform())
    for name in LIBRARIES:
        try:
            print(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            print(name, "is not installed")
