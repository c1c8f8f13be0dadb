# SPDX-License-Identifier: BSD-2-Clause
"""The harness is static unless something speaks to the dynamic linker or to the C library."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclometer.record.schema import Hello
from cyclometer.targets import build
from cyclometer.targets.linux.harness import PLAIN, Launch, list_circles
from cyclometer.targets.linux.inherited import VARIABLES
from cyclometer.targets.linux.target import program_for


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in filter(VARIABLES.fullmatch, PLAIN.everything()):
        monkeypatch.delenv(name)


def linking(program: Path) -> str:
    """What the program says of itself."""
    return next(r.build["linking"] for r in list_circles(program, []) if isinstance(r, Hello))


def test_a_plain_harness_has_no_dynamic_linker() -> None:
    if not build._links_statically(build.compiler()):
        pytest.skip("no static C library here")
    assert linking(program_for([PLAIN])) == "static"
    assert linking(build.harness()) == "dynamic"


@pytest.mark.parametrize(
    "launch",
    [
        Launch(environment={"LD_PRELOAD": ""}),
        Launch(environment={"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}),
        Launch(environment={"MALLOC_ARENA_MAX": "1"}),
        Launch(wrapper=("env",)),
    ],
)
def test_what_only_a_dynamic_program_heeds_gets_one(launch: Launch) -> None:
    assert program_for([PLAIN, launch]) == build.harness()


def test_variables_of_this_process_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    assert program_for([PLAIN]) == build.harness()


def test_without_a_static_library_the_harness_is_dynamic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(
        '#!/bin/sh\ncase $1 in -print-file-name=*) echo "${1#*=}";;\n'
        f'*) exec {build.compiler()} "$@";; esac\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert linking(program_for([PLAIN])) == "dynamic"
