# SPDX-License-Identifier: BSD-2-Clause
"""Files nobody should have given: one clear sentence, in bounded memory and time, and nothing
outside the bundle.
"""

import os
import resource
from pathlib import Path

import pytest

from cyclometer.bundle import store
from cyclometer.bundle.model import Source
from cyclometer.errors import USAGE, BadFile, CyclometerError, NothingMeasured
from cyclometer.ingest import Settings, formats, ingest, parsed
from cyclometer.ingest.reading import MAX_JSON_VALUES, MAX_LINES, decode, json_value

from .conftest import DATA


def refused(path: Path, match: str, **more: str) -> None:
    with pytest.raises(BadFile, match=match) as caught:
        ingest([path], format_name=more.get("format_name", ""))
    assert caught.value.exit_code == USAGE
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b" \r\n\t\n", "is empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "ELF binary"),
        (b"\x1f\x8b\x08" + bytes(100), "gzip"),
        (bytes(range(256)) * 50, "not utf-8 at byte 128"),
        (b"\0\1\2\3" * 1000, "is binary"),
        (b"Mean: 886\xff\n", "not utf-8 at byte 9"),
        (b"Dear reader,\nnothing was measured today.\n", "no known format"),
    ],
)
def test_no_log_at_all(tmp_path: Path, content: bytes, match: str) -> None:
    (tmp_path / "file.log").write_bytes(content)
    refused(tmp_path / "file.log", match)


def test_two_gigabytes_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    huge = tmp_path / "huge.log"
    with huge.open("wb") as file:
        file.truncate(2 << 30)
    os.chmod(huge, 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(huge, "2147483648 bytes")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_special_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "not a regular file")
    refused(tmp_path, "not a regular file")
    refused(tmp_path / "missing", "cannot be read")
    refused(tmp_path / "no\0name", "cannot be read")


def test_another_encoding_can_be_named(tmp_path: Path) -> None:
    log = tmp_path / "later.log"
    log.write_bytes("Validation ppcall für alle\nMean: 886\nStdev = sqrt(9)\n".encode("latin-1"))
    refused(log, "encoding=latin-1")
    bundle, _ = ingest([log], Settings({"encoding": "latin-1"}))
    assert bundle.identity.summaries[0].mean == 886
    with pytest.raises(BadFile, match="is not an encoding"):
        ingest([log], Settings({"encoding": "klingon"}))


@pytest.mark.parametrize(
    "bomb", ["[" * 5_000_000, '{"a":' * 1_000_000, "[" * 10_000 + "]" * 10_000]
)
def test_json_depth_is_bounded(bomb: str) -> None:
    with pytest.raises(BadFile, match="nests its JSON"):
        json_value(bomb, "bomb.json")


@pytest.mark.parametrize(
    ("item", "count"), [("[]", MAX_JSON_VALUES), ('{"a":1}', MAX_JSON_VALUES // 5 + 1)]
)
def test_json_size_is_bounded(item: str, count: int) -> None:
    with pytest.raises(BadFile, match="JSON values"):
        json_value("[" + f"{item}," * count + f"{item}]", "bomb.json")


@pytest.mark.parametrize(
    "name", ["sel4bench", "google-benchmark", "pyperf", "zephyr-twister", "rt-tests"]
)
@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"benchmarks": ' * 50_000, "{}", "[]", "[1,2,3]", "{1:2}"]
)
def test_every_json_format_survives_nonsense(name: str, text: str) -> None:
    with pytest.raises(CyclometerError):
        formats()[name].parse(decode("bomb.json", text.encode()), Settings())


def test_figures_that_are_none_are_named_and_leave_the_others(tmp_path: Path) -> None:
    assert json_value('{"NaN": [NaN, -Infinity, "-Infinity NaN"]}', "x") == {
        "NaN": [None, None, "-Infinity NaN"]
    }
    names = {"one": "NaN", "two": "2.5", "three": "Infinity"}
    told = [f'{{"name": "BM_{n}", "real_time": {v}, "time_unit": "ns"}}' for n, v in names.items()]
    file = tmp_path / "google.json"
    file.write_text(f'{{"context": {{}}, "benchmarks": [{", ".join(told)}]}}')
    bundle, _ = ingest([file], format_name="google-benchmark")
    assert [row.contract.key for row in bundle.identity.rows] == ["google.bm_two"]
    unread = [problem.what for problem in bundle.identity.problems]
    assert [what.split(": ")[1] for what in unread] == ["BM_one", "BM_three"]


def test_a_nested_bomb_in_a_console_log(tmp_path: Path) -> None:
    log = tmp_path / "bomb.log"
    log.write_text(
        "JSON OUTPUT\n" + '[{"Benchmark": "x", "Results": ' * 20_000 + "END JSON OUTPUT\n"
    )
    refused(log, "nests its JSON")


def test_figures_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "MAX_FIGURES", 1_000)  # the real one takes seconds to reach
    log = tmp_path / "many.log"
    log.write_text("sync.give.immediate.kernel - x :  1 cycles ,  8 ns :\n" * 1_001)
    refused(log, "more than 1000 figures")


def test_a_history_of_too_many_figures_loses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsed, "MAX_FIGURES", 100)
    log = tmp_path / "HIFIVE_64.jsonl"
    log.write_text((DATA / "HIFIVE_64.jsonl").read_text() * 20)
    refused(log, "more than 100 figures")


def test_lines_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "blank.log").write_bytes(b"Time: 1" + b"\n" * (MAX_LINES + 1))
    refused(tmp_path / "blank.log", "2000000 lines")


def test_unclosed_csv_quotes(tmp_path: Path) -> None:
    table = tmp_path / "recording.csv"
    table.write_text('metric,description,cycles\n"' + "a line without its quote\n" * 10_000)
    refused(table, "check its quotes")


def test_problems_are_bounded() -> None:
    text = (DATA / "zephyr_latency.csv").read_text() + "a.b.c - x : 1 cycles , 2 us :\n" * 5_000
    parsed = formats()["zephyr-latency"].parse(decode("x.log", text.encode()), Settings())
    assert len(parsed.problems) == 1_001
    assert parsed.problems[-1].what.startswith("4000 more")


@pytest.mark.parametrize(
    "name", ["../../escape.json", "/etc/passwd", "..", ".hidden", "a\nb", "C:\\x", "é" * 300]
)
def test_names_stay_inside_the_bundle(tmp_path: Path, name: str) -> None:
    """Neither the name of the file nor a field of it can name a path."""
    text = (
        (DATA / "TX1_MCS_64.json")
        .read_text()
        .replace("Thread yield", name.replace("\\", "/").replace("\n", "/"))
    )
    source = tmp_path / "in"
    source.mkdir()
    path = source / "TX1_MCS_64.json"
    path.write_text(text)
    bundle, raw = ingest([path, path])
    stored = store.write(bundle, tmp_path / "out" / "bundle", raw)
    assert stored.path is not None
    files = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file())
    assert [str(p) for p in files] == [
        "in/TX1_MCS_64.json",
        "out/bundle/bundle.json",
        "out/bundle/raw/TX1_MCS_64-2.json",
        "out/bundle/raw/TX1_MCS_64.json",
        "out/bundle/samples.parquet",
    ]
    again = store.read(tmp_path / "out" / "bundle")
    assert again.identity == bundle.identity
    assert (again.samples.value == bundle.samples.value).all()


@pytest.mark.parametrize("name", ["-rf", "....", "a b;c", "ü" * 200, "x" * 250])
def test_odd_file_names_become_plain_ones(tmp_path: Path, name: str) -> None:
    path = tmp_path / name if len(name.encode()) < 255 else tmp_path / name[:100]
    path.write_bytes((DATA / "hackbench.txt").read_bytes())
    bundle, raw = ingest([path])
    store.write(bundle, tmp_path / "bundle", raw)
    (kept,) = raw
    assert kept.startswith("raw/")
    assert bundle.identity.rows[0].source is not None


def test_nothing_given() -> None:
    with pytest.raises(NothingMeasured):
        ingest([])


@pytest.mark.parametrize("bad", ["\x1b[2J", "a\nb", "\u202e", "\ud800", "\x7f"])
def test_texts_are_cut_and_cannot_steer_a_terminal(bad: str) -> None:
    shown = parsed.printable(Source(f"plain {bad}", name="x" * 501)).file
    assert shown.isprintable()
    assert shown.startswith("plain ")
    assert "\N{REPLACEMENT CHARACTER}" in shown
    assert len(parsed.printable(Source("", name="x" * 501)).name) == 500
    assert parsed.printable(Source("\N{MICRO SIGN}s")).file == "\N{MICRO SIGN}s"
