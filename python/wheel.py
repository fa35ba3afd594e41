"""Puts the command of one platform into the wheel: see `make wheel`."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# TAGS has the wheel's platform by GOOS/GOARCH. The command is static, so that it runs on every Linux.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
}


class CustomBuildHook(BuildHookInterface):
    """Adds the command at $HALFSPACE_WHEEL_COMMAND, built for $HALFSPACE_WHEEL_SYSTEM, and licenses."""

    def initialize(self, version, build_data):
        command, system = os.environ["HALFSPACE_WHEEL_COMMAND"], os.environ["HALFSPACE_WHEEL_SYSTEM"]
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[system]}"
        build_data["force_include"][command] = f"halfspace/bin/{os.path.basename(command)}"
        licenses = os.path.join(self.root, "..", "cmd", "internal", "cli", "licenses.txt")
        build_data["force_include"][licenses] = "halfspace/bin/licenses.txt"
        build_data["force_include"][os.path.join(self.root, "..", "LICENSE")] = "halfspace/bin/LICENSE"
