"""Puts the command into the wheel.

The command is that of `make wheel` ($HALFSPACE_WHEEL_COMMAND, built for $HALFSPACE_WHEEL_SYSTEM), or for `pip install` of this folder the
command in a wheel of dist, or else a new one that Go builds.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# TAGS has the wheel's platform by GOOS/GOARCH. The command is static, so that it runs on every Linux.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
}
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class CustomBuildHook(BuildHookInterface):
    """Adds the command and licenses."""

    def initialize(self, version, build_data):
        system = os.environ.get("HALFSPACE_WHEEL_SYSTEM") or own_system()
        self.folder = tempfile.mkdtemp(prefix="halfspace-wheel-")
        command = os.environ.get("HALFSPACE_WHEEL_COMMAND") or self.command(system)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[system]}"
        if version == "editable":
            target = Path(self.root, "halfspace", "bin", os.path.basename(command))
            target.parent.mkdir(exist_ok=True)
            shutil.copy(command, target)
            return
        build_data["force_include"][command] = f"halfspace/bin/{os.path.basename(command)}"
        top = Path(self.root).parent
        build_data["force_include"][str(top / "cmd" / "internal" / "cli" / "licenses.txt")] = "halfspace/bin/licenses.txt"
        build_data["force_include"][str(top / "LICENSE")] = "halfspace/bin/LICENSE"

    def finalize(self, version, build_data, artifact_path):
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, system):
        """Return the path of the command, from a wheel of dist or by Go."""
        top, name = Path(self.root).parent, "halfspace.exe" if system.startswith("windows") else "halfspace"
        path = os.path.join(self.folder, name)
        wheel = top / "dist" / f"halfspace-{self.metadata.version}-py3-none-{TAGS[system]}.whl"
        if wheel.exists():
            with zipfile.ZipFile(wheel) as archive, archive.open(f"halfspace/bin/{name}") as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target)
            os.chmod(path, 0o755)
            return path
        if shutil.which("go") is None:
            raise RuntimeError(f"{wheel} is missing, and there is no Go to build the command: make wheel writes the wheel; Go 1.26 is at https://go.dev/dl")
        print(f"{wheel.name} is not in dist: Go builds the command, which takes minutes", file=sys.stderr)
        subprocess.run(["go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./cmd/halfspace"], cwd=top, check=True,
                       env=dict(os.environ, CGO_ENABLED="0", GOFLAGS=""))
        return path


def own_system():
    """Return GOOS/GOARCH of this computer."""
    system = f"{platform.system().lower()}/{MACHINES.get(platform.machine().lower(), platform.machine())}"
    if system not in TAGS:
        raise RuntimeError(f"there is no wheel for {system}: go build ./cmd/halfspace makes the command, and $HALFSPACE_BINARY names it")
    return system
