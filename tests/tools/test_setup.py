# SPDX-License-Identifier: BSD-2-Clause
"""The set-up script on made-up machines: every outside command is a small script of ours."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import TOOLS

# A Python that is recent, has ensurepip once the package is there, and makes a .venv of copies of
# itself.
PYTHON = """#!/bin/sh
echo "python $*" >> "$LOG"
case "$*" in
    *version_info\\ \\<*) exit ${OLD:-0} ;;
    *ensurepip*) [ -e "$STATE/python3.11-venv" ] ;;
    *python%d*) echo python3.11-venv ;;
    *venv*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
"""
APT = """#!/bin/sh
echo "apt-get $*" >> "$LOG"
for word; do case $word in -*|install|update) ;; *) touch "$STATE/$word" ;; esac; done
bin=${0%/*}
[ ! -e "$STATE/qemu-system-misc" ] || cp "$bin/id" "$bin/qemu-system-riscv64"
[ ! -e "$STATE/qemu-system-x86" ] || cp "$bin/id" "$bin/qemu-system-x86_64"
[ ! -e "$STATE/chromium" ] || cp "$bin/id" "$bin/chromium"
[ ! -e "$STATE/gcc-riscv64-unknown-elf" ] || cp "$bin/id" "$bin/riscv64-unknown-elf-gcc"
[ ! -e "$STATE/gcc-riscv64-linux-gnu" ] || cp "$bin/id" "$bin/riscv64-linux-gnu-gcc"
[ ! -e "$STATE/verilator" ] || cp "$bin/id" "$bin/verilator"
[ ! -e "$STATE/g++" ] || cp "$bin/id" "$bin/g++"
"""
COMPILER = '#!/bin/sh\n[ -e "$STATE/gcc" ]\n'
DPKG_DEB = """#!/bin/sh
echo "dpkg-deb $*" >> "$LOG"
mkdir -p usr/lib/lmbench/bin/here && touch usr/lib/lmbench/bin/here/lat_pipe
"""
ORDINARY = ("sh", "env", "dirname", "mkdir", "mktemp", "cp", "rm", "touch", "make", "cat")


class Machine:
    """A folder of commands that is the whole PATH, and the log of what was called."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.state, self.log, self.tree = (
            folder / name for name in ("bin", "state", "log", "tree")
        )
        for path in (self.bin, self.state, self.tree / "tools"):
            path.mkdir(parents=True)
        shutil.copy(TOOLS / "setup.sh", self.tree / "tools")
        for name in ORDINARY:
            (self.bin / name).symlink_to(str(shutil.which(name)))
        for name, content in {
            "python3": PYTHON,
            "apt-get": APT,
            "cc": COMPILER,
            "id": "#!/bin/sh\necho $USER_ID\n",
        }.items():
            self.add(name, content)

    def add(self, name: str, content: str) -> None:
        (self.bin / name).write_text(content)
        (self.bin / name).chmod(0o755)

    def setup(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        known = {
            "PATH": str(self.bin),
            "LOG": str(self.log),
            "STATE": str(self.state),
            "USER_ID": "0",
        }
        return subprocess.run(
            ["tools/setup.sh", *(arguments or ("setup",))],
            cwd=self.tree,
            env=known | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def calls(self, command: str) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if line.startswith(command)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_bare_debian_gets_what_is_missing(machine: Machine) -> None:
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert [call.split()[-2:] for call in machine.calls("apt-get")] == [
        ["gcc", "libc6-dev"],
        ["--no-install-recommends", "python3.11-venv"],
    ]
    assert machine.calls("python")[-1].endswith("--editable .")


def test_the_tests_set_up_brings_emulator_compilers_verilator_and_a_browser(
    machine: Machine,
) -> None:
    assert machine.setup("setup-all").returncode == 0
    installed = " ".join(machine.calls("apt-get"))
    assert "qemu-system-misc" in installed
    assert "qemu-system-x86" in installed
    assert "gcc-riscv64-unknown-elf" in installed
    assert "verilator" in installed
    assert "g++" in installed
    assert "chromium" in installed


def test_the_set_up_of_the_bench_brings_the_tools_that_a_package_has(machine: Machine) -> None:
    machine.add("stress-ng", "#!/bin/sh\n")
    machine.add("cargo", '#!/bin/sh\necho "cargo $*" >> "$LOG"\n')
    machine.add("dpkg-deb", DPKG_DEB)
    done = machine.setup("setup-bench")
    assert done.returncode == 0, done.stderr
    assert "could not be" not in done.stderr
    assert (machine.tree / ".venv/bin/lat_pipe").exists()
    (fetch,) = [call for call in machine.calls("apt-get") if call.endswith("download lmbench")]
    assert "-o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=" in fetch
    installed = " ".join(machine.calls("apt-get"))
    assert "linux-perf" in installed
    assert "rt-tests" in installed
    assert "stress-ng" not in installed  # it was there
    (call,) = machine.calls("cargo")
    assert call.startswith("cargo install")
    assert "--root .venv core-to-core-latency@" in call


def test_a_second_set_up_installs_no_package_and_keeps_the_venv(machine: Machine) -> None:
    machine.setup("setup-all")
    machine.log.unlink()
    assert machine.setup("setup-all").returncode == 0
    assert machine.calls("apt-get") == []
    assert not [call for call in machine.calls("python") if "--clear" in call]
    assert machine.calls("python")[-1].endswith("--editable .[test]")


def test_a_user_without_rights_is_told_the_packages(machine: Machine) -> None:
    done = machine.setup(USER_ID="1000")
    assert done.returncode == 4
    cure = "install them (apt-get install gcc libc6-dev) and run this again"
    assert done.stderr == f"setup: the packages gcc libc6-dev are missing; {cure}\n"


def test_passwordless_sudo_is_used(machine: Machine) -> None:
    machine.add("sudo", '#!/bin/sh\necho "sudo $*" >> "$LOG"\n[ "$1" = -n ] && shift\nexec "$@"\n')
    machine.add("true", "#!/bin/sh\n")
    assert machine.setup(USER_ID="1000").returncode == 0
    assert len(machine.calls("sudo -n env")) == 2


def test_an_old_python_is_named_with_the_cure(machine: Machine) -> None:
    (machine.state / "gcc").touch()
    done = machine.setup(OLD="1")
    assert done.returncode == 4
    assert done.stderr.startswith("setup: no Python 3.11 or later was found; install one")


def test_a_compiler_that_was_asked_for_is_not_replaced(machine: Machine) -> None:
    done = machine.setup(CC="nocc")
    assert done.returncode == 4
    assert "CC=nocc compiles nothing" in done.stderr
    assert not machine.log.exists()


def test_usage(machine: Machine) -> None:
    assert machine.setup("everything").returncode == 2


def test_a_second_make_setup_does_nothing(machine: Machine) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(TOOLS.parent / name, machine.tree)
    environment = {
        "PATH": str(machine.bin),
        "LOG": str(machine.log),
        "STATE": str(machine.state),
        "USER_ID": "0",
    }

    def make(*targets: str) -> str:
        done = subprocess.run(
            ["make", *targets],
            cwd=machine.tree,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert "tools/setup.sh setup-all" in make("setup-all")
    assert "tools/setup.sh" not in make("setup-all", "setup")
    later = (machine.tree / ".venv/setup.stamp").stat().st_mtime + 5
    os.utime(machine.tree / "pyproject.toml", (later, later))
    assert "tools/setup.sh setup\n" in make("setup")


@pytest.mark.parametrize("target", ["lint", "test-fast", "site"])
def test_what_a_contributor_runs_first_needs_no_emulator(machine: Machine, target: str) -> None:
    done = subprocess.run(
        ["make", "-n", target], cwd=TOOLS.parent, capture_output=True, text=True, check=True
    )
    assert not {"setup-all", "kernel", "qemu"} & set(done.stdout.split())
    assert machine.setup("setup-dev").returncode == 0
    installed = " ".join(machine.calls("apt-get"))
    assert not [name for name in ("qemu", "riscv", "verilator", "chromium") if name in installed]
