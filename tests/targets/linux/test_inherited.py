# SPDX-License-Identifier: BSD-2-Clause
"""What a measurement inherits: read from files, recorded, and named by `compare`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cyclometer.bundle.assemble import Assembler
from cyclometer.compare import pairing
from cyclometer.report import identity
from cyclometer.targets import build
from cyclometer.targets.linux import inherited
from cyclometer.targets.linux.harness import list_circles

STAT = "42 (a ) b) S " + " ".join(str(field) for field in range(4, 52))  # each is its number
FILES = {
    "proc/self/environ": "HOME=/root\0LD_PRELOAD=/x.so\0GLIBC_TUNABLES=glibc.malloc.tcache_count=0"
    "\0MALLOC_ARENA_MAX=1\0TOKEN=secret\0",
    "proc/self/status": "Name:\tx\nSpeculation_Store_Bypass:\tthread force mitigated\n"
    "THP_enabled:\t1\nCpus_allowed_list:\t0-3\n",
    "proc/self/stat": STAT.replace(" 19 ", " 5 ").replace(" 41 ", " 3 "),
    "proc/self/personality": "00040000\n",
    "proc/self/cgroup": "1:cpu,cpuacct:/low\n0::/user.slice/user-1000.slice/session-12.scope\n",
    "sys/fs/cgroup/cpu,cpuacct/low/cpu.shares": "2\n",
    "sys/fs/cgroup/user.slice/cpu.max": "50000 100000\n",
    "sys/fs/cgroup/user.slice/user-1000.slice/session-12.scope/cpu.weight": "100\n",
    "proc/sys/kernel/sched_autogroup_enabled": "1\n",
    "sys/kernel/debug/sched/base_slice_ns": "3000000\n",
    "sys/kernel/mm/transparent_hugepage/defrag": "always defer [madvise] never\n",
    "sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled": "always [inherit] never\n",
    "sys/kernel/mm/transparent_hugepage/khugepaged/defrag": "1\n",
}


def planted(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def test_everything_that_is_told_is_read_and_nothing_else(tmp_path: Path) -> None:
    assert inherited.collect(planted(tmp_path, FILES)) == {
        "variables": {
            "LD_PRELOAD": "/x.so",
            "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
            "MALLOC_ARENA_MAX": "1",
        },
        "process": {
            "speculation_store_bypass": "thread force mitigated",
            "huge_pages": "1",
            "affinity": "0-3",
            "personality": "00040000",
            "nice": "5",
            "policy": "batch",
        },
        "cgroup": {
            "cpu.path": "/low",
            "cpu.shares": "2",
            "path": "/user.slice/user-N.slice/session-N.scope",
            "cpu.weight": "100",
            "../../cpu.max": "50000 100000",
        },
        "scheduler": {"sched_autogroup_enabled": "1", "base_slice_ns": "3000000"},
        "huge_pages": {
            "defrag": "madvise",
            "hugepages-64kB/enabled": "inherit",
            "khugepaged/defrag": "1",
        },
    }


def test_a_machine_that_tells_nothing_has_no_facts(tmp_path: Path) -> None:
    assert inherited.collect(tmp_path) == {}


@pytest.mark.parametrize("path", ["/../../etc", "/.."])
def test_a_group_outside_of_the_tree_is_not_followed(tmp_path: Path, path: str) -> None:
    root = planted(tmp_path, {"proc/self/cgroup": f"0::{path}\n", "etc/cpu.max": "outside"})
    assert inherited.collect(root) == {"cgroup": {"path": path}}


def seen_by_a_child(prefix: list[str], **variables: str) -> dict[str, dict[str, str]]:
    program = "import json; from cyclometer.targets.linux import inherited as i"
    done = subprocess.run(
        [*prefix, sys.executable, "-c", f"{program}; print(json.dumps(i.collect()))"],
        env={**os.environ, **variables},
        capture_output=True,
        check=True,
    )
    facts: dict[str, dict[str, str]] = json.loads(done.stdout)
    return facts


def test_settings_of_the_process_that_starts_it_are_seen() -> None:
    plain = seen_by_a_child([])
    changed = seen_by_a_child(["nice", "-n", "3"], GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
    assert int(changed["process"]["nice"]) == min(19, int(plain["process"]["nice"]) + 3)
    assert changed["variables"]["GLIBC_TUNABLES"] == "glibc.malloc.tcache_count=0"


_STORE_BYPASS, _DISABLE = 0, 4


def test_a_speculation_prctl_is_a_difference_of_the_environments() -> None:
    before = seen_by_a_child([])
    wrapper = (
        "import ctypes, os, sys; ctypes.CDLL(None).prctl("
        f"53, {_STORE_BYPASS}, {_DISABLE}, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])"
    )
    after = seen_by_a_child([sys.executable, "-c", wrapper])
    if before["process"].get("speculation_store_bypass") != "thread vulnerable":
        pytest.skip("this processor has no store bypass that a process may turn off")
    sides = [
        pairing.environment(Assembler("linux", dict(facts)).bundle()) for facts in (before, after)
    ]
    found = {name: (x, y) for name, x, y in identity.differences(*sides)}
    assert found["process.speculation_store_bypass"] == ("thread vulnerable", "thread mitigated")


def test_the_harness_names_its_c_library() -> None:
    hello = list_circles(build.harness(), [])[0]
    assert "libc" in hello.build  # type: ignore[union-attr]
