# SPDX-License-Identifier: BSD-2-Clause
"""What commands print with --json is what `cyclometer schema` says, member by member."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.report import documents
from tests.compare.bundles import measured

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of six bundles, the later three of them 30 % slower."""
    folder = tmp_path_factory.mktemp("store")
    for number in range(6):
        runs = {"a.b": [y * (1.3 if number > 2 else 1) for y in (1000.0, 1000.4, 999.8, 1000.1)]}
        made = measured(runs, seed=number, created=f"2026-01-0{number + 1}T00:00:00+00:00")
        store.write(made, folder / f"day-{number}", {})
    return folder


def printed(*words: object) -> dict[str, Any]:
    result = CliRunner().invoke(cli, [*map(str, words), "--json"])
    assert result.exit_code in (0, 1, 4), (words, result.output, result.exception)
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
    assert document.pop("schema") == documents.name(kind)
    schema = documents.schema(kind)
    msgspec.convert(document, documents.KINDS[kind][1])
    assert undocumented(schema, {"$ref": schema["$ref"]}, document) == set()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("estimates", ("show", "day-0")),
        ("estimates", ("show", DATA / "notes.txt")),
        ("estimates", ("show", DATA / "TX1_MCS_64.json")),
        ("circle", ("show", "day-0", "--circle", "a.b")),
        ("comparison", ("compare", "day-0", "day-5")),
        ("comparison", ("gate", "day-0", "day-5")),
        ("comparison", ("compare", DATA / "change_table.md")),
        ("matrix", ("matrix", "day-0", "day-1", "day-5")),
        ("false-alarms", ("aa", ".")),
        ("history", ("history", ".")),
        ("circles", ("list", "floor.*", "--target", "linux")),
        ("machine", ("doctor",)),
        ("lint", ("lint", DATA / "notes.txt", "day-0")),
        ("rules", ("lint", "--rules")),
        ("ingested", ("ingest", DATA / "notes.txt", "-o", "ingested")),
        ("report", ("report", "day-0", "-o", "page.html")),
    ],
)
def test_a_document_is_what_its_schema_says(
    stored: Path, monkeypatch: pytest.MonkeyPatch, kind: str, words: tuple[object, ...]
) -> None:
    monkeypatch.chdir(stored)
    documented(kind, printed(*words))


def test_every_kind_is_listed_and_printed() -> None:
    listed = CliRunner().invoke(cli, ["schema"]).stdout
    for kind in documents.KINDS:
        assert f"{kind} " in listed
        schema = json.loads(CliRunner().invoke(cli, ["schema", kind]).stdout)
        assert schema["$id"] == f"cyclometer/{kind}/{documents.KINDS[kind][0]}"


def test_numbers_that_json_does_not_have_are_null() -> None:
    written = documents.dumps("built", {"target": "x", "built": [float("nan"), float("-inf"), 1.5]})
    assert json.loads(written)["built"] == [None, None, 1.5]


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
