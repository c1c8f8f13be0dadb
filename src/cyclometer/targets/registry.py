# SPDX-License-Identifier: BSD-2-Clause
"""Targets by name: our own, those of other packages, and machines that ssh reaches."""

from __future__ import annotations

from collections.abc import Callable

from cyclometer.plugins import Plugins
from cyclometer.targets.api import Target
from cyclometer.targets.ssh.line import SCHEME, parse

_MEMBERS = sorted(name for name in vars(Target) if not name.startswith("_"))


def _made(name: str, make: Callable[[], Target]) -> Target:
    """The target that an entry point makes. Raises TypeError for a member that it lacks."""
    target = make()
    if lacks := [member for member in _MEMBERS if not hasattr(target, member)]:
        raise TypeError(f"{name} has no {' and no '.join(lacks)}; see targets/api.py")
    return target


class _Targets(Plugins[Target]):
    """Targets by name, and a Linux elsewhere by its URL."""

    def load(self, name: str) -> Target:
        """As Plugins.load. Raises UsageError also for a URL that names no machine."""
        if not name.startswith(SCHEME):
            return super().load(name)
        from cyclometer.targets.ssh.target import SshTarget

        return SshTarget(parse(name))


TARGETS = _Targets(
    "target",
    "cyclometer.targets",
    {
        "board": "cyclometer.targets.board.target:BoardTarget",
        "linux": "cyclometer.targets.linux.target:LinuxTarget",
        "qemu-virt": "cyclometer.targets.qemu.target:virt",
        "qemu-sifive_u": "cyclometer.targets.qemu.target:sifive_u",
        "qemu-spike": "cyclometer.targets.qemu.target:spike",
        "qemu-linux": "cyclometer.targets.qemu_linux.target:QemuLinuxTarget",
        "rocket": "cyclometer.targets.rocket.target:rocket",
        "rocket-linux": "cyclometer.targets.rocket_linux.target:RocketLinuxTarget",
        "rocket-duo": "cyclometer.targets.rocket.target:rocket_duo",
        "rocket-small": "cyclometer.targets.rocket.target:rocket_small",
        "cva6": "cyclometer.targets.rocket.target:cva6",
    },
    accept=_made,
)
