# SPDX-License-Identifier: BSD-2-Clause
"""What another Linux says of itself: its files of /proc and /sys, copied to where the functions
that read those of this machine find them.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from pathlib import Path, PurePosixPath

from cyclometer.targets.ssh.line import Line

CPUS_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)$", re.M)
_TOP = (("proc",), ("sys",), ("boot",))
_CPU = "/sys/devices/system/cpu"
# As patterns of sh: what `environment`, `inherited` and `placement` read.
_FILES = (
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/cpuinfo",
    "/proc/device-tree/model",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self/cgroup",
    "/proc/self/environ",
    "/proc/self/personality",
    "/proc/self/stat",
    "/proc/self/status",
    "/proc/self/timerslack_ns",
    "/proc/sys/kernel/nmi_watchdog",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/perf_event_paranoid",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/sched_*",
    "/proc/sys/kernel/version",
    "/boot/config-$(cat /proc/sys/kernel/osrelease)",
    f"{_CPU}/cpu[0-9]*/cache/index*/level",
    f"{_CPU}/cpu[0-9]*/cache/index*/shared_cpu_list",
    f"{_CPU}/cpu[0-9]*/cpufreq/base_frequency",
    f"{_CPU}/cpu[0-9]*/cpufreq/scaling_driver",
    f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor",
    f"{_CPU}/cpu[0-9]*/cpufreq/scaling_m[ai][nx]_freq",
    f"{_CPU}/cpu[0-9]*/topology/thread_siblings_list",
    f"{_CPU}/cpufreq/boost",
    f"{_CPU}/cpufreq/policy*/boost",
    f"{_CPU}/intel_pstate/no_turbo",
    f"{_CPU}/isolated",
    f"{_CPU}/nohz_full",
    f"{_CPU}/online",
    f"{_CPU}/smt/control",
    f"{_CPU}/vulnerabilities/*",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/devices/system/clocksource/clocksource0/*_clocksource",
    "/sys/hypervisor/type",
    "/sys/kernel/debug/sched/*",
    "/sys/kernel/mm/transparent_hugepage/*",
    "/sys/kernel/mm/transparent_hugepage/*/*",
    "/sys/kernel/realtime",
    "/sys/kernel/sched_ext/root/ops",
)


def copy(line: Line, root: Path) -> str:
    """Copies the files under `root`; the machine's architecture, as `uname -m` says it. Errors as
    Line.ask.
    """
    mark = secrets.token_hex(16)  # no file holds it
    answer = line.run(
        f"uname -m\nfor file in {' '.join(_FILES)}; do\n"
        f'if [ -f "$file" ] && [ -r "$file" ]; then echo; echo "{mark}$file"; '
        'cat "$file" 2>/dev/null; fi\ndone\ntrue\n'
    )
    architecture, *parts = re.split(rb"\n" + mark.encode() + rb"([^\n]*)\n", answer)
    for name, content in zip(parts[::2], parts[1::2], strict=False):
        _keep(root, name.decode(errors="replace"), content)
    return architecture.decode(errors="replace").strip()


def _keep(root: Path, name: str, content: bytes) -> None:
    """Writes a file whose name the other machine gave: never outside of `root`."""
    path = PurePosixPath(name)
    if not path.is_absolute() or ".." in path.parts or path.parts[1:2] not in _TOP:
        return
    file = root / path.relative_to("/")
    with contextlib.suppress(OSError):  # a file that is said to be a folder, too, or too long
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
