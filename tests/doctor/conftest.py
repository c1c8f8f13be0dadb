# SPDX-License-Identifier: BSD-2-Clause
"""A made-up Linux machine: a real, untuned workstation of four CPUs, two a core."""

import gzip
from pathlib import Path

import pytest

CPU = "sys/devices/system/cpu"

WORKSTATION = {
    "proc/stat": "cpu  9 0 9 99 0 0 0 0 0 0\n"
    + "".join(f"cpu{cpu} 100 0 50 1000 10 5 5 0 0 0\n" for cpu in range(4))
    + "intr 1 2 3\n",
    "proc/interrupts": "           CPU0       CPU1       CPU2       CPU3\n"
    "  9:          1          2          3          4   IO-APIC   9-fasteoi   acpi\n"
    "LOC:        100        200        300        400   Local timer interrupts\n"
    "ERR:          0\n",
    "proc/vmstat": "pgfault 500\npgmajfault 7\n",
    "proc/cmdline": "root=/dev/sda1 quiet\n",
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Example CPU @ 3.00GHz\nmicrocode\t: "
    "0xf4\nflags\t\t: fpu tsc\n\n",
    "proc/meminfo": "MemTotal:       16384 kB\nSwapTotal:       8192 kB\nSwapFree:        8192 "
    "kB\n",
    "proc/loadavg": "0.50 0.25 0.10 1/200 4321\n",
    "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1\n",
    "proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555\n",
    "proc/sys/kernel/sched_rt_runtime_us": "950000\n",
    "proc/sys/kernel/sched_rt_period_us": "1000000\n",
    "proc/sys/kernel/perf_event_paranoid": "2\n",
    "proc/sys/kernel/numa_balancing": "1\n",
    "proc/sys/kernel/nmi_watchdog": "1\n",
    "proc/irq/9/smp_affinity_list": "0-3\n",
    "proc/irq/16/smp_affinity_list": "3\n",
    "proc/irq/17/smp_affinity_list": "0-1\n",
    "sys/kernel/debug/sched/preempt": "none (voluntary) full\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "sys/kernel/tracing/events/sched/sched_wakeup/id": "323\n",
    "sys/class/dmi/id/sys_vendor": "Example\n",
    "sys/class/dmi/id/product_name": "Tower 9\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm\n",
    f"{CPU}/online": "0-3\n",
    f"{CPU}/isolated": "\n",
    f"{CPU}/nohz_full": "(null)\n",
    f"{CPU}/smt/control": "on\n",
    f"{CPU}/intel_pstate/no_turbo": "0\n",
    f"{CPU}/vulnerabilities/meltdown": "Mitigation: PTI\n",
    f"{CPU}/vulnerabilities/l1tf": "Not affected\n",
}
for cpu in range(4):
    WORKSTATION |= {
        f"{CPU}/cpufreq/policy{cpu}/scaling_governor": "powersave\n",
        f"{CPU}/cpu{cpu}/cpufreq/scaling_governor": "powersave\n",
        f"{CPU}/cpu{cpu}/cpufreq/scaling_min_freq": "800000\n",
        f"{CPU}/cpu{cpu}/cpufreq/scaling_max_freq": "4000000\n",
        f"{CPU}/cpu{cpu}/cpufreq/base_frequency": "3000000\n",
        f"{CPU}/cpu{cpu}/topology/thread_siblings_list": f"{cpu % 2},{cpu % 2 + 2}\n",
        f"{CPU}/cpu{cpu}/cpuidle/state0/name": "POLL\n",
        f"{CPU}/cpu{cpu}/cpuidle/state0/latency": "0\n",
        f"{CPU}/cpu{cpu}/cpuidle/state0/disable": "0\n",
        f"{CPU}/cpu{cpu}/cpuidle/state1/name": "C6\n",
        f"{CPU}/cpu{cpu}/cpuidle/state1/latency": "133\n",
        f"{CPU}/cpu{cpu}/cpuidle/state1/disable": "0\n",
    }


def plant(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "machine"
    plant(folder, WORKSTATION)
    config = b"CONFIG_HZ_1000=y\nCONFIG_HZ=1000\n"
    (folder / "proc/config.gz").write_bytes(gzip.compress(config, mtime=0))
    return folder


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "state/cyclometer/tuned.jsonl"
