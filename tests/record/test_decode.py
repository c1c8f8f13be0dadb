# SPDX-License-Identifier: BSD-2-Clause
"""The decoder: whole streams come through whole, damage loses only what is damaged, and says so."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.record.decode import LINE_MAX_BYTES, Decoder
from cyclometer.record.schema import Circle, End, Group, Hello
from tests.streams import circle, end, group, hello, line, stream


def decode(data: bytes) -> tuple[list[object], list[str]]:
    decoder = Decoder()
    records = [*decoder.feed(data), *decoder.finish()]
    return records, [damage.what for damage in decoder.damage]


def test_a_whole_stream_comes_through_without_a_complaint() -> None:
    records, damage = decode(b"".join(stream()))
    assert [type(record) for record in records] == [Hello, Circle, Group, Group, End]
    assert damage == []


@given(st.lists(st.integers(0, 1200), max_size=8))
def test_where_the_bytes_are_cut_makes_no_difference(cuts: list[int]) -> None:
    data = b"".join(stream())
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    decoder = Decoder()
    records = [r for a, b in itertools.pairwise(edges) for r in decoder.feed(data[a:b])]
    assert (records + decoder.finish(), decoder.damage) == (Decoder().feed(data), [])


def test_a_contract_names_its_source_or_does_not() -> None:
    records, damage = decode(
        line(hello()) + line(circle(1)) + line(circle(2, source="linux/circles/channel.c:112"))
    )
    contracts = [record.contract for record in records if isinstance(record, Circle)]
    assert [c.source for c in contracts] == ["", "linux/circles/channel.c:112"]
    assert damage[1:] == []  # only the missing end


def test_console_text_before_a_record_and_carriage_returns_are_harmless() -> None:
    lines = [
        b"boot noise\r\n",
        *(b"\x1b[0m[    0.1] " + text.replace(b"\n", b"\r\n") for text in stream()),
    ]
    records, damage = decode(b"".join(lines))
    assert len(records) == 5
    assert damage == []


def test_a_corrupted_record_is_lost_alone_and_named() -> None:
    lines = stream()
    lines[2] = lines[2].replace(b"101", b"999")
    records, damage = decode(b"".join(lines))
    assert [type(record) for record in records] == [Hello, Circle, Group, End]
    assert "checksum does not match" in damage[0]
    assert "records 2 to 2 are missing" in damage[1]
    assert "wrote 6 values and 3 arrived" in damage[2]


def test_a_truncated_stream_keeps_what_arrived_and_says_that_the_end_is_missing() -> None:
    data = b"".join(stream())
    records, damage = decode(data[: data.index(b'"kind":"end"')])
    assert len(records) == 4
    assert any("cut off" in what for what in damage)
    assert any("without its `end`" in what for what in damage)


def test_a_duplicated_record_counts_once() -> None:
    lines = stream()
    records, damage = decode(b"".join([*lines[:3], lines[2], *lines[3:]]))
    assert len(records) == 5
    assert damage == ["record 2 arrived twice; the first one is kept"]


def test_interleaved_text_inside_a_record_damages_that_record_only() -> None:
    lines = stream()
    lines[3] = lines[3][:40] + b"printk: hung task\n" + lines[3][40:]
    records, damage = decode(b"".join(lines))
    assert len(records) == 4
    assert any("cut off" in what for what in damage)


def test_a_second_start_begins_its_numbers_anew() -> None:
    again = [line(hello(run=2)), *stream()[1:]]
    records, damage = decode(b"".join([*stream(), *again]))
    assert len(records) == 10
    assert damage == ["the target started again; what follows is kept as another run"]


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        (group(1, [1, 2], at=[1]), "different lengths"),
        (group(1, [1], turns=0), "turns below 1"),
        (group(1, [1 << 63], at=[0]), "exceeds 64 bits"),
        ({"kind": "surprise", "seq": 1}, "not understood"),
    ],
)
def test_a_whole_line_that_breaks_the_schema_is_reported_not_raised(
    record: dict[str, object], complaint: str
) -> None:
    records, damage = decode(line(hello()) + line(record))
    assert len(records) == 1
    assert complaint in damage[0]


def test_an_endless_line_is_bounded_and_the_next_one_is_read() -> None:
    decoder = Decoder()
    decoder.feed(line(hello()) + b"@cyc {")
    for _ in range(40):
        decoder.feed(b"x" * (LINE_MAX_BYTES // 16))
        assert len(decoder._pending) <= LINE_MAX_BYTES + LINE_MAX_BYTES // 16
    assert len(decoder.feed(b"\n" + line(end(1, 0)))) == 1
    assert any("exceeds" in damage.what for damage in decoder.damage)


def test_a_json_bomb_is_damage_not_a_crash() -> None:
    import zlib

    body = b'{"kind":"hello","seq":0,"configuration":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    records, damage = decode(b"@cyc " + body + b" *%08x\n" % zlib.crc32(body))
    assert records == []
    assert "not understood" in damage[0]


@given(st.binary(max_size=400))
def test_any_bytes_are_survived(data: bytes) -> None:
    decode(data)


@given(st.data())
def test_mutated_streams_lose_only_what_was_touched(data: st.DataObject) -> None:
    lines = stream()
    victim = data.draw(st.integers(1, len(lines) - 1))
    position = data.draw(st.integers(0, len(lines[victim]) - 2))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b not in (lines[victim][position], 10)))
    lines[victim] = lines[victim][:position] + bytes([byte]) + lines[victim][position + 1 :]
    records, _ = decode(b"".join(lines))
    untouched = [
        record for i, text in enumerate(stream()) if i != victim for record in Decoder().feed(text)
    ]
    assert [r for r in untouched if r not in records] == []
