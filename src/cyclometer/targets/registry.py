# SPDX-License-Identifier: BSD-2-Clause
"""Targets by name: our own, and those of other packages."""

from __future__ import annotations

from typing import Any

from cyclometer.plugins import Plugins

TARGETS: Plugins[Any] = Plugins(
    "target",
    "cyclometer.targets",
    {
        "linux": "cyclometer.targets.linux.target:LinuxTarget",
        "qemu-virt": "cyclometer.targets.qemu.target:virt",
        "qemu-sifive_u": "cyclometer.targets.qemu.target:sifive_u",
        "qemu-linux": "cyclometer.targets.qemu_linux.target:QemuLinuxTarget",
        "rocket": "cyclometer.targets.rocket.target:rocket",
        "rocket-linux": "cyclometer.targets.rocket_linux.target:RocketLinuxTarget",
        "rocket-small": "cyclometer.targets.rocket.target:rocket_small",
        "cva6": "cyclometer.targets.rocket.target:cva6",
    },
    accept=lambda _, make: make(),
)
