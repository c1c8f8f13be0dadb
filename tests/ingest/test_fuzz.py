# SPDX-License-Identifier: BSD-2-Clause
"""Every parser, rule and printer, on noise and damaged files: a result or one of our own errors,
nothing else.

The time of one example is bounded by hypothesis' deadline, a generous one, so that only a hang can
miss it.
"""

import contextlib
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import compare
from cyclometer.errors import CyclometerError
from cyclometer.ingest import Settings, formats
from cyclometer.ingest.assemble import assemble, part
from cyclometer.ingest.reading import HEAD_BYTES, decode
from cyclometer.lint import check
from cyclometer.report import comparison as printed
from cyclometer.report.documents import kinds
from cyclometer.report.export import EXPORTERS
from cyclometer.report.export.request import make
from cyclometer.report.html.document import document
from cyclometer.report.html.subject import subject

from .conftest import DATA
from .test_formats import FORMATS

# The same examples every time, so that a change breaks the test and not the day; CYC_FUZZ=2000
# looks for new ones.
_WANTED = int(os.environ.get("CYC_FUZZ", "0"))
BOUNDED = settings(
    max_examples=_WANTED or 60,
    derandomize=not _WANTED,
    deadline=20_000,
    suppress_health_check=list(HealthCheck),
    database=None,
)
SHORT = 6_000  # of each fixture, so that an example is quick
TOKENS = [
    b"\x00",
    b"\xff\xfe",
    b"\r",
    b"\n",
    b"\x1b[2A",
    b"-",
    b"1e999",
    b"999999999999999999999999",
    b"nan",
    b"NaN",
    b"inf",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'"',
    b"\\",
    b",",
    b":",
    b"|",
    b"\t",
    b".",
    b"9" * 400,
    b" " * 300,
    b"\xc3\xa9",
    b"\\ud800",
    b"-1",
    b"0",
    b"(",
    b")",
    b"[[",
    b"}}",
    b"JSON OUTPUT",
    b"END JSON OUTPUT",
    b"Run 1:",
    b"2147483648",
]


def attempt(name: str, data: bytes) -> None:
    """Detect with all formats, parse with one, assemble: what a user's file goes through."""
    for item in formats().values():
        assert 0 <= item.detect(data[:HEAD_BYTES], "file.json") <= 100
    try:
        foreign = decode("file.json", data)
        bundle, raw = assemble(
            [part(foreign, formats()[name].parse(foreign, Settings()))], Settings()
        )
    except CyclometerError:
        return
    assert bundle.identity.rows
    assert raw == {"raw/file.json": data}
    assert all(
        0 <= summary.row < len(bundle.identity.rows) for summary in bundle.identity.summaries
    )
    assert all(finding.rows for finding in check(bundle))
    assert len(bundle.samples) == 0 or int(bundle.samples.row.max()) < len(bundle.identity.rows)


@pytest.mark.parametrize("name", sorted(set(FORMATS.values())))
@BOUNDED
@given(data=st.one_of(st.binary(max_size=2_000), st.text(max_size=2_000).map(str.encode)))
def test_noise(name: str, data: bytes) -> None:
    attempt(name, data)


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """`data` with a few pieces cut out, repeated, moved or replaced by tokens that parsers stumble
    over.
    """
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 200)))
        piece = draw(st.sampled_from([b"", data[start:end] * 3, data[: end - start], *TOKENS]))
        data = data[:start] + piece + data[end:]
    return data


@pytest.mark.parametrize(("fixture", "name"), FORMATS.items())
@BOUNDED
@given(data=st.data())
def test_damaged_files(fixture: str, name: str, data: st.DataObject) -> None:
    attempt(name, data.draw(damaged(Path(DATA / fixture).read_bytes()[:SHORT])))


@settings(BOUNDED, max_examples=_WANTED or 40)
@given(fixture=st.sampled_from(sorted(FORMATS)), data=st.data())
def test_what_is_read_of_damaged_files_can_be_compared_shown_and_exported(
    fixture: str, data: st.DataObject
) -> None:
    whole = Path(DATA / fixture).read_bytes()[:SHORT]
    found = []
    for content in (whole, data.draw(damaged(whole))):
        try:
            foreign = decode("file.json", content)
            parsed = formats()[FORMATS[fixture]].parse(foreign, Settings())
            found.append(assemble([part(foreign, parsed)], Settings())[0])
        except CyclometerError:
            return
    comparison = compare(*(side([bundle]) for bundle in found))
    json.dumps(kinds.plain(printed.as_json(comparison)), allow_nan=False)
    assert printed.markdown(comparison)
    assert document(subject(found, ["before", "after"]), "damaged")
    for name in ("json", "csv", "markdown", "benchstat", "junit", "bencher"):
        with contextlib.suppress(CyclometerError):
            assert EXPORTERS.load(name)(make(found[1]))


@pytest.mark.parametrize("name", sorted(set(FORMATS.values())))
@pytest.mark.parametrize(
    "unit",
    [b"a", b"1", b" ", b"\t", b"-", b"|", b"1 ", b"a.", b"1,", b"[", b"# ", b"*", b"(1", b": 1 "],
)
def test_long_repetitions_do_not_hang(name: str, unit: bytes) -> None:
    """What makes a careless regular expression take for ever, on one line and on many."""
    for data in (
        unit * 9_000,
        (unit * 40 + b"\n") * 500,
        b"Mean: 1 cycles , 2 ns\n" + unit * 9_000,
    ):
        attempt(name, data)


@pytest.mark.parametrize(("fixture", "name"), FORMATS.items())
def test_each_number_beyond_all_bounds(fixture: str, name: str) -> None:
    data = Path(DATA / fixture).read_bytes()[:SHORT]
    numbers = [match.span() for match in re.finditer(rb"\d+", data)]
    for start, end in numbers[:: max(1, len(numbers) // 60)]:
        for huge in (b"9" * 30, b"9" * 400, b"9" * 5000):
            attempt(name, data[:start] + huge + data[end:])
