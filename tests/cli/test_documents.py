# SPDX-License-Identifier: BSD-2-Clause
"""What commands print with --json is what `cyclometer schema` says, member by member."""

from __future__ import annotations

import importlib
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner

from cyclometer.bundle import store
from cyclometer.cli import COMMANDS, cli, doctor, kdiff
from cyclometer.explain import kernels, sources
from cyclometer.report.documents import kinds
from cyclometer.report.documents.machine import HostCounts, TargetCounts
from cyclometer.report.documents.stored import Answer
from cyclometer.store import layout, transfer
from cyclometer.store.location import Location
from cyclometer.sweep import agreement
from cyclometer.targets.rocket_linux.target import RocketLinuxTarget
from tests.compare.bundles import measured
from tests.compare.recorded import recorded
from tests.compare.test_expected import stored as exact
from tests.doctor.conftest import WORKSTATION, plant
from tests.explain import machine
from tests.explain.test_kernels import found, row
from tests.targets.rocket_linux.test_proof import compared, steps

DATA = Path(__file__).parents[1] / "data"
NIGHTS = tuple(f"day-{number}" for number in range(6))
Setup = Callable[[pytest.FixtureRequest], list[str]]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of six bundles, the later three of them 30 % slower."""
    folder = tmp_path_factory.mktemp("store")
    for number, name in enumerate(NIGHTS):
        runs = {"a.b": [y * (1.3 if number > 2 else 1) for y in (1000.0, 1000.4, 999.8, 1000.1)]}
        made = measured(runs, seed=number, created=f"2026-01-0{number + 1}T00:00:00+00:00")
        store.write(made, folder / name, {})
    return folder


def folder(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue("tmp_path")


def patch(request: pytest.FixtureRequest, owner: object, name: str, value: object) -> None:
    request.getfixturevalue("monkeypatch").setattr(owner, name, value)


def kept_trace(request: pytest.FixtureRequest) -> list[str]:
    """A folder with the trace of a circle, and the circle."""
    evidence = {"thing.poke": {"steady": machine.evidence([3] * 4)}}
    for name, data in sources.files(evidence).items():
        path = folder(request) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return [str(folder(request)), "thing.poke"]


def counts(request: pytest.FixtureRequest) -> list[str]:
    """A file that expects what a bundle has, and another bundle."""
    path = str(folder(request) / "counts.toml")
    first, later = (str(exact(folder(request) / name, a_b=of)) for name, of in (("a", 1), ("b", 2)))
    CliRunner().invoke(cli, ["gate", "--expect", path, "--update", first], catch_exceptions=False)
    return [path, later]


def two_kernels(request: pytest.FixtureRequest) -> list[str]:
    """Images, and a measurement that finds one row longer by 5 instructions."""
    bundle = measured({"a.b": [1.0]})
    patch(request, kdiff, "_measured", lambda _: [bundle] * 2)
    patch(request, kdiff, "_names", lambda *_: ("old", "new"))
    patch(request, kernels, "kernels", lambda *_: found(row(5)))
    return ["a.img", "b.img"]


def moved(request: pytest.FixtureRequest) -> list[str]:
    """A proof of a move after which two instructions are others."""
    proof = compared(steps(0, 2, 30), steps(0, 10, 2))
    patch(request, RocketLinuxTarget, "prove", lambda *_: proof)
    return []


def made_up_machine(request: pytest.FixtureRequest) -> list[str]:
    """A machine with settings that disturb, as `doctor` sees it."""
    plant(folder(request) / "root", WORKSTATION)
    patch(request, doctor, "ROOT", folder(request) / "root")
    request.getfixturevalue("monkeypatch").setenv("XDG_STATE_HOME", str(folder(request)))
    return []


def two_hosts(request: pytest.FixtureRequest) -> list[str]:
    """What two hosts count that differ in a compiler and a row."""
    sides = {"here": ("gcc 12", 376), "there": ("gcc 13", 377)}
    made = {
        name: HostCounts({"qemu-virt": TargetCounts({"gcc": gcc}, {"a.b group": [count]}, "")})
        for name, (gcc, count) in sides.items()
    }
    patch(request, agreement, "counted", lambda _: made["here"])
    patch(request, agreement, "asked", lambda _: made["there"])
    return []


def sessions(request: pytest.FixtureRequest) -> list[str]:
    """Three sessions of a machine, and a place for what they show."""
    made_up_machine(request)
    names = ("aa1", "aa2", "s1")
    return [str(store.write(recorded(name), folder(request) / name, {}).path) for name in names]


def empty_place(request: pytest.FixtureRequest) -> list[str]:
    return [str(folder(request) / "new")]


def kept_store(request: pytest.FixtureRequest) -> list[str]:
    """The URL of a store of two bundles."""
    location = Location(str(folder(request) / "store"))
    layout.init(location)
    for name in NIGHTS[:2]:
        transfer.push(location, Path(name))
    return [location.url]


def new_to_store(request: pytest.FixtureRequest) -> list[str]:
    return [*kept_store(request), NIGHTS[2]]


def newest_of_store(request: pytest.FixtureRequest) -> list[str]:
    return [*kept_store(request), "newest", "-o", str(folder(request) / "pulled")]


def asked_store(request: pytest.FixtureRequest) -> list[str]:
    return [
        *kept_store(request),
        "SELECT key, latency, created FROM rows JOIN bundles USING (bundle)",
    ]


def site_of_store(request: pytest.FixtureRequest) -> list[str]:
    return [*kept_store(request), "-o", str(folder(request) / "public")]


def pretended(request: pytest.FixtureRequest) -> list[str]:
    """A target that needs no emulator, and a place for its bundle."""
    request.getfixturevalue("pretend")
    return ["--target", "qemu-pretend", "-o", str(folder(request) / "measured")]


def plan(request: pytest.FixtureRequest) -> list[str]:
    """A sweep of two tasks, and a store."""
    request.getfixturevalue("pretend")
    path = folder(request) / "plan.toml"
    path.write_text('[sweep]\ntarget = "qemu-pretend"\n[axes]\n"config.more" = [1, 2]\n')
    return [str(path), "--store", str(folder(request) / "store")]


def history_in_git(request: pytest.FixtureRequest) -> list[str]:
    """A repository whose second commit adds five bytes to an image, and how to measure it."""
    request.getfixturevalue("pretend")
    root = folder(request) / "repository"
    git = ("git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@localhost")
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    for text in ("12345", "1234567890"):
        (root / "source").write_text(text)
        subprocess.run([*git, "add", "source"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", text], check=True)
    ends = ["--repository", str(root), "--good", "main~1", "--bad", "main"]
    run = ["--", "--target", "qemu-pretend", "--image", "image", "--runs", "1"]
    return ["a.b", "--build", "cp source image", *ends, *run]


def nothing(_: pytest.FixtureRequest) -> list[str]:
    return []


EXAMPLES: tuple[tuple[str, tuple[str, ...], Setup], ...] = (
    ("estimates", ("run",), pretended),
    ("estimates", ("show", "day-0"), nothing),
    ("estimates", ("show", f"{DATA}/notes.txt"), nothing),
    ("estimates", ("show", f"{DATA}/TX1_MCS_64.json"), nothing),
    ("circle", ("show", "day-0", "--circle", "a.b"), nothing),
    ("exported", ("export", "day-0"), nothing),
    ("comparison", ("compare", "day-0", "day-5"), nothing),
    ("comparison", ("gate", "day-0", "day-5"), nothing),
    ("comparison", ("compare", f"{DATA}/change_table.md"), nothing),
    ("why", ("compare", "--why", "day-0", "day-5"), nothing),
    ("expected", ("gate", "--expect"), counts),
    ("newest", ("gate", "--history", "."), nothing),
    ("matrix", ("matrix", "day-0", "day-1", "day-5"), nothing),
    ("false-alarms", ("aa", "."), nothing),
    ("history", ("history", "."), nothing),
    ("kernels", ("kdiff",), two_kernels),
    ("explanation", ("explain",), kept_trace),
    ("move", ("prove-move",), moved),
    ("circles", ("list", "floor.*", "--target", "linux"), nothing),
    ("machine", ("doctor",), nothing),
    ("settings", ("doctor", "--tune", "--cpu", "3"), made_up_machine),
    ("counts", ("doctor", "--exact"), two_hosts),
    ("agreement", ("doctor", "--against", "ssh://there"), two_hosts),
    ("calibration", ("doctor", "--calibrate"), sessions),
    ("lint", ("lint", f"{DATA}/notes.txt", "day-0"), nothing),
    ("rules", ("lint", "--rules"), nothing),
    ("ingested", ("ingest", f"{DATA}/notes.txt", "-o"), empty_place),
    ("report", ("report", "day-0", "-o"), empty_place),
    ("built", ("target", "build", "linux"), nothing),
    ("store", ("store", "init"), empty_place),
    ("store", ("store", "ls"), kept_store),
    ("transferred", ("store", "push"), new_to_store),
    ("transferred", ("store", "pull"), newest_of_store),
    ("answer", ("store", "query"), asked_store),
    ("leftovers", ("store", "gc"), kept_store),
    ("site", ("site",), site_of_store),
    ("sweep-plan", ("sweep", "--dry-run"), plan),
    ("sweep-task", ("sweep", "--task", "1"), plan),
    ("sweep", ("sweep", "--status"), plan),
    ("bisect", ("bisect",), history_in_git),
    ("kinds", ("schema",), nothing),
    ("glossary", ("glossary",), nothing),
)
MEASURED = {"ab": "tests/e2e/test_ab.py"}
"""Commands that measure for seconds, and the tests that hold what they print to its schema."""
EXPLAINED = {"explained-difference", "tail", "paths", "profile", "profile-difference", "why"}
"""Kinds of which tests/report/test_explain_documents.py prints one each."""


def printed(*words: str) -> dict[str, Any]:
    """What a command prints with --json, whatever its verdict is."""
    own = words.index("--") if "--" in words else len(words)  # before the options of `run`
    result = CliRunner().invoke(cli, [*words[:own], "--json", *words[own:]])
    assert isinstance(result.exception, SystemExit | None), (words, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def undocumented(schema: dict[str, Any], described: dict[str, Any], value: Any) -> set[str]:
    """Members of `value` that its schema does not name."""
    if "$ref" in described:
        return undocumented(schema, schema["$defs"][described["$ref"].rpartition("/")[2]], value)
    if "anyOf" in described:
        typed = [one for one in described["anyOf"] if one.get("type") != "null"]
        return set() if value is None else undocumented(schema, typed[0], value)
    if isinstance(value, list):
        items = described.get("items") or {}
        return {name for item in value for name in undocumented(schema, items or {}, item)}
    if not isinstance(value, dict) or "properties" not in described:
        return set()
    known = described["properties"]
    below = {n for k in known.keys() & value for n in undocumented(schema, known[k], value[k])}
    return (value.keys() - known) | below


def documented(kind: str, document: dict[str, Any]) -> None:
    """Asserts that the document is of this kind, typed and complete."""
    assert document.pop("schema") == kinds.name(kind)
    schema = kinds.schema(kind)
    msgspec.convert(document, kinds.KINDS[kind][1])
    assert undocumented(schema, {"$ref": schema["$ref"]}, document) == set()


@pytest.mark.parametrize(
    ("kind", "words", "setup"), EXAMPLES, ids=[f"{words[0]} {kind}" for kind, words, _ in EXAMPLES]
)
def test_a_document_is_what_its_schema_says(
    stored: Path, request: pytest.FixtureRequest, kind: str, words: tuple[str, ...], setup: Setup
) -> None:
    request.getfixturevalue("monkeypatch").chdir(stored)
    documented(kind, printed(*words, *setup(request)))


def with_json() -> Iterator[str]:
    """The commands, and those of groups, that have --json."""
    for name, module in COMMANDS.items():
        command = importlib.import_module(module).command
        below = command.commands if isinstance(command, click.Group) else {"": command}
        for word, one in below.items():
            if any("--json" in parameter.opts for parameter in one.params):
                yield f"{name} {word}".rstrip()


def test_every_command_with_json_and_every_kind_has_an_example() -> None:
    tried = {" ".join(words[: 1 + (words[0] in ("store", "target"))]) for _, words, _ in EXAMPLES}
    assert {*with_json()} == tried | MEASURED.keys()
    assert {kind for kind, _, _ in EXAMPLES} | EXPLAINED == kinds.KINDS.keys()


def test_every_kind_is_listed_and_printed() -> None:
    listed = CliRunner().invoke(cli, ["schema"]).stdout
    for kind in kinds.KINDS:
        assert f"{kind} " in listed
        schema = json.loads(CliRunner().invoke(cli, ["schema", kind]).stdout)
        assert schema["$id"] == f"cyclometer/{kind}/{kinds.KINDS[kind][0]}"


def test_numbers_that_json_does_not_have_are_null() -> None:
    written = kinds.dumps(Answer([{"a": float("nan"), "b": float("-inf"), "c": 1.5}]))
    assert json.loads(written)["rows"] == [{"a": None, "b": None, "c": 1.5}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shwo",), "there is no command 'shwo'; did you mean show?"),
        (("schema", "comparisn"), "there is no kind 'comparisn'; did you mean comparison?"),
        (("glossary", "turns"), "the glossary has no 'turns'; did you mean turn?"),
        (("list", "pipe", "--target", "linux"), "try '*pipe*'"),
        (("list", "syscal.null", "--target", "linux"), "did you mean syscall.null?"),
        (("show", DATA / "notes.txt", "--circle", "nothing-like-it"), "`cyclometer show` lists"),
    ],
)
def test_a_typo_gets_a_suggestion(words: tuple[object, ...], said: str) -> None:
    result = CliRunner().invoke(cli, [*map(str, words)])
    assert said in str(result.exception)


def test_the_glossary_explains_the_words_of_the_tables() -> None:
    from cyclometer.cli.glossary import GLOSSARY

    assert CliRunner().invoke(cli, ["glossary", "Turn"]).stdout.startswith("turn ")
    assert {"circle", "turn", "test", "latency", "base", "overall", "excluded"} <= GLOSSARY.keys()


def test_a_mail_has_72_columns_of_ascii(stored: Path) -> None:
    words = ["compare", str(stored / "day-0"), str(stored / "day-5"), "--format", "mail"]
    lines = CliRunner().invoke(cli, words).stdout.splitlines()
    assert max(map(len, lines)) <= 72
    assert all(line.isascii() and line == line.rstrip() for line in lines)
    (row,) = (line for line in lines if line.startswith("a.b "))
    assert row.split()[-1] == "regressed"
    assert any("1 runs before" in line or "runs before" in line for line in lines)
