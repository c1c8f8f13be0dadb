# SPDX-License-Identifier: BSD-2-Clause
"""Bundles that nobody vouches for: one sentence, or a bundle that every command can handle."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cyclometer.bundle import store
from cyclometer.bundle.model import COLUMNS, Bundle, Clock, Identity, Samples, samples
from cyclometer.bundle.validate import validated
from cyclometer.errors import BadFile
from cyclometer.ingest import ingest
from tests.everything import outputs
from tests.report import sample_bundles

DATA = Path(__file__).parents[1] / "data"
# The same examples every time; CYC_FUZZ=2000 looks for new ones.
_WANTED = int(os.environ.get("CYC_FUZZ", "0"))
FUZZ = settings(
    max_examples=_WANTED or 12,
    derandomize=not _WANTED,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
NUMBERS = [0, -1, 1, 1e308, -1e308, 5e-324, 2**63 - 1, -(2**63), 2**53, 2**31, 0.5, 1e20, None]
TEXTS = [
    "",
    "[/b]",
    "[red]x[/red]",
    "[link=http://example.com]y[/link]",
    "<script>alert(1)</script>",
    "\x1b[2J\x9b2J",
    "\u202etxt",
    "a|b`c",
    "\x00",
    "]]>",
    ":warning:",
    "two\nlines",
    "passes",
    "direct",
    "proof",
    "ns",
    "per_s",
    "x" * 3_000,
]


def small(clock: Clock) -> Bundle:
    """A circle of every kind, few tests of each."""
    maker = sample_bundles.Maker(clock, runs=2, tests=12)
    maker.accumulated(sample_bundles.PIPE, 4000).passes(sample_bundles.PIPE, 4000)
    return maker.direct(sample_bundles.TIMER, 900).bundle()


def bases() -> list[Bundle]:
    """Bundles of every kind: samples, an exact clock, printed statistics, all of it."""
    made = [small(sample_bundles.TSC), small(sample_bundles.ICOUNT)]
    files = ("cyclictest.txt", "rtos_benchmark.txt", "kbench_program.txt", "zephyr_rec.txt")
    return [*made, *(ingest([DATA / name])[0] for name in files)]


BASES = bases()


def leaves(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every number and text in plain data."""
    children = node.items() if isinstance(node, dict) else enumerate(node)
    for name, child in children:
        if isinstance(child, dict | list):
            yield from leaves(child, (*path, name))
        else:
            yield (*path, name)


@st.composite
def damaged(draw: st.DrawFn, bundle: Bundle) -> Bundle:
    """`bundle` with some numbers and texts replaced by ones that programs stumble over.

    Raises what a reader of bundle.json would: a DecodeError, or ValueError from `validated`.
    """
    content = msgspec.to_builtins(bundle.identity)
    places = list(leaves(content))
    for place in draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True)):
        *way, last = place
        holder = content
        for name in way:
            holder = holder[name]
        if isinstance(holder[last], str):
            holder[last] = draw(st.sampled_from(TEXTS))
            if isinstance(last, str) and draw(st.booleans()) and way[-1:] == ["configuration"]:
                holder[draw(st.sampled_from(TEXTS))] = holder.pop(last)
        else:
            holder[last] = draw(st.sampled_from(NUMBERS))
    identity = msgspec.json.decode(msgspec.json.encode(content), type=Identity)
    return validated(replace(bundle, identity=identity, samples=draw(broken(bundle.samples))))


@st.composite
def broken(draw: st.DrawFn, held: Samples) -> Samples:
    """`held` with one column changed in all samples, in every second, or in one."""
    columns = {name: getattr(held, name).copy() for name in COLUMNS}
    if len(held) and draw(st.booleans()):
        name = draw(st.sampled_from([name for name in COLUMNS if name != "row"]))
        number = draw(st.sampled_from([n for n in NUMBERS if n is not None]))
        which = draw(st.sampled_from([slice(None), slice(0, None, 2), slice(0, 1)]))
        kind = np.dtype(columns[name].dtype)
        if kind.kind == "i":
            number = max(np.iinfo(kind).min, min(np.iinfo(kind).max, int(number)))
        columns[name][which] = number
    return samples(columns, held.counters)


@FUZZ
@given(base=st.sampled_from(range(len(BASES))), data=st.data())
def test_every_command_survives_what_is_not_refused(base: int, data: st.DataObject) -> None:
    try:
        bundle = data.draw(damaged(BASES[base]))
    except (msgspec.DecodeError, ValueError):
        return
    for name, output in outputs(bundle, BASES[base]):
        text = output if isinstance(output, str) else output.decode("utf-8")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), name
        assert "<script>alert" not in text or name in _VERBATIM, name


# Formats in which angle brackets have no meaning.
_VERBATIM = {
    *("show", "show --json", "lint", "compare", "compare --json", "show --circle"),
    *("show --circle --json", "bencher", "benchstat", "csv", "csv --samples", "github-action"),
    *("google-benchmark", "json", "kbench", "pyperf"),
    *(
        f"cyclometer.report.{mode}{form}"
        for mode in ("aa", "matrix", "history")
        for form in ("", " json")
    ),
}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    store.write(BASES[0], tmp_path / "bundle", {})
    return tmp_path / "bundle"


def refused(path: Path, match: str) -> None:
    with pytest.raises(BadFile, match=match) as caught:
        store.read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "empty or larger"),
        (b"\xff\xfe", "damaged"),
        (b"[" * 500_000, "damaged"),
        (b'{"schema": 1', "damaged"),
        (b'{"schema": 1, "created": "", "target": "\xed\xa0\x80", "rows": []}', "damaged"),
        (b'{"schema": 1, "created": "", "target": "t", "rows": []}', "row is not between 0 and -1"),
    ],
)
def test_a_damaged_identity_is_one_sentence(stored: Path, content: bytes, match: str) -> None:
    (stored / store.IDENTITY).write_bytes(content)
    refused(stored, match)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"hz": 2.5e9', '"hz": 1e300'),
        ('"hz": 2.5e9', '"hz": 1e-300'),
        ('"hz": 2.5e9', '"hz": -1'),
        ('"switches": 2', '"switches": 9223372036854775808'),
        ('"delta": 10', '"delta": 4611686018427387904'),
    ],
)
def test_numbers_that_cannot_be_are_refused(stored: Path, old: str, new: str) -> None:
    text = (stored / store.IDENTITY).read_text()
    spelled = old if old in text else old.replace("2.5e9", "2500000000.0")
    assert spelled in text
    (stored / store.IDENTITY).write_text(text.replace(spelled, new, 1))
    refused(stored, "damaged")


@pytest.mark.parametrize(
    "summary",
    [
        {"row": 0, "n": -5, "mean": 1.0, "sd": 1.0},
        {"row": 0, "n": 5, "mean": 1.0, "sd": -1.0},
        {"row": 0, "mean": 1e300},
        {"row": 7, "mean": 1.0},
        {"row": -1, "mean": 1.0},
    ],
)
def test_summaries_that_cannot_be_are_refused(stored: Path, summary: dict[str, Any]) -> None:
    content = msgspec.json.decode((stored / store.IDENTITY).read_bytes())
    content["summaries"] = [summary]
    (stored / store.IDENTITY).write_bytes(msgspec.json.encode(content))
    refused(stored, "damaged")


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("SELECT * EXCLUDE (turns) FROM old", "damaged"),
        ("SELECT * REPLACE ('x' AS turns) FROM old", "damaged"),
        ("SELECT * REPLACE (NULL::BIGINT AS turns) FROM old", "without turns"),
        ("SELECT * REPLACE (0 AS turns) FROM old", "turns is not between 1"),
        ("SELECT * REPLACE (1::BIGINT << 50 AS turns) FROM old", "turns is not between 1"),
        ('SELECT * REPLACE (1e300 AS "value") FROM old', "a value is not 0 or between"),
        ("SELECT * REPLACE ('nan'::DOUBLE AS \"value\") FROM old", "a value is not 0 or between"),
        ('SELECT * REPLACE (1e19 AS "at") FROM old', "damaged"),
        ('SELECT * REPLACE (9 AS "row") FROM old', "row is not between 0 and"),
        ("SELECT *, 'x' AS count_faults FROM old", "damaged"),
        ('SELECT *, [1] AS "count_""; DROP" FROM old', "damaged"),
    ],
)
def test_samples_that_cannot_be_are_refused(stored: Path, query: str, match: str) -> None:
    file = stored / store.SAMPLES
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE old AS FROM read_parquet('{file}')")
        database.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
    refused(stored, match)


@pytest.mark.parametrize("kept", [0, 3, 100, 500])
def test_truncated_samples_are_refused(stored: Path, kept: int) -> None:
    file = stored / store.SAMPLES
    file.write_bytes(file.read_bytes()[:kept])
    refused(stored, "damaged")


def test_a_bomb_of_samples_is_refused_before_it_is_unpacked(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_SAMPLES", 100)
    refused(stored, "more than the 100 read")


def test_a_folder_where_a_file_should_be(stored: Path) -> None:
    (stored / store.IDENTITY).unlink()
    (stored / store.IDENTITY).mkdir()
    refused(stored, "not a bundle")
    shutil.rmtree(stored)
    refused(stored, "does not exist")


def test_texts_that_steer_a_terminal_are_replaced_on_reading(stored: Path) -> None:
    content = msgspec.json.decode((stored / store.IDENTITY).read_bytes())
    content["title"] = "\x1b[2Jcleared\u202e"
    content["environment"]["\x07"] = ["\x1b]0;owned\x07"]
    (stored / store.IDENTITY).write_bytes(msgspec.json.encode(content))
    identity = store.read(stored).identity
    assert identity.title == "\ufffd[2Jcleared\ufffd"
    assert identity.environment["\ufffd"] == ["\ufffd]0;owned\ufffd"]
