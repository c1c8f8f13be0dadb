# SPDX-License-Identifier: BSD-2-Clause
import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer import environment

WORKSTATION_FACTS = {
    "kernel_release": "6.1.0-18-amd64",
    "command_line": "root=/dev/sda1 quiet",
    "cpu_model": "Example CPU @ 3.00GHz",
    "microcode": "0xf4",
    "mitigations": {"l1tf": "Not affected", "meltdown": "Mitigation: PTI"},
    "governor": {"powersave": "0-3"},
    "frequency_min_khz": {"800000": "0-3"},
    "turbo": "on",
    "virtualisation": {"virtual": False, "product": "Example Tower 9"},
    "clocksource": "tsc",
    "isolated_cpus": "",
    "nohz_full_cpus": "(null)",
    "rt_runtime_us": 950000,
    "preemption": "voluntary",
    "memory_bytes": 16384 * 1024,
    "cpu_count": 4,
    "load": [0.5, 0.25, 0.1],
    "timer_hz": 1000,
    "transparent_hugepages": "always",
    "config_sha256": hashlib.sha256(b"CONFIG_HZ_1000=y\nCONFIG_HZ=1000\n").hexdigest(),
}


def test_collects_what_the_files_say(root: Path) -> None:
    facts = environment.collect(root)
    assert {name: facts[name] for name in WORKSTATION_FACTS} == WORKSTATION_FACTS
    json.dumps(facts)  # a bundle stores it


def test_a_missing_fact_is_absent(tmp_path: Path) -> None:
    assert environment.collect(tmp_path) == {}


@pytest.mark.parametrize(
    ("file", "content", "fact", "value"),
    [
        ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian", "preemption", "realtime"),
        ("proc/sys/kernel/version", "#1 SMP PREEMPT Debian", "preemption", "full"),
        ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC", "preemption", "dynamic"),
        ("sys/kernel/realtime", "1", "preemption", "realtime"),
        ("proc/cpuinfo", "flags : fpu hypervisor", "virtualisation", {"virtual": True}),
        (
            "sys/class/dmi/id/product_name",
            "KVM Virtual Machine",
            "virtualisation",
            {"virtual": True, "product": "KVM Virtual Machine"},
        ),
        ("sys/hypervisor/type", "xen", "virtualisation", {"virtual": True, "kind": "xen"}),
        ("sys/devices/system/cpu/cpufreq/boost", "0", "turbo", "off"),
        ("sys/devices/system/cpu/cpufreq/policy0/boost", "1", "turbo", "on"),
        (
            "proc/device-tree/model",
            "SiFive HiFive Unleashed A00\0",
            "cpu_model",
            "SiFive HiFive Unleashed A00",
        ),
        ("proc/cpuinfo", "CPU part\t: 0xd08", "cpu_model", "0xd08"),
        ("boot/config-None", "CONFIG_HZ=100\n", "timer_hz", 100),
    ],
)
def test_facts_of_other_machines(
    tmp_path: Path, file: str, content: str, fact: str, value: object
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert environment.collect(tmp_path)[fact] == value


def test_config_from_boot_hashes_like_the_running_one(root: Path) -> None:
    running = environment.collect(root)["config_sha256"]
    (root / "proc/config.gz").unlink()
    (root / "boot").mkdir()
    (root / "boot/config-6.1.0-18-amd64").write_text("CONFIG_HZ_1000=y\nCONFIG_HZ=1000\n")
    assert environment.collect(root)["config_sha256"] == running


def test_a_damaged_config_is_no_config(root: Path) -> None:
    (root / "proc/config.gz").write_bytes((root / "proc/config.gz").read_bytes()[:-9])
    assert "config_sha256" not in environment.collect(root)


def test_git_state(tmp_path: Path) -> None:
    assert environment.git_state(tmp_path) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    (tmp_path / "file").write_text("one")
    for arguments in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *arguments], check=True)
    head = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert environment.collect(tmp_path / "none", tree=tmp_path) == {
        "git": {"commit": head, "dirty": False}
    }
    (tmp_path / "file").write_text("two")
    assert environment.git_state(tmp_path) == {"commit": head, "dirty": True}


@given(st.sets(st.integers(0, 300)))
def test_cpu_lists_read_back(cpus: set[int]) -> None:
    assert environment.parse_cpus(environment.format_cpus(cpus)) == sorted(cpus)


def test_cpu_lists_are_the_kernels() -> None:
    assert environment.format_cpus([0, 1, 2, 5]) == "0-2,5"
    assert environment.parse_cpus("(null)") == []
