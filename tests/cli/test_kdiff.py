# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer kdiff`: what it asks for, what it prints, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from click.testing import CliRunner, Result

from cyclometer.cli import cli, kdiff
from cyclometer.errors import NOTHING, PASS, REGRESSED, UsageError
from cyclometer.explain import kernels
from cyclometer.explain.kernels import KernelRow
from cyclometer.report import kernel_mail as mail
from cyclometer.report.documents import kinds
from cyclometer.report.documents.kernels import KernelsCompared
from cyclometer.targets.api import Request
from tests.explain.test_kernels import found, row

IMAGES = ("a.img", "b.img")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """A measurement that finds one row longer by 5 instructions."""
    requests: list[Request] = []

    def measured(wanted: Sequence[Request]) -> list[SimpleNamespace]:
        requests.extend(wanted)
        names = {"image": {"name": "linux-image-9 9.1"}}
        return [SimpleNamespace(identity=SimpleNamespace(environment=names))] * 2

    monkeypatch.setattr(kdiff, "_measured", measured)
    monkeypatch.setattr(kernels, "kernels", lambda *_: found(row(5)))
    return requests


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["kdiff", *words], catch_exceptions=False)


def test_patterns_name_families_and_default_to_three(asked: list[Request]) -> None:
    assert run(*IMAGES).exit_code == PASS
    run(*IMAGES, "pipe", "futex.wake*", "syscall.null", "--append", "mitigations=off")
    assert asked[0].only == ("pipe.*", "futex.*", "syscall.*")
    assert asked[2].only == ("pipe.*", "futex.wake*", "syscall.null")
    assert [(r.kernel, r.append) for r in asked[2:]] == [(i, "mitigations=off") for i in IMAGES]


def test_words_for_the_new_kernel_alone_are_added_to_those_of_both(asked: list[Request]) -> None:
    run(*IMAGES, "--append-new", "mitigations=off")
    run(*IMAGES, "--append", "quiet", "--append-new", "mitigations=off")
    both = "quiet mitigations=off"
    assert [r.append for r in asked] == [None, "mitigations=off", "quiet", both]


@pytest.mark.parametrize(
    ("margin", "code"), [((), PASS), (("--margin", "10%"), REGRESSED), (("--margin", "20%"), PASS)]
)
@pytest.mark.usefixtures("asked")
def test_only_a_margin_makes_an_exit_code(margin: tuple[str, ...], code: int) -> None:
    assert run(*IMAGES, *margin).exit_code == code


@pytest.mark.usefixtures("asked")
def test_packages_are_named_by_what_was_found_and_images_as_given() -> None:
    text = run("debian:linux-image-9*", "b.img").stdout
    assert "  old: linux-image-9 9.1 (6.1.0)\n  new: b.img (6.1.0)\n" in text


@pytest.mark.usefixtures("asked")
def test_the_command_to_repeat_names_the_package_that_was_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["kdiff", "debian@trixie:linux-image-*", "b.img", "pipe"]
    monkeypatch.setattr("sys.argv", ["/usr/bin/cyclometer", *words])
    text = run(*words).stdout
    assert text.endswith("Repeat:\n  cyclometer kdiff debian@trixie:linux-image-9 b.img pipe\n")


@pytest.mark.usefixtures("asked")
def test_the_long_form_is_a_page_with_the_mail_and_the_flame_graphs(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run(*IMAGES, "-o", str(page))
    text = page.read_text()
    assert "poke" in text
    assert text.count("Flame graph") >= 2
    assert result.stdout.splitlines()[0] in text
    with pytest.raises(UsageError, match="choose another -o"):
        run(*IMAGES, "-o", str(tmp_path / "no" / "x.html"))


def test_nothing_measured_is_its_own_code(
    asked: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = found(KernelRow("thing.gone", (3.0,), (), "after: invalid"))
    monkeypatch.setattr(kernels, "kernels", lambda *_: nothing)
    assert run(*IMAGES).exit_code == NOTHING
    assert len(asked) == 2


def test_a_revision_needs_to_be_told_how_to_build_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyclometer.targets.qemu_linux.revision.is_revision", lambda _: True)
    with pytest.raises(UsageError, match=r"v6\.1 is a git revision; say how to build it"):
        run("v6.1", "v6.2")


@pytest.mark.usefixtures("asked")
def test_json_is_what_its_schema_says() -> None:
    result = run(*IMAGES, "--json").stdout
    content = json.loads(result)
    assert content.pop("schema") == kinds.name("kernels")
    document = msgspec.convert(content, KernelsCompared)
    (one,) = document.rows
    assert one.change == one.explained == sum(f.change for f in one.functions) == 5
    assert mail.text(document, kdiff._words(IMAGES, IMAGES)) == run(*IMAGES).stdout
